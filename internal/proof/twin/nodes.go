// Package twin decides as package placement does, slowly and in plain sight: on names, with every number counted from
// the pods that are there.
package twin

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// nodes is a question about room on nodes, in plain values. Every number is counted from the
// pods that are there, each time it is needed.
type nodes struct {
	st      placement.State
	r       placement.Request
	config  placement.Config
	members []workload.Pod // as if they ran, but for the node
	order   []workload.Node
}

// there holds the pods that run, by ID.
type there map[string]bool

func (t there) with(pods ...workload.Pod) there {
	more := there{}
	for id := range t {
		more[id] = true
	}
	for _, p := range pods {
		more[p.ID] = true
	}
	return more
}

// rank returns the position of a node in the order in which nodes are tried.
func (q *nodes) rank(name string) (int, string) {
	if i := slices.Index(q.r.Prefer, name); i >= 0 {
		return i, ""
	}
	return len(q.r.Prefer), name
}

func (q *nodes) sorted(list []workload.Node) []workload.Node {
	list = slices.DeleteFunc(slices.Clone(list), func(n workload.Node) bool { return n.Unschedulable })
	slices.SortFunc(list, func(a, b workload.Node) int {
		i, first := q.rank(a.Name)
		j, second := q.rank(b.Name)
		return cmp.Or(cmp.Compare(i, j), cmp.Compare(first, second))
	})
	return list
}

func (q *nodes) priorityOf(p workload.Pod) int32 {
	for _, g := range q.st.Groups {
		if g.ID == p.Group {
			return g.Priority
		}
	}
	return p.Priority
}

func takes(p workload.Pod, resource string) int64 {
	if resource == workload.PodsResource {
		return 1
	}
	return p.Requests[resource]
}

// free returns what is left of a resource on a node beside the pods that are there and the
// placed members.
func (q *nodes) free(n workload.Node, resource string, present there, placed []workload.Pod) int64 {
	left, listed := n.Capacity[resource]
	if resource == workload.PodsResource && !listed {
		left = math.MaxInt64
	}
	for _, p := range q.st.Pods {
		if p.Node == n.Name && present[p.ID] {
			left -= takes(p, resource)
		}
	}
	for _, p := range q.st.Nominated {
		if p.Node == n.Name && q.isAhead(p) {
			left -= takes(p, resource)
		}
	}
	for _, p := range placed {
		if p.Node == n.Name {
			left -= takes(p, resource)
		}
	}
	return left
}

// isAhead reports whether the nomination of a waiting pod holds against the preemptor.
func (q *nodes) isAhead(p workload.Pod) bool {
	own := slices.ContainsFunc(q.members, func(m workload.Pod) bool { return m.ID == p.ID })
	return !own && q.priorityOf(p) >= q.r.Priority
}

func needs(p workload.Pod) []string {
	list := []string{workload.PodsResource}
	for name, amount := range p.Requests {
		if amount > 0 {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// agrees asks the filters about a pod on its node.
func (q *nodes) agrees(pod workload.Pod, present there, placed []workload.Pod) bool {
	others := slices.Clone(placed)
	for _, p := range q.st.Pods {
		if present[p.ID] {
			others = append(others, p)
		}
	}
	for _, p := range q.st.Nominated {
		if q.isAhead(p) {
			others = append(others, p)
		}
	}
	for _, f := range q.config.Filters {
		for _, n := range q.st.Nodes {
			if n.Name == pod.Node && !f.Feasible(pod, n) {
				return false
			}
		}
		for _, other := range others {
			if other.ID != pod.ID && (other.Node == pod.Node || f.Reach() == placement.ReachCluster) && f.Conflict(pod, other) {
				return false
			}
		}
	}
	return true
}

// agreesInSets asks the set filters about a pod on its node, in a trial that was begun with
// exactly the pods that are there; then also with the pods nominated to the node ahead of it.
func (q *nodes) agreesInSets(pod workload.Pod, present there, placed []workload.Pod) bool {
	if len(q.config.SetFilters)+len(q.r.SetFilters) == 0 && q.r.Placer == nil {
		return true
	}
	st := placement.State{Nodes: q.st.Nodes, Groups: q.st.Groups, Pods: slices.Clone(placed)}
	for _, p := range q.st.Pods {
		if present[p.ID] {
			st.Pods = append(st.Pods, p)
		}
	}
	ahead := st
	for _, p := range q.st.Nominated {
		if p.Node == pod.Node && q.isAhead(p) {
			ahead.Pods = append(slices.Clip(ahead.Pods), p)
		}
	}
	node := q.st.Nodes[slices.IndexFunc(q.st.Nodes, func(n workload.Node) bool { return n.Name == pod.Node })]
	for _, st := range []placement.State{st, ahead} {
		s, err := placement.NewSnapshot(st)
		if err != nil { // it was valid with more pods
			return false
		}
		if slices.ContainsFunc(q.begin(s), func(t placement.Trial) bool { return !t.Allows(pod, node) }) {
			return false
		}
	}
	return true
}

// begin begins the trials of the set filters and the placer.
func (q *nodes) begin(s *placement.Snapshot) (list []placement.Trial) {
	for _, f := range slices.Concat(q.config.SetFilters, q.r.SetFilters) {
		list = append(list, f.Begin(s, q.r))
	}
	if q.r.Placer != nil {
		list = append(list, q.r.Placer.Begin(s, q.r))
	}
	return list
}

// canRun reports whether a pod that is not placed yet may be placed on a node.
func (q *nodes) canRun(pod workload.Pod, n workload.Node, present there, placed []workload.Pod) bool {
	pod.Node = n.Name
	for _, resource := range needs(pod) {
		if takes(pod, resource) > q.free(n, resource, present, placed) {
			return false
		}
	}
	return mayRunOn(pod, n) && q.agrees(pod, present, placed) && q.agreesInSets(pod, present, placed)
}

// mayRunOn reports whether a waiting pod names the node.
func mayRunOn(pod workload.Pod, n workload.Node) bool {
	return !pod.Nowhere && (len(pod.Nodes) == 0 || slices.Contains(pod.Nodes, n.Name))
}

// place places the members on nodes, one after the other.
func (q *nodes) place(domain []workload.Node, present there) []workload.Pod {
	return q.placeAround(domain, present, nil)
}

// placeAround is place where some members have their places already.
func (q *nodes) placeAround(domain []workload.Node, present there, placed []workload.Pod) []workload.Pod {
	if q.r.Placer != nil {
		return q.placeOutside(domain, present, placed)
	}
	next := 0
	for _, m := range q.members {
		if slices.ContainsFunc(placed, func(p workload.Pod) bool { return p.ID == m.ID }) {
			continue
		}
		best, least := -1, new(big.Int)
		for step := range domain {
			i := step
			if q.config.Order == placement.RoundRobin {
				i = (next + step) % len(domain)
			}
			if !q.canRun(m, domain[i], present, placed) {
				continue
			}
			left := new(big.Int)
			if q.config.Order == placement.BestFit {
				for _, resource := range needs(m) {
					if resource != workload.PodsResource {
						part := big.NewInt(q.free(domain[i], resource, present, placed) - takes(m, resource))
						part.Lsh(part, 32).Quo(part, big.NewInt(domain[i].Capacity[resource]))
						left.Add(left, part)
					}
				}
			}
			if best < 0 || left.Cmp(least) < 0 {
				best, least = i, left
			}
		}
		if best >= 0 {
			m.Node = domain[best].Name
			placed = append(placed, m)
			next = best + 1
		}
	}
	return placed
}

// placeOutside asks a trial of the caller's placer that was begun with exactly the pods that
// are there.
func (q *nodes) placeOutside(domain []workload.Node, present there, placed []workload.Pod) []workload.Pod {
	st := placement.State{Nodes: q.st.Nodes, Groups: q.st.Groups, Pods: slices.Clone(placed)}
	for _, p := range q.st.Pods {
		if present[p.ID] {
			st.Pods = append(st.Pods, p)
		}
	}
	s, err := placement.NewSnapshot(st)
	if err != nil { // it was valid with more pods
		return placed
	}
	waiting := slices.DeleteFunc(slices.Clone(q.members), func(m workload.Pod) bool {
		return slices.ContainsFunc(placed, func(p workload.Pod) bool { return p.ID == m.ID })
	})
	var names []string
	for _, n := range domain {
		names = append(names, n.Name)
	}
	for i, name := range q.r.Placer.Begin(s, q.r).Place(waiting, names) {
		at := slices.Index(names, name)
		if i < len(waiting) && at >= 0 && q.canRun(waiting[i], domain[at], present, placed) {
			waiting[i].Node = name
			placed = append(placed, waiting[i])
		}
	}
	return placed
}

// stands reports whether the members still have their places, which they got in this order.
func (q *nodes) stands(present there, placed []workload.Pod) bool {
	for i, m := range placed {
		for _, n := range q.st.Nodes {
			if n.Name != m.Node {
				continue
			}
			for _, resource := range needs(m) {
				if q.free(n, resource, present, placed) < 0 {
					return false
				}
			}
		}
		if !q.agrees(m, present, placed) || !q.agreesInSets(m, present, placed[:i]) { // one after the other
			return false
		}
	}
	return true
}
