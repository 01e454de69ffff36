package loop

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/clock"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// epoch is the start of every world.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Loop is a replay in progress.
type Loop struct {
	world    *world.World
	policy   Policy
	rounds   []round
	snapshot *preemption.Snapshot
	pending  *queue.Pending
	// jobs are those that came and have not finished, by their place among the jobs of the world; the others are nil.
	jobs    []*job
	next    int                     // the job that comes next
	index   map[string]int          // of those that came and have not finished, by ID
	events  clock.Agenda[int, kind] // of each of them the next one; by len(jobs) when time alone may help
	now     int64
	used    int64 // GPU-thousandths that are held
	highest int64 // the highest priority of all jobs
	result  Result
	pairs   map[pair]turns
	endless bool // some circle goes on for ever
	// finishedLeaving counts jobs that finished before the checkpoint at which they were to stop.
	finishedLeaving int64
	goingOn         []int // jobs that go on to a checkpoint, then leave
	claims          []claim
	told            func(victim, preemptor *job) // for tests; it may be nil
	moved           int64                        // when a job of the highest priority last started or was stopped
	// Clock returns the time that has passed, for Times alone. Nil: nothing is measured.
	Clock func() time.Duration
	// Progress is called for each job that is finished. It may be nil.
	Progress func()
	// Follow is called for all that happens. It may be nil.
	Follow func(Happening)
}

// Happening is what happens to a job at a second.
type Happening struct {
	Second int64
	Job    string
	What   What
	// For is the preemptor, of Told, and Victim says by which right.
	For    string
	Victim preemption.Victim
}

// What is what can happen to a job. The zero value is invalid.
type What uint8

// A job starts to run; it is told to stop; it holds nothing more; it is finished.
const (
	Starts What = 1 + iota
	Told
	Stops
	Finishes
)

func (l *Loop) happens(what What, j *job) {
	if l.Follow != nil {
		l.Follow(Happening{Second: l.now, Job: j.ID, What: what})
	}
}

// New begins a replay.
func New(w *world.World, p Policy) (*Loop, error) {
	if w.Rights != nil && p.rules == nil {
		p.rules, p.Config.Compat.RulesAlone = w.Rights, true
	}
	l := &Loop{world: w, policy: p, index: map[string]int{}, jobs: make([]*job, len(w.Jobs))}
	err := l.makeRounds()
	if err != nil {
		return nil, err
	}
	queues, configs := p.ruled(w.Queues)
	configs = append(configs, w.Rules...)
	if l.snapshot, err = preemption.NewSnapshot(preemption.State{Cohorts: w.Cohorts, Queues: queues, Rules: configs}); err != nil {
		return nil, err
	}
	if l.pending, err = queue.NewPending(w.Cohorts, queues); err != nil {
		return nil, err
	}
	l.pending = l.pending.AlikeBy(l.rounds[0].cycle.Alike)
	if priorities := w.Priorities(); len(priorities) > 0 {
		l.highest = priorities[0]
	}
	l.result.begin(w, &p)
	return l, nil
}

// round is a cycle over some of the heads, with how long the victims may go on for them.
type round struct {
	cycle   *cycle.Cycle
	patient bool
	wait    int64
}

// makeRounds makes the rounds. For some heads victims go on to their checkpoints, so their cost is
// another one; a cycle has one cost for all its heads.
func (l *Loop) makeRounds() error {
	l.rounds = []round{{}}
	if l.policy.wait > 0 {
		l.rounds = append(l.rounds, round{patient: true, wait: l.policy.wait})
	}
	for i := range l.rounds {
		r := &l.rounds[i]
		var err error
		if r.cycle, err = cycle.New(cycle.Config{Preemption: l.policy.config(l.world, r.wait)}); err != nil {
			return err
		}
	}
	return nil
}

// submitted is a job as it waits: what it asks for as a whole, or else GPUs and CPUs.
func (l *Loop) submitted(i int) workload.Workload {
	j := &l.world.Jobs[i]
	if l.world.Whole != nil {
		w := l.world.Whole[i]
		w.Created, w.Queued = at(j.Submit), at(j.Submit)
		return w
	}
	return workload.Workload{ID: j.ID, Queue: j.Queue, Priority: j.Priority, PriorityClass: j.QOS, Created: at(j.Submit), Queued: at(j.Submit),
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: l.world.Requests(j)}}}
}

func at(seconds int64) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// Run replays to the end: all jobs have finished, or nothing can happen any more.
func (l *Loop) Run() (Result, error) {
	for l.goesOn() {
		if err := l.Step(); err != nil {
			l.result.end(l)
			return l.result, err
		}
	}
	l.result.end(l)
	return l.result, nil
}

// goesOn reports whether anything is still to happen.
func (l *Loop) goesOn() bool { return l.events.Len() > 0 || l.next < len(l.jobs) }

// Step takes all events of the next time, then schedules.
func (l *Loop) Step() error {
	next, planned := l.events.Next()
	instant := int64(next.Sub(epoch) / time.Second)
	if l.next < len(l.jobs) && (!planned || l.world.Jobs[l.next].Submit < instant) {
		instant = l.world.Jobs[l.next].Submit
	}
	l.now = max(l.now, instant)
	if l.now > longest {
		return fmt.Errorf("the jobs take more than %d years in all", longest/secondsOfYear)
	}
	var edits []preemption.Edit
	var free []string // queues in which room became free
	var err error
	l.pending = l.pending.Advance(at(l.now))
	for err == nil {
		e, rest, due := l.events.Due(at(l.now))
		if l.events = rest; !due {
			break
		}
		if e.What == wakes {
			continue
		}
		j := l.jobs[e.Key]
		edits, free = append(edits, preemption.Remove(j.ID)), append(free, j.Queue)
		if e.What == finishes {
			l.finish(j)
		} else {
			err = l.leave(j)
		}
	}
	for ; err == nil && l.next < len(l.jobs) && l.world.Jobs[l.next].Submit <= l.now; l.next++ {
		err = l.arrive(l.next)
	}
	if err != nil {
		return err
	}
	if len(edits) > 0 {
		if l.snapshot, err = l.snapshot.With(edits...); err != nil {
			return err
		}
		l.pending = l.pending.Release(free...)
	}
	if err := l.schedule(); err != nil {
		return err
	}
	if next, ok := l.pending.NextAt(); ok {
		if s := int64(next.Sub(epoch)+time.Second-1) / int64(time.Second); s > l.now {
			l.plan(s, wakes, len(l.jobs))
		}
	}
	return nil
}

// arrive takes a job in that is submitted.
func (l *Loop) arrive(i int) error {
	j := &job{Job: &l.world.Jobs[i]}
	j.submitted = l.submitted(i)
	l.jobs[i], l.index[j.ID] = j, i
	return l.waits(j, j.submitted)
}

// waits puts a job into its queue.
func (l *Loop) waits(j *job, w workload.Workload) (err error) {
	j.state, j.since = waiting, l.now
	l.pending, err = l.pending.Add(w)
	return err
}

// schedule runs cycles until another one would change nothing.
func (l *Loop) schedule() error {
	turns := 0
	for again := true; again; turns++ {
		again = false
		for i := range l.rounds {
			r := &l.rounds[i]
			own, promised := l.heads(r)
			if len(own) == 0 {
				continue
			}
			more, err := l.run(r, own, promised)
			if err != nil {
				return err
			}
			again = again || more
		}
		if l.endless {
			return fmt.Errorf("%w: broken off at second %d", ErrCircle, l.now)
		}
		if turns > maxTurns*len(l.jobs)+maxTurns {
			return fmt.Errorf("%w: broken off at second %d after %d cycles", ErrCircle, l.now, turns)
		}
	}
	return nil
}

// run runs one cycle and applies its result.
func (l *Loop) run(r *round, own, promised []queue.Head) (again bool, err error) {
	var began time.Duration
	if l.Clock != nil {
		began = l.Clock()
	}
	results, err := l.decide(r, own, promised)
	if err != nil {
		return false, err
	}
	if l.Clock != nil {
		l.result.Times.add(l.Clock()-began, len(own))
	}
	l.result.Decisions += int64(len(own))
	for i := range results {
		more, err := l.apply(r, &results[i])
		if err != nil {
			return false, err
		}
		again = again || more
	}
	return again, nil
}

// apply carries out the result of a head.
func (l *Loop) apply(r *round, h *cycle.HeadResult) (again bool, err error) {
	w := h.Head.Workload
	requeue, waits := h.Requeue()
	if !waits || h.Outcome == cycle.Preempt {
		if l.snapshot, err = l.snapshot.With(h.Decision.Edits()...); err != nil {
			return false, err
		}
	}
	claims := r.patient && requeue.Reason == queue.PendingPreemption
	back, err := l.claim(w, claims)
	switch {
	case err != nil || claims:
	case !waits || !back: // a job that loses its claim is new in its queue
		l.pending, err = h.Return(l.pending, at(l.now))
	}
	if err != nil {
		return false, err
	}
	if !waits {
		l.start(l.jobs[l.index[w.ID]], w)
	}
	if h.Outcome == cycle.Preempt {
		l.result.Preemptions++
		for _, v := range h.Decision.Victims {
			l.stop(l.jobs[l.index[v.Workload]], v, r.wait, l.index[w.ID])
		}
	}
	return back || h.Again, nil
}

// longest is how long a replay may last: times are nanoseconds in 64 bits.
const (
	secondsOfYear = 366 * 24 * 3600
	longest       = 200 * secondsOfYear
)

// maxTurns is how many cycles there may be for each job while time stands still: each cycle starts
// or evicts some job, or is the last one.
const maxTurns = 2*circleTurns + 2
