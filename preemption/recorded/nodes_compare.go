package recorded

import (
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// compareUnits compares what runs, what may yield, and in which order.
func (q *OnNodes) compareUnits(r *Report, s *placement.Snapshot, p *placement.Preemptor) {
	w := &q.Want
	if units := s.Units(); w.First != "" && len(units) > 0 {
		e := excuse{}
		if q.alike() {
			e = excuse{totalOrder, one(q.State.Pods[0].ID)}
		}
		r.compare(e, "the most important", one(w.First), one(units[0].Pods[0].ID))
	}
	if w.Potential != nil {
		var got []string
		for _, p := range slices.Backward(p.PotentialVictims(s, q.Request.Priority)) {
			got = append(got, Unit{Pods: ids(p.Pods), Violations: p.Violations}.text())
		}
		var want []string
		for _, u := range w.Potential {
			want = append(want, u.text())
		}
		r.compare(excuse{}, "may yield, the least important first", want, got)
	}
	if w.Split != nil {
		got := texts(p.PotentialVictims(s, math.MaxInt32), func(p placement.PotentialVictim) string {
			return Unit{Pods: ids(p.Pods), Violations: p.Violations}.text()
		})
		r.compare(excuse{}, "what units violate", texts(w.Split, Unit.text), got)
	}
	if w.Units != nil {
		got := texts(s.Units(), func(u placement.Unit) string { return unitOf(u).text() })
		r.compare(excuse{}, "units", texts(w.Units, Unit.text), got)
	}
	if w.Ordered != nil {
		violations := map[string]int{}
		for _, v := range p.PotentialVictims(s, q.Request.Priority) {
			violations[v.Pods[0].ID] = v.Violations
		}
		var want, got []string
		for _, u := range w.Ordered {
			want = append(want, u.text())
		}
		for _, u := range s.Units() {
			out := unitOf(u)
			out.Violations = violations[u.Pods[0].ID]
			got = append(got, out.text())
		}
		r.compare(excuse{}, "units, the most important first", want, got)
	}
	if w.Group != nil && len(q.State.Pods) > 0 {
		r.compare(excuse{}, "yields with group", one(*w.Group), one(s.Units()[0].Group))
	}
}

func unitOf(u placement.Unit) Unit {
	out := Unit{Pods: ids(u.Pods), Priority: u.Priority}
	for _, p := range u.Pods {
		out.Nodes = append(out.Nodes, p.Node)
	}
	return out
}

// alike is the predicate of totalOrder: two units of the same size, and all pods alike in all but their ID.
func (q *OnNodes) alike() bool {
	pods, count := q.State.Pods, map[string]int{}
	for _, p := range pods {
		count[p.Group]++
		if p.Priority != pods[0].Priority || p.UID != pods[0].UID || !p.Started.Equal(pods[0].Started) {
			return false
		}
	}
	return count[""] == len(pods) || len(count) == 2 && 2*count[pods[0].Group] == len(pods) && count[""] == 0
}

func (q *OnNodes) compareDecision(r *Report, d *placement.Decision, e func(got []string) excuse) {
	w, victims := &q.Want, podsOf(d.Victims)
	compare := func(what string, want, got []string) { r.compare(e(got), what, want, got) }
	if w.Possible != nil {
		compare("possible", one(*w.Possible), one(d.Outcome.Succeeds()))
	}
	if w.Outcome != 0 {
		compare("outcome", one(w.Outcome), one(d.Outcome))
	}
	if w.Reason != 0 {
		compare("reason", one(w.Reason), one(d.Reason))
	}
	if w.Eligible != nil {
		compare("eligible", one(*w.Eligible), one(d.Outcome != preemption.Wait && d.Reason != placement.ReasonPolicyNever))
	}
	if w.Victims != nil {
		compare("victims", sorted(w.Victims), victims)
	}
	if w.VictimsOf != nil {
		among := slices.DeleteFunc(slices.Clone(victims), func(id string) bool { return !slices.Contains(w.VictimsOf, id) })
		compare("number of victims", one(w.Count), one(len(among)))
		compare("victims", among, victims)
	}
	if w.Domain != nil {
		compare("node", one(*w.Domain), one(d.Domain))
	}
	if len(w.DomainOf) > 0 && !slices.Contains(w.DomainOf, d.Domain) {
		compare("node, one of", sorted(w.DomainOf), one(d.Domain))
	}
	if w.Violations != nil {
		compare("violations", one(*w.Violations), one(d.Violations))
	}
	if w.Disruptions != nil {
		compare("victims that are groups or of one", one(*w.Disruptions), one(q.disruptions(d)))
	}
	q.comparePlaces(d, compare)
	if w.Nominated != nil && d.Outcome != preemption.Wait {
		got := map[string]string{}
		for _, n := range d.Nominations {
			got[n.Pod] = n.Node
		}
		compare("nominated", one(w.Nominated), one(got))
	}
}

// comparePlaces compares which pods have a place, and on which nodes.
func (q *OnNodes) comparePlaces(d *placement.Decision, compare func(what string, want, got []string)) {
	node := map[string]string{}
	for _, n := range d.Nominations {
		node[n.Pod] = n.Node
	}
	for _, list := range []struct {
		pods []string
		want bool
	}{{q.Want.Placed, true}, {q.Want.NotPlaced, false}} {
		for _, id := range list.pods {
			if (node[id] != "") != list.want {
				compare("place of "+id, one(list.want), one(!list.want))
			}
		}
	}
	for _, w := range q.Want.Within {
		var on []string
		for _, id := range w.Pods {
			if node[id] != "" {
				on = append(on, node[id])
			}
		}
		among := func(nodes []string) bool {
			return !slices.ContainsFunc(on, func(n string) bool { return !slices.Contains(nodes, n) })
		}
		if !slices.ContainsFunc(w.Nodes, among) {
			compare(fmt.Sprintf("nodes of %v, within one of", w.Pods), texts(w.Nodes, func(n []string) string { return fmt.Sprint(n) }), sorted(on))
		}
	}
}

// disruptions counts the victims that are groups or a pod of one.
func (q *OnNodes) disruptions(d *placement.Decision) (n int) {
	for _, v := range d.Victims {
		if slices.ContainsFunc(q.State.Pods, func(p workload.Pod) bool { return p.ID == v.Pods[0] && p.Group != "" }) {
			n++
		}
	}
	return n
}
