package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// New makes a cluster of everything at once, which is faster than one by one. It copies the state. It fails with a
// [fault.List] of everything that is wrong with it.
func New(st *State) (*Cluster, error) {
	b := builder{st: st, c: new(Cluster), indexes: make(map[string]int32, len(st.Nodes)), groups: groups{}}
	if !b.isValid() {
		return nil, validate(st)
	}
	if err := b.number(); err != nil {
		return nil, err
	}
	if b.addBudgets(); len(st.Budgets) > 0 {
		b.covered = make(coveredUnits, 0, len(st.Pods))
	}
	for _, g := range st.Groups {
		b.groups[g.ID] = &groupMembers{Group: Group{Facts: g, Known: true}}
	}
	b.nest()
	b.addClaims()
	nodes, ok := b.addPods()
	if !ok {
		return nil, validate(st)
	}
	if err := b.overused(nodes); err != nil {
		return nil, err
	}
	b.c.nodes = vector.Of(nodes)
	b.addGroups()
	e := b.c.Edit("") // it finds no faults: the pods use what they used
	for g := range b.c.groups.All {
		e.moveSurplus(g)
	}
	return b.c, nil
}

// builder makes a cluster.
type builder struct {
	st         *State
	c          *Cluster
	indexes    map[string]int32 // of nodes in the state, by name
	numbers    []int32          // of nodes, by index in the state
	groups     groups
	shared     shared
	capacities shared
	alike      []*alike // by pod: what it shares with others
	covered    coveredUnits
	overuses   bool // usage of a node is out of bounds
}

// isValid reports whether each thing by itself is valid, and no two nodes, groups or budgets have the same name. It
// is faster than [validate].
func (b *builder) isValid() bool {
	st := b.st
	for i := range st.Nodes {
		b.indexes[st.Nodes[i].Name] = int32(i)
		if len(b.indexes) != i+1 || st.Nodes[i].Validate("") != nil {
			return false
		}
	}
	b.alike = make([]*alike, 0, len(st.Pods)+len(st.Nominated))
	for _, list := range [...][]workload.Pod{st.Pods, st.Nominated} {
		for i := range list {
			p := list[i]
			p.Requests = nil // checked below, once for all pods with equal requests
			if p.Validate("") != nil {
				return false
			}
			b.alike = append(b.alike, b.shared.of(&list[i]))
		}
	}
	for _, r := range b.shared.requests {
		for ; r != nil; r = r.next {
			if p := (workload.Pod{ID: "any", Requests: r.requests}); p.Validate("") != nil {
				return false
			}
		}
	}
	if !b.hasValidClaims() {
		return false
	}
	var parents fault.List
	validateParents(&parents, st.Groups)
	return parents == nil && len(Unique(new(Check), "groups", st.Groups, func(g *workload.PodGroup) string { return g.ID })) == len(st.Groups) &&
		len(Unique(new(Check), "budgets", st.Budgets, keyOf)) == len(st.Budgets) &&
		!slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.Validate("") != nil }) &&
		!slices.ContainsFunc(st.Budgets, func(b workload.DisruptionBudget) bool { return b.Validate("") != nil })
}

// number numbers the nodes, by name, and the resources.
func (b *builder) number() error {
	st, c := b.st, b.c
	resources := map[string]bool{}
	for i := range st.Nodes {
		b.capacities.equal(st.Nodes[i].Capacity)
	}
	for _, of := range [...]*shared{&b.capacities, &b.shared} {
		for _, r := range of.requests {
			for ; r != nil; r = r.next {
				for name := range r.requests {
					resources[name] = true
				}
			}
		}
	}
	for i := range st.Claims {
		for name := range st.Claims[i].Requests {
			resources[name] = true
		}
	}
	delete(resources, workload.PodsResource)
	if len(resources) > MaxResources {
		return fault.List{{Path: "nodes", Problem: fmt.Sprintf("%d different resources, more than %d", len(resources), MaxResources)}}
	}
	c.Columns = newColumns(append([]string{workload.PodsResource}, slices.Sorted(maps.Keys(resources))...))
	names := make([]numbered, len(st.Nodes)) // with the index in the state at first
	for i := range st.Nodes {
		names[i] = numbered{st.Nodes[i].Name, int32(i)}
	}
	slices.SortFunc(names, func(a, b numbered) int { return strings.Compare(a.name, b.name) })
	b.numbers, c.Order = make([]int32, len(names)), make([]int32, len(names))
	for i := range names {
		b.numbers[names[i].number], names[i].number, c.Order[i] = int32(i), int32(i), int32(i)
	}
	c.numbers = trie.Of(numbered.id, names)
	return nil
}

func (b *builder) addBudgets() {
	c, added := b.c, make([]staleBudget, 0, len(b.st.Budgets))
	for i, facts := range b.st.Budgets {
		c.Budgets, c.BudgetOrder = append(c.Budgets, newBudget(facts.Clone())), append(c.BudgetOrder, int32(i))
		added = append(added, staleBudget{int32(i), facts.Namespace})
	}
	slices.SortStableFunc(c.BudgetOrder, func(a, b int32) int {
		return keyOf(&c.Budgets[a].Facts).compare(keyOf(&c.Budgets[b].Facts))
	})
	c.asked = c.asked.with(c.Budgets, added)
}

// manyParts is how many levels, amounts or briefs of nodes share an allocation. For 20,000 nodes a new snapshot makes
// 60,000 allocations fewer than with an allocation for each node.
const manyParts = 1024

// addPods makes the pods and then the nodes, by number. The pods of one node are next to each other in memory. ok is
// false if two pods have the same ID or one is on an unknown node.
func (b *builder) addPods() (nodes []*Node, ok bool) {
	c, st := b.c, b.st
	on, ok1 := b.byNode(st.Pods)
	promised, ok2 := b.byNode(st.Nominated)
	if !ok1 || !ok2 {
		return nil, false
	}
	running, waiting := trie.NewBuilder((*Pod).id, len(st.Pods)), trie.NewBuilder((*Pod).id, len(st.Nominated))
	nodes = make([]*Node, len(st.Nodes))
	counts := map[int32]int{}
	memory := nodeMemory{chunk: min(manyParts, len(st.Pods)+len(st.Nodes))}
	for i := range st.Nodes {
		pods := b.make(st.Pods, on.of(i), b.numbers[i], b.alike)
		for _, p := range pods {
			running.Add(p)
			c.countSpecial(p, 1)
			b.covered.add(p.Single)
			b.groups.join(p)
		}
		nominated := b.make(st.Nominated, promised.of(i), b.numbers[i], b.alike[len(st.Pods):])
		for _, p := range nominated {
			waiting.Add(p)
		}
		facts := st.Nodes[i]
		facts.Capacity, facts.Labels = b.capacities.equal(facts.Capacity).requests, maps.Clone(facts.Labels)
		n, countable := newNode(c.Columns, facts, b.numbers[i], pods, nominated, &memory)
		for _, l := range n.Levels {
			counts[l.Priority] += int(l.Pods)
		}
		nodes[n.Number], b.overuses = n, b.overuses || !countable
	}
	c.Running, c.Promised = running.Map(), waiting.Map()
	for i := range st.Nominated {
		if _, runs := c.Running.Get(st.Nominated[i].ID); runs || st.Nominated[i].Terminating {
			return nil, false
		}
	}
	var levels []levelCount
	for priority, n := range counts {
		levels = append(levels, levelCount{priority, n})
	}
	c.levels = setOf(levelOrder, levels)
	return nodes, c.Running.Len() == len(st.Pods) && c.Promised.Len() == len(st.Nominated)
}

// overused finds the nodes with more usage than can be counted.
func (b *builder) overused(nodes []*Node) error {
	var faults fault.List
	for i, number := range b.numbers {
		if b.overuses && !nodes[number].countable() {
			faults.Add(fmt.Sprintf("nodes[%d]", i), "more than 2^62 of a resource is used")
		}
	}
	return faults.Err()
}

// listing lists pods by node, both by index in the state: the pods of node i are at [from[i], from[i+1]).
type listing struct{ from, list []int32 }

func (l listing) of(i int) []int32 { return l.list[l.from[i]:l.from[i+1]] }

// byNode lists the pods of each node, in their order. ok is false if a node is unknown.
func (b *builder) byNode(pods []workload.Pod) (l listing, ok bool) {
	l = listing{make([]int32, len(b.st.Nodes)+1), make([]int32, len(pods))}
	on := make([]int32, len(pods))
	for i := range pods {
		if i > 0 && pods[i].Node == pods[i-1].Node {
			on[i] = on[i-1]
		} else if on[i], ok = b.indexes[pods[i].Node]; !ok {
			return l, false
		}
		l.from[on[i]+1]++
	}
	for i := 1; i < len(l.from); i++ {
		l.from[i] += l.from[i-1]
	}
	next := slices.Clone(l.from)
	for i := range pods {
		l.list[next[on[i]]] = int32(i)
		next[on[i]]++
	}
	return l, true
}

// make makes the pods with the given indexes, on one node, by ID.
func (b *builder) make(list []workload.Pod, indexes []int32, number int32, shared []*alike) []*Pod {
	if len(indexes) == 0 {
		return nil
	}
	slices.SortFunc(indexes, func(x, y int32) int { return strings.Compare(list[x].ID, list[y].ID) })
	made, pods := make([]unitPod, len(indexes)), make([]*Pod, len(indexes))
	for i, index := range indexes {
		p, of := &made[i].pod, shared[index]
		b.settle(of, &list[index])
		p.Facts, p.Node, p.Takes, p.Budgets, p.alike = list[index], number, of.takes, of.budgets, of
		p.Facts.Labels, p.Facts.Requests, p.Facts.Nodes = of.labels, of.requests, b.shared.list(list[index].Nodes)
		p.Facts.Claims = slices.Clone(list[index].Claims)
		g := b.groups.of(p)
		if p.belong(g); g.isAlone() {
			made[i].makeUnit()
		}
		pods[i] = p
	}
	return pods
}

// settle computes what pods share, for the first of them.
func (b *builder) settle(a *alike, p *workload.Pod) {
	if a.settled {
		return
	}
	if a.settled = true; a.takes == nil {
		a.takes = b.c.Columns.takes(nil, a.requests)
	}
	a.budgets = b.c.covering(nil, p)
}

// addGroups makes the groups and the indexes of covered units.
func (b *builder) addGroups() {
	known := make([]*Group, 0, len(b.groups))
	for _, members := range b.groups {
		g := members.finish()
		for _, u := range g.units() {
			b.covered.add(u)
		}
		known = append(known, g)
	}
	covered := b.covered.sort()
	units := make([]*Unit, len(covered))
	for i := range covered {
		units[i] = covered[i].unit
	}
	c := b.c
	c.groups = trie.Of((*Group).id, known)
	c.covered = ordered.Of(unitOrder, units)
	c.byBudget = ordered.Of(coverageOrder, covered.byBudget(len(c.Budgets)))
}

func setOf[T any](order *ordered.Order[T, none], list []T) ordered.Set[T, none] {
	slices.SortFunc(list, order.Compare)
	return ordered.Of(order, list)
}
