package moves

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/best/moving"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// exact looks for an answer that costs less than the one that is known, if there is one.
func (f *finder) exact(known *found, limit int) (*found, *Proof, error) {
	var members []workload.Pod
	if len(f.request.Nested) > 0 || f.request.MinGroups > 0 {
		return nil, &Proof{}, nil
	}
	for i := range f.ask.Pods {
		placed := i < max(1, f.ask.MinCount)
		if known != nil {
			placed = known.decision.Pods[i].Node != ""
		}
		if placed {
			members = append(members, f.ask.Pods[i])
		}
	}
	list, err := f.candidates(known)
	if err != nil {
		return nil, nil, err
	}
	b := f.config.newBuilder(f.preemptor, f.before, nil, func(id string) bool {
		return slices.ContainsFunc(f.request.Pods, func(p workload.Pod) bool { return p.ID == id })
	})
	b.addMembers(members, f.ask.Domains, f.ask.Filters)
	b.addUnits(list)
	b.problem.MaxNodes, b.problem.Limit = limit, moving.None
	if known != nil {
		b.problem.Limit = moving.Cost(known.cost)
	}
	result, proof := b.solve()
	if result == nil {
		return nil, proof, nil
	}
	x, err := f.carryOut(b, result, members, list)
	if x == nil {
		proof.Optimal = false // rules that the problem leaves out refuse it
	}
	return x, proof, err
}

// candidates returns the units that may leave, at a priority not above the highest of the victims that are known.
func (f *finder) candidates(known *found) (list []victim, err error) {
	r := f.ask // anywhere: one unit may make room for another
	r.Domains, r.Pods = nil, slices.Clone(r.Pods)
	for i := range r.Pods {
		r.Pods[i].Nodes, r.Pods[i].Nowhere = nil, false
	}
	units, err := f.asked.Candidates(f.before, r)
	if err != nil {
		return nil, err
	}
	for u := range units {
		if known != nil && !f.config.Only && u.Priority > highest(known.list) {
			continue
		}
		l := f.config.victim(u)
		if l.terminates() {
			l.move = -1
		}
		if l.move >= 0 || l.yield >= 0 {
			list = append(list, l)
		}
	}
	slices.Reverse(list) // the most important first
	return list, nil
}

func highest(list []victim) int32 {
	return slices.MaxFunc(list, func(a, b victim) int { return cmp.Compare(a.Priority, b.Priority) }).Priority
}

// carryOut turns a result into an answer; nil: rules of the caller refuse it.
func (f *finder) carryOut(b *builder, result *moving.Answer, members []workload.Pod, list []victim) (*found, error) {
	x := &found{}
	at := 0
	if len(members) > 0 {
		for k, node := range b.names(result.Places[0]) {
			x.decision.Nominations = append(x.decision.Nominations, placement.Nomination{Pod: members[k].ID, Node: node})
		}
		x.decision.Domain = domainOf(&f.ask, x.decision.Nominations)
		at = 1
	}
	for i, l := range list {
		if !result.Leaves[at+i] {
			continue
		}
		v := l.asVictim()
		v.Order, l.to = len(x.decision.Victims)+1, b.names(result.Places[at+i])
		x.decision.Victims, x.list = append(x.decision.Victims, v), append(x.list, l)
	}
	d, err := f.choose(x.decision.Placement)
	if err != nil {
		return nil, err
	}
	x.decision = d
	d.Pods = nil
	bare, beside, err := f.after(&d)
	if err != nil {
		return nil, err
	}
	if ok, err := permits(f.preemptor, bare, beside, x.decision.Pods, x.list); err != nil || !ok || !f.order(x) {
		return nil, err
	}
	if after := costOf(x.list); after != Cost(result.Cost) {
		return nil, nil // moves that never have their turn
	}
	x.cost = Cost(result.Cost)
	return x, nil
}

// domainOf names the domain in which the pods of a request are placed.
func domainOf(r *placement.Request, list []placement.Nomination) string {
	if r.Group == "" {
		return list[0].Node
	}
	for _, d := range r.Domains {
		if !slices.ContainsFunc(list, func(n placement.Nomination) bool { return !slices.Contains(d.Nodes, n.Node) }) {
			return d.Name
		}
	}
	return ""
}
