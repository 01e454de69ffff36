package moves

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/engine/best/moving"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// builder makes the problem of a snapshot.
type builder struct {
	config  *Config
	rules   []placement.Filter
	nodes   []workload.Node
	isShut  bool // some node is not schedulable
	number  map[string]int
	slots   []string
	free    []workload.Resources // by node
	planner *planner
	problem moving.Problem
}

// newBuilder returns a builder for a snapshot. Nodes in closed must be empty.
func (c *Config) newBuilder(p *placement.Preemptor, s *placement.Snapshot, closed []string, dropped func(id string) bool) *builder {
	b := &builder{config: c, rules: p.Config().Filters, number: map[string]int{}, planner: c.newPlanner(s, dropped)}
	for n := range s.Nodes() {
		b.number[n.Name] = len(b.nodes)
		b.nodes, b.free = append(b.nodes, n), append(b.free, b.planner.freeOn(n.Name))
		b.problem.Closed = append(b.problem.Closed, slices.Contains(closed, n.Name))
		b.isShut = b.isShut || n.Unschedulable
	}
	for i := range b.planner.budgets {
		b.problem.Left = append(b.problem.Left, b.planner.budgets[i].Allowed)
	}
	b.problem.MaxNodes = c.maxNodes()
	return b
}

// addMembers adds the pods of a request, which must be within one of the domains.
func (b *builder) addMembers(pods []workload.Pod, domains []placement.Domain, filters []placement.Filter) {
	if len(pods) > 0 {
		u := b.unit(pods, domains, slices.Concat(b.rules, filters))
		u.Yield, u.Move = moving.Never, 0
		b.problem.Units = append(b.problem.Units, u)
	}
}

// addUnits adds units that may leave.
func (b *builder) addUnits(list []victim) {
	for _, l := range list {
		var domains []placement.Domain
		if b.config.Domains != nil {
			domains = b.config.Domains(l.Unit)
		}
		u := b.unit(l.Pods, domains, b.rules)
		u.Yield, u.Move = orNever(l.yield), orNever(l.move)
		for j := range b.planner.budgets {
			u.Charges = append(u.Charges, slices.Repeat([]int32{int32(j)}, int(b.planner.charge(j, &l)))...)
		}
		b.problem.Units = append(b.problem.Units, u)
	}
}

// orNever returns a price as the problem has it.
func orNever(lost int64) int64 {
	if lost < 0 {
		return moving.Never
	}
	return lost
}

// unit returns pods as a unit of the problem. Slots are numbered when all units are known.
func (b *builder) unit(pods []workload.Pod, domains []placement.Domain, filters []placement.Filter) (u moving.Unit) {
	for _, d := range domains {
		var list []int
		for _, name := range d.Nodes {
			if i, known := b.number[name]; known {
				list = append(list, i)
			}
		}
		u.Within = append(u.Within, list)
	}
	for _, p := range pods {
		pod := moving.Pod{At: -1, May: b.may(&p, filters)}
		if at, runs := b.number[p.Node]; runs {
			pod.At = at
		}
		pod.Needs = b.needs(p.Requests)
		u.Pods = append(u.Pods, pod)
	}
	return u
}

// may returns the nodes on which a pod may run, whatever else runs there; nil: all.
func (b *builder) may(p *workload.Pod, filters []placement.Filter) []bool {
	if !b.isShut && !p.Nowhere && len(p.Nodes) == 0 && len(filters) == 0 {
		return nil
	}
	may := make([]bool, len(b.nodes))
	named := map[string]bool{}
	for _, name := range p.Nodes {
		named[name] = true
	}
	pod := waiting(*p)
	for i, n := range b.nodes {
		may[i] = !n.Unschedulable && !p.Nowhere && (len(named) == 0 || named[n.Name]) &&
			!slices.ContainsFunc(filters, func(f placement.Filter) bool { return !f.Feasible(pod, n) })
	}
	return may
}

// needs returns requests by slot; the first slot is the pod itself.
func (b *builder) needs(r workload.Resources) []int64 {
	if len(b.slots) == 0 {
		b.slots = []string{workload.PodsResource}
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if r[name] > 0 && !slices.Contains(b.slots, name) {
			b.slots = append(b.slots, name)
		}
	}
	needs := make([]int64, len(b.slots))
	needs[0] = 1
	for slot, name := range b.slots[1:] {
		needs[slot+1] = r[name]
	}
	return needs
}

// names returns the nodes of a unit's pods in an answer; nil: it yields.
func (b *builder) names(places []int) (names []string) {
	for _, at := range places {
		if at >= 0 {
			names = append(names, b.nodes[at].Name)
		}
	}
	return names
}

// solve numbers the slots and looks for the best answer; nil: none is better than the limit. It does not look where amounts are too
// large to be added up: then nothing is proven.
func (b *builder) solve() (*moving.Answer, *Proof) {
	all := make([]int64, len(b.slots)) // that the units take
	for i := range b.problem.Units {
		for k := range b.problem.Units[i].Pods {
			p := &b.problem.Units[i].Pods[k]
			p.Needs = append(p.Needs, make([]int64, len(b.slots)-len(p.Needs))...)
			for slot, need := range p.Needs {
				all[slot] = quota.Add(all[slot], need)
			}
		}
	}
	if slices.Max(all) > quota.MaxUsage/int64(len(b.nodes)+1) {
		return nil, &Proof{}
	}
	for _, resources := range b.free {
		free := make([]int64, len(b.slots))
		for slot, name := range b.slots {
			amount, limited := resources[name]
			if !limited && slot == 0 {
				amount = all[slot]
			}
			free[slot] = max(-all[slot]-1, min(amount, all[slot])) // more is never needed, and never becomes free
		}
		b.problem.Free = append(b.problem.Free, free)
	}
	result := moving.Solve(&b.problem)
	proof := &Proof{LowerBound: Cost(result.Bound), Nodes: result.Nodes, Optimal: result.Bound == b.problem.Limit}
	if result.Bound == moving.None { // there is no answer
		proof.LowerBound = Cost{}
	}
	return result.Answer, proof
}
