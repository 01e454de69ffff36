package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Placement judges a decision of package placement or of another scheduler, from the state, the request and the
// configuration alone; see [Decision]. It returns nil, or [preemption.Faults] of everything that is wrong. A state, request or
// configuration that is not valid is an error, as it is for Decide.
//
//   - Fits, Preempt: enough pods are nominated, to nodes of one domain, where they may run and have room without the
//     victims.
//   - Preempt: the victims are whole units of lower priority with a pod in the domain, and nothing protects them at Now.
//     None of them can be put back where it runs. Their violations of budgets and
//     their numbers are right; [placement.Hard] budgets hold. The request does not fit now.
//   - Wait, Impossible: the documented steps find neither places nor victims now; for Wait RetryAt is the first instant at
//     which they do. If the decision gives a Reason, it is right, as are Blockers, Shortage and Placeable.
//
// Any such domain and victims will do: they need not be what Decide chooses. With [placement.Request.SkipFit], by
// which the caller says that the pods fit nowhere now, only nominations and victims are judged. For the pods of a
// Basic group only the victims are. Withdrawn is not judged. Placement calls the
// filters, set filters, guards and the placer of the configuration and the request; it begins a trial for each question.
// With set filters or a placer, which need not be monotone, it does not judge whether a victim could stay; with a
// placer, nor whether nominations that have room now are found.
func Placement(st placement.State, r placement.Request, c placement.Config, d placement.Decision) error {
	s, err := placement.NewSnapshot(st)
	if err != nil {
		return err
	}
	p, err := placement.New(c)
	if err != nil {
		return err
	}
	asked := r
	asked.Policy = placement.PreemptNever
	if _, err := p.Decide(s, asked); err != nil { // it is malformed
		return err
	}
	j := placementJudge{World: nodes.New(c, st, r), st: st, r: r, c: c, d: &d}
	j.each = c.Mode != placement.ModeInPlace && slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
	j.judge()
	return j.faults.Err()
}

// placementJudge holds the question, the decision that is judged, and what is wrong with it.
type placementJudge struct {
	*nodes.World
	st     placement.State
	r      placement.Request
	c      placement.Config
	d      *placement.Decision
	each   bool // the pods of the request are decided about one by one
	faults fault.List
}

func (j *placementJudge) wrong(field, problem string, args ...any) {
	j.faults.Add("decision."+field, problem, args...)
}

func (j *placementJudge) judge() {
	d := j.d
	switch {
	case d.Outcome == preemption.Gated:
		j.wrong("outcome", "Gated is no outcome on nodes")
		return
	case d.Outcome < preemption.Fits || d.Outcome > preemption.Impossible:
		j.wrong("outcome", "%d is unknown", d.Outcome)
		return
	case d.Outcome == preemption.Preempt && len(d.Victims) == 0:
		j.wrong("victims", "Preempt without victims")
	case d.Outcome != preemption.Preempt && len(d.Victims) > 0:
		j.wrong("victims", "%v with victims", d.Outcome)
	}
	if d.Outcome != preemption.Wait && !d.RetryAt.IsZero() {
		j.wrong("retryAt", "%v is set", d.RetryAt)
	}
	placed := j.nominations()
	victims := j.victims(j.domain(placed))
	if j.each {
		return
	}
	j.room(placed, victims)
	if !j.r.SkipFit {
		j.outcome()
	}
}

// keepsPromises reports whether pods wait, as built, for the room of their nominations, whatever these are worth.
func (j *placementJudge) keepsPromises() bool {
	return j.d.Outcome == preemption.Wait && j.c.Mode != placement.ModeDesign
}

// nominations judges who is nominated, and returns those that may be.
func (j *placementJudge) nominations() (placed []placement.Nomination) {
	seen := map[string]bool{}
	keeps := j.keepsPromises()
	for i, n := range j.d.Nominations {
		known := slices.ContainsFunc(j.r.Pods, func(p workload.Pod) bool { return p.ID == n.Pod })
		if keeps && !j.each { // one of a Basic group may have the room of another one's nomination
			known = slices.ContainsFunc(j.st.Nominated, func(p workload.Pod) bool { return p.ID == n.Pod && p.Node == n.Node })
		}
		usable := slices.ContainsFunc(j.st.Nodes, func(o workload.Node) bool {
			return o.Name == n.Node && (keeps || j.r.Resize || !o.Unschedulable)
		})
		if !known || seen[n.Pod] || !usable {
			j.wrong(fmt.Sprintf("nominations[%d]", i), "%q on %q: no pod of the request, or twice, or no node to use", n.Pod, n.Node)
			continue
		}
		seen[n.Pod], placed = true, append(placed, n)
	}
	if least := max(1, j.r.MinCount); j.d.Outcome.Succeeds() && len(seen) < least {
		j.wrong("nominations", "%d pods have a place, want %d", len(seen), least)
	}
	return placed
}

// domain returns a domain that holds all nominations, in which each group has what it needs.
func (j *placementJudge) domain(placed []placement.Nomination) (on placement.Domain) {
	for _, n := range placed {
		on.Nodes = append(on.Nodes, n.Node)
	}
	if j.r.Group == "" || j.keepsPromises() {
		return on
	}
	for _, d := range j.Domains() {
		if j.r.DomainsPreferred && d.Name != j.d.Domain {
			continue
		}
		if !slices.ContainsFunc(on.Nodes, func(n string) bool { return !slices.Contains(d.Nodes, n) }) {
			for _, group := range j.Lacking(placed, d) {
				j.wrong("nominations", "group %q has pods with a place, but not what it needs", group)
			}
			return d
		}
	}
	j.wrong("nominations", "%v are in no domain", on.Nodes)
	return placement.Domain{}
}

// room judges whether the nominated pods have room without the victims, and whether some victim could stay.
func (j *placementJudge) room(placed []placement.Nomination, victims []placement.Unit) {
	if j.d.Outcome == preemption.Impossible || j.keepsPromises() {
		return
	}
	for _, n := range placed {
		if !j.MayBeOn(n) {
			j.wrong("nominations", "%q may not run on %q", n.Pod, n.Node)
		}
	}
	var gone []string
	if j.d.Outcome != preemption.Fits {
		gone = j.Leaving()
	}
	for _, u := range victims {
		gone = append(gone, podIDs(u)...)
	}
	if !j.Stand(placed, gone) {
		j.wrong("nominations", "there is no room for them")
		return
	}
	if j.HasTrials() {
		return // there the pods are placed anew with each unit
	}
	for _, u := range victims {
		ids := podIDs(u)
		others := slices.DeleteFunc(slices.Clone(gone), func(id string) bool { return slices.Contains(ids, id) })
		if j.Stand(placed, others) {
			j.wrong("victims", "%v can stay", ids)
		}
	}
}

// outcome judges the outcome by whether the pods have room now, have room once terminating pods are gone, or could
// preempt, now or later.
func (j *placementJudge) outcome() {
	d, fits := j.d, j.Fits(nil)
	if fits && d.Outcome != preemption.Fits {
		j.wrong("outcome", "%v, but there is room now", d.Outcome)
	}
	// Placed without the units that may yield, the pods may get places that have room beside these, too, but that are not
	// found when these are there. Whether they have room is judged above.
	stands := len(d.Nominations) > 0 && (d.Outcome == preemption.Fits || d.Outcome == preemption.Wait && j.r.Placer != nil)
	if fits || stands {
		return
	}
	leaves := j.Fits(j.Leaving())
	switch {
	case d.Outcome == preemption.Preempt && j.r.Policy == placement.PreemptNever:
		j.wrong("outcome", "a unit yields to pods that preempt none")
	case d.Outcome == preemption.Preempt && leaves:
		j.wrong("outcome", "a unit yields although there is room once terminating pods are gone")
	case leaves && d.Outcome != preemption.Wait:
		j.wrong("outcome", "%v, but there is room once terminating pods are gone", d.Outcome)
	case d.Outcome != preemption.Preempt:
		j.refusal(nodes.Decide(j.c, j.st, j.r))
	}
}

// refusal judges an answer without victims for pods that have no room now, by what the documented steps find.
func (j *placementJudge) refusal(want placement.Decision) {
	d, at := j.d, want.RetryAt
	switch {
	case want.Outcome.Succeeds() && (d.Outcome == preemption.Impossible || len(d.Nominations) == 0):
		j.wrong("outcome", "%v, but there is room without units that may yield", d.Outcome)
	case len(j.faults) > 0 || want.Outcome.Succeeds():
	case !d.RetryAt.IsZero() && !d.RetryAt.After(j.r.Now):
		j.wrong("retryAt", "%v is not after now, %v", d.RetryAt, j.r.Now)
	case d.Outcome == preemption.Impossible && !at.IsZero():
		j.wrong("outcome", "Impossible, but at %v there is room without units that may yield", at)
	case j.c.MaxRetrySteps < 0:
	case !at.IsZero() && (d.RetryAt.IsZero() || at.Before(d.RetryAt)):
		j.wrong("retryAt", "%v, but at %v there is room without units that may yield", d.RetryAt, at)
	case !d.RetryAt.Equal(at) && j.c.MaxRetrySteps == 0:
		j.wrong("retryAt", "at %v time has not helped", d.RetryAt)
	case d.Outcome == preemption.Wait && d.RetryAt.IsZero() && want.Outcome != preemption.Wait:
		j.wrong("outcome", "nothing is waited for")
	}
	if d.Reason != 0 && !want.Outcome.Succeeds() && len(j.faults) == 0 {
		j.reasons(want)
	}
}

// reasons judges why there is no place.
func (j *placementJudge) reasons(want placement.Decision) {
	d := j.d
	if d.Reason != want.Reason {
		j.wrong("reason", "%v, want %v", d.Reason, want.Reason)
	}
	if d.Placeable != want.Placeable {
		j.wrong("placeable", "%d, want %d", d.Placeable, want.Placeable)
	}
	if !slices.Equal(d.Shortage, want.Shortage) {
		j.wrong("shortage", "%+v, want %+v", d.Shortage, want.Shortage)
	}
	if !slices.EqualFunc(d.Blockers, want.Blockers, func(a, b placement.Blocker) bool {
		same := a.Until.Equal(b.Until)
		a.Until = b.Until
		return same && a == b
	}) {
		j.wrong("blockers", "%+v, want %+v", d.Blockers, want.Blockers)
	}
}
