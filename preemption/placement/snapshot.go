package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
)

// Snapshot is an immutable cluster: nodes, what runs on them, groups, budgets, promises.
// Any number of goroutines may use one. Make it with [NewSnapshot]; the zero value is an
// empty cluster.
type Snapshot struct{ inside *cluster }

// cluster is a snapshot on the inside. Persistent containers share what an edit leaves.
type cluster struct {
	columns   *columns
	names     []string // of nodes, sorted: their numbers
	nodes     vector.Vector[*node]
	pods      trie.Map[*pod]   // that run, by ID
	nominated trie.Map[*pod]   // by ID
	groups    trie.Map[*group] // known or named by a pod that runs, by ID
	budgets   []budget         // by namespace and name
	// levels is the priorities of what runs, rising, with the number of pods.
	levels ordered.Set[priorityCount, none]
	// covered is the units that a budget covers, most important first: with all pods, and
	// with those that do not terminate.
	covered, coveredStaying unitSet
}

type priorityCount struct {
	priority int32
	pods     int
}

// none is what the sets here sum up.
type none struct{}

type unitSet = ordered.Set[*unit, none]

var (
	unitOrder  = &ordered.Order[*unit, none]{Compare: compareUnits}
	levelOrder = &ordered.Order[priorityCount, none]{Compare: func(a, b priorityCount) int { return cmp.Compare(a.priority, b.priority) }}
)

func (p *pod) id() string   { return p.facts.ID }
func (g *group) id() string { return g.facts.ID }

func comparePods(a, b *pod) int { return cmp.Compare(a.facts.ID, b.facts.ID) }

var empty, _ = build(State{}) // nothing can be wrong with nothing

func (s *Snapshot) cluster() *cluster {
	if s == nil || s.inside == nil {
		return empty
	}
	return s.inside
}

// NewSnapshot makes a snapshot of a state, which it copies. It fails with [fault.List] that
// list everything wrong with the state, by path: empty or repeated names and IDs, unknown
// nodes, negative amounts, a disruption mode that the group cannot have, malformed
// selectors, more than [MaxResources] resources, and, if nothing else is wrong, a node of
// which more than 2^62 is used.
func NewSnapshot(st State) (*Snapshot, error) {
	c, err := build(st)
	if err != nil {
		return nil, err
	}
	return &Snapshot{c}, nil
}

// build makes a cluster of everything at once, which is faster than one by one.
func build(st State) (*cluster, error) {
	faults := validate(&st)
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
	delete(resources, PodsResource)
	if len(resources) > MaxResources {
		faults.Add("nodes", "%d different resources, more than %d", len(resources), MaxResources)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c := &cluster{columns: newColumns(append([]string{PodsResource}, slices.Sorted(maps.Keys(resources))...))}
	for i := range st.Nodes {
		c.names = append(c.names, st.Nodes[i].Name)
	}
	slices.Sort(c.names)
	for _, b := range st.Budgets {
		c.budgets = append(c.budgets, newBudget(b.Clone()))
	}
	slices.SortFunc(c.budgets, func(a, b budget) int { return a.facts.key().compare(b.facts.key()) })

	groups := map[string]*group{}
	for _, g := range st.Groups {
		groups[g.ID] = &group{facts: g, known: true}
	}
	pods, on := make([]*pod, 0, len(st.Pods)), make([][]*pod, len(c.names))
	counts := map[int32]int{}
	for i := range st.Pods {
		g := groups[st.Pods[i].Group]
		p := c.newPod(st.Pods[i].Clone(), g)
		if id := p.facts.Group; id != "" {
			if g == nil {
				g = &group{facts: Group{ID: id}}
				groups[id] = g
			}
			g.members = append(g.members, p)
		}
		counts[p.priority]++
		pods, on[p.node] = append(pods, p), append(on[p.node], p)
	}
	var nominated []*pod
	promised := make([][]*pod, len(c.names))
	for i := range st.Nominated {
		p := c.newPod(st.Nominated[i].Clone(), groups[st.Nominated[i].Group])
		nominated, promised[p.node] = append(nominated, p), append(promised[p.node], p)
	}
	nodes := make([]*node, len(c.names))
	for i := range st.Nodes {
		at, _ := slices.BinarySearch(c.names, st.Nodes[i].Name)
		slices.SortFunc(on[at], comparePods)
		slices.SortFunc(promised[at], comparePods)
		n, ok := newNode(c.columns, st.Nodes[i].Clone(), int32(at), on[at], promised[at])
		if !ok {
			faults.Add(fmt.Sprintf("nodes[%d]", i), "more than 2^62 of a resource is used")
		}
		nodes[at] = n
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c.nodes = vector.Of(nodes)
	c.pods, c.nominated = trie.Of((*pod).id, pods), trie.Of((*pod).id, nominated)
	var known []*group
	var covered, staying []*unit
	cover := func(list *[]*unit, u *unit) {
		if u != nil && u.covered {
			*list = append(*list, u)
		}
	}
	for _, g := range groups {
		slices.SortFunc(g.members, compareUIDs)
		g = newGroup(g.facts, g.known, g.members)
		known = append(known, g)
		cover(&covered, g.whole)
		cover(&staying, g.staying)
	}
	for _, p := range pods {
		cover(&covered, p.single)
		if !p.facts.Terminating {
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

func addKeys(set map[string]bool, r Resources) {
	for name := range r {
		set[name] = true
	}
}

func setOf[T any](order *ordered.Order[T, none], list []T) ordered.Set[T, none] {
	slices.SortFunc(list, order.Compare)
	return ordered.Of(order, list)
}

// newPod makes a pod of facts that are its own.
func (c *cluster) newPod(facts Pod, g *group) *pod {
	number, _ := slices.BinarySearch(c.names, facts.Node)
	a := &alone{pod: pod{facts: facts, node: int32(number), priority: facts.Priority}}
	p := &a.pod
	p.takes, p.budgets = c.columns.takes(a.takes[:0], facts.Requests), c.covering(a.budgets[:0], &p.facts)
	if g != nil && g.known {
		p.priority = g.facts.Priority
	}
	if g == nil || !g.atomic() {
		a.list[0] = p
		a.unit.fill("", a.list[:])
		p.single = &a.unit
	}
	return p
}

func (c *cluster) group(id string) *group {
	g, _ := c.groups.Get(id)
	return g
}

func (c *cluster) pod(in trie.Map[*pod], id string) *pod {
	p, _ := in.Get(id)
	return p
}

// nodeNumber returns the number of a node, -1 if there is none of that name.
func (c *cluster) nodeNumber(name string) int {
	if at, found := slices.BinarySearch(c.names, name); found {
		return at
	}
	return -1
}

// unitOf is the unit of a pod that runs, without those of its pods that terminate if
// staying is set; nil when that leaves none.
func (c *cluster) unitOf(p *pod, staying bool) *unit {
	switch {
	case staying && p.facts.Terminating:
		return nil
	case p.single != nil:
		return p.single
	case staying:
		return c.group(p.facts.Group).staying
	}
	return c.group(p.facts.Group).whole
}

// sorted lists the items of a map by name.
func sorted[T any](m trie.Map[T], name func(T) string) []T {
	list := make([]T, 0, m.Len())
	for item := range m.All {
		list = append(list, item)
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
	return list
}

// State returns a deep copy of what the snapshot is made of: nodes, pods and groups by
// name or ID, budgets by namespace and name.
func (s *Snapshot) State() State {
	c := s.cluster()
	var st State
	for i := range c.nodes.Len() {
		st.Nodes = append(st.Nodes, c.nodes.At(i).facts.Clone())
	}
	for _, p := range sorted(c.pods, (*pod).id) {
		st.Pods = append(st.Pods, p.facts.Clone())
	}
	for _, p := range sorted(c.nominated, (*pod).id) {
		st.Nominated = append(st.Nominated, p.facts.Clone())
	}
	for _, g := range sorted(c.groups, (*group).id) {
		if g.known {
			st.Groups = append(st.Groups, g.facts)
		}
	}
	for i := range c.budgets {
		st.Budgets = append(st.Budgets, c.budgets[i].facts.Clone())
	}
	return st
}

// Units returns the units of what runs, the most important first.
func (s *Snapshot) Units() []Unit {
	units := s.cluster().units()
	out := make([]Unit, len(units))
	for i, u := range units {
		out[i] = u.public()
	}
	return out
}

func (c *cluster) units() []*unit {
	var units []*unit
	for p := range c.pods.All {
		if u := c.unitOf(p, false); u.pods[0] == p {
			units = append(units, u)
		}
	}
	slices.SortFunc(units, compareUnits)
	return units
}
