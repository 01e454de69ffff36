package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// alone returns the request for one pod of a basic group.
func (r *Request) alone(i int) Request {
	one := *r
	one.Group, one.Pods = "", []workload.Pod{r.Pods[i]}
	one.Pods[0].Group = cmp.Or(r.Pods[i].Group, r.Group)
	return one
}

// decideEach decides about the pods of a basic group one by one, each on the snapshot after the decisions before it.
// For single pods, also of a group, nodes are the domains (KEP-5710, Preemption algorithm). Placing comes before
// preempting (KEP-4671: for the basic policy binding is preferred).
func (p *Preemptor) decideEach(snapshot *Snapshot, r *Request, to *trace.Recorder) (Decision, error) {
	if err := p.enter(new(scratch), snapshot.inside(), r); err != nil {
		return Decision{}, err
	}
	d, err := p.decideEachAt(snapshot, r, ask.WithReasons, to)
	if err != nil || d.Outcome.Succeeds() {
		return d, err
	}
	at, ok, err := p.retryEachAt(snapshot, *r, to)
	if err != nil {
		return Decision{}, err
	}
	if ok {
		d.Outcome, d.RetryAt = preemption.Wait, at
	}
	return d, nil
}

// retryEachAt returns the first instant at which a pod of a basic group gets a place; ok is false if there is none.
// With a negative MaxRetrySteps ok says only whether time may help.
func (p *Preemptor) retryEachAt(snapshot *Snapshot, r Request, to *trace.Recorder) (at time.Time, ok bool, err error) {
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return time.Time{}, false, err
	}
	instants := sc.search.Instants(&p.inside, c, &sc.request)
	if p.config.MaxRetrySteps < 0 {
		return time.Time{}, len(instants) > 0, nil
	}
	steps := 0
	for _, at := range instants {
		if r.Now = instant.Time(at); steps > p.config.maxRetrySteps() {
			return r.Now, true, nil
		}
		d, err := p.decideEachAt(snapshot, &r, ask.OutcomeOnly, nil)
		if to != nil {
			to.Add(trace.Step{Kind: trace.Instant, At: at, Fits: d.Outcome.Succeeds()})
		}
		if err != nil || d.Outcome.Succeeds() {
			return r.Now, true, err
		}
		steps += len(r.Pods) * (1 + c.Running.Len())
	}
	return time.Time{}, false, nil
}

// decideEachAt decides about the pods without RetryAt.
func (p *Preemptor) decideEachAt(snapshot *Snapshot, r *Request, extent ask.Extent, to *trace.Recorder) (Decision, error) {
	if !r.SkipFit {
		d, err := p.placeEach(snapshot, r, to)
		if err != nil || d.Outcome == preemption.Fits {
			return d, err
		}
	}
	out := Decision{Outcome: preemption.Impossible, Now: r.Now}
	for i := range r.Pods {
		one := r.alone(i)
		if to != nil {
			to.Add(trace.Step{Kind: trace.PodBegins, Workload: one.Pods[0].ID})
		}
		d, err := p.decide(snapshot.inside(), &one, extent, to)
		if err != nil {
			return Decision{}, err
		}
		out.add(&d)
		edits := d.Edits()
		var disrupted []string
		for _, v := range d.Victims {
			disrupted = append(disrupted, v.Pods...)
		}
		for _, b := range budget.Disrupt(snapshot.inside(), disrupted) { // as the caller would before the next request
			edits = append(edits, SetBudget(b))
		}
		if snapshot, err = snapshot.With(edits...); err != nil {
			return Decision{}, err
		}
	}
	if out.Outcome != preemption.Impossible {
		out.Reason, out.Placeable, out.Blockers, out.Shortage = 0, len(out.Nominations), nil, nil
	}
	member := func(id string) bool {
		return slices.ContainsFunc(r.Pods, func(p workload.Pod) bool { return p.ID == id })
	}
	slices.Sort(out.Withdrawn)
	out.Withdrawn = slices.DeleteFunc(slices.Compact(out.Withdrawn), member)
	for i := range out.Victims {
		out.Victims[i].Order = i + 1
	}
	slices.SortFunc(out.Victims, func(a, b Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out, nil
}

// placeEach places the pods that fit now. The zero decision: none does.
func (p *Preemptor) placeEach(snapshot *Snapshot, r *Request, to *trace.Recorder) (Decision, error) {
	out := Decision{Now: r.Now}
	for i := range r.Pods {
		one := r.alone(i)
		if r.Placer == nil { // no unit has to yield for a pod that fits; but a placer may place it only if asked about one node
			one.Policy = PreemptNever
		}
		if to != nil {
			to.Add(trace.Step{Kind: trace.PodBegins, Workload: one.Pods[0].ID})
		}
		d, err := p.decide(snapshot.inside(), &one, ask.OutcomeOnly, to)
		if err != nil {
			return Decision{}, err
		}
		if d.Outcome != preemption.Fits {
			continue
		}
		out.Outcome = preemption.Fits
		out.Nominations, out.Pods = append(out.Nominations, d.Nominations...), append(out.Pods, d.Pods...)
		out.Placeable++
		if snapshot, err = snapshot.With(d.Edits()...); err != nil {
			return Decision{}, err
		}
	}
	return out, nil
}

// together orders outcomes: a later one wins over an earlier one for the group. (A pod that fits only after the
// nomination of an earlier pod has moved is nominated with that pod.)
var together = []preemption.Outcome{preemption.Impossible, preemption.Fits, preemption.Wait, preemption.Preempt}

// add adds the decision about one pod to the decision about the pods before it.
func (d *Decision) add(one *Decision) {
	if slices.Index(together, one.Outcome) > slices.Index(together, d.Outcome) {
		d.Outcome = one.Outcome
	}
	d.Reason = max(d.Reason, one.Reason)
	if len(d.Blockers) == 0 {
		d.Blockers = one.Blockers
	}
	if len(d.Shortage) == 0 {
		d.Shortage = one.Shortage
	}
	d.Nominations, d.Pods = append(d.Nominations, one.Nominations...), append(d.Pods, one.Pods...)
	d.Withdrawn = append(d.Withdrawn, one.Withdrawn...)
	d.Placeable += one.Placeable
	for _, v := range one.InOrderOfChoice() {
		// As built, a pod that was told to stop for one pod may be told again for the next.
		if !slices.ContainsFunc(d.Victims, func(o Victim) bool { return o.Pods[0] == v.Pods[0] }) {
			d.Victims = append(d.Victims, v)
			d.Violations += v.Violations
		}
	}
}
