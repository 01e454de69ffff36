package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// isBasic reports whether the pods of the request are decided about one by one.
func isBasic(c placement.Config, st placement.State, r placement.Request) bool {
	return c.Mode != placement.ModeInPlace && slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
}

// alone returns the request for one pod of a basic group.
func alone(r placement.Request, i int) placement.Request {
	p := r.Pods[i]
	p.Group, r.Group = cmp.Or(p.Group, r.Group), ""
	r.Pods = []workload.Pod{p}
	return r
}

// oneByOne decides about the pods of a basic group, each in the state after the decisions before it: placing comes before
// preempting.
func oneByOne(c placement.Config, st placement.State, r placement.Request, reasons bool) placement.Decision {
	out := placement.Decision{Now: r.Now}
	after := st
	for i := range r.Pods {
		if d := now(c, after, alone(r, i), false); d.Outcome == preemption.Fits && !r.SkipFit {
			out.Outcome = preemption.Fits
			out.Nominations, out.Pods = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...)
			out.Placeable = len(out.Nominations)
			after = apply(after, d)
		}
	}
	if out.Outcome == preemption.Fits {
		return out
	}
	outcomes, placeable, after := map[preemption.Outcome]bool{}, 0, st
	for i := range r.Pods {
		d := now(c, after, alone(r, i), reasons)
		after = apply(after, d)
		outcomes[d.Outcome], placeable, out.Reason = true, placeable+d.Placeable, max(out.Reason, d.Reason)
		if out.Blockers == nil {
			out.Blockers = d.Blockers
		}
		if out.Shortage == nil {
			out.Shortage = d.Shortage
		}
		out.Nominations, out.Pods = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...)
		out.Withdrawn = append(out.Withdrawn, d.Withdrawn...)
		for _, v := range d.InOrderOfChoice() {
			if !slices.ContainsFunc(out.Victims, func(o placement.Victim) bool { return slices.Equal(o.Pods, v.Pods) }) {
				v.Order = len(out.Victims) + 1
				out.Victims, out.Violations = append(out.Victims, v), out.Violations+v.Violations
			}
		}
	}
	for _, out.Outcome = range []preemption.Outcome{preemption.Preempt, preemption.Wait, preemption.Fits, preemption.Impossible} {
		if outcomes[out.Outcome] {
			break
		}
	}
	if out.Placeable = placeable; out.Outcome != preemption.Impossible {
		out.Reason, out.Placeable, out.Blockers, out.Shortage = 0, len(out.Nominations), nil, nil
	}
	slices.Sort(out.Withdrawn)
	out.Withdrawn = slices.DeleteFunc(slices.Compact(out.Withdrawn), func(id string) bool {
		return slices.ContainsFunc(r.Pods, func(p workload.Pod) bool { return p.ID == id })
	})
	slices.SortFunc(out.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out
}

// apply returns the state after a decision, with the budgets that then hold.
func apply(st placement.State, d placement.Decision) placement.State {
	var pods, nominated []workload.Pod
	budgets := slices.Clone(st.Budgets)
	for _, p := range st.Pods {
		if slices.ContainsFunc(d.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, p.ID) }) {
			if !p.Terminating {
				p.TerminatingSince = d.Now
			}
			p.Terminating, p.Preempted = true, true
			for i, b := range budgets {
				if b.Covers(&p) && !slices.Contains(b.Disrupted, p.ID) {
					budgets[i].Allowed = max(0, b.Allowed-1)
					budgets[i].Disrupted = append(slices.Clone(b.Disrupted), p.ID)
				}
			}
		}
		pods = append(pods, p)
	}
	for _, p := range st.Nominated {
		member := slices.ContainsFunc(d.Pods, func(m workload.Pod) bool { return m.ID == p.ID })
		if !member && !slices.Contains(d.Withdrawn, p.ID) {
			nominated = append(nominated, p)
		}
	}
	for _, p := range d.Pods {
		switch {
		case p.Node == "":
		case d.Outcome == preemption.Fits:
			pods = append(pods, p)
		default:
			nominated = append(nominated, p)
		}
	}
	st.Pods, st.Nominated, st.Budgets = pods, nominated, budgets
	return st
}
