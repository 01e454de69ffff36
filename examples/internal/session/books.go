package session

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const cpu = "cpu"

// books say what is free on the nodes, as KAI counts it.
type books struct {
	nodes []book // by name
	at    map[string]int
}

// book is a node. Nobody holds what is idle; what leaves is held by pods that were told to leave, less what waits for their room. What is
// given to a pod that waits is still idle: KAI prefers such nodes to others.
type book struct {
	workload.Node
	idle, leaves workload.Resources
	now, then    *kai.GPUs // with what leaves, and once that has left; nil: no pod shares one
}

// free is what a pod may have that waits for what leaves.
func (b *book) free(resource string) int64 { return quota.Add(b.idle[resource], b.leaves[resource]) }

// fits reports whether there is as much as a pod takes. Nodes that do not say how many pods they take have no limit.
func (b *book) fits(p *workload.Pod, free func(resource string) int64) bool {
	if _, counts := b.Capacity[workload.PodsResource]; counts && free(workload.PodsResource) < 1 {
		return false
	}
	for resource, amount := range p.Requests {
		if amount > free(resource) {
			return false
		}
	}
	return true
}

// fitsNow reports whether a pod need not wait for what leaves.
func (b *book) fitsNow(p *workload.Pod) bool {
	return (b.now == nil || b.now.Fits(p)) && b.fits(p, func(resource string) int64 { return b.idle[resource] })
}

// open reads the books of what is on the nodes.
func (s *Session) open() (*books, error) {
	on, err := s.rooms.Snapshot()
	if err != nil {
		return nil, err
	}
	b := &books{at: map[string]int{}}
	st := on.State()
	for _, n := range st.Nodes {
		b.nodes = append(b.nodes, book{Node: n, idle: n.Capacity, leaves: workload.Resources{}})
	}
	slices.SortFunc(b.nodes, func(x, y book) int { return cmp.Compare(x.Name, y.Name) })
	for i := range b.nodes {
		b.at[b.nodes[i].Name] = i
	}
	if s.shares {
		for i := range b.nodes {
			n := &b.nodes[i]
			n.now, n.then = kai.GPUsOf(&n.Node), kai.GPUsOf(&n.Node)
		}
	}
	for i := range st.Pods {
		if p := &st.Pods[i]; p.Node != "" && p.Terminating {
			b.hold(p, left, 1)
		} else if p.Node != "" {
			b.hold(p, runs, 1)
		}
	}
	return b, nil
}

// clone returns books that may be changed.
func (b *books) clone() *books { return &books{slices.Clone(b.nodes), b.at} }

// add adds what a pod takes of its node so many times to what is idle and to what leaves.
func (b *books) add(p *workload.Pod, idle, leaves int64) {
	at, known := b.at[p.Node]
	if !known {
		return
	}
	n := &b.nodes[at]
	n.idle, n.leaves = maps.Clone(n.idle), maps.Clone(n.leaves)
	count := func(resource string, amount int64) {
		n.idle[resource] = quota.Add(n.idle[resource], idle*amount)
		n.leaves[resource] = quota.Add(n.leaves[resource], leaves*amount)
	}
	for resource, amount := range p.Requests {
		count(resource, amount)
	}
	if _, counts := n.Capacity[workload.PodsResource]; counts {
		count(workload.PodsResource, 1)
	}
}

// hold gives a pod its room in a phase, or with the sign -1 takes it away.
func (b *books) hold(p *workload.Pod, in phase, sign int64) {
	switch in {
	case runs:
		b.add(p, -sign, 0)
	case placed:
		b.add(p, 0, -sign)
	case left:
		b.add(p, -sign, sign)
	}
	at, known := b.at[p.Node]
	if !known || b.nodes[at].now == nil {
		return
	}
	n := &b.nodes[at]
	if in != placed {
		n.now = n.now.Clone()
		n.now.Count(p, sign)
	}
	if in != left {
		n.then = n.then.Clone()
		n.then.Count(p, sign)
	}
}

// nodeFor returns the place of the node that KAI gives a pod; -1: it fits on none. Nodes on which it need not wait come before others, then those
// without GPUs for a pod that asks for none, then those of which less is free, then the smaller name.
func (b *books) nodeFor(p *workload.Pod, among []bool) int {
	packs := kai.GPU
	if gpus(p) == 0 {
		packs = cpu
	}
	least, most := int64(math.MaxInt64), int64(0)
	for i := range b.nodes {
		if n := &b.nodes[i]; among[i] && n.Capacity[packs] != 0 {
			least, most = min(least, n.free(packs)), max(most, n.free(packs))
		}
	}
	best, highest := -1, 0.0
	for i := range b.nodes {
		n := &b.nodes[i]
		if !among[i] || !n.mayRun(p) || !n.fits(p, n.free) || n.then != nil && !n.then.Fits(p) {
			continue
		}
		score := 0.0
		switch {
		case n.Capacity[packs] == 0 || most == 0:
		case least == most:
			score = 9
		default:
			score = 9 * (1 - float64(n.free(packs)-least)/float64(most-least))
		}
		if packs == cpu && n.Capacity[kai.GPU] == 0 {
			score += 10
		}
		if n.fitsNow(p) {
			score += 1000
		}
		if best < 0 || score > highest {
			best, highest = i, score
		}
	}
	return best
}

// mayRun reports whether a pod may run on a node, whatever runs there.
func (b *book) mayRun(p *workload.Pod) bool {
	return !b.Unschedulable && !p.Nowhere && (len(p.Nodes) == 0 || slices.Contains(p.Nodes, b.Name))
}

// gpus returns how many GPUs a pod asks for.
func gpus(p *workload.Pod) int64 { return p.Requests[kai.GPU] }
