package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/guard"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// earlierIsSmaller returns a UID by position: among equals the pod that is listed earlier is
// more important.
func earlierIsSmaller(i int) string { return fmt.Sprintf("%08d", i) }

// started returns a start time; a larger number is later.
func started(start *int64) time.Time {
	if start == nil {
		return time.Time{}
	}
	return time.Unix(*start, 0).UTC()
}

func (c *NodeCase) state() placement.State {
	if c.Suite == "importance" {
		return c.twoUnits()
	}
	var st placement.State
	for _, n := range c.Nodes {
		st.Nodes = append(st.Nodes, workload.Node{Name: n.Name, Capacity: n.Capacity, Unschedulable: n.Unresolvable})
	}
	for i, p := range c.Pods {
		st.Pods = append(st.Pods, workload.Pod{
			ID: p.Name, UID: earlierIsSmaller(i), Namespace: p.Namespace, Labels: p.Labels, Group: p.Group, Priority: p.Priority,
			Requests: p.Requests, Node: p.Node, Started: started(p.Start), Terminating: p.Terminating, Preempted: p.Preempted,
		})
	}
	for _, g := range c.Groups {
		mode := workload.DisruptionModePod
		if g.Mode == "all" {
			mode = workload.DisruptionModePodGroup
		}
		switch {
		case g.Priority != nil:
			st.Groups = append(st.Groups, workload.PodGroup{ID: g.Name, DisruptionMode: mode, Priority: *g.Priority})
		case mode == workload.DisruptionModePodGroup:
			st.Groups = append(st.Groups, workload.PodGroup{ID: g.Name, DisruptionMode: mode})
		} // else its pods count by themselves, with their own priority, as if it were not there
	}
	for i, b := range c.Budgets {
		name := fmt.Sprintf("%04d %s", i, b.Name) // the order of the list
		budget := workload.DisruptionBudget{Namespace: b.Namespace, Name: name, Allowed: b.Allowed, Disrupted: b.Disrupted}
		if b.Selector != nil {
			budget.Selector = &workload.LabelSelector{MatchLabels: b.Selector}
		}
		st.Budgets = append(st.Budgets, budget)
	}
	if c.Suite == "pdb_split" {
		c.asListed(&st)
	}
	if c.Preemptor != nil {
		for _, p := range c.Preemptor.Pods {
			if p.NominatedNode != "" {
				st.Nominated = append(st.Nominated, workload.Pod{ID: p.Name, Requests: p.Requests, Node: p.NominatedNode, Priority: c.Preemptor.Priority})
			}
		}
	}
	return st
}

// asListed makes the units of the suite of budgets: the list begins with the most important.
func (c *NodeCase) asListed(st *placement.State) {
	st.Nodes = []workload.Node{{Name: "node"}}
	for i, unit := range c.Units {
		id := fmt.Sprintf("unit %d", i)
		st.Groups = append(st.Groups, workload.PodGroup{ID: id, DisruptionMode: workload.DisruptionModePodGroup, Priority: int32(len(c.Units) - i)})
		for j := range st.Pods {
			if slices.Contains(unit, st.Pods[j].ID) {
				st.Pods[j].Group, st.Pods[j].Node = id, "node"
			}
		}
	}
}

// twoUnits makes the units a and b of the suite of importance.
func (c *NodeCase) twoUnits() placement.State {
	st := placement.State{Nodes: []workload.Node{{Name: "node"}}}
	for i, u := range []*unitFacts{c.A, c.B} {
		name := string(rune('a' + i))
		group := ""
		if u.Kind != "pod" {
			group = name
			st.Groups = append(st.Groups, workload.PodGroup{ID: name, Priority: u.Priority, DisruptionMode: workload.DisruptionModePodGroup})
		}
		for j := range max(1, u.Size) {
			st.Pods = append(st.Pods, workload.Pod{ID: fmt.Sprintf("%s%d", name, j), UID: u.UID, Group: group, Priority: u.Priority,
				Node: "node", Started: started(u.Start)})
		}
	}
	return st
}

// request returns a request for preemption alone: kube-scheduler preempts once scheduling
// failed.
func (c *NodeCase) request() placement.Request {
	r := placement.Request{Priority: c.Preemptor.Priority, SkipFit: true, Prefer: c.Options.NodePreference}
	if c.Preemptor.Kind == "group" {
		r.Group = c.Preemptor.Name
	}
	// In v1.36 the policy of any member counted for its group.
	member := func(p podOf) bool { return p.Policy == "Never" && c.Era == "alpha-1.36" }
	if c.Preemptor.Policy == "Never" || slices.ContainsFunc(c.Preemptor.Pods, member) {
		r.Policy = placement.PreemptNever
	}
	if c.Preemptor.MinCount != nil {
		r.MinCount = *c.Preemptor.MinCount
	}
	for _, p := range c.Preemptor.Pods {
		r.Pods = append(r.Pods, workload.Pod{ID: p.Name, Labels: p.Labels, Namespace: p.Namespace, Requests: p.Requests, Nodes: p.EligibleNodes})
	}
	r.MaxDomains, r.FirstNode = c.Options.NumCandidates, c.Options.Offset
	if sampling := c.Options.Sampling; r.MaxDomains == 0 && sampling != nil {
		n := len(slices.DeleteFunc(slices.Clone(c.Nodes), func(n nodeOf) bool { return n.Unresolvable }))
		r.MaxDomains = min(n, max(n*sampling.Percent/100, sampling.Absolute))
	}
	for _, n := range c.Nodes { // their order is that of the case
		if !slices.Contains(r.Prefer, n.Name) {
			r.Prefer = append(r.Prefer, n.Name)
		}
	}
	return r
}

var modes = map[string]placement.Mode{"": placement.ModeInPlace, "in_place": placement.ModeInPlace, "reschedule": placement.ModeReplace, "seed": placement.ModeDesign}

func (c *NodeCase) config() placement.Config {
	config := placement.Config{
		Mode: modes[c.Options.Mode], Order: placement.RoundRobin,
	}
	if c.Options.Placement == "prefer" {
		config.Order = placement.FirstFit
	}
	protected := podSet{}
	for _, p := range c.Pods {
		protected[p.Name] = p.Protected
	}
	if slices.Contains(slices.Collect(maps.Values(protected)), true) {
		config.Guards = []placement.Guard{protected}
	}
	if len(c.Conflicts) > 0 {
		config.Filters = []placement.Filter{conflicts(c.Conflicts)}
	}
	switch c.Options.Importance {
	case "name":
		config.Importance = func(a, b placement.Unit) int { return cmp.Compare(a.Pods[0].ID, b.Pods[0].ID) }
	case "oldest_start":
		config.Importance = func(a, b placement.Unit) int { return a.Pods[0].Started.Compare(b.Pods[0].Started) }
	}
	return config
}

// podSet is a guard that protects the pods in it.
type podSet map[string]bool

// Verdict implements [placement.Guard].
func (s podSet) Verdict(u placement.Unit, _ placement.Request) guard.Verdict {
	if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return s[p.ID] }) {
		return guard.NeverYields()
	}
	return guard.MayYield()
}

// conflicts are pairs of pods that exclude each other, on one node or, with a third word,
// anywhere.
type conflicts [][]string

// Feasible implements [placement.Filter].
func (conflicts) Feasible(workload.Pod, workload.Node) bool { return true }

// Conflict implements [placement.Filter].
func (c conflicts) Conflict(pod, other workload.Pod) bool {
	for _, pair := range c {
		both := pair[0] == pod.ID && pair[1] == other.ID || pair[0] == other.ID && pair[1] == pod.ID
		if both && (pod.Node == other.Node || len(pair) > 2) {
			return true
		}
	}
	return false
}

// Reach implements [placement.Filter].
func (c conflicts) Reach() placement.Reach {
	if slices.ContainsFunc(c, func(pair []string) bool { return len(pair) > 2 }) {
		return placement.ReachCluster
	}
	return placement.ReachNode
}
