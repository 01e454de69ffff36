package room

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/workload"
)

// NoFloor is the floor below all priorities: no unit is gone.
const NoFloor = math.MinInt64

// Cost is what a decision costs, in numbers that do not depend on the machine.
type Cost struct {
	Checks    int // units put back with a check
	Opened    int // placements started
	Tried     int // nodes on which a pod was tried
	Looked    int // units looked at
	Elsewhere int // pods of units that stay without a look at each
}

// Plus adds costs.
func (a Cost) Plus(b Cost) Cost {
	return Cost{a.Checks + b.Checks, a.Opened + b.Opened, a.Tried + b.Tried, a.Looked + b.Looked, a.Elsewhere + b.Elsewhere}
}

// Domain is the nodes [From, To) of a search. IsLast is set for all nodes together, which are used if no domain before
// them has room.
type Domain struct {
	Name     string
	From, To int
	IsLast   bool
}

// Size is the number of nodes.
func (d Domain) Size() int { return d.To - d.From }

// Has reports whether a node is in the domain.
func (d Domain) Has(node int) bool { return node >= d.From && node < d.To }

// Grid numbers what a search counts: nodes, domain by domain, and the resources of the request (slots).
type Grid struct {
	unit.Judge
	Cost    Cost     // of the decision so far
	Slots   []string // resources; the first is workload.PodsResource
	Nodes   []*state.Node
	Domains []Domain
	columns []int32 // of the cluster, by slot; -1: none
	slotOf  []int32 // by column; -1: none
	local   []int32 // by number of the cluster's node; -1: it is not in the search
	rank    []int32 // by the same number: the order in which nodes are tried
}

func (g *Grid) begin() {
	g.numberSlots()
	g.numberNodes()
}

// end drops the references to the cluster.
func (g *Grid) end() {
	clear(g.Nodes)
	g.Judge.End()
}

// Width is the number of slots.
func (g *Grid) Width() int { return len(g.Slots) }

func (g *Grid) numberSlots() {
	names := map[string]bool{}
	for i := range g.Request.Pods {
		for name, value := range g.Request.Pods[i].Requests {
			if value > 0 {
				names[name] = true
			}
		}
		for _, id := range g.Request.Pods[i].Claims {
			for _, a := range g.Cluster.Claim(id).Takes {
				names[g.Cluster.Columns.Names[a.Column]] = true
			}
		}
	}
	g.Slots = slices.Insert(slices.Sorted(maps.Keys(names)), 0, workload.PodsResource)
	g.columns = g.columns[:0]
	g.slotOf = Resize(g.slotOf, len(g.Cluster.Columns.Names))
	for i := range g.slotOf {
		g.slotOf[i] = -1
	}
	for slot, name := range g.Slots {
		column := g.Cluster.Columns.Of(name)
		g.columns = append(g.columns, column)
		if column >= 0 {
			g.slotOf[column] = int32(slot)
		}
	}
}

// Needs returns what a pod of the request needs, by slot.
func (g *Grid) Needs(r workload.Resources) []int64 {
	needs := make([]int64, len(g.Slots))
	needs[0] = 1
	for slot, name := range g.Slots[1:] {
		needs[slot+1] = r[name]
	}
	return needs
}

func (g *Grid) numberNodes() {
	c, request := g.Cluster, g.Request
	g.local = Resize(g.local, c.Numbers())
	for i := range g.local {
		g.local[i] = -1
	}
	rank := g.rankNodes()
	g.Nodes, g.Domains = g.Nodes[:0], g.Domains[:0]
	add := func(name string, numbers []int32) {
		if rank != nil {
			slices.SortFunc(numbers, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
		}
		from := len(g.Nodes)
		for _, number := range numbers {
			if n := c.Node(number); !n.Facts.Unschedulable {
				g.local[number] = int32(len(g.Nodes))
				g.Nodes = append(g.Nodes, n)
			}
		}
		g.Domains = append(g.Domains, Domain{Name: name, From: from, To: len(g.Nodes)})
	}
	if len(request.Domains) == 0 {
		all := c.Order
		if rank != nil {
			all = slices.Clone(all)
		}
		add("", all)
	}
	for _, d := range request.Domains {
		numbers := make([]int32, len(d.Nodes))
		for i, name := range d.Nodes {
			numbers[i] = c.NodeNumber(name)
		}
		add(d.Name, numbers)
	}
	if request.DomainsPreferred && len(request.Domains) > 0 {
		g.Domains = append(g.Domains, Domain{To: len(g.Nodes), IsLast: true})
	}
}

// rankNodes returns the order in which nodes are tried, by number; nil: by name.
func (g *Grid) rankNodes() []int32 {
	prefer := g.Request.Prefer
	if len(prefer)+len(g.Request.Domains) == 0 {
		return nil
	}
	g.rank = Resize(g.rank, g.Cluster.Numbers())
	for i, number := range g.Cluster.Order {
		g.rank[number] = int32(len(prefer) + i)
	}
	for i, name := range prefer {
		g.rank[g.Cluster.NodeNumber(name)] = int32(i)
	}
	return g.rank
}

// Local returns the node of the search with a number of the cluster; -1: the search does not have it.
func (g *Grid) Local(number int32) int { return int(g.local[number]) }

// Of returns the node on which a pod runs; -1: the search does not have it.
func (g *Grid) Of(p *state.Pod) int { return int(g.local[p.Node]) }

// Within reports whether a pod of the unit runs in the domain.
func (g *Grid) Within(d Domain, u *state.Unit) bool {
	for _, p := range u.Pods {
		if d.Has(g.Of(p)) {
			return true
		}
	}
	return false
}

// IsElsewhere reports whether a running pod belongs to a unit without a pod in the domain, which is no victim there.
func (g *Grid) IsElsewhere(d Domain, p *state.Pod) bool {
	u := g.UnitOf(p)
	return u != nil && !g.Within(d, u)
}

// IsLarge reports whether a domain has so many nodes that to look at the covered units of the whole cluster costs
// less than to sort the units of its nodes.
func (g *Grid) IsLarge(d Domain) bool { return d.Size()*8 >= len(g.Cluster.Order) }

// SlotOf returns the slot of an amount; -1: the request does not ask for it.
func (g *Grid) SlotOf(a state.Amount) int { return int(g.slotOf[a.Column]) }

// Resize returns a list with n items, of the same memory if it is enough.
func Resize[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}
