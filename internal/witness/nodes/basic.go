package nodes

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Package placement, Request.Group: "The pods of a group that is Basic in the snapshot are decided about one after the other."

// oneByOne reports whether that holds: "In ModeInPlace they are decided about together."
func oneByOne(w *World) bool {
	g := group(w, w.request.Group)
	return g != nil && g.Basic && w.config.Mode == placement.ModeDesign
}

// alone is the request of one pod of the group.
func alone(r placement.Request, p workload.Pod) placement.Request {
	if p.Group == "" {
		p.Group = r.Group
	}
	r.Group, r.MinCount, r.Pods = "", 0, []workload.Pod{p}
	return r
}

// decideOneByOne: "If some fit now, these are placed; if none does, each preempts or waits alone."
func decideOneByOne(c placement.Config, st placement.State, r placement.Request, at time.Time) placement.Decision {
	fit := placement.Decision{Outcome: preemption.Fits}
	now := st
	for _, p := range r.Pods {
		if d := decideAt(c, now, alone(r, p), at); d.Outcome == preemption.Fits {
			fit.Nominations, fit.Pods = append(fit.Nominations, d.Nominations...), append(fit.Pods, d.Pods...)
			now = after(now, d, alone(r, p).Pods[0])
		}
	}
	if fit.Placeable = len(fit.Nominations); fit.Placeable > 0 {
		return fit
	}
	all := placement.Decision{Outcome: preemption.Impossible}
	for _, p := range r.Pods {
		d := decideAt(c, st, alone(r, p), at)
		all = together(all, d)
		st = after(st, d, alone(r, p).Pods[0])
	}
	all.Withdrawn = slices.DeleteFunc(all.Withdrawn, func(id string) bool { // "of other pods"
		return slices.ContainsFunc(r.Pods, func(p workload.Pod) bool { return p.ID == id })
	})
	return all
}

// together: what one of them does, the group does: some preempt, else some wait, else some fit now that others have lost
// their nominations. The victims are "the victims of each pod alone", numbered on.
func together(a, b placement.Decision) placement.Decision {
	order := []preemption.Outcome{preemption.Preempt, preemption.Wait, preemption.Fits, preemption.Impossible}
	a.Outcome = order[min(slices.Index(order, a.Outcome), slices.Index(order, b.Outcome))]
	a.Nominations, a.Pods = append(a.Nominations, b.Nominations...), append(a.Pods, b.Pods...)
	before := len(a.Victims)
	for _, v := range b.Victims {
		v.Order += before
		a.Victims = append(a.Victims, v)
	}
	slices.SortFunc(a.Victims, func(x, y placement.Victim) int { return cmp.Compare(x.Pods[0], y.Pods[0]) })
	a.Violations += b.Violations
	a.Withdrawn = slices.Sorted(slices.Values(append(a.Withdrawn, b.Withdrawn...)))
	a.Placeable += b.Placeable
	if len(a.Shortage) == 0 {
		a.Shortage = b.Shortage // "the shortage of its first pod with any"
	}
	if len(a.Blockers) == 0 {
		a.Blockers = b.Blockers // "the blockers of its first pod with any"
	}
	a.Reason = max(a.Reason, b.Reason)
	if a.Outcome != preemption.Impossible {
		a.Reason, a.Shortage, a.Blockers, a.Placeable = 0, nil, nil, len(a.Nominations)
	}
	return a
}

// after is "the snapshot after the decisions before it": who was placed runs, "the eviction of each victim starts, conflicting
// nominations are withdrawn, and the pods are nominated".
func after(st placement.State, d placement.Decision, p workload.Pod) placement.State {
	st.Pods, st.Nominated = slices.Clone(st.Pods), slices.Clone(st.Nominated)
	st.Nominated = slices.DeleteFunc(st.Nominated, func(o workload.Pod) bool {
		return o.ID == p.ID || slices.Contains(d.Withdrawn, o.ID)
	})
	for _, v := range d.Victims {
		for i := range st.Pods {
			if slices.Contains(v.Pods, st.Pods[i].ID) && !st.Pods[i].Terminating {
				st.Budgets = charged(st.Budgets, &st.Pods[i])
				st.Pods[i].Terminating, st.Pods[i].Preempted = true, true
			}
		}
	}
	for _, n := range d.Nominations {
		p.Node = n.Node
		if d.Outcome == preemption.Fits {
			st.Pods = append(st.Pods, p)
		} else {
			st.Nominated = append(st.Nominated, p)
		}
	}
	return st
}

// charged: "what earlier calls told is charged until it has left".
func charged(budgets []workload.DisruptionBudget, p *workload.Pod) []workload.DisruptionBudget {
	budgets = slices.Clone(budgets)
	for i := range budgets {
		if budgets[i].Charges(p) {
			budgets[i].Allowed--
		}
	}
	return budgets
}
