package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// New makes a cluster of everything at once, which is faster than one by one. It copies the
// state. It fails with a [fault.List] of everything that is wrong with it.
func New(st *State) (*Cluster, error) {
	faults := validate(st)
	resources := map[string]bool{}
	for i := range st.Nodes {
		addKeys(resources, st.Nodes[i].Capacity)
	}
	for i := range st.Pods {
		addKeys(resources, st.Pods[i].Requests)
	}
	for i := range st.Nominated {
		addKeys(resources, st.Nominated[i].Requests)
	}
	delete(resources, workload.PodsResource)
	if len(resources) > MaxResources {
		faults.Add("nodes", "%d different resources, more than %d", len(resources), MaxResources)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c := &Cluster{columns: newColumns(append([]string{workload.PodsResource}, slices.Sorted(maps.Keys(resources))...))}
	names := make([]numbered, len(st.Nodes)) // by name
	for i := range st.Nodes {
		names[i].name = st.Nodes[i].Name
	}
	slices.SortFunc(names, func(a, b numbered) int { return strings.Compare(a.name, b.name) })
	numbers := make(map[string]int32, len(names))
	for i := range names {
		names[i].number, numbers[names[i].name] = int32(i), int32(i)
		c.order = append(c.order, int32(i))
	}
	c.numbers = trie.Of(numbered.id, names)
	for i, b := range st.Budgets {
		c.budgets, c.byName = append(c.budgets, newBudget(b.Clone())), append(c.byName, int32(i))
	}
	slices.SortStableFunc(c.byName, func(a, b int32) int {
		return keyOf(&c.budgets[a].Facts).compare(keyOf(&c.budgets[b].Facts))
	})

	groups := map[string]*group{}
	for _, g := range st.Groups {
		groups[g.ID] = &group{Facts: g, known: true}
	}
	pods, on := make([]*Pod, 0, len(st.Pods)), make([][]*Pod, len(names))
	counts := map[int32]int{}
	for i := range st.Pods {
		g := groups[st.Pods[i].Group]
		p := c.newPod(st.Pods[i].Clone(), numbers[st.Pods[i].Node], g)
		if id := p.Facts.Group; id != "" {
			if g == nil {
				g = &group{Facts: workload.PodGroup{ID: id}}
				groups[id] = g
			}
			g.members = append(g.members, p)
		}
		counts[p.priority]++
		if p.minimum > 0 {
			c.minimums++
		}
		pods, on[p.node] = append(pods, p), append(on[p.node], p)
	}
	var nominated []*Pod
	promised := make([][]*Pod, len(names))
	for i := range st.Nominated {
		p := c.newPod(st.Nominated[i].Clone(), numbers[st.Nominated[i].Node], groups[st.Nominated[i].Group])
		nominated, promised[p.node] = append(nominated, p), append(promised[p.node], p)
	}
	nodes := make([]*node, len(names))
	for i := range st.Nodes {
		at := numbers[st.Nodes[i].Name]
		slices.SortFunc(on[at], comparePods)
		slices.SortFunc(promised[at], comparePods)
		n, ok := newNode(c.columns, st.Nodes[i].Clone(), at, on[at], promised[at])
		if !ok {
			faults.Add(fmt.Sprintf("nodes[%d]", i), "more than 2^62 of a resource is used")
		}
		nodes[at] = n
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c.nodes = vector.Of(nodes)
	c.pods, c.nominated = trie.Of((*Pod).id, pods), trie.Of((*Pod).id, nominated)
	var known []*group
	var covered, staying []*Unit
	cover := func(list *[]*Unit, u *Unit) {
		if u != nil && u.covered {
			*list = append(*list, u)
		}
	}
	for _, g := range groups {
		slices.SortFunc(g.members, compareUIDs)
		g = newGroup(g.Facts, g.known, g.members)
		known = append(known, g)
		cover(&covered, g.whole)
		cover(&staying, g.staying)
	}
	for _, p := range pods {
		cover(&covered, p.single)
		if !p.Facts.Terminating {
			cover(&staying, p.single)
		}
	}
	c.groups = trie.Of((*group).id, known)
	c.covered, c.coveredStaying = setOf(unitOrder, covered), setOf(unitOrder, staying)
	var levels []priorityCount
	for priority, n := range counts {
		levels = append(levels, priorityCount{priority, n})
	}
	c.levels = setOf(levelOrder, levels)
	return c, nil
}

func addKeys(set map[string]bool, r workload.Resources) {
	for name := range r {
		set[name] = true
	}
}

func setOf[T any](order *ordered.Order[T, none], list []T) ordered.Set[T, none] {
	slices.SortFunc(list, order.Compare)
	return ordered.Of(order, list)
}

// newPod makes a pod on the node with that number. It keeps facts, which must be a copy.
func (c *Cluster) newPod(facts workload.Pod, number int32, g *group) *Pod {
	a := &alone{pod: Pod{Facts: facts, node: number, priority: facts.Priority}}
	p := &a.pod
	p.takes, p.budgets = c.columns.takes(a.takes[:0], facts.Requests), c.covering(a.budgets[:0], &p.Facts)
	if g != nil && g.known {
		p.priority = g.Facts.Priority
	}
	p.minimum = minimumOf(&p.Facts, g)
	if g == nil || !g.atomic() {
		a.list[0] = p
		a.unit.fill("", a.list[:])
		p.single = &a.unit
	}
	return p
}

// minimumOf returns the minimum runtime of a pod, its own or its group's.
func minimumOf(p *workload.Pod, g *group) int64 {
	if d, ok := p.MinRuntime.Get(); ok {
		return int64(d)
	}
	if g != nil && g.known {
		if d, ok := g.Facts.MinRuntime.Get(); ok {
			return int64(d)
		}
	}
	return unsetMinimum
}
