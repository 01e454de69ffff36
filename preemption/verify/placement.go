package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference/nodes"
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
//     which they do.
//
// Any such domain and victims will do: they need not be what Decide chooses. With [placement.Request.SkipFit], by
// which the caller says that the pods fit nowhere now, only nominations and victims are judged. For several pods of a
// Basic group only the victims are. Blockers, Shortage, Placeable and Withdrawn are not judged. Placement calls the
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
	if r.Resize {
		st, r = nodes.Resized(st, r)
	}
	j := placementJudge{World: nodes.New(c, st, r), d: &d}
	j.each = c.Mode != placement.ModeInPlace && slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
	j.judge()
	return j.faults.Err()
}

// placementJudge holds the question, the decision that is judged, and what is wrong with it.
type placementJudge struct {
	*nodes.World
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
	victims := j.victims(j.nominations())
	if j.each {
		return
	}
	j.room(victims)
	if !j.Request.SkipFit {
		j.outcome()
	}
}

func (j *placementJudge) inDesign() bool { return j.Config.Mode == placement.ModeDesign }

// nominations judges where the pods go and returns the nodes of the domain that holds them all.
func (j *placementJudge) nominations() []string {
	seen := map[string]bool{}
	keeps := j.d.Outcome == preemption.Wait && !j.inDesign() // as built, a pod that waits keeps its nomination, whatever it is worth
	var on []string
	for i, n := range j.d.Nominations {
		known := slices.ContainsFunc(j.Members, func(m workload.Pod) bool { return m.ID == n.Pod })
		node := slices.IndexFunc(j.State.Nodes, func(o workload.Node) bool { return o.Name == n.Node })
		usable := node >= 0 && (keeps || !j.State.Nodes[node].Unschedulable)
		if keeps && !j.each { // one of a Basic group may have the room of another one's nomination
			known = known && j.promised(n.Pod, n.Node)
		}
		if !known || seen[n.Pod] || !usable {
			j.wrong(fmt.Sprintf("nominations[%d]", i), "%q on %q: no pod of the request, or twice, or no node to use", n.Pod, n.Node)
		}
		seen[n.Pod] = true
		on = append(on, n.Node)
	}
	if least := max(1, j.Request.MinCount); j.d.Outcome.Succeeds() && len(seen) < least {
		j.wrong("nominations", "%d pods have a place, want %d", len(seen), least)
	}
	if j.Request.Group == "" || keeps {
		return on
	}
	for _, domain := range j.Domains() {
		if j.Request.DomainsPreferred && domain.Name != j.d.Domain {
			continue
		}
		if !slices.ContainsFunc(on, func(n string) bool { return !slices.Contains(domain.Nodes, n) }) {
			for _, group := range j.Lacking(j.places(), domain.Nodes) {
				j.wrong("nominations", "group %q has pods with a place, but not what it needs", group)
			}
			return domain.Nodes
		}
	}
	j.wrong("nominations", "%v are in no domain", on)
	return nil
}

// promised reports whether a pod has a nomination to the node already.
func (j *placementJudge) promised(pod, node string) bool {
	return slices.ContainsFunc(j.State.Nominated, func(p workload.Pod) bool { return p.ID == pod && p.Node == node })
}

// places returns the nominated members on their nodes.
func (j *placementJudge) places() (list []workload.Pod) {
	for _, n := range j.d.Nominations {
		for _, m := range j.Members {
			known := slices.ContainsFunc(j.State.Nodes, func(o workload.Node) bool { return o.Name == n.Node })
			if m.ID == n.Pod && known {
				m.Node = n.Node
				list = append(list, m)
			}
		}
	}
	return list
}

// room judges whether the nominated pods have room without the victims, and whether some victim could stay.
func (j *placementJudge) room(victims []nodes.Unit) {
	d := j.d
	if d.Outcome == preemption.Impossible || d.Outcome == preemption.Wait && !j.inDesign() {
		return
	}
	gone := map[string]bool{}
	for _, u := range victims {
		for _, p := range u.Pods {
			gone[p.ID] = true
		}
	}
	there := func(p workload.Pod) bool { return !gone[p.ID] && (d.Outcome == preemption.Fits || j.Stays(p)) }
	placed := j.places()
	for _, m := range placed {
		if !nodes.Names(m, m.Node) {
			j.wrong("nominations", "%q may not run on %q", m.ID, m.Node)
		}
	}
	if !j.Stand(there, placed) { // members that may keep their nominations may have been placed first
		placed = j.KeptFirst(there, placed)
	}
	if !j.Stand(there, placed) {
		j.wrong("nominations", "there is no room for them")
		return
	}
	if j.HasTrials() {
		return // there the members are placed anew with each unit
	}
	for _, u := range victims {
		beside := func(p workload.Pod) bool { return there(p) || slices.Contains(u.IDs(), p.ID) }
		if j.Stand(beside, placed) {
			j.wrong("victims", "%v can stay", u.IDs())
		}
	}
}

// outcome judges the outcome by whether the pods have room now, have room once terminating pods are gone, or could
// preempt, now or later.
func (j *placementJudge) outcome() {
	d := j.d
	_, _, fits := j.Room(nodes.Everyone)
	_, _, leaves := j.Room(j.Stays)
	leaves = leaves && j.inDesign()
	// Placed without the units that may yield, the pods may get places that have room beside these, too, but that are not
	// found when these are there. Whether they have room is judged above.
	stands := len(d.Nominations) > 0 && (d.Outcome == preemption.Fits ||
		d.Outcome == preemption.Wait && j.Request.Placer != nil)
	switch {
	case fits && d.Outcome != preemption.Fits:
		j.wrong("outcome", "%v, but there is room now", d.Outcome)
	case !fits && !leaves && d.Outcome == preemption.Fits && !stands:
		j.wrong("outcome", "Fits, but there is no room now")
	}
	switch {
	case fits || stands:
	case d.Outcome == preemption.Preempt && j.Request.Policy == placement.PreemptNever:
		j.wrong("outcome", "a unit yields to pods that preempt none")
	case d.Outcome == preemption.Preempt && leaves:
		j.wrong("outcome", "a unit yields although there is room once terminating pods are gone")
	case d.Outcome != preemption.Preempt:
		j.refusal(leaves)
	}
}

// refusal judges an answer without victims for pods that have no room now.
func (j *placementJudge) refusal(leaves bool) {
	d, now := j.d, j.At(j.Request.Now)
	if now.Outcome.Succeeds() && (d.Outcome == preemption.Impossible || len(d.Nominations) == 0) {
		j.wrong("outcome", "%v, but there is room without units that may yield", d.Outcome)
	}
	if leaves && d.Outcome != preemption.Wait {
		j.wrong("outcome", "%v, but there is room once terminating pods are gone", d.Outcome)
	}
	if len(j.faults) > 0 || j.Config.MaxRetrySteps < 0 || now.Outcome.Succeeds() {
		return
	}
	if !d.RetryAt.IsZero() && !d.RetryAt.After(j.Request.Now) {
		j.wrong("retryAt", "%v is not after now, %v", d.RetryAt, j.Request.Now)
		return
	}
	switch at := j.RetryAt(); {
	case !at.IsZero() && (d.RetryAt.IsZero() || at.Before(d.RetryAt)):
		j.wrong("retryAt", "%v, but at %v there is room without units that may yield", d.RetryAt, at)
	case !d.RetryAt.Equal(at) && j.Config.MaxRetrySteps == 0:
		j.wrong("retryAt", "at %v time has not helped", d.RetryAt)
	case d.Outcome == preemption.Wait && d.RetryAt.IsZero() && now.Outcome != preemption.Wait:
		j.wrong("outcome", "nothing is waited for")
	}
}
