package rooms

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// passing is the prefix of the taints of a state that passes: a node that is cordoned, or not ready yet.
const passing = "node.kubernetes.io/"

// TooLarge returns what says of which flavors no node that there is now takes a pod of a workload: by its node selector, its required node
// affinity, the taints of nodes, and what is allocatable there. Nothing is said of a flavor with labels that no node has: its nodes may
// come when they are needed. A flavor without labels gives all nodes, if one of them is there that no other flavor has. Nil: nodes are not
// known.
func (n *Nodes) TooLarge(flavors []queue.Flavor) func(*workload.Workload) []answers.TooLarge {
	if len(n.list) == 0 || n.unread(func(string) bool { return true }) != "" {
		return nil
	}
	of, unnamed := make([][]*node, len(flavors)), false // by flavor
	capacity, counted := map[*node]workload.Resources{}, map[string]bool{}
	for i := range n.list {
		one := &n.list[i]
		capacity[one] = one.capacity()
		for resource, amount := range capacity[one] {
			counted[resource] = counted[resource] || amount > 0
		}
		named := false
		for f := range flavors {
			if answers.HasLabels(one.labels, flavors[f].NodeLabels) {
				of[f], named = append(of[f], one), true
			}
		}
		unnamed = unnamed || !named
	}
	for f := range flavors {
		for i := range n.list {
			if unnamed && len(flavors[f].NodeLabels) == 0 {
				of[f] = append(of[f], &n.list[i])
			}
		}
	}
	var mu sync.Mutex                        // a server asks about several workloads at once
	known := map[string][]answers.TooLarge{} // by what decides it
	return func(w *workload.Workload) (list []answers.TooLarge) {
		mu.Lock()
		defer mu.Unlock()
		for i := range w.PodSets {
			p := &w.PodSets[i]
			if p.Totals || p.Count == 0 {
				continue
			}
			asks := slices.DeleteFunc(slices.Clone(p.Requests), func(a quota.Amount) bool { // something else counts what no node has
				return a.Resource == workload.PodsResource || !counted[a.Resource]
			})
			constraints := workload.NodeConstraints{}
			if p.NodeConstraints != nil {
				constraints = *p.NodeConstraints
			}
			kind := fmt.Sprintf("%s %v %+v", p.Name, asks, constraints)
			found, is := known[kind]
			if !is {
				for f := range flavors {
					if why := lacks(of[f], capacity, p, asks, &flavors[f]); why != "" {
						found = append(found, answers.TooLarge{PodSet: p.Name, Flavor: flavors[f].Name, Why: why})
					}
				}
				known[kind] = found
			}
			list = append(list, found...)
		}
		return list
	}
}

// lacks says what a pod of a pod set asks for that none of the nodes has. Empty: one takes it, or there are none.
func lacks(nodes []*node, capacity map[*node]workload.Resources, p *workload.PodSet, asks []quota.Amount, f *queue.Flavor) string {
	if len(nodes) == 0 {
		return ""
	}
	some, most := false, map[string]int64{}
	for _, n := range nodes {
		if !n.everTakes(p, asks, f) {
			continue
		}
		some = true
		if !slices.ContainsFunc(asks, func(a quota.Amount) bool { return a.Amount > capacity[n][a.Resource] }) {
			return ""
		}
		for _, a := range asks {
			most[a.Resource] = max(most[a.Resource], capacity[n][a.Resource])
		}
	}
	if !some {
		return fmt.Sprintf("no node of %s that there is now takes a pod of %s: its node selector, its node affinity or a taint forbids it", f.Name, p.Name)
	}
	for _, a := range asks {
		if a.Amount > most[a.Resource] {
			return fmt.Sprintf("a pod of %s asks for %s %s, and no node of %s that there is now has more than %s",
				p.Name, units.Amount(a.Resource, a.Amount), a.Resource, f.Name, units.Amount(a.Resource, most[a.Resource]))
		}
	}
	return fmt.Sprintf("a pod of %s asks for what no node of %s that there is now has all of", p.Name, f.Name)
}

// everTakes is takes without what passes, and with what the API server adds to a pod: it tolerates the taints of the devices that it asks for
// (the admission plugin ExtendedResourceToleration).
func (n *node) everTakes(p *workload.PodSet, asks []quota.Amount, f *queue.Flavor) bool {
	if len(n.spec.Taints) == 0 {
		return n.takes(p.NodeConstraints, nil)
	}
	lasting := *n
	lasting.spec.Taints = slices.Clone(n.spec.Taints)
	for i := range lasting.spec.Taints {
		t := &lasting.spec.Taints[i]
		if strings.HasPrefix(t.Key, passing) || slices.ContainsFunc(asks, func(a quota.Amount) bool { return a.Resource == t.Key }) {
			t.Effect = "PreferNoSchedule"
		}
	}
	return lasting.takes(p.NodeConstraints, f.Tolerations)
}
