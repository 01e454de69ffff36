package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Decide is placement.Preemptor.Decide, without bounds on the candidates and by the documented steps alone.
func Decide(c placement.Config, st placement.State, r placement.Request) placement.Decision {
	if r.Resize {
		return resize(c, st, r)
	}
	d := now(c, st, r, true)
	if !d.Outcome.Succeeds() {
		if at := New(c, st, r).RetryAt(); !at.IsZero() {
			d.Outcome, d.RetryAt = preemption.Wait, at
		}
	}
	return d
}

// now is Decide as if time stood still, with the reasons of a refusal if they are wanted.
func now(c placement.Config, st placement.State, r placement.Request, reasons bool) placement.Decision {
	if isBasic(c, st, r) {
		return oneByOne(c, st, r, reasons)
	}
	w := New(c, st, r)
	d := w.decide()
	if d.Outcome == preemption.Impossible && reasons {
		w.explain(&d)
	}
	d.Now = r.Now
	for _, m := range w.Members {
		for _, n := range d.Nominations {
			if n.Pod == m.ID {
				m.Node = n.Node
			}
		}
		d.Pods = append(d.Pods, m)
	}
	return d
}

func (w *World) decide() placement.Decision {
	if domain, placed, ok := w.Room(Everyone); ok && !w.Request.SkipFit {
		return w.answer(preemption.Fits, domain, placed, nil)
	}
	if w.Config.Mode == placement.ModeDesign {
		if domain, placed, ok := w.Room(w.Stays); ok {
			if !w.Stand(Everyone, placed) {
				return w.answer(preemption.Wait, domain, placed, nil)
			}
			if !w.Request.SkipFit {
				return w.answer(preemption.Fits, domain, placed, nil)
			}
		}
	}
	switch {
	case w.Request.Policy == placement.PreemptNever:
		return w.never()
	case w.Blocked():
		d := w.answer(preemption.Wait, "", w.promised(), nil)
		d.Domain = ""
		return d
	}
	return w.preempt()
}

// never answers a request that may not preempt.
func (w *World) never() placement.Decision {
	d := placement.Decision{Outcome: preemption.Impossible, Reason: placement.ReasonPolicyNever}
	w.only(w.Stays)
	defer w.only(Everyone)
	for _, domain := range w.Domains() {
		d.Placeable = max(d.Placeable, len(w.place(domain.Nodes, nil)))
	}
	return d
}

// Blocked reports whether, in the modes as built, a victim of lower priority still terminates on a node that a member is
// nominated to. A single pod that cannot run there does not wait for it.
func (w *World) Blocked() bool {
	if w.Config.Mode == placement.ModeDesign {
		return false
	}
	return slices.ContainsFunc(w.promised(), func(m workload.Pod) bool {
		if w.Request.Group == "" && (w.nodes[m.Node].Unschedulable || !w.mayBeOn(m, m.Node)) {
			return false
		}
		return slices.ContainsFunc(w.State.Pods, func(p workload.Pod) bool {
			return p.Node == m.Node && p.Preempted && !w.stuck(p) && w.priorityOf(p) < w.Request.Priority
		})
	})
}

// answer is a decision with these places and victims, which are in the order of choice.
func (w *World) answer(outcome preemption.Outcome, domain string, placed []workload.Pod, victims []Unit) placement.Decision {
	d := placement.Decision{Outcome: outcome, Placement: placement.Placement{Domain: domain, Placeable: len(placed)}}
	for _, m := range w.Members {
		for _, p := range placed {
			if p.ID == m.ID {
				d.Nominations = append(d.Nominations, placement.Nomination{Pod: p.ID, Node: p.Node})
			}
		}
	}
	if w.Request.Group == "" && len(placed) > 0 {
		d.Domain = placed[0].Node
	}
	for i, u := range victims {
		d.Violations += u.Violations
		d.Victims = append(d.Victims, placement.Victim{
			Group: u.Group, Pods: u.IDs(), Priority: u.Priority, Violations: u.Violations, Order: i + 1,
		})
	}
	slices.SortFunc(d.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return d
}
