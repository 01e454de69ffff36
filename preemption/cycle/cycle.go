// Package cycle is one admission cycle as a pure function: it takes the heads of all queues
// and says who is admitted, who preempts and who waits.
//
//	c, err := cycle.New(cycle.Config{})
//	...
//	for again := true; again; {
//		result, err := c.Run(snapshot, pending.Heads(), now)
//		...
//		snapshot, pending, err = result.Apply(snapshot, pending, now)
//		...
//		again = result.Again
//	}
//
// The steps (KEP-83, "Changes in scheduling algorithm"):
//
//  1. Each head is decided about as if it were the only one, in a snapshot without
//     everything that was told to stop, leaving replicas included: their room will
//     become free.
//  2. The heads are ordered: first those whose own victims are terminating; then by how far
//     up the tree they borrow once their victims are gone, those that do not borrow first;
//     then by priority, queue-order timestamp, ID. (KEP-83, Sorting Workloads: "Flavors that
//     don't borrow first". How far is Kueue's as built; in the modes by the KEP all that
//     borrow are equal.)
//  3. Each head is served in that order, with what the heads before it left. A victim
//     serves one head: if an earlier head took it, the decision is made again without
//     it. A head that preempts keeps its room from later heads.
//
// What a head is promised (the room that its victims will leave, or that is reserved for it)
// is not given away again in the cycle. But it is not usage: a queue does not borrow because
// one of its heads was promised something, and its running workloads are reclaimed only as
// long as what runs takes it, or a cohort above it, over the quota. (Kueue fixes the victims
// of all heads before it serves the first one.) The promises to a head's own queue count in
// its own right to preempt, as what it will use.
//
// A head is admitted if it fits now and also fits once all victims are gone and all
// preemptors of the cycle are admitted. Serving is greedy: an earlier head keeps its victims
// even if a later one can use no others.
//
// The zero [Config] is valid and admits as Kueue does; [Borrowing] has the modes by the KEP. A
// [Cycle] holds no state: what waits is in a queue.Pending, what runs in a preemption.Snapshot,
// and neither is changed. The error of a run is preemption.Faults with the faults of all heads, each
// with its path (heads[2].podSets[0]...).
//
// Sources: KEP-83; the admission cycle as built in Kueue; docs/departures.md has where they
// differ.
package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Borrowing says what a head that does not borrow means for later heads of the same cycle
// that would borrow. The zero value is AsBuilt.
type Borrowing uint8

const (
	// AsBuilt lets later heads borrow what is left. A head that does not fit and has no
	// candidates reserves, for this cycle, what its queue could hold without preemption. It
	// reserves nothing if its queue reclaims from Any and so can get it back, unless
	// minruntime.Protection is against reclaims, there are limits on preemptions, or rules
	// decide in place of the policies. The hazard, as in Kueue: under StrictFIFO it stays the
	// head and reserves in each cycle, and heads of other queues that would borrow wait with it.
	AsBuilt Borrowing = iota
	// KEP83 lets no head borrow in the cohort tree after a head that does not borrow, whether
	// that head is admitted, preempts, is gated or waits (KEP-83, Admission). Nothing is then
	// reserved. It implies preemption.Compat.PreemptWithinNominal: "there is no preemption with
	// borrowing quota". So heads that end within nominal, once their victims are gone, come
	// before all that borrow, by priority, then timestamp. The hazard: under StrictFIFO a head
	// that waits for ever keeps its whole cohort from borrowing.
	KEP83
	// KEP83Lasting is KEP83 over several cycles: no workload borrows in a cohort tree while a
	// workload there, once a head, waits within its nominal quota, also while it, or a
	// workload before it, is inadmissible (queue.Head.NominalWaits). Such a workload could be admitted
	// within nominal if nothing ran, flavors, taints and nodes included: what can never run bars nobody. A head that
	// is refused only because it would borrow steps aside for those of its queue that would not (queue.Borrows), under both
	// strategies. Heads whose own victims are terminating may still borrow. The hazard: a workload that may preempt none and
	// waits for ever, because what runs in its place never ends, keeps its whole cohort from borrowing.
	KEP83Lasting
)

// letter reports whether a head that does not borrow keeps later heads from borrowing.
func (b Borrowing) letter() bool { return b == KEP83 || b == KEP83Lasting }

// Config configures a [Cycle]. The zero value is valid.
type Config struct {
	// Preemption configures the decision about each head.
	Preemption preemption.Config
	Borrowing  Borrowing
	// Settle says how usage over what is allowed is settled at the beginning of a cycle: victims are told to leave before the heads
	// are served, whether or not a head needs what they hold. Nil: it is not; what runs goes on running.
	Settle *Settling
	// Alike says what the caller's own rules (Preemption.Guards, Request.Room) read of a
	// pending workload: workloads with the same text are the same to these rules. It must
	// depend on the workload alone. Nil: if there are such rules, no two workloads are alike.
	// See [Cycle.Alike].
	Alike func(workload.Workload) string
}

// Settling configures [Config.Settle]. The zero value takes at least the excess, at once; see [settle.Request].
type Settling struct {
	Delays     []settle.Delay
	MaxVictims int // in a cycle
}

// Cycle runs cycles. It holds no state between them: any number of goroutines may use one.
// Make it with [New]; the zero value fails.
type Cycle struct {
	borrowing Borrowing
	rules     bool // the caller has rules of its own
	protects  bool // a protection is against reclaims
	ruled     bool // rules decide alone
	limited   bool // there are limits on preemptions
	alike     func(workload.Workload) string
	settling  *Settling             // a copy
	alone     *preemption.Preemptor // decides as if a head were the only one
	after     *preemption.Preemptor // the same, but no head preempts room that this cycle gave
}

// New returns a Cycle. It fails with all faults if the configuration is not valid.
func New(c Config) (*Cycle, error) {
	c.Preemption.Compat.PreemptWithinNominal = c.Preemption.Compat.PreemptWithinNominal || c.Borrowing.letter()
	alone, err := preemption.New(c.Preemption)
	faults, _ := err.(fault.List)
	if c.Borrowing > KEP83Lasting {
		faults.Add("config.Borrowing", "%d is unknown", c.Borrowing)
	}
	if c.Settle != nil && c.Settle.MaxVictims < 0 {
		faults.Add("config.Settle.MaxVictims", "%d is negative", c.Settle.MaxVictims)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	made := &Cycle{borrowing: c.Borrowing, rules: len(c.Preemption.Guards) > 0, protects: c.Preemption.Protection.Reclaim > 0, limited: len(c.Preemption.Limits) > 0, ruled: c.Preemption.Compat.RulesAlone, alike: c.Alike, alone: alone}
	c.Preemption.Guards = append(slices.Clone(c.Preemption.Guards), promises{})
	if c.Settle != nil {
		made.settling = &Settling{slices.Clone(c.Settle.Delays), c.Settle.MaxVictims}
	}
	c.Preemption.MaxRetrySteps = -1 // RetryAt is not read: the head is tried again in the next cycle
	made.after, err = preemption.New(c.Preemption)
	return made, err
}

// Alike says what the rules of this cycle read of a pending workload, besides what
// [queue.Pending] compares itself. Give it to [queue.Pending.AlikeBy]. Without that, if the
// text is not empty, each head becomes inadmissible alone ([HeadResult.Alone]).
func (c *Cycle) Alike(w workload.Workload) string {
	if c == nil {
		return ""
	}
	switch {
	case c.alike != nil:
		return c.alike(w)
	case c.rules:
		return w.ID
	}
	return ""
}

// Request is the input of a cycle. The zero value is invalid.
type Request struct {
	// Heads are the heads of the queues.
	Heads []queue.Head
	// Now is the time of the cycle. It must be set.
	Now time.Time
	// Continue maps the ID of a head to the assignment to go on from, usually that of its
	// last decision; see [preemption.Request.Continue]. If that does not succeed, the cycle
	// also tries the flavors from the first, so that Continue never makes a head worse off.
	// If a head does not succeed and has untried flavors (preemption.FlavorChoice.Untried),
	// the caller may requeue it as FailedAfterNomination and give its assignment here in the
	// next cycle; the cycle itself does not do that.
	Continue map[string]preemption.Assignment
	// MinCounts returns the fewest replicas with which a head may start, by pod set; see
	// [preemption.Request.MinCounts]. Decision.Counts says with how many it is admitted, or
	// preempts; if it is asked about again, then about all its replicas. The result must be
	// empty for a head with a room. If MinCounts is set, each head becomes inadmissible alone,
	// unless Config.Alike says what it reads. Nil: all replicas or nothing.
	MinCounts func(head workload.Workload) []preemption.Replicas
	// HoldsQuota names heads that are admitted already and ask again; see
	// [preemption.Request.HoldsQuota]. They must be in the snapshot, and not be told to stop;
	// other heads must not be in it. Until such a head is admitted again, or preempts, it keeps
	// what it holds. A head that holds quota becomes inadmissible alone.
	HoldsQuota map[string]bool
	// Replaces says, by the ID of a head, in place of which admitted workload it comes; see
	// [preemption.Request.Replaces]. That one runs, and keeps what it holds, until the head is
	// admitted. A head whose victims are leaving keeps it from being preempted; if an earlier head
	// preempts or replaces it, the head is tried again in the next cycle. A head that replaces a
	// workload becomes inadmissible alone. Once that one is gone, leave the entry out.
	Replaces map[string]string
	// TriggersSince says, by the ID of a head, since when triggers of rules have been observed for
	// it; see [preemption.Request.TriggersSince]. Those that hold now are in Decision.Triggers.
	TriggersSince map[string][]rules.Observation
	// History is that of each decision; see [preemption.Request.History]. The limits of a head count
	// the victims of the heads served before it, too; [Result.Events] returns what to add to the
	// history for the next cycle.
	History *limits.History
	// Over says, with [Config.Settle], since when queues and cohorts are over; [settle.Observe] keeps it from cycle to cycle. One that is not
	// listed is over since Now.
	Over []settle.Since
	// LocalQueueUsage is that of each decision; see [preemption.Request.LocalQueueUsage].
	LocalQueueUsage []queue.LocalQueueUsage
	// Room returns the room of a head besides the quota, for instance on nodes; see
	// [preemption.Request.Room]. Nil, or a nil result: only quota counts.
	//
	// before holds the results of the heads that were served earlier in this cycle. The room
	// must leave the places of those that were admitted and of those with reason
	// queue.PendingPreemption. The cycle itself removes from the room the workloads that were
	// told to stop and the victims that yield as a whole. It is not known which pods of a
	// surplus leave, so their room becomes free only when they have left.
	Room func(head workload.Workload, before []HeadResult) preemption.Room
}

// entry is a head in the cycle.
type entry struct {
	head      queue.Head
	workload  workload.Workload // with its flavors
	nominated preemption.Decision
	kept      bool // its own victims are terminating
	holds     bool // it holds quota, and asks again
	height    int  // the borrow height, for the order
}

// Run runs one cycle. It changes nothing: the result says what to do. It fails with all
// faults of the heads: what [preemption.Preemptor.Decide] finds, a duplicate ID, an ID that
// begins with the byte 0; and if the cycle was not made by [New].
func (c *Cycle) Run(s *preemption.Snapshot, heads []queue.Head, now time.Time) (Result, error) {
	return c.RunRequest(s, Request{Heads: heads, Now: now})
}

// RunRequest is Run with all inputs. It also fails with what [settle.Decide] finds wrong with Config.Settle and Over.
func (c *Cycle) RunRequest(s *preemption.Snapshot, r Request) (Result, error) {
	if c == nil || c.after == nil {
		return Result{}, fault.List{{Path: "cycle", Problem: "is not made by New"}}
	}
	p := plan{cycle: c, request: &r, history: r.History}
	s, err := p.settle(s)
	if err != nil {
		return Result{}, err
	}
	then, err := s.With(s.Removals()...)
	if err != nil {
		return Result{}, err
	}
	p.now, p.then, p.runs, p.first, p.gone = s, then, then, then, s.Terminating()
	entries, err := p.nominate()
	if err != nil {
		return Result{}, err
	}
	slices.SortFunc(entries, compare)
	for i := range entries {
		e := &entries[i]
		if !e.kept && (i == 0 || entries[i-1].kept) {
			p.closeLasting() // after the heads whose own victims are terminating
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
				at := strings.Replace(strings.Replace(f.Path, "request.workload", path, 1), "request.minCounts", path+".minCounts", 1)
				at = strings.Replace(at, "request.replaces", path+".replaces", 1)
				faults = append(faults, fault.Fault{Path: strings.Replace(at, "request.holdsQuota", path+".holdsQuota", 1), Problem: f.Problem})
			}
			continue
		}
		entries[i] = entry{
			head: h, workload: withCounts(d.Assignment.Pin(h.Workload), d.Counts), nominated: d,
			kept:  h.Preempting && d.Outcome == preemption.Fits,
			holds: p.request.HoldsQuota[h.Workload.ID], height: d.BorrowHeight,
		}
		if p.cycle.borrowing.letter() {
			entries[i].height = min(1, d.BorrowHeight)
			if waits(d) {
				entries[i].height = 1
				within, err := p.couldBeNominal(h.Workload)
				if err != nil {
					return nil, err
				}
				if within {
					entries[i].height = 0 // it waits for its nominal quota
				}
			}
		}
	}
	return entries, faults.Err()
}

// alone decides about a workload as if it were the only one.
func (p *plan) alone(w workload.Workload) (preemption.Decision, error) {
	if from := p.request.Continue[w.ID]; len(from) > 0 {
		if d, err := p.decide(p.cycle.alone, w, from, p.minCounts(w)); err != nil || !waits(d) {
			return d, err
		}
	}
	return p.decide(p.cycle.alone, w, nil, p.minCounts(w))
}

// minCounts returns the fewest replicas with which a head may start.
func (p *plan) minCounts(w workload.Workload) []preemption.Replicas {
	if p.request.MinCounts == nil {
		return nil
	}
	return p.request.MinCounts(w.Clone())
}

// withCounts returns the workload with these numbers of replicas, if there are any.
func withCounts(w workload.Workload, counts []preemption.Replicas) workload.Workload {
	w = w.Clone()
	for _, c := range counts {
		for i := range w.PodSets {
			if w.PodSets[i].Name == c.PodSet {
				w.PodSets[i].Count = c.Count
			}
		}
	}
	return w
}

// decide decides about a head with all placeholders in place and all victims gone.
func (p *plan) decide(by *preemption.Preemptor, w workload.Workload, from preemption.Assignment, least []preemption.Replicas) (preemption.Decision, error) {
	seen, err := p.seen(w.Queue)
	if err != nil {
		return preemption.Decision{}, err
	}
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
	r := preemption.Request{
		Workload: w, Now: p.request.Now, Continue: from, MinCounts: least, HoldsQuota: p.request.HoldsQuota[w.ID],
		Replaces: p.request.Replaces[w.ID], LocalQueueUsage: p.request.LocalQueueUsage, Room: room,
		TriggersSince: p.request.TriggersSince[w.ID], History: p.history,
	}
	leaves := p.replacedLeaves(w.ID)
	if leaves {
		r.Replaces = "" // it is not in then
	}
	d, looked, err := by.DecideCounting(seen, r)
	p.result.Looked += looked
	if leaves {
		d.Replaced = p.request.Replaces[w.ID]
	}
	return d, err
}

// room returns the room of a head after the heads served so far; nil: only quota counts.
func (p *plan) room(w workload.Workload) preemption.Room {
	if p.request.Room == nil {
		return nil
	}
	return p.request.Room(w.Clone(), slices.Clip(p.result.Heads))
}

// compare is the order in which heads are served. It ends in the ID.
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
		workload.CompareQueued(a.head.Workload.Queued, b.head.Workload.Queued),
		cmp.Compare(a.head.Workload.ID, b.head.Workload.ID))
}

// waits reports whether nobody may be told to leave who helps, and what leaves already is not enough.
func waits(d preemption.Decision) bool { return !d.Possible() }
