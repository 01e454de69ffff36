package nodes

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/cedesched/cede/workload"
)

// world is who is there: running pods by ID, and members of the request that are placed.
type world struct {
	*Question
	byName map[string]*workload.Node
	there  map[string]workload.Pod
	placed []workload.Pod
	free   map[string]map[string]int64 // by node and resource; absent: the node's capacity
}

func newWorld(q *Question) *world {
	w := &world{Question: q, byName: map[string]*workload.Node{}, there: map[string]workload.Pod{}, free: map[string]map[string]int64{}}
	for i := range q.Nodes {
		n := &q.Nodes[i]
		w.byName[n.Name], w.free[n.Name] = n, map[string]int64{}
		for resource, amount := range n.Capacity {
			w.free[n.Name][resource] = amount
		}
		if _, limited := n.Capacity[workload.PodsResource]; !limited {
			w.free[n.Name][workload.PodsResource] = math.MaxInt64
		}
	}
	for _, p := range q.Nominated {
		if w.isAhead(p) {
			w.move(p, -1)
		}
	}
	for _, p := range q.Pods {
		w.come(p)
	}
	return w
}

// isAhead reports whether the promise to a waiting pod holds against the request.
func (w *world) isAhead(p workload.Pod) bool {
	own := slices.ContainsFunc(w.Members, func(m workload.Pod) bool { return m.ID == p.ID })
	return !own && w.priorityOf(p) >= w.Priority
}

func (w *world) priorityOf(p workload.Pod) int32 {
	for _, g := range w.Groups {
		if g.ID == p.Group {
			return g.Priority
		}
	}
	return p.Priority
}

// move changes what is free on the pod's node.
func (w *world) move(p workload.Pod, times int64) {
	free := w.free[p.Node]
	for resource, amount := range p.Requests {
		free[resource] += times * amount
	}
	free[workload.PodsResource] += times
}

func (w *world) come(p workload.Pod) { w.there[p.ID] = p; w.move(p, -1) }
func (w *world) leave(p workload.Pod) {
	if _, there := w.there[p.ID]; there {
		delete(w.there, p.ID)
		w.move(p, 1)
	}
}

// only makes exactly those pods be there for which keep holds.
func (w *world) only(keep func(workload.Pod) bool) {
	for _, p := range w.Pods {
		if _, there := w.there[p.ID]; there != keep(p) {
			if there {
				w.leave(p)
			} else {
				w.come(p)
			}
		}
	}
}

// hasRoom reports whether what a pod takes is free on a node, or, if it is placed there
// already, whether nothing is over-used.
func (w *world) hasRoom(p workload.Pod, node string, placed bool) bool {
	enough := func(resource string, amount int64) bool {
		if placed {
			amount = 0
		}
		return w.free[node][resource] >= amount
	}
	for resource, amount := range p.Requests {
		if amount > 0 && !enough(resource, amount) {
			return false
		}
	}
	return enough(workload.PodsResource, 1)
}

// agrees asks the filters about a pod on its node.
func (w *world) agrees(p workload.Pod) bool {
	for _, f := range w.Filters {
		conflict := func(o workload.Pod) bool {
			return o.ID != p.ID && (o.Node == p.Node || f.Wide) && f.Rule.Conflict(p, o)
		}
		if !f.Rule.Feasible(p, *w.byName[p.Node]) || slices.ContainsFunc(w.placed, conflict) ||
			slices.ContainsFunc(w.Nominated, func(o workload.Pod) bool { return w.isAhead(o) && conflict(o) }) {
			return false
		}
		for _, o := range w.there {
			if conflict(o) {
				return false
			}
		}
	}
	return true
}

// allows asks the set filters about a pod on its node, beside those there and placed, with the
// pods nominated to the node ahead of it and without.
func (w *world) allows(p workload.Pod, placed []workload.Pod) bool {
	if w.Allows == nil {
		return true
	}
	pods := w.beside(placed)
	ahead := slices.Clone(pods)
	for _, o := range w.Nominated {
		if o.Node == p.Node && w.isAhead(o) {
			ahead = append(ahead, o)
		}
	}
	n := *w.byName[p.Node]
	return w.Allows(p, n, pods) && (len(ahead) == len(pods) || w.Allows(p, n, ahead))
}

// beside lists placed members and the running pods that are there.
func (w *world) beside(placed []workload.Pod) []workload.Pod {
	pods := slices.Clone(placed)
	for _, o := range w.Pods {
		if _, there := w.there[o.ID]; there {
			pods = append(pods, o)
		}
	}
	return pods
}

// mayRun reports whether a member may be placed on a node.
func (w *world) mayRun(p workload.Pod, node string) bool {
	p.Node = node
	named := !p.Nowhere && (len(p.Nodes) == 0 || slices.Contains(p.Nodes, node))
	return named && w.hasRoom(p, node, false) && w.agrees(p) && w.allows(p, w.placed)
}

// put places a member; take is its inverse for all placed.
func (w *world) put(p workload.Pod, node string) {
	p.Node = node
	w.placed = append(w.placed, p)
	w.move(p, -1)
}

func (w *world) unplace() {
	for _, p := range w.placed {
		w.move(p, 1)
	}
	w.placed = nil
}

// stands reports whether the placed members still have their places.
func (w *world) stands() bool {
	for i, p := range w.placed { // one after the other
		if !w.allows(p, w.placed[:i]) {
			return false
		}
	}
	return !slices.ContainsFunc(w.placed, func(p workload.Pod) bool { return !w.hasRoom(p, p.Node, true) || !w.agrees(p) })
}

// domains lists the domains of the request, each as nodes in the order in which they are tried.
func (w *world) domains() (list [][]string) {
	rank := func(name string) int {
		if i := slices.Index(w.Prefer, name); i >= 0 {
			return i
		}
		return len(w.Prefer)
	}
	all := w.Domains
	if len(all) == 0 {
		all = [][]string{nil}
		for _, n := range w.Nodes {
			all[0] = append(all[0], n.Name)
		}
	}
	for _, names := range all {
		var domain []string
		for _, n := range w.Nodes {
			if !n.Unschedulable && slices.Contains(names, n.Name) {
				domain = append(domain, n.Name)
			}
		}
		slices.SortFunc(domain, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
		list = append(list, domain)
	}
	return list
}

// place places the members, one after the other, and returns how many have a place. With
// promised those that keep the place of their nomination are placed first; without any such
// the result is 0. It leaves nobody placed.
func (w *world) place(domain []string, promised bool) int {
	defer w.unplace()
	done := map[string]bool{}
	if promised {
		for _, m := range w.Members {
			for _, p := range w.Nominated {
				if p.ID == m.ID && slices.Contains(domain, p.Node) && w.mayRun(m, p.Node) {
					w.put(m, p.Node)
					done[m.ID] = true
				}
			}
		}
		if len(done) == 0 {
			return 0
		}
	}
	waiting := slices.DeleteFunc(slices.Clone(w.Members), func(m workload.Pod) bool { return done[m.ID] })
	if w.Place != nil {
		for i, name := range w.Place(waiting, domain, w.beside(w.placed)) {
			if i < len(waiting) && slices.Contains(domain, name) && w.mayRun(waiting[i], name) {
				w.put(waiting[i], name)
			}
		}
		return len(w.placed)
	}
	next := 0
	for _, m := range waiting {
		best, least := -1, new(big.Int)
		for step := range domain {
			i := step
			if w.Round {
				i = (next + step) % len(domain)
			}
			if !w.mayRun(m, domain[i]) {
				continue
			}
			if left := w.leftOver(m, domain[i]); best < 0 || left.Cmp(least) < 0 {
				best, least = i, left
			}
		}
		if best >= 0 {
			w.put(m, domain[best])
			next = best + 1
		}
	}
	return len(w.placed)
}

// leftOver is what the best fit makes small: the free part of the capacity after the pod, in
// units of 2^-32, summed over its resources. Zero in the other orders.
func (w *world) leftOver(m workload.Pod, node string) *big.Int {
	sum := new(big.Int)
	for resource, amount := range m.Requests {
		if w.BestFit && amount > 0 {
			part := big.NewInt(w.free[node][resource] - amount)
			sum.Add(sum, part.Quo(part.Lsh(part, 32), big.NewInt(w.byName[node].Capacity[resource])))
		}
	}
	return sum
}
