package twin

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

func basic(st placement.State, group string) bool {
	return slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == group && g.Basic })
}

// eachOnNodes asks for the pods of a basic group one by one.
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
		if d := DecideOnNodes(config, after, single(i)); d.Outcome == placement.Fits && !r.Unschedulable {
			out.Outcome = placement.Fits
			out.Nominations, out.Pods = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...)
			out.Placeable = len(out.Nominations)
			after = apply(after, d)
		}
	}
	if out.Outcome == placement.Fits {
		return out
	}
	outcomes := map[placement.Outcome]bool{}
	placeable, after := 0, st
	for i := range r.Pods {
		d := DecideOnNodes(config, after, single(i))
		after = apply(after, d)
		outcomes[d.Outcome] = true
		placeable += d.Placeable
		out.Reason = max(out.Reason, d.Reason)
		out.Nominations, out.Pods, out.Withdrawn = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...), append(out.Withdrawn, d.Withdrawn...)
		for _, v := range d.Victims {
			if !slices.ContainsFunc(out.Victims, func(o placement.Victim) bool { return slices.Equal(o.Pods, v.Pods) }) {
				out.Victims, out.Violations = append(out.Victims, v), out.Violations+v.Violations
			}
		}
	}
	switch {
	case outcomes[placement.Preempt]:
		out.Outcome = placement.Preempt
	case outcomes[placement.Wait]:
		out.Outcome = placement.Wait
	case outcomes[placement.Fits]:
		out.Outcome = placement.Fits
	default:
		out.Outcome, out.Placeable = placement.Impossible, placeable
	}
	if out.Outcome != placement.Impossible {
		out.Reason, out.Placeable = 0, len(out.Nominations)
	}
	out.Withdrawn = slices.DeleteFunc(out.Withdrawn, func(id string) bool {
		return slices.ContainsFunc(r.Pods, func(p workload.Pod) bool { return p.ID == id })
	})
	slices.Sort(out.Withdrawn)
	out.Withdrawn = slices.Compact(out.Withdrawn)
	slices.SortFunc(out.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out
}

// apply is the state after a decision.
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
				if b.Namespace == p.Namespace && selects(b.Selector, p.Labels) && !slices.Contains(b.Disrupted, p.ID) {
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
		case d.Outcome == placement.Fits:
			pods = append(pods, p)
		default:
			nominated = append(nominated, p)
		}
	}
	st.Pods, st.Nominated, st.Budgets = pods, nominated, budgets
	return st
}
