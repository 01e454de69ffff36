package suite

import (
	"maps"
	"slices"
	"strings"
)

// Feature is a part of the forms of questions. A question uses it if a field of it is not zero.
type Feature struct {
	Name  string
	About string
	// Paths are those of its fields, without indexes: the fields at a path and below it, unless another feature has a longer path.
	// "waiting" stands for all workloads.
	Paths []string
}

// Features lists the features. What each program must read is core: names, quotas, priorities, times, amounts.
func Features() []Feature { return slices.Clone(features) }

const core = "core"

// openFlavors is the feature of requests without a flavor: a field that is absent has no path.
const openFlavors = "flavors"

var features = []Feature{
	{core, "queues with nominal quota, workloads with priority, times and requests in flavors", []string{
		"state.queues.name", "state.queues.quotas", "waiting.id", "waiting.uid", "waiting.queue", "waiting.priority", "waiting.created", "waiting.queued",
		"waiting.reservedAt", "waiting.podSets", "request.now", "at", "decision",
		"state.nodes", "state.pods", "state.groups", "request.pods", "request.priority", "request.queue", "request.policy", "now", "replicas", "config.Timeout"}},
	{"cohorts", "cohorts without a parent", []string{"state.cohorts.name", "state.queues.cohort"}},
	{"trees", "cohorts in cohorts", []string{"state.cohorts.parent"}},
	{"cohortQuotas", "quotas of cohorts", []string{"state.cohorts.quotas"}},
	{"borrowingLimits", "limits on borrowing", []string{"state.queues.quotas.borrowingLimit", "state.cohorts.quotas.borrowingLimit"}},
	{"lendingLimits", "limits on lending", []string{"state.queues.quotas.lendingLimit", "state.cohorts.quotas.lendingLimit"}},
	{"reserved", "usage that no workload accounts for", []string{"state.queues.reserved", "state.cohorts.reserved"}},
	{"inactive", "inactive queues", []string{"state.queues.inactive"}},
	{"within", "withinClusterQueue LowerPriority", []string{"state.queues.preemption.withinClusterQueue=LowerPriority"}},
	{"equals", "withinClusterQueue LowerOrNewerEqualPriority", []string{"state.queues.preemption.withinClusterQueue=LowerOrNewerEqualPriority"}},
	{"minAdmitDuration", "preemption of equals whose time is over", []string{"state.queues.preemption.minAdmitDuration"}},
	{"reclaim", "reclaimWithinCohort", []string{"state.queues.preemption.reclaimWithinCohort"}},
	{"borrowWithinCohort", "borrowWithinCohort", []string{"state.queues.preemption.borrowWithinCohort"}},
	{"fair", "fair sharing", []string{"config.Sharing", "config.Strategies", "config.Compat.Kueue016", "state.queues.fairWeight", "state.cohorts.fairWeight"}},
	{"stable", "stable fair sharing", []string{"config.Sharing=Stable"}},
	{"minRuntime", "minimum runtimes of queues and cohorts, and as a default", []string{"state.queues.minRuntime", "state.cohorts.minRuntime", "config.MinRuntime"}},
	{"protection", "protection by the kind of reason", []string{"config.Protection"}},
	{"elastic", "workloads that give surplus replicas", []string{"waiting.podSets.minCount", "waiting.podSets.terminating"}},
	{"evicted", "workloads that were told to leave", []string{"waiting.evicted"}},
	{"neverYields", "workloads that never yield", []string{"waiting.neverYields"}},
	{"neverPreempts", "workloads that never preempt", []string{"waiting.neverPreempts"}},
	{"boost", "priority boosts", []string{"waiting.priorityBoost"}},
	{"gates", "preemption gates of workloads", []string{"waiting.gates"}},
	{"localQueues", "candidates by the usage of local queues", []string{"waiting.localQueue", "request.localQueueUsage"}},
	{"flavors", "requests without a flavor, labels and taints", []string{"state.flavors", "waiting.podSets.nodeConstraints", "state.queues.flavorFungibility"}},
	{"rules", "preemption rules", []string{"state.rules", "state.queues.rules", "state.queues.labels", "waiting.labels", "waiting.priorityClass", "request.triggersSince", "config.Compat.RulesAlone"}},
	{"limits", "limits on preemptions", []string{"config.Limits", "history"}},
	{"minCounts", "partial admission", []string{"request.minCounts"}},
	{"replaces", "a workload in the place of another", []string{"request.replaces", "request.holdsQuota"}},
	{"needsPreemption", "columns in which victims are needed", []string{"request.needsPreemption"}},
	{"withinNominal", "preemption without borrowing", []string{"config.Compat.PreemptWithinNominal", "borrowing"}},
	{"better", "searches for better victims", []string{"config.Search", "config.Best"}},

	{"nodeModes", "the versions of the algorithm on nodes, and its options", []string{"config.Mode", "config.Order", "config.Charge", "request.prefer", "request.skipFit", "request.maxDomains"}},
	{"groups", "groups of pods that wait or yield as one", []string{"state.groups.disruptionMode", "state.groups.basic", "state.groups.minCount", "request.minCount", "request.group"}},
	{"nested", "groups in groups", []string{"state.groups.parent", "request.nested", "request.minGroups"}},
	{"budgets", "disruption budgets", []string{"state.budgets", "config.Budgets"}},
	{"claims", "devices that pods hold together", []string{"state.claims", "state.pods.claims", "request.pods.claims", "state.nominated.claims"}},
	{"domains", "domains of nodes", []string{"request.domains", "request.domainsPreferred"}},
	{"nominated", "nominated pods, and pods that are terminating", []string{"state.nominated", "state.pods.terminating", "state.pods.preempted", "state.pods.terminatingSince", "request.terminationTimeout"}},
	{"nodeTimes", "minimum runtimes of pods and groups", []string{"state.pods.minRuntime", "state.pods.reclaimMinRuntime", "state.groups.minRuntime", "state.groups.reclaimMinRuntime", "config.ReclaimMinRuntime"}},

	{"gateOrder", "orders and times of gates", []string{"config.Grace", "config.PreemptingTimeout"}},

	{"settling", "some queues and cohorts alone, delays, limits on victims", []string{"request.nodes", "request.delays", "request.since", "request.maxVictims"}},
	{"moving", "victims that are chosen, and that start, by where they have room", []string{"moving"}},
	{"clearing", "some of the domains, or their capacity alone", []string{"request.count", "request.within"}},
}

var featureOf = func() map[string]string {
	of := map[string]string{}
	for _, f := range features {
		for _, path := range f.Paths {
			if rest, workload := strings.CutPrefix(path, "waiting."); workload {
				of["state.admitted."+rest], of["request.workload."+rest] = f.Name, f.Name
			}
			of[path] = f.Name
		}
	}
	return of
}()

// FeaturesOf lists the features that a question uses, sorted, and the paths that no feature has.
func FeaturesOf(form string, question []byte) (list, unknown []string, err error) {
	v, err := value(question)
	if err != nil {
		return nil, nil, err
	}
	used := map[string]bool{core: true}
	paths(v, "", func(path string) {
		if form == Orchestrate && strings.HasPrefix(path, "config.Order") {
			path = "config.Grace"
		}
		if name, ok := longest(featureOf, path); ok {
			used[name] = true
		} else {
			unknown = append(unknown, path)
		}
	})
	if hasOpenRequest(v) {
		used[openFlavors] = true
	}
	return slices.Sorted(maps.Keys(used)), unknown, nil
}

// hasOpenRequest reports whether some request of a workload has a resource and no flavor.
func hasOpenRequest(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, of := range v {
			if list, is := of.([]any); is && key == "requests" {
				for _, r := range list {
					if amount, is := r.(map[string]any); is && amount["resource"] != nil && amount["flavor"] == nil {
						return true
					}
				}
			}
			if hasOpenRequest(of) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasOpenRequest)
	}
	return false
}
