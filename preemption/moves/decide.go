package moves

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Decide answers a request by the configuration of a preemptor; nil decides by the zero [placement.Config]. It changes neither the
// snapshot nor the request. It fails as [placement.Preemptor.Decide], and with a [fault.List] of what is wrong with the
// configuration: an unknown Start or Search, negative limits, Prefer beside Only; and of what a configuration does not know: with
// Only, Prefer or an exact search a resize, with Only Nested and MinGroups.
//
// [fault.List]: https://pkg.go.dev/github.com/cedesched/cede/preemption/fault#List
func Decide(p *placement.Preemptor, s *placement.Snapshot, r placement.Request, c Config) (Decision, error) {
	if err := append(c.validate(), c.request(&r)...).Err(); err != nil {
		return Decision{}, err
	}
	f := &finder{config: &c, preemptor: p, asked: p, before: s, request: r, ask: r}
	if c.Only {
		without := r
		without.Policy = placement.PreemptNever
		d, err := p.Decide(s, without)
		if err != nil || d.Outcome == preemption.Fits || len(d.Nominations) > 0 || r.Policy == placement.PreemptNever {
			return Decision{Decision: d}, err
		}
		if err := f.raise(); err != nil {
			return Decision{}, err
		}
	}
	d, found, err := f.find()
	if err != nil || d.isDecided(found) || !c.Only && c.Price == nil { // each victim may yield: what placement says holds
		return d, err
	}
	return f.retry(d)
}

// isDecided reports whether the request need not look for a later instant: victims are found, it fits, or it waits with places.
func (d *Decision) isDecided(found bool) bool {
	return found || d.Decision.Outcome == preemption.Fits || len(d.Decision.Nominations) > 0
}

// finder looks for an answer at one instant.
type finder struct {
	config    *Config
	preemptor *placement.Preemptor
	asked     *placement.Preemptor // that is asked who may leave
	before    *placement.Snapshot
	request   placement.Request // as it came
	ask       placement.Request // as it is asked
	tried     int
	elsewhere []string
}

// found is an answer that stands.
type found struct {
	decision placement.Decision
	list     []victim
	steps    []Step
	cost     Cost
}

// find looks for an answer in one domain after the other. If there is none, the decision says why.
func (f *finder) find() (Decision, bool, error) {
	var best *found
	var first placement.Decision
	ask := f.ask
	for try := 0; ; try++ {
		d, err := f.asked.Decide(f.before, ask)
		if err != nil {
			return Decision{}, false, err
		}
		if try == 0 {
			if first = d; d.Outcome != preemption.Preempt {
				break
			}
		}
		if d.Outcome != preemption.Preempt {
			break
		}
		if d, err = f.prefer(ask, d); err != nil {
			return Decision{}, false, err
		}
		if best, err = f.attempt(d); err != nil {
			return Decision{}, false, err
		}
		if best == nil && f.config.Only {
			again, err := f.smaller(ask, d)
			if err == nil && again.Outcome == preemption.Preempt {
				best, err = f.attempt(again)
			}
			if err != nil {
				return Decision{}, false, err
			}
		}
		if best != nil || try+1 == f.config.maxTries() || !f.leaveOut(&ask, &d) {
			break
		}
	}
	var proof *Proof
	isExact, limit := f.config.Search == placement.Exact && (first.Outcome == preemption.Preempt || f.config.Only), f.config.maxNodes()
	if !isExact && best == nil && f.config.Only && f.isSmall() {
		isExact, limit = true, min(limit, fewNodes)
	}
	if isExact {
		better, p, err := f.exact(best, limit)
		if err != nil {
			return Decision{}, false, err
		}
		if best = cmp.Or(better, best); f.config.Search == placement.Exact {
			proof = p
		}
	}
	if best == nil {
		out := Decision{Decision: f.refused(first), Proof: proof, Tried: f.tried}
		return out, false, nil
	}
	out, err := f.answer(best)
	out.Proof = proof
	return out, err == nil, err
}

// A greedy decision that finds nothing makes a short exact search, of fewNodes, in a snapshot of at most smallSnapshot nodes.
const fewNodes, smallSnapshot = 2000, 256

func (f *finder) isSmall() bool {
	count := 0
	for range f.before.Nodes() {
		if count++; count > smallSnapshot {
			return false
		}
	}
	return true
}

// attempt looks for places for the victims of a decision; nil: one has none that needs it.
func (f *finder) attempt(d placement.Decision) (*found, error) {
	x := &found{decision: d, list: f.config.victimsOf(f.before, d.Victims)}
	after, beside, err := f.after(&d)
	if err != nil {
		return nil, err
	}
	f.tried += len(x.list)
	if ok, err := f.config.findPlaces(f.preemptor, after, beside, x.list); err != nil || !ok {
		return nil, err
	}
	if !f.order(x) {
		return nil, nil
	}
	x.cost = costOf(x.list)
	return x, nil
}

// order finds the steps. Moves that never have their turn do not happen: those units yield, if they may.
func (f *finder) order(x *found) bool {
	for {
		planner := f.config.newPlanner(f.before, x.drops)
		steps, stuck := planner.plan(x.list, x.decision.Pods)
		for _, l := range stuck {
			if l.mustMove() {
				return false
			}
			l.to = nil
		}
		if len(stuck) == 0 {
			x.steps = steps
			return true
		}
	}
}

// drops reports whether a nomination ends with the answer.
func (x *found) drops(id string) bool {
	return slices.Contains(x.decision.Withdrawn, id) ||
		slices.ContainsFunc(x.decision.Pods, func(p workload.Pod) bool { return p.ID == id })
}

// after returns a snapshot and what counts beside it: the victims of a decision are gone, and the pods of the request in their places.
func (f *finder) after(d *placement.Decision) (after *placement.Snapshot, beside placement.Beside, err error) {
	var edits []placement.Edit
	for _, v := range d.Victims {
		beside.Gone = append(beside.Gone, v.Pods...)
	}
	for _, id := range d.Withdrawn {
		edits = append(edits, placement.Withdraw(id))
	}
	waits := func(p workload.Pod) bool { return p.Node == "" }
	if beside.Placed = d.Pods; slices.ContainsFunc(d.Pods, waits) {
		for _, p := range d.Pods {
			edits = append(edits, placement.Withdraw(p.ID))
		}
		beside.Placed = slices.DeleteFunc(slices.Clone(d.Pods), waits)
	}
	if f.request.Resize {
		p, _ := f.before.Find(f.request.Pods[0].ID)
		p.Requests = f.request.Pods[0].Requests
		edits, beside.Placed = append(edits, placement.Run(p)), nil
	}
	after, err = f.before.With(edits...)
	return after, beside, err
}

// refused is the decision if no victims were found that have the places that they need.
func (f *finder) refused(d placement.Decision) placement.Decision {
	if d.Outcome != preemption.Preempt && !f.config.Only {
		return d
	}
	if d.Outcome == preemption.Preempt {
		d.Outcome, d.Reason, d.Withdrawn, d.Proof = preemption.Impossible, placement.ReasonNoRoom, nil, nil
		d.Placement = placement.Placement{}
	}
	d.Pods = slices.Clone(f.request.Pods)
	for i := range d.Pods {
		p := &d.Pods[i]
		p.Priority, p.Queue = f.request.Priority, f.request.Queue
		if p.Group == "" {
			p.Group = f.request.Group
		}
	}
	return d
}

// answer turns what was found into a decision about the request as it came.
func (f *finder) answer(x *found) (Decision, error) {
	if f.config.Only {
		d, err := f.choose(x.decision.Placement)
		if err != nil {
			return Decision{}, err
		}
		x.decision = d
	}
	if x.decision.Outcome == preemption.Fits { // other places than those of placement
		return Decision{Decision: x.decision, Tried: f.tried}, nil
	}
	return Decision{
		Decision: x.decision, Moves: movesOf(x.list), Steps: x.steps, Cost: x.cost, Elsewhere: f.elsewhere, Tried: f.tried,
	}, nil
}

// choose returns the decision about the request with given victims and places. With Only no promise is broken.
func (f *finder) choose(x placement.Placement) (placement.Decision, error) {
	r := f.request
	d, err := f.preemptor.Choose(f.before, r, []placement.Placement{x})
	if f.config.Only {
		d.Withdrawn = nil
	}
	return d, err
}

// retry looks for the first instant at which there is an answer.
func (f *finder) retry(d Decision) (Decision, error) {
	instants, err := f.asked.Instants(f.before, f.ask)
	if err != nil {
		return Decision{}, err
	}
	d.Decision.Outcome, d.Decision.RetryAt = preemption.Impossible, time.Time{}
	if f.preemptor.Config().SkipRetryAt && len(instants) > 0 {
		return d.until(time.Time{}), nil
	}
	later := *f
	for i, at := range instants {
		if later.ask.Now, later.request.Now = at, at; i < mostInstants {
			then, found, err := later.find()
			if err != nil {
				return Decision{}, err
			}
			if !found && then.Decision.Outcome != preemption.Fits { // to wait with places is no success: placement does not look for it
				continue
			}
		}
		return d.until(at), nil
	}
	return d, nil
}

const mostInstants = 64

// until returns the decision to wait until an instant.
func (d Decision) until(at time.Time) Decision {
	d.Decision.Outcome, d.Decision.RetryAt = preemption.Wait, at
	return d
}
