package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/kueue"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// chooser picks a flavor for each resource group of a queue, for all pod sets of a
// workload together, as Kueue does by default (flavorFungibility: whenCanBorrow
// MayStopSearch, whenCanPreempt TryNextFlavor): the first flavor in which the group
// fits; else the best of those in which it can preempt, where taking from other
// queues only is better than taking from the own one, then borrowing less, then
// coming earlier; else the first.
type chooser struct {
	snapshot  *preemption.Snapshot
	preemptor *preemption.Preemptor
	queue     *queue.Queue
	pending   *kueue.Pending
	now       time.Time
	// tried says how each group's flavors did, where several were tried.
	tried []string
}

// choose returns the flavor of each requested resource. forced is a list of flavors
// to take instead of choosing, by comma.
func (c *chooser) choose(forced string) (map[string]string, error) {
	wanted := c.requested()
	flavors := map[string]string{}
	var force []string
	if forced != "" {
		force = strings.Split(forced, ",")
	}
	used := map[string]bool{}
	covered := map[string]bool{}
	for _, g := range c.queue.ResourceGroups() {
		var asked []string
		for _, r := range g.Resources {
			covered[r] = true
			if slices.Contains(wanted, r) {
				asked = append(asked, r)
			}
		}
		candidates := g.Flavors
		for _, f := range force {
			if slices.Contains(g.Flavors, f) {
				candidates, used[f] = []string{f}, true
			}
		}
		if len(asked) == 0 {
			continue
		}
		flavor, err := c.best(asked, candidates)
		if err != nil {
			return nil, err
		}
		for _, r := range asked {
			flavors[r] = flavor
		}
	}
	for _, f := range force {
		if !used[f] {
			return nil, fmt.Errorf("queue %s has no flavor %q; it has: %s", c.queue.Name, f, strings.Join(c.flavors(), ", "))
		}
	}
	for _, r := range wanted {
		if !covered[r] {
			return nil, fmt.Errorf("queue %s has no quota for %s; it has: %s", c.queue.Name, r, orNothing(c.resources()))
		}
	}
	return flavors, nil
}

// requested lists the resources of which the workload takes anything.
func (c *chooser) requested() []string {
	var names []string
	for _, s := range c.pending.PodSets {
		for _, r := range s.Requests {
			if r.Amount > 0 && s.Count > 0 && !slices.Contains(names, r.Resource) {
				names = append(names, r.Resource)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (c *chooser) best(resources, flavors []string) (string, error) {
	best, bestRank := "", [2]int{}
	var tried []string
	for _, f := range flavors {
		if !c.hasQuota(f, resources) {
			continue
		}
		assignment := map[string]string{}
		for _, r := range resources {
			assignment[r] = f
		}
		d, err := c.preemptor.Decide(c.snapshot, preemption.Request{Workload: c.pending.Workload(assignment), Now: c.now})
		if err != nil {
			return "", err
		}
		if rank := rankOf(d); best == "" || rank[0] < bestRank[0] || rank[0] == bestRank[0] && rank[1] < bestRank[1] {
			best, bestRank = f, rank
		}
		tried = append(tried, f+" "+inShort(d))
		if d.Outcome == preemption.Fits {
			break
		}
	}
	if len(tried) > 1 {
		c.tried = append(c.tried, fmt.Sprintf("of the flavors for %s, %s is taken: %s", strings.Join(resources, ", "), best, strings.Join(tried, ", ")))
	}
	if best == "" {
		return "", fmt.Errorf("queue %s has no flavor with quota for %s among %s",
			c.queue.Name, strings.Join(resources, " and "), strings.Join(flavors, ", "))
	}
	return best, nil
}

func inShort(d preemption.Decision) string {
	switch d.Outcome {
	case preemption.Fits:
		return "fits"
	case preemption.Preempt, preemption.Gated:
		return fmt.Sprintf("preempts %d", len(d.Victims))
	case preemption.Wait:
		return "has to wait"
	}
	return "is impossible"
}

// rankOf orders decisions about flavors: lower is better.
func rankOf(d preemption.Decision) [2]int {
	switch {
	case d.Outcome == preemption.Fits:
		return [2]int{0, 0}
	case d.Outcome == preemption.Wait:
		return [2]int{3, 0}
	case d.Outcome == preemption.Impossible:
		return [2]int{4, 0}
	case slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool { return v.Reason == preemption.InClusterQueue }):
		return [2]int{2, d.BorrowHeight}
	}
	return [2]int{1, d.BorrowHeight}
}

func (c *chooser) hasQuota(flavor string, resources []string) bool {
	for _, r := range resources {
		if !slices.ContainsFunc(c.queue.Quotas, func(q quota.Quota) bool { return q.Flavor == flavor && q.Resource == r }) {
			return false
		}
	}
	return true
}

func (c *chooser) flavors() []string {
	var names []string
	for _, g := range c.queue.ResourceGroups() {
		names = append(names, g.Flavors...)
	}
	return names
}

func (c *chooser) resources() []string {
	var names []string
	for _, g := range c.queue.ResourceGroups() {
		names = append(names, g.Resources...)
	}
	return names
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
