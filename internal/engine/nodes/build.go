package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// New makes a cluster of everything at once, which is faster than one by one. It copies the
// state. It fails with a [fault.List] of everything that is wrong with it.
func New(st *State) (*Cluster, error) {
	b := builder{st: st, c: new(Cluster), numbers: make(map[string]int32, len(st.Nodes)), groups: map[string]*group{}}
	if !b.plain() {
		return nil, validate(st)
	}
	if err := b.number(); err != nil {
		return nil, err
	}
	b.addBudgets()
	for _, g := range st.Groups {
		b.groups[g.ID] = &group{Facts: g, known: true}
	}
	nodes, ok := b.addPods()
	if !ok {
		return nil, validate(st)
	}
	if err := b.overused(nodes); err != nil {
		return nil, err
	}
	b.c.nodes = vector.Of(nodes)
	b.addGroups(nodes)
	return b.c, nil
}

// builder makes a cluster.
type builder struct {
	st      *State
	c       *Cluster
	numbers map[string]int32 // of nodes
	groups  map[string]*group
	shared  shared
	like    []*alike // by pod: what it has in common with others
	covered int      // running pods under a budget
}

// plain reports whether everything by itself is valid, and no two nodes, groups or budgets have
// the same name. It is faster than to find what is wrong.
func (b *builder) plain() bool {
	st := b.st
	for i := range st.Nodes {
		if _, again := b.numbers[st.Nodes[i].Name]; again || st.Nodes[i].Validate("") != nil {
			return false
		}
		b.numbers[st.Nodes[i].Name] = 0
	}
	b.like = make([]*alike, 0, len(st.Pods)+len(st.Nominated))
	for _, list := range [...][]workload.Pod{st.Pods, st.Nominated} {
		for i := range list {
			p := list[i]
			p.Requests = nil // they are valid for all pods with equal ones
			if p.Validate("") != nil {
				return false
			}
			b.like = append(b.like, b.shared.of(&list[i]))
		}
	}
	for _, r := range b.shared.requests {
		for ; r != nil; r = r.next {
			if p := (workload.Pod{ID: "any", Requests: r.requests}); p.Validate("") != nil {
				return false
			}
		}
	}
	return len(unique(new(validator), "groups", st.Groups, func(g *workload.PodGroup) string { return g.ID })) == len(st.Groups) &&
		len(unique(new(validator), "budgets", st.Budgets, keyOf)) == len(st.Budgets) &&
		!slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.Validate("") != nil }) &&
		!slices.ContainsFunc(st.Budgets, func(b workload.DisruptionBudget) bool { return b.Validate("") != nil })
}

// number numbers the nodes, by name, and the resources.
func (b *builder) number() error {
	st, c := b.st, b.c
	resources := map[string]bool{}
	addKeys := func(r workload.Resources) {
		for name := range r {
			resources[name] = true
		}
	}
	for i := range st.Nodes {
		addKeys(st.Nodes[i].Capacity)
	}
	for _, r := range b.shared.requests {
		for ; r != nil; r = r.next {
			addKeys(r.requests)
		}
	}
	delete(resources, workload.PodsResource)
	if len(resources) > MaxResources {
		return fault.List{{Path: "nodes", Problem: fmt.Sprintf("%d different resources, more than %d", len(resources), MaxResources)}}
	}
	c.columns = newColumns(append([]string{workload.PodsResource}, slices.Sorted(maps.Keys(resources))...))
	names := make([]numbered, len(st.Nodes))
	for i := range st.Nodes {
		names[i].name = st.Nodes[i].Name
	}
	slices.SortFunc(names, func(a, b numbered) int { return strings.Compare(a.name, b.name) })
	c.order = make([]int32, len(names))
	for i := range names {
		names[i].number, b.numbers[names[i].name], c.order[i] = int32(i), int32(i), int32(i)
	}
	c.numbers = trie.Of(numbered.id, names)
	return nil
}

func (b *builder) addBudgets() {
	c := b.c
	for i, facts := range b.st.Budgets {
		c.budgets, c.byName = append(c.budgets, newBudget(facts.Clone())), append(c.byName, int32(i))
	}
	slices.SortStableFunc(c.byName, func(a, b int32) int {
		return keyOf(&c.budgets[a].Facts).compare(keyOf(&c.budgets[b].Facts))
	})
}

// addPods makes the pods and then the nodes, by number. The pods of one node are next to each
// other in memory. ok is false if two pods have the same ID or one is on an unknown node.
func (b *builder) addPods() (nodes []*node, ok bool) {
	c, st := b.c, b.st
	on, ok1 := b.byNode(st.Pods)
	promised, ok2 := b.byNode(st.Nominated)
	if !ok1 || !ok2 {
		return nil, false
	}
	running, waiting := trie.NewBuilder((*Pod).id, len(st.Pods)), trie.NewBuilder((*Pod).id, len(st.Nominated))
	nodes = make([]*node, len(st.Nodes))
	counts := map[int32]int{}
	for i := range st.Nodes {
		at := b.numbers[st.Nodes[i].Name]
		pods := b.make(st.Pods, on.of(at), at, b.like)
		for _, p := range pods {
			running.Add(p)
			if counts[p.priority]++; p.minimum > 0 {
				c.minimums++
			}
			if len(p.budgets) > 0 {
				b.covered++
			}
			b.join(p)
		}
		nominated := b.make(st.Nominated, promised.of(at), at, b.like[len(st.Pods):])
		for _, p := range nominated {
			waiting.Add(p)
		}
		nodes[at], _ = newNode(c.columns, st.Nodes[i].Clone(), at, pods, nominated)
	}
	c.pods, c.nominated = running.Map(), waiting.Map()
	for i := range st.Nominated {
		if _, runs := c.pods.Get(st.Nominated[i].ID); runs || st.Nominated[i].Terminating {
			return nil, false
		}
	}
	var levels []priorityCount
	for priority, n := range counts {
		levels = append(levels, priorityCount{priority, n})
	}
	c.levels = setOf(levelOrder, levels)
	return nodes, c.pods.Len() == len(st.Pods) && c.nominated.Len() == len(st.Nominated)
}

// overused finds the nodes with more usage than can be counted.
func (b *builder) overused(nodes []*node) error {
	var faults fault.List
	for i := range b.st.Nodes {
		if !nodes[b.numbers[b.st.Nodes[i].Name]].countable() {
			faults.Add(fmt.Sprintf("nodes[%d]", i), "more than 2^62 of a resource is used")
		}
	}
	return faults.Err()
}

// listing lists indexes by node: of node i those at [from[i], from[i+1]).
type listing struct{ from, list []int32 }

func (l listing) of(i int32) []int32 { return l.list[l.from[i]:l.from[i+1]] }

// byNode lists the pods of each node by ID. ok is false if a node is unknown.
func (b *builder) byNode(pods []workload.Pod) (l listing, ok bool) {
	l = listing{make([]int32, len(b.st.Nodes)+1), make([]int32, len(pods))}
	number := make([]int32, len(pods))
	for i := range pods {
		if i > 0 && pods[i].Node == pods[i-1].Node {
			number[i] = number[i-1]
		} else if number[i], ok = b.numbers[pods[i].Node]; !ok {
			return l, false
		}
		l.from[number[i]+1]++
	}
	for i := 1; i < len(l.from); i++ {
		l.from[i] += l.from[i-1]
	}
	at := slices.Clone(l.from)
	for i := range pods {
		l.list[at[number[i]]] = int32(i)
		at[number[i]]++
	}
	for i := range b.st.Nodes {
		slices.SortFunc(l.of(int32(i)), func(x, y int32) int { return strings.Compare(pods[x].ID, pods[y].ID) })
	}
	return l, true
}

// make makes the pods with those indexes, on one node.
func (b *builder) make(list []workload.Pod, indexes []int32, number int32, like []*alike) []*Pod {
	if len(indexes) == 0 {
		return nil
	}
	room, pods := make([]lone, len(indexes)), make([]*Pod, len(indexes))
	for i, at := range indexes {
		p, l := &room[i].pod, like[at]
		l.settle(b.c, &list[at])
		p.Facts, p.node, p.takes, p.budgets, p.like = list[at], number, l.takes, l.budgets, l
		p.Facts.Labels, p.Facts.Requests, p.Facts.Nodes = l.labels, l.requests, slices.Clone(list[at].Nodes)
		room[i].join(b.groups[p.Facts.Group])
		pods[i] = p
	}
	return pods
}

// join adds a running pod to its group.
func (b *builder) join(p *Pod) {
	if id := p.Facts.Group; id != "" {
		g := b.groups[id]
		if g == nil {
			g = &group{Facts: workload.PodGroup{ID: id}}
			b.groups[id] = g
		}
		g.members = append(g.members, p)
	}
}

// addGroups makes the groups and the indexes of covered units.
func (b *builder) addGroups(nodes []*node) {
	var known []*group
	covered := make([]coveredUnit, 0, b.covered+2*len(b.groups))
	add := func(u *Unit) {
		if u != nil && u.covered {
			covered = append(covered, coveredUnitOf(u))
		}
	}
	for _, g := range b.groups {
		slices.SortFunc(g.members, compareUIDs)
		g = newGroup(g.Facts, g.known, g.members)
		known = append(known, g)
		if add(g.whole); g.staying != g.whole {
			add(g.staying)
		}
	}
	for _, n := range nodes {
		for _, p := range n.pods {
			if len(p.budgets) > 0 {
				add(p.single)
			}
		}
	}
	sortCovered(covered)
	units := make([]*Unit, len(covered))
	for i := range covered {
		units[i] = covered[i].unit
	}
	c := b.c
	c.groups = trie.Of((*group).id, known)
	c.covered = ordered.Of(unitOrder, units)
	c.byBudget = ordered.Of(coverageOrder, byBudget(covered, len(c.budgets)))
}

func setOf[T any](order *ordered.Order[T, none], list []T) ordered.Set[T, none] {
	slices.SortFunc(list, order.Compare)
	return ordered.Of(order, list)
}
