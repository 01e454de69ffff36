package twin

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

func basic(st placement.State, group string) bool {
	return slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == group && g.Basic })
}

// eachOnNodes asks for the pods of a Basic group one by one.
func eachOnNodes(config placement.Config, st placement.State, r placement.Request) placement.Decision {
	single := func(i int) placement.Request {
		one := r
		one.Group, one.Pods = "", []workload.Pod{r.Pods[i]}
		one.Pods[0].Group = r.Group
		return one
	}
	out := placement.Decision{Now: r.Now}
	after := st
	for i := range r.Pods {
		if d := nowOnNodes(config, after, single(i)); d.Outcome == preemption.Fits && !r.SkipFit {
			out.Outcome = preemption.Fits
			out.Nominations, out.Pods = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...)
			out.Placeable = len(out.Nominations)
			after = apply(after, d)
		}
	}
	if out.Outcome == preemption.Fits {
		return out
	}
	outcomes := map[preemption.Outcome]bool{}
	placeable, after := 0, st
	for i := range r.Pods {
		d := nowOnNodes(config, after, single(i))
		after = apply(after, d)
		outcomes[d.Outcome] = true
		placeable += d.Placeable
		out.Reason = max(out.Reason, d.Reason)
		if out.Blockers == nil {
			out.Blockers = d.Blockers
		}
		if out.Shortage == nil {
			out.Shortage = d.Shortage
		}
		out.Nominations, out.Pods, out.Withdrawn = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...), append(out.Withdrawn, d.Withdrawn...)
		slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return a.Order - b.Order })
		for _, v := range d.Victims {
			if !slices.ContainsFunc(out.Victims, func(o placement.Victim) bool { return slices.Equal(o.Pods, v.Pods) }) {
				v.Order = len(out.Victims) + 1
				out.Victims, out.Violations = append(out.Victims, v), out.Violations+v.Violations
			}
		}
	}
	switch {
	case outcomes[preemption.Preempt]:
		out.Outcome = preemption.Preempt
	case outcomes[preemption.Wait]:
		out.Outcome = preemption.Wait
	case outcomes[preemption.Fits]:
		out.Outcome = preemption.Fits
	default:
		out.Outcome, out.Placeable = preemption.Impossible, placeable
	}
	if out.Outcome != preemption.Impossible {
		out.Reason, out.Placeable, out.Blockers, out.Shortage = 0, len(out.Nominations), nil, nil
	}
	out.Withdrawn = slices.DeleteFunc(out.Withdrawn, func(id string) bool {
		return slices.ContainsFunc(r.Pods, func(p workload.Pod) bool { return p.ID == id })
	})
	slices.Sort(out.Withdrawn)
	out.Withdrawn = slices.Compact(out.Withdrawn)
	slices.SortFunc(out.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out
}

// apply returns the state after a decision.
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
				if coveredBy(p, b) && !slices.Contains(b.Disrupted, p.ID) {
					budgets[i].Allowed = max(0, b.Allowed-1)
					budgets[i].Disrupted = append(slices.Clone(b.Disrupted), p.ID)
				}
			}
		}
		pods = append(pods, p)
	}
	for _, p := range st.Nominated {
		if !slices.Contains(d.Withdrawn, p.ID) && !slices.ContainsFunc(d.Pods, func(m workload.Pod) bool { return m.ID == p.ID }) {
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
