package moves_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// few draws a state of up to four nodes and six units or so, and a request that all its pods have places.
func few(t *rapid.T) (placement.State, placement.Request) {
	var st placement.State
	amount := func(what string, list ...int64) int64 { return rapid.SampledFrom(list).Draw(t, what) }
	groups := 0
	for i := range amount("nodes", 3, 2, 4) {
		n := workload.Node{Name: fmt.Sprint("n", i), Capacity: workload.Resources{"gpu": amount("gpus", 4, 3, 5), "cpu": amount("cpu", 3, 6)}}
		if amount("few pods", 0, 0, 0, 1) == 1 {
			n.Capacity[workload.PodsResource] = amount("pods of it", 3, 2)
		}
		n.Unschedulable = amount("closed", 0, 0, 0, 0, 0, 1) == 1
		st.Nodes = append(st.Nodes, n)
		free, cpu := n.Capacity["gpu"]-amount("slack", 1, 2, 0, 3, -1), n.Capacity["cpu"]
		for free > 0 && len(st.Pods) < 6 {
			p := workload.Pod{ID: fmt.Sprint("p", len(st.Pods)), Namespace: "ns", Node: n.Name, Started: now.Add(-1)}
			p.Requests = workload.Resources{"gpu": min(free, amount("takes", 1, 2, 3)), "cpu": min(cpu, amount("cpu", 0, 0, 1))}
			p.Priority = int32(amount("priority", 0, 0, 1))
			p.Labels = map[string]string{"app": fmt.Sprint(amount("app", 0, 1))}
			if amount("bound", 0, 0, 0, 1) == 1 {
				p.Nodes = []string{n.Name, fmt.Sprint("n", amount("to", 0, 1))}
			}
			p.Nowhere = amount("pinned", 0, 0, 0, 0, 0, 1) == 1
			free, cpu = free-p.Requests["gpu"], cpu-p.Requests["cpu"]
			if amount("in a group", 0, 0, 1) == 1 {
				if groups == 0 || amount("another group", 0, 1) == 1 {
					groups++
					st.Groups = append(st.Groups, workload.PodGroup{
						ID: fmt.Sprint("g", groups), Priority: p.Priority, DisruptionMode: workload.DisruptionModePodGroup,
					})
				}
				p.Group = fmt.Sprint("g", groups)
			}
			st.Pods = append(st.Pods, p)
		}
	}
	if amount("budget", 0, 0, 1) == 1 {
		st.Budgets = []workload.DisruptionBudget{{
			Namespace: "ns", Name: "b", Allowed: amount("allowed", 1, 2, 0), Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": "1"}},
		}}
	}
	r := placement.Request{Priority: 2, Now: now}
	for i := range amount("pods", 1, 1, 2) {
		r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprint("in", i), Requests: workload.Resources{"gpu": amount("asks", 3, 4, 2)}})
	}
	if amount("bound", 0, 1) == 1 {
		r.Pods[0].Nodes = []string{"n0", "n1"}
	}
	if r.MinCount = len(r.Pods); r.MinCount > 1 {
		r.Group = "in"
		if rest := []string{"n1"}; amount("domains", 0, 1) == 1 {
			if len(st.Nodes) > 2 {
				rest = append(rest, "n2")
			}
			r.Domains = []placement.Domain{{Name: "left", Nodes: []string{"n0"}}, {Name: "right", Nodes: rest}}
		}
	}
	return st, r
}

// trier tries all answers: each unit stays, yields, or moves as a whole to each choice of nodes.
type trier struct {
	st      placement.State
	config  moves.Config
	closed  []string // nodes that must be empty, and take no pod
	only    bool     // units without a pod on them stay
	highest int32    // of what may leave
	budgets bool     // are kept
	units   []placement.Unit
	free    map[string]workload.Resources
	comes   map[string]workload.Resources // what pods request that start on a node: only of that the node must not be over
	left    []int64                       // of budgets
	best    moves.Cost
}

// none is more than any answer costs.
var none = moves.Cost{Lost: math.MaxInt64, Pods: math.MaxInt64}

// try returns the least cost; none if there is no answer.
func (x *trier) try(t *rapid.T, members []workload.Pod, domains []placement.Domain) moves.Cost {
	s := must(placement.NewSnapshot(x.st))(t)
	x.units, x.free, x.comes, x.best, x.left = s.Units(), map[string]workload.Resources{}, map[string]workload.Resources{}, none, nil
	for _, n := range x.st.Nodes {
		x.free[n.Name], x.comes[n.Name] = n.Clone().Capacity, workload.Resources{}
		if _, limited := n.Capacity[workload.PodsResource]; !limited {
			x.free[n.Name][workload.PodsResource] = math.MaxInt32
		}
	}
	for _, b := range x.st.Budgets {
		x.left = append(x.left, b.Allowed)
	}
	x.each(members, domains, nil, func() { x.unit(0, moves.Cost{}) })
	return x.best
}

// each calls then with the pods on each choice of nodes within one of the domains; none: anywhere.
func (x *trier) each(pods []workload.Pod, domains []placement.Domain, on []string, then func()) {
	if len(on) == len(pods) {
		within := func(d placement.Domain) bool {
			return !slices.ContainsFunc(on, func(n string) bool { return !slices.Contains(d.Nodes, n) })
		}
		if len(domains) == 0 || slices.ContainsFunc(domains, within) {
			then()
		}
		return
	}
	p := pods[len(on)]
	for _, n := range x.st.Nodes {
		if n.Unschedulable || p.Nowhere || len(p.Nodes) > 0 && !slices.Contains(p.Nodes, n.Name) || slices.Contains(x.closed, n.Name) {
			continue
		}
		x.take(x.comes, n.Name, &p, -1)
		if x.take(x.free, n.Name, &p, 1); x.holds(n.Name) {
			x.each(pods, domains, append(on, n.Name), then)
		}
		x.take(x.free, n.Name, &p, -1)
		x.take(x.comes, n.Name, &p, 1)
	}
}

// take takes what a pod requests on a node, or gives it back.
func (x *trier) take(from map[string]workload.Resources, node string, p *workload.Pod, sign int64) {
	from[node][workload.PodsResource] -= sign
	for name, amount := range p.Requests {
		from[node][name] -= sign * amount
	}
}

func (x *trier) holds(node string) bool {
	for name, amount := range x.comes[node] {
		if amount > 0 && x.free[node][name] < 0 {
			return false
		}
	}
	return true
}

// unit tries what unit i does, and those after it.
func (x *trier) unit(i int, cost moves.Cost) {
	if cost.Compare(x.best) >= 0 {
		return
	}
	if i == len(x.units) {
		x.best = cost
		return
	}
	u := &x.units[i]
	isIn := slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return slices.Contains(x.closed, p.Node) })
	if !isIn {
		ok := true
		for k := range u.Pods {
			x.take(x.free, u.Pods[k].Node, &u.Pods[k], 1)
			ok = ok && x.holds(u.Pods[k].Node)
		}
		if ok {
			x.unit(i+1, cost)
		}
		for k := range u.Pods {
			x.take(x.free, u.Pods[k].Node, &u.Pods[k], -1)
		}
	}
	if x.only && !isIn || u.Priority > x.highest || !x.charge(u, 1) {
		return
	}
	yield, move := int64(len(u.Pods)), int64(0)
	if x.config.Price != nil {
		yield, move = x.config.Price(*u)
	}
	leaves := func(lost int64) moves.Cost {
		return moves.Cost{Lost: cost.Lost + lost, Pods: cost.Pods + int64(len(u.Pods))}
	}
	if move >= 0 {
		var domains []placement.Domain
		if x.config.Domains != nil {
			domains = x.config.Domains(*u)
		}
		x.each(u.Pods, domains, nil, func() { x.unit(i+1, leaves(move)) })
	}
	if yield >= 0 {
		x.unit(i+1, leaves(yield))
	}
	x.charge(u, -1)
}

// charge charges a unit to the budgets, if they allow it.
func (x *trier) charge(u *placement.Unit, sign int64) bool {
	if !x.budgets {
		return true
	}
	for j := range x.st.Budgets {
		for k := range u.Pods {
			if x.st.Budgets[j].Covers(&u.Pods[k]) {
				x.left[j] -= sign
			}
		}
	}
	if sign > 0 && slices.ContainsFunc(x.left, func(n int64) bool { return n < 0 }) {
		x.charge(u, -1)
		return false
	}
	return true
}

// costly draws prices, or none, and domains, or none.
func costly(t *rapid.T, st placement.State) moves.Config {
	c := moves.Config{Price: priced(t, st).Price}
	if rapid.IntRange(0, 4).Draw(t, "domains") == 0 {
		at := rapid.IntRange(0, len(st.Nodes)).Draw(t, "first of the second")
		var list [2]placement.Domain
		for i, n := range st.Nodes {
			d := &list[0]
			if i >= at {
				d = &list[1]
			}
			d.Name, d.Nodes = fmt.Sprint("from ", i), append(d.Nodes, n.Name)
		}
		c.Domains = func(placement.Unit) []placement.Domain { return list[:] }
	}
	return c
}

// The cost of a decision is that of an answer that there is: no choice of what leaves, and where it goes, costs less.
func costIsPossible(t *rapid.T) {
	st, r := few(t)
	c := costly(t, st)
	d := answered(t, st, r, placement.Config{Budgets: placement.Hard}, c)
	if d.Decision.Outcome != preemption.Preempt {
		return
	}
	x := trier{st: st, config: c, highest: r.Priority - 1, budgets: true}
	if least := x.try(t, r.Pods, r.Domains); d.Cost.Compare(least) < 0 {
		t.Fatalf("costs less than is possible, %+v: %s", least, told(d))
	}
}

func TestCostIsPossible(t *testing.T) { rapid.Check(t, costIsPossible) }

// "None costs less than LowerBound", and no answer less than is possible, of one domain or of both.
func clearIsPossible(t *rapid.T) {
	st, _ := few(t)
	st.Budgets = nil
	c := costly(t, st)
	domains := []placement.Domain{{Name: "left", Nodes: []string{"n0"}}, {Name: "right", Nodes: []string{"n1"}}}
	if len(st.Nodes) == 4 {
		domains[1].Nodes = []string{"n1", "n2"}
	}
	count := rapid.IntRange(1, 2).Draw(t, "count")
	least := none
	for i := range domains {
		x := trier{st: st, config: c, highest: math.MaxInt32, closed: domains[i].Nodes, only: true}
		if count == 2 {
			x.closed = slices.Concat(domains[0].Nodes, domains[1].Nodes)
		}
		if cost := x.try(t, nil, nil); cost.Compare(least) < 0 {
			least = cost
		}
	}
	a := must(moves.Clear(nil, snapshot(t, st), moves.ClearRequest{Now: now, Domains: domains, Count: count}, c))(t)
	if a.Outcome.Succeeds() && (a.Cost.Compare(least) < 0 || a.LowerBound.Compare(least) > 0) {
		t.Fatalf("%+v, at least %+v, but %+v is possible: %s", a.Cost, a.LowerBound, least, toldOfClear(a))
	}
}

func TestClearIsPossible(t *testing.T) { rapid.Check(t, clearIsPossible) }
