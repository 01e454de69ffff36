package recorded

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// decide decides about the request; with Again also about the pods that are left, until no more of them gets a place. The
// result has the victims and places of all decisions.
func (q *OnNodes) decide(p *placement.Preemptor, s *placement.Snapshot) (placement.Decision, error) {
	d, err := p.Decide(s, q.Request)
	all, r := d, q.Request
	for err == nil && q.Again && d.Outcome.Succeeds() && len(d.Nominations) < len(r.Pods) {
		r = rest(r, &d)
		if s, err = s.With(carriedOut(&d)...); err != nil {
			break
		}
		if d, err = p.Decide(s, r); d.Outcome.Succeeds() {
			all.Victims, all.Nominations = append(all.Victims, d.Victims...), append(all.Nominations, d.Nominations...)
			all.Violations += d.Violations
		}
	}
	return all, err
}

// rest returns the request for the pods without a place, in the domain of the others.
func rest(r placement.Request, d *placement.Decision) placement.Request {
	has := func(id string) bool {
		return slices.ContainsFunc(d.Nominations, func(n placement.Nomination) bool { return n.Pod == id })
	}
	r.Pods = slices.DeleteFunc(slices.Clone(r.Pods), func(p workload.Pod) bool { return has(p.ID) })
	r.MinCount = max(0, r.MinCount-len(d.Nominations))
	if d.Domain != "" {
		r.Domains = slices.DeleteFunc(slices.Clone(r.Domains), func(o placement.Domain) bool { return o.Name != d.Domain })
	}
	return r
}

// carriedOut returns the edits after which the victims are gone and the pods run.
func carriedOut(d *placement.Decision) []placement.Edit {
	edits := d.Edits()
	for _, v := range d.Victims {
		for _, id := range v.Pods {
			edits = append(edits, placement.Remove(id))
		}
	}
	for _, p := range d.Pods {
		if p.Node != "" && d.Outcome == preemption.Preempt {
			edits = append(edits, placement.Run(p))
		}
	}
	return edits
}
