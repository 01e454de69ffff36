// Package cycle is one admission cycle, as a pure function: of the heads of all queues, who
// is admitted, who preempts, who waits.
//
//	c, err := cycle.New(cycle.Config{})
//	result, err := c.Run(snapshot, pending.Heads(), now)
//	snapshot, err = snapshot.With(result.Edits()...)
//
// The steps (KEP-83, "Changes in scheduling algorithm"):
//
//  1. Each head is decided about as if it were the only one, with everybody gone who was
//     told to stop already: their room is on its way.
//  2. The heads are ordered: those for which room is on its way, which was promised to
//     them; then those that do not borrow; then by priority, queue-order timestamp, ID.
//  3. Each is served in that order, on what those before it left. A victim is promised
//     once: where another took it, the decision is made again without it. A head that
//     preempts keeps the room from those after it.
//
// A head is admitted when it fits now, and also once all victims are gone and all who
// preempt have come. Serving is greedy: an earlier head keeps its victims even where a
// later one could have used no others.
package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Borrowing is what a workload that does not borrow means for those after it that would,
// in the same cycle. The zero value is AsBuilt.
type Borrowing uint8

const (
	// AsBuilt lets them borrow what is left. A head that does not fit, and for which
	// nobody may yield, reserves what its queue could hold without preemption, for this
	// cycle, unless its queue reclaims from Any, so that it can have it back.
	AsBuilt Borrowing = iota
	// KEP83 lets nobody borrow in the cohort tree after a workload was looked at that
	// does not (KEP-83, Admission), be it admitted, preempting, or waiting. The hazard:
	// under StrictFIFO a head that waits for ever keeps its whole cohort from borrowing.
	// Reserving is then not needed. A gated head keeps nobody from anything.
	KEP83
)

// Config configures a [Cycle]. The zero value is valid.
type Config struct {
	// Preemption is how each head is decided about.
	Preemption preemption.Config
	Borrowing  Borrowing
}

// Cycle runs cycles. It holds no state of any of them: any number of goroutines may use
// one. Make it with [New].
type Cycle struct {
	borrowing Borrowing
	alone     *preemption.Preemptor // decides as if a head were the only one
	after     *preemption.Preemptor // the same, and what was promised in this cycle stays
}

// New returns a cycle. It fails with all faults when the configuration is not valid.
func New(c Config) (*Cycle, error) {
	alone, err := preemption.New(c.Preemption)
	faults, _ := err.(preemption.Faults)
	if c.Borrowing > KEP83 {
		faults.Add("config.Borrowing", "%d is unknown", c.Borrowing)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c.Preemption.Guards = append(slices.Clone(c.Preemption.Guards), promises{})
	c.Preemption.SkipRetryAt = true // nobody reads when: it is tried again in the next cycle
	after, err := preemption.New(c.Preemption)
	if err != nil {
		return nil, err
	}
	return &Cycle{c.Borrowing, alone, after}, nil
}

// promised begins the ID of what stands, in a cycle, for room that is promised.
const promised = "\x00promised:"

// promises is the rule that what was promised in this cycle is not taken.
type promises struct{}

func (promises) Verdict(running workload.Workload, _ preemption.Request) preemption.Verdict {
	if strings.HasPrefix(running.ID, promised) {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

// decide asks about a head. It returns the workload as the decision has it: with the
// flavors that it is about, which stay the same when it is made again.
func decide(by *preemption.Preemptor, s *preemption.Snapshot, w workload.Workload, now time.Time) (preemption.Decision, workload.Workload, error) {
	d, err := by.Decide(s, preemption.Request{Workload: w, Now: now})
	return d, d.Assignment.Pin(w), err
}

// entry is a head on its way through the cycle.
type entry struct {
	head      queue.Head
	workload  workload.Workload // with its flavors
	nominated preemption.Decision
	kept      bool // room is on its way that was promised to it
	height    int  // of borrowing, as the order has it
}

// Run runs one cycle. It changes nothing: the result says what to do. The error lists all
// faults of the heads: what [preemption.Preemptor.Decide] finds, an ID twice, an ID that
// begins with the byte 0.
func (c *Cycle) Run(s *preemption.Snapshot, heads []queue.Head, now time.Time) (Result, error) {
	gone := make([]preemption.Edit, 0, len(heads))
	for _, id := range s.Evicting() {
		gone = append(gone, preemption.Remove(id))
	}
	then, err := s.With(gone...)
	if err != nil {
		return Result{}, err
	}
	entries, err := c.nominate(then, heads, now)
	if err != nil {
		return Result{}, err
	}
	slices.SortFunc(entries, compare)
	p := plan{cycle: c, time: now, now: s, then: then, first: then}
	for i := range entries {
		v, err := p.serve(&entries[i])
		if err != nil {
			return Result{}, err
		}
		p.result.Verdicts = append(p.result.Verdicts, v)
	}
	return p.result, nil
}

// nominate decides about each head as if it were the only one.
func (c *Cycle) nominate(then *preemption.Snapshot, heads []queue.Head, now time.Time) ([]entry, error) {
	var faults preemption.Faults
	entries := make([]entry, len(heads))
	seen := make(map[string]int, len(heads))
	for i, h := range heads {
		path := fmt.Sprintf("heads[%d]", i)
		if first, twice := seen[h.Workload.ID]; twice {
			faults.Add(path+".id", "%q is also the ID of heads[%d]", h.Workload.ID, first)
		}
		seen[h.Workload.ID] = i
		if strings.HasPrefix(h.Workload.ID, "\x00") {
			faults.Add(path+".id", "%q begins with the byte 0", h.Workload.ID)
		}
		d, w, err := decide(c.alone, then, h.Workload, now)
		if found, bad := err.(preemption.Faults); bad {
			for _, f := range found {
				faults = append(faults, preemption.Fault{Path: strings.Replace(f.Path, "request.workload", path, 1), Problem: f.Problem})
			}
			continue
		}
		entries[i] = entry{head: h, workload: w, nominated: d, kept: h.Preempting && d.Outcome == preemption.Fits, height: d.BorrowHeight}
		if c.borrowing == KEP83 {
			entries[i].height = min(1, d.BorrowHeight)
			if waits(d) && withinNominal(then, &w) {
				entries[i].height = 0 // it is for the quota of its own that it waits
			}
		}
	}
	return entries, faults.Err()
}

// compare is the order in which heads are served; it ends in the ID.
func compare(a, b entry) int {
	if a.kept != b.kept {
		if a.kept {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(a.height, b.height),
		cmp.Compare(b.head.Workload.EffectivePriority(), a.head.Workload.EffectivePriority()),
		a.head.Workload.Queued.Compare(b.head.Workload.Queued),
		cmp.Compare(a.head.Workload.ID, b.head.Workload.ID))
}

// waits reports whether a decision makes no room.
func waits(d preemption.Decision) bool {
	return d.Outcome == preemption.Wait || d.Outcome == preemption.Impossible
}
