package moves

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Decide answers a request by the configuration of a preemptor; nil decides by the zero [placement.Config]. It changes neither the
// snapshot nor the request. It fails as [placement.Preemptor.Decide], and with [preemption.Faults] of what is wrong with the
// configuration: an unknown Start, a negative limit, Prefer beside a resize.
func Decide(p *placement.Preemptor, s *placement.Snapshot, r placement.Request, c Config) (Decision, error) {
	if err := append(c.validate(), c.request(&r)...).Err(); err != nil {
		return Decision{}, err
	}
	f := &finder{config: &c, preemptor: p, before: s, request: r}
	d, found, err := f.find()
	if err != nil || d.isDecided(found) || c.Price == nil { // each victim may yield: what placement says holds
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
	before    *placement.Snapshot
	request   placement.Request
	tried     int
	elsewhere []string
}

// found is an answer that stands.
type found struct {
	decision placement.Decision
	list     []victim
	steps    []Step
}

// find looks for an answer in one domain after the other. If there is none, the decision says why.
func (f *finder) find() (Decision, bool, error) {
	var best *found
	var first placement.Decision
	ask := f.request
	for try := 0; ; try++ {
		d, err := f.preemptor.Decide(f.before, ask)
		if err != nil {
			return Decision{}, false, err
		}
		if try == 0 {
			first = d
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
		if best != nil || try+1 == f.config.maxTries() || !f.leaveOut(&ask, &d) {
			break
		}
	}
	if best == nil {
		return Decision{Decision: f.refused(first), Tried: f.tried}, false, nil
	}
	return Decision{
		Decision: best.decision, Moves: movesOf(best.list), Steps: best.steps, Cost: costOf(best.list), Elsewhere: f.elsewhere, Tried: f.tried,
	}, true, nil
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
	if d.Outcome != preemption.Preempt {
		return d
	}
	d.Outcome, d.Reason, d.Withdrawn = preemption.Impossible, placement.ReasonNoRoom, nil
	d.Placement = placement.Placement{}
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

// retry looks for the first instant at which there is an answer.
func (f *finder) retry(d Decision) (Decision, error) {
	instants, err := f.preemptor.Instants(f.before, f.request)
	if err != nil {
		return Decision{}, err
	}
	d.Decision.Outcome, d.Decision.RetryAt = preemption.Impossible, time.Time{}
	if f.preemptor.Config().MaxRetrySteps < 0 && len(instants) > 0 {
		return d.until(time.Time{}), nil
	}
	later := *f
	for i, at := range instants {
		if later.request.Now = at; i < mostInstants {
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
