// Package sim simulates clusters under a stream of workloads: arrivals,
// admission cycles, evictions with their grace, completions, requeueing; and a manager
// that dispatches workloads to all clusters at once, with preemption gates or without.
//
// It is event-driven and deterministic: events at one instant are handled in the order in
// which they were planned, and then each cluster that changed runs cycles until nothing
// moves.
package sim

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/clock"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Config configures a simulation.
type Config struct {
	Start    time.Time
	Clusters []ClusterConfig
	Jobs     []Job
	Cycle    cycle.Config
	// Gated gives replicas that are dispatched a gate, which Gates says how to open.
	Gated bool
	Gates gate.Config
}

// ClusterConfig holds the quotas of a cluster.
type ClusterConfig struct {
	Name    string
	Cohorts []queue.Cohort
	Queues  []queue.Queue
}

// Job is a workload and its behaviour.
type Job struct {
	// Workload is the workload as it arrives. Its ID is unique among the jobs; Created and
	// Queued are set to Arrives.
	Workload workload.Workload
	Arrives  time.Time
	// Runs is how long it must hold quota without interruption: an eviction loses the work
	// done so far.
	Runs time.Duration
	// Grace is how long it holds its quota after it was told to stop.
	Grace time.Duration
	// Cluster is the cluster that it goes to. Empty: every cluster, until one has admitted it.
	Cluster string
}

// World is a simulation under way. It has one owner. Make it with [New].
type World struct {
	config   Config
	now      time.Time // it never goes back
	cycle    *cycle.Cycle
	clusters []*cluster
	jobs     map[string]*job
	events   clock.Agenda[int, event] // by number, in the order in which they were planned
	planned  int
	metrics  Metrics
	observer observer // nil: nothing looks on
}

// observer looks on: tests check what must hold at every step.
type observer interface {
	settled(*cluster) error                      // after an instant
	admitting(*cluster, *cycle.HeadResult) error // before a head is admitted
	opening(*job, *copyOf) error                 // before a gate is opened
	moved() error                                // after each event, and each head that was served
}

// Metrics counts what happened so far.
type Metrics struct {
	Arrived, Completed int
	// Cycles counts the admission cycles of all clusters, Admissions the workloads admitted
	// in them, Openings the gates that were opened.
	Cycles, Admissions, Openings int
	// Preemptions counts the workloads that were told to stop; LostWork is how long they had
	// run in sum. Wasted counts those that were told to stop for a workload that was then
	// admitted elsewhere.
	Preemptions, Wasted int
	LostWork            time.Duration
	// Delays lists, for the workloads that go to every cluster, the time from arrival to
	// first admission, in the order of the admissions.
	Delays []time.Duration
}

// job is a job's life.
type job struct {
	Job
	delayed bool      // its delay was counted
	askAt   time.Time // when the manager looks at it next
	copies  []*copyOf
}

// copyOf is a job in one cluster.
type copyOf struct {
	job     *job
	cluster *cluster
	state   state
	facts   workload.Workload // as the cluster should have it
	waited  workload.Workload // as it last waited
	round   int               // counts admissions: what was planned in an earlier one is void
	told    time.Time         // when it was told to stop
	by      preemption.Victim // the decision that named it
	toldFor *copyOf           // the copy that preempted it
	offer   gate.Offer
	last    cycle.HeadOutcome // of the last verdict on it while it waits; zero: not seen yet
	owed    bool              // it then waited within its nominal quota
	// leaving is the number of copies that were told to stop for it and have not left;
	// since is when the first of them was told.
	leaving int
	since   time.Time
}

type state uint8

const (
	absent state = iota
	waiting
	running
	stopping
	done
)

// cluster is one cluster.
type cluster struct {
	name     string
	index    int
	snapshot *preemption.Snapshot
	pending  *queue.Pending
	changed  bool
	wakeAt   time.Time
	settled  [2]any             // the snapshot and the pending workloads of the last instant
	live     map[string]*copyOf // waiting, running or stopping
	// told maps a victim to the copy for which it was told to stop.
	told map[string]string
}

// New returns a world at its start. It fails when the configuration is not valid.
func New(c Config) (*World, error) {
	w := &World{config: c, now: c.Start, jobs: make(map[string]*job, len(c.Jobs))}
	var err error
	if w.cycle, err = cycle.New(c.Cycle); err != nil {
		return nil, err
	}
	if c.Gates.Gate == "" {
		w.config.Gates.Gate = gate.MultiKueue
	}
	for i, from := range c.Clusters {
		to := &cluster{name: from.Name, index: i, live: map[string]*copyOf{}, told: map[string]string{}}
		if to.snapshot, err = preemption.NewSnapshot(preemption.State{Cohorts: from.Cohorts, Queues: from.Queues}); err != nil {
			return nil, fmt.Errorf("cluster %q: %w", from.Name, err)
		}
		if to.pending, err = queue.NewPending(from.Cohorts, from.Queues); err != nil {
			return nil, fmt.Errorf("cluster %q: %w", from.Name, err)
		}
		to.pending = to.pending.AlikeBy(w.cycle.Alike)
		w.clusters = append(w.clusters, to)
	}
	for i := range c.Jobs {
		j := &job{Job: c.Jobs[i]}
		id := j.Workload.ID
		if w.jobs[id] != nil {
			return nil, fmt.Errorf("job %q is there twice", id)
		}
		j.Workload.Created, j.Workload.Queued = j.Arrives, j.Arrives
		for _, to := range w.clusters {
			if j.Cluster == "" || j.Cluster == to.name {
				j.copies = append(j.copies, &copyOf{job: j, cluster: to})
			}
		}
		if len(j.copies) == 0 {
			return nil, fmt.Errorf("job %q: unknown cluster %q", id, j.Cluster)
		}
		w.jobs[id] = j
		w.plan(j.Arrives, event{job: j, kind: arrives})
	}
	return w, nil
}

// Now returns the simulated time.
func (w *World) Now() time.Time { return w.now }

// Metrics returns what happened so far.
func (w *World) Metrics() Metrics { return w.metrics }

// Step handles all events of the next instant and runs cycles; more is false when there was
// none. The error says what went wrong: a workload that is not valid, or what the observer says.
func (w *World) Step() (more bool, err error) {
	at, ok := w.events.Next()
	if !ok {
		return false, nil
	}
	if at.After(w.now) {
		w.now = at
	}
	for e, rest, due := w.events.Due(w.now); due; e, rest, due = w.events.Due(w.now) {
		w.events = rest
		err := w.handle(e.What)
		if err == nil && w.observer != nil {
			err = w.observer.moved()
		}
		if err != nil {
			return false, fmt.Errorf("at %v: %w", w.Now(), err)
		}
	}
	for again := true; again; {
		again = false
		for _, c := range w.clusters {
			if c.changed {
				c.changed, again = false, true
				if err := w.runCycles(c); err != nil {
					return false, fmt.Errorf("at %v: cluster %q: %w", w.Now(), c.name, err)
				}
			}
		}
	}
	for _, c := range w.clusters {
		if c.snapshot == c.settled[0] && c.pending == c.settled[1] {
			continue
		}
		c.settled = [2]any{c.snapshot, c.pending}
		if w.observer != nil {
			if err := w.observer.settled(c); err != nil {
				return false, fmt.Errorf("at %v: cluster %q: %w", w.Now(), c.name, err)
			}
		}
		if at, ok := c.pending.NextAt(); ok && (c.wakeAt.IsZero() || at.Before(c.wakeAt)) {
			c.wakeAt = at
			w.plan(at, event{cluster: c, kind: wakes})
		}
	}
	return true, nil
}

// Run steps until no event is left, or none before the given time.
func (w *World) Run(until time.Time) error {
	for at, ok := w.events.Next(); ok && at.Before(until); at, ok = w.events.Next() {
		if _, err := w.Step(); err != nil {
			return err
		}
	}
	return nil
}

type kind uint8

const (
	arrives  kind = 1 + iota // a job
	finishes                 // a copy that runs
	leaves                   // a copy that was told to stop
	shrinks                  // a copy of which replicas were told to stop
	wakes                    // a cluster
	asks                     // the manager about a job
)

type event struct {
	at      time.Time
	kind    kind
	job     *job
	copy    *copyOf
	round   int
	gone    preemption.Replicas // of shrinks
	by      *copyOf             // the copy that the replicas leave for
	cluster *cluster
}

func (w *World) plan(at time.Time, e event) {
	w.planned++
	e.at = at
	w.events = w.events.Set(at, w.planned, e)
}
