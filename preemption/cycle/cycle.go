// Package cycle is one admission cycle, as a pure function: of the heads of all queues, who
// is admitted, who preempts, who waits.
//
//	c, err := cycle.New(cycle.Config{})
//	...
//	for again := true; again; {
//		result, err := c.Run(snapshot, pending.Heads(), now)
//		...
//		next, err := snapshot.With(result.Edits()...)
//		...
//		snapshot, again = next, result.Again // and each verdict's head goes back, or leaves
//	}
//
// The steps (KEP-83, "Changes in scheduling algorithm"):
//
//  1. Each head is decided about as if it were the only one, with everybody gone who was
//     told to stop already, replicas that are leaving included: their room is on its way.
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

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/guard"
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
	// KEP83Lasting is the same over cycles: nobody borrows in a cohort tree while a
	// workload of it that was looked at waits within its nominal quota, be it inadmissible
	// or behind one that is (queue.Head.NominalWaits). The hazard is that of KEP83 under
	// both strategies: a workload that may preempt nobody and waits for ever keeps its
	// whole cohort from borrowing. Room that was promised already may still be taken.
	KEP83Lasting
)

// letter reports whether a head that does not borrow ends borrowing.
func (b Borrowing) letter() bool { return b == KEP83 || b == KEP83Lasting }

// Config configures a [Cycle]. The zero value is valid.
type Config struct {
	// Preemption is how each head is decided about.
	Preemption preemption.Config
	Borrowing  Borrowing
	// Alike says what the caller's own rules (Preemption.Guards, Request.Room) read of a
	// pending workload: two of which it says the same are the same to them. It depends on
	// the workload alone. Nil: where there are such rules, no two are. See [Cycle.Alike].
	Alike func(workload.Workload) string
}

// Cycle runs cycles. It holds no state of any of them: any number of goroutines may use
// one. Make it with [New]; the zero value fails.
type Cycle struct {
	borrowing Borrowing
	created   bool // when a workload was created is read
	rules     bool // of the caller's own
	alike     func(workload.Workload) string
	alone     *preemption.Preemptor // decides as if a head were the only one
	after     *preemption.Preemptor // the same, and what was promised in this cycle stays
}

// New returns a cycle. It fails with all faults when the configuration is not valid.
func New(c Config) (*Cycle, error) {
	alone, err := preemption.New(c.Preemption)
	faults, _ := err.(fault.List)
	if c.Borrowing > KEP83Lasting {
		faults.Add("config.Borrowing", "%d is unknown", c.Borrowing)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	made := &Cycle{borrowing: c.Borrowing, created: c.Preemption.NewerByReservation, rules: len(c.Preemption.Guards) > 0, alike: c.Alike, alone: alone}
	c.Preemption.Guards = append(slices.Clone(c.Preemption.Guards), promises{})
	c.Preemption.SkipRetryAt = true // nobody reads it: it is tried again in the next cycle
	made.after, err = preemption.New(c.Preemption)
	return made, err
}

// Alike says what the rules of this cycle read of a pending workload besides what
// [queue.Pending] compares by itself. Give it to [queue.Pending.AlikeBy]; without it, where
// it is not empty, heads become inadmissible each by itself ([HeadResult.Alone]).
func (c *Cycle) Alike(w workload.Workload) string {
	if c == nil {
		return ""
	}
	text := ""
	if c.created {
		text = w.Created.UTC().Format(time.RFC3339Nano) + " "
	}
	switch {
	case c.alike != nil:
		text += c.alike(w)
	case c.rules:
		text += w.ID
	}
	return text
}

// promised begins the ID of what stands, in a cycle, for room that is promised.
const promised = "\x00promised:"

// promises is the rule that what was promised in this cycle is not taken.
type promises struct{}

func (promises) Verdict(running workload.Workload, _ preemption.Request) guard.Verdict {
	if strings.HasPrefix(running.ID, promised) {
		return guard.NeverYields()
	}
	return guard.MayYield()
}

// Request is what a cycle is asked.
type Request struct {
	// Heads is the heads of the queues.
	Heads []queue.Head
	// Now is the time of the cycle. It must be set.
	Now time.Time
	// Continue is, by ID of a head, the assignment of which its trials go on, that of its
	// last decision say; see [preemption.Request.Continue]. Where nothing comes of that, the
	// trials begin anew with the first flavor, so that nobody is put aside who would have
	// a chance without it. A head of which nothing came, and that has flavors that were not
	// tried (preemption.FlavorChoice.Untried), is tried with those in the next cycle by who
	// puts it back as FailedAfterNomination, and gives its assignment here; the cycle does
	// not ask for that by itself.
	Continue map[string]preemption.Assignment
	// Room returns the room that a head has besides the quota, on nodes say; see
	// [preemption.Request.Room]. Nil, or a nil answer: the quota is all.
	//
	// Before is the verdicts on the heads that were served before it in this cycle. Those
	// that were admitted have their place, and those for which room is on its way
	// (queue.PendingPreemption) are to keep theirs: the room must be what those leave. The
	// cycle itself takes the workloads away that were told to stop, and the victims that
	// yield whole; as it is not known which pods of a surplus leave, their room counts only
	// when they have left.
	Room func(head workload.Workload, before []HeadResult) preemption.Room
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
// begins with the byte 0; or says that the cycle was not made by [New].
func (c *Cycle) Run(s *preemption.Snapshot, heads []queue.Head, now time.Time) (Result, error) {
	return c.RunRequest(s, Request{Heads: heads, Now: now})
}

// RunRequest is Run with all that may be asked.
func (c *Cycle) RunRequest(s *preemption.Snapshot, r Request) (Result, error) {
	if c == nil || c.after == nil {
		return Result{}, fault.List{{Path: "cycle", Problem: "is not made by New"}}
	}
	then, err := s.With(s.Departures()...)
	if err != nil {
		return Result{}, err
	}
	p := plan{cycle: c, request: &r, now: s, then: then, first: then, gone: s.Evicting()}
	entries, err := p.nominate()
	if err != nil {
		return Result{}, err
	}
	slices.SortFunc(entries, compare)
	for i := range entries {
		e := &entries[i]
		if !e.kept && (i == 0 || entries[i-1].kept) {
			p.closeLasting() // after those that were promised room before
		}
		v, err := p.serve(e)
		if err != nil {
			return Result{}, err
		}
		p.finish(&v, e)
		p.result.Heads = append(p.result.Heads, v)
	}
	return p.result, nil
}

// nominate decides about each head as if it were the only one.
func (p *plan) nominate() ([]entry, error) {
	var faults fault.List
	heads := p.request.Heads
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
		d, err := p.alone(h.Workload)
		if found, bad := err.(fault.List); bad {
			for _, f := range found {
				faults = append(faults, fault.Fault{Path: strings.Replace(f.Path, "request.workload", path, 1), Problem: f.Problem})
			}
			continue
		}
		w := d.Assignment.Pin(h.Workload)
		entries[i] = entry{head: h, workload: w, nominated: d, kept: h.Preempting && d.Outcome == preemption.Fits, height: d.BorrowHeight}
		if p.cycle.borrowing.letter() {
			entries[i].height = min(1, d.BorrowHeight)
			if waits(d) {
				entries[i].height = 1
				if withinNominal(p.then, &h.Workload) {
					entries[i].height = 0 // it is for the quota of its own that it waits
				}
			}
		}
	}
	return entries, faults.Err()
}

// alone decides about a workload as if it were the only one.
func (p *plan) alone(w workload.Workload) (preemption.Decision, error) {
	if from := p.request.Continue[w.ID]; len(from) > 0 {
		if d, err := p.decide(p.cycle.alone, w, from); err != nil || !waits(d) {
			return d, err
		}
	}
	return p.decide(p.cycle.alone, w, nil)
}

// decide asks what comes of a head with all promises kept and everybody gone.
func (p *plan) decide(by *preemption.Preemptor, w workload.Workload, from preemption.Assignment) (preemption.Decision, error) {
	room := p.room(w)
	if room != nil {
		for _, id := range p.gone {
			room.Remove(id)
		}
		defer func() {
			for _, id := range p.gone {
				room.Restore(id)
			}
		}()
	}
	return by.Decide(p.then, preemption.Request{Workload: w, Now: p.request.Now, Continue: from, Room: room})
}

// room is the room of a head, after those that were served; nil: the quota is all.
func (p *plan) room(w workload.Workload) preemption.Room {
	if p.request.Room == nil {
		return nil
	}
	return p.request.Room(w.Clone(), slices.Clip(p.result.Heads))
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
