package preemption

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/trace"
)

// decide answers a request after enter. steps is the number of workloads looked at.
func (sc *scratch) decide(s *Snapshot, config *Config, r *Request, d *Decision) (steps int) {
	c := s.inside()
	if q := c.Queue(sc.request.Queue); q.Inactive {
		*d = ofInactive(q.Name, config)
		return 0
	}
	found, ok := sc.find(c, r, config.maxBlockers())
	if ok {
		sc.leave(c, r, &found, d)
	} else {
		*d = sc.unassigned(c, &r.Workload, config.maxBlockers())
	}
	sc.addLimitBlockers(d, config.maxBlockers())
	steps = found.Steps
	if isOpen(&r.Workload) && !d.Possible() {
		steps += sc.reconsider(s, config, r, d, found)
	}
	return steps
}

// ofInactive decides about any request in an inactive queue.
func ofInactive(name string, config *Config) Decision {
	d := Decision{Outcome: Impossible}
	if config.maxBlockers() > 0 {
		d.Blockers = []Blocker{{Rule: RuleQueueInactive, Queue: name}}
	}
	return d
}

// aside begins searches about changed requests, of which the results will do: no steps are
// recorded. The returned function ends them; the columns are again those that the recorded
// steps are about.
func (sc *scratch) aside() (end func()) {
	d, t := &sc.request, sc.request.Trace
	if t == nil {
		return func() {}
	}
	t.Silence()
	names, columns, amounts := slices.Clone(sc.names), slices.Clone(d.Columns), slices.Clone(d.Amounts)
	return func() {
		sc.names, d.Columns, d.Amounts = names, columns, amounts
		t.Resume()
	}
}

// reconsider sets Wait and RetryAt of a decision with assigned flavors. The search knows
// RetryAt for these flavors only, and others may be assigned before that. A decision can
// change only when one of its searches changes, so those instants are tried in turn, as in
// the search itself.
func (sc *scratch) reconsider(s *Snapshot, config *Config, r *Request, d *Decision, found decide.Result) (steps int) {
	defer sc.aside()()
	c, t := s.inside(), sc.request.Trace
	at, waits := sc.changesAt(found)
	first := found.Steps
	for waits && config.MaxRetrySteps >= 0 && first+steps <= config.maxRetrySteps() {
		if sc.enter(s, config, r) != nil {
			break // it was entered before
		}
		sc.request.Now, sc.request.Better.Cost = at, config.enterCost(instant.Time(at))
		sc.request.Retry.MaxSteps -= first + steps
		found, _ = sc.find(c, r, 0)
		succeeds := found.Fits || found.Awaits || len(found.Victims) > 0
		if t != nil {
			t.AddAnyway(trace.Step{Kind: trace.Instant, At: at, Fits: succeeds})
		}
		if steps += found.Steps; succeeds {
			break
		}
		at, waits = sc.changesAt(found)
	}
	d.Outcome, d.RetryAt = Impossible, time.Time{}
	if waits {
		d.Outcome = Wait
		if config.MaxRetrySteps >= 0 {
			d.RetryAt = instant.Time(at)
		}
	}
	return steps
}

// changesAt returns the first instant at which the result of the search may change.
func (sc *scratch) changesAt(found decide.Result) (at int64, ok bool) {
	at, ok = sc.open.assigner.ChangesAt()
	if found.Waits && (!ok || found.RetryAt < at) {
		return found.RetryAt, true
	}
	return at, ok
}
