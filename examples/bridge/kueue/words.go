package kueue

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What the library says of a state is told in the words of the object that the user wrote.

// userFields are the fields of objects by their names in the library.
var userFields = map[string]string{
	"preemption.minAdmitDuration": "spec.preemption.withinClusterQueueConfig.minAdmitDuration", "fairWeight": "spec.fairSharing.weight",
	"cohort": "spec.cohortName", "parent": "spec.parentName", "name": "metadata.name", "labels": "metadata.labels",
	"flavorFungibility": "spec.flavorFungibility", "nodeTaints": "spec.nodeTaints", "tolerations": "spec.tolerations", "nodeLabels": "spec.nodeLabels",
	"topology.levels": "spec.levels", "strategy": "spec.queueingStrategy",
}

// quotaFields are those of a quota.
var quotaFields = map[string]string{"nominal": ".nominalQuota", "borrowingLimit": ".borrowingLimit", "lendingLimit": ".lendingLimit", "resource": ".name", "": ""}

var (
	libraryPath  = regexp.MustCompile(`^(?:(?:queues|cohorts|flavors)\[0\]|workload)\.`)
	quotaPath    = regexp.MustCompile(`quotas\[(\d+)\](?:\.(\w+))?`)
	libraryOwner = regexp.MustCompile(` \((queue|cohort|workload|flavor) "[^"]*"\)$`)
)

// inWords returns the first fault that the library finds in an object, with the path in that object.
// quotas are the paths of its quotas; podSets is where its pod sets stand.
func inWords(err error, quotas []string, podSets string) error {
	first, more := firstFault(err)
	if first == "" {
		return err
	}
	path, problem, _ := strings.Cut(first, ": ")
	path = libraryPath.ReplaceAllString(path, "")
	problem = libraryOwner.ReplaceAllString(problem, "")
	quota := func(match string) string {
		part := quotaPath.FindStringSubmatch(match)
		if n, err := strconv.Atoi(part[1]); err == nil && n < len(quotas) {
			if part[2] == "flavor" {
				at, _, _ := strings.Cut(quotas[n], ".resources[")
				return at + ".name"
			}
			return quotas[n] + quotaFields[part[2]]
		}
		return match
	}
	switch name, ok := userFields[path]; {
	case ok:
		path = name
	case quotaPath.MatchString(path):
		path = quotaPath.ReplaceAllStringFunc(path, quota)
	case strings.HasPrefix(path, "podSets["):
		path = podSets + strings.TrimPrefix(path, "podSets")
	case strings.HasPrefix(path, "preemption."):
		path = "spec." + path
	}
	problem = strings.ReplaceAll(quotaPath.ReplaceAllStringFunc(problem, quota), "podSets[", podSets+"[")
	return fmt.Errorf("%s: %s%s", path, problem, more)
}

// quotaPathsOf are the paths of the quotas of groups, in the order of the quotas of the library.
func quotaPathsOf(groups []ResourceGroup) (paths []string) {
	for i, g := range groups {
		for j, f := range g.Flavors {
			for k := range f.Resources {
				paths = append(paths, fmt.Sprintf("spec.resourceGroups[%d].flavors[%d].resources[%d]", i, j, k))
			}
		}
	}
	return paths
}

// oldPolicies are the names that KEP-83 had for policies.
var oldPolicies = map[string]string{"ReclaimFromAny": "Any", "ReclaimFromLowerPriority": "LowerPriority"}

// unknown is the error for a text that is none of those that a field takes.
func unknown(path, text string, want ...string) error {
	if name, ok := oldPolicies[text]; ok {
		return fmt.Errorf("%s: %q is the name that KEP-83 had for %s", path, text, name)
	}
	last := len(want) - 1
	return errors.New(path + ": " + strconv.Quote(text) + " is unknown: want " + strings.Join(want[:last], ", ") + " or " + want[last])
}
