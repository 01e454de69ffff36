package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// Pending holds the waiting workloads of all queues. It is immutable, as a snapshot is:
// methods return a new one that shares what they did not change, in O(log n) for each
// workload that moves. Any number of goroutines may read one. Make it with [NewPending]; the
// zero value knows no queue.
//
// In each queue the active workloads are ordered: higher effective priority first, then
// earlier queue-order timestamp, then ID. Under BestEffortFIFO the one whose victims are
// terminating comes before all of them. The first is the head. A head that a cycle admitted
// leaves with [Pending.Admit]. One that it did not admit returns with [Pending.Requeue]:
// under StrictFIFO it stays the head; under BestEffortFIFO it may become inadmissible, until
// one of these events:
//
//   - room or quota in its cohort tree: [Pending.Release], [Pending.Configure]. Rules that
//     change may give victims, so that needs Configure, too;
//   - if it had no candidates, or was gated, an admission in its tree: the admitted
//     workload may be one that yields, or its queue now borrows; or the gated one has
//     no candidates any more, and its signal is taken back: [Pending.Admit];
//   - a change of the workload that a decision could notice, for instance its last
//     closed gate opens: [Pending.Update];
//   - its RetryAt: [Pending.Advance].
//
// If a head has no room and no workload may yield for it, all workloads of the queue that are
// alike and come later in the order become inadmissible with it, until the same events. That
// includes workloads added later, and costs the same for any number of them. Two workloads
// are alike if no decision could tell them apart: all fields are equal except names and
// timestamps. Of the gates it only counts whether all are open. [Pending.AlikeBy] may add a
// condition. A workload that signals (the condition Blocked of its gates) is alike only to
// others that signal. Only its own answer clears its signal, so each of them has its turn.
//
// A method that fails returns the Pending that it was called on, with the error. A nil
// Pending is empty and knows no queue.
type Pending struct {
	shape *trees
	byID  set[*waiting]
	// members holds, by class, the active workloads except those with victims that are
	// terminating. fronts holds these, and the first workload of each class before its bar,
	// in the order of the queue: a head is the first front.
	members set[*waiting]
	fronts  set[*waiting]
	aside   set[*waiting] // inadmissible, each for itself
	timed   set[*waiting] // those with a time: inadmissible or backing off
	classes set[*class]
	barred  set[*class] // those with a bar, by tree
	ending  set[*class] // those whose bar has a time, by that time
	// released is, by tree, the value of clock at its last Release.
	released vector.Vector[int64]
	// admitted is, by tree, the value of clock at its last Admit. owed counts the workloads
	// and bars of a tree that wait for quota within their nominal quota.
	admitted vector.Vector[int64]
	owed     vector.Vector[int64]
	clock    int64
	alikeBy  func(workload.Workload) string // nil: the fields alone
}

// set is a set without sums.
type (
	set[T any]       = ordered.Set[T, struct{}]
	setCursor[T any] = ordered.Cursor[T, struct{}]
)

func emptySet[T any](compare func(a, b T) int) set[T] {
	return ordered.New(&ordered.Order[T, struct{}]{Compare: compare})
}

// trees is the part of the configuration that is needed here.
type trees struct {
	queues []Queue // by name
	tree   []int   // by queue
	count  int
}

// waiting is one workload. It is immutable.
type waiting struct {
	facts    workload.Workload
	queue    int
	tree     int
	priority int64
	queued   int64
	rules    string // the text of alikeBy
	alike    string // the text of alike
	activity Activity
	reason   RequeueReason // of the last requeue, zero if there was none
	first    bool          // its victims are terminating
	owed     bool          // at its requeue it waited for quota within its nominal quota
	until    int64         // an instant: when time moves it; instant.Unset: never
}

// Activity says whether a waiting workload is in the order of its queue. The zero value is
// invalid.
type Activity uint8

const (
	// Active: the workload is in the order of its queue.
	Active Activity = 1 + iota
	// Inadmissible: the workload is out of the order until an event.
	Inadmissible
	// Away: the workload is out of the order because of its backoff.
	Away
)

// Head is the first workload of a queue, as plain data.
type Head struct {
	Workload workload.Workload `json:"workload"`
	// Preempting says that its victims may still be terminating: victims were chosen when it
	// was last the head.
	Preempting bool `json:"preempting,omitzero"`
	// EventsSeen counts the events in the Pending that the head was read from.
	// [Pending.Requeue] finds with it the events that the cycle did not see. Do not set it.
	EventsSeen int64 `json:"eventsSeen,omitzero"`
	// Alike is the text that the function of [Pending.AlikeBy] returns for the workload.
	// Empty: there is no function. It is not all that makes workloads alike; see [Pending].
	Alike string `json:"alike,omitempty"`
	// NominalWaits says that some workload of the cohort tree, active or inadmissible, waits
	// for quota within the nominal quota of its queue; see [Requeue.WithinNominal].
	NominalWaits bool `json:"nominalWaits,omitzero"`
	// WithinNominal is the value of [Requeue.WithinNominal] at its last requeue.
	WithinNominal bool `json:"withinNominal,omitzero"`
}

// PendingStatus says whether a waiting workload is in the order of its queue, and why.
type PendingStatus struct {
	Activity Activity `json:"activity"`
	// Reason is the reason of its last requeue; zero if there was none.
	Reason RequeueReason `json:"reason,omitzero"`
	// Preempting says that its victims are terminating; the workload is the first of its
	// queue.
	Preempting bool `json:"preempting,omitzero"`
	// Until is, for Away, when the workload becomes active. For Inadmissible, it is the
	// latest such time; zero if only an event makes it active.
	Until time.Time `json:"until,omitzero"`
}

// NewPending returns an empty Pending for the configuration, which it copies. It fails as
// [Validate] does.
func NewPending(cohorts []Cohort, queues []Queue) (*Pending, error) {
	return new(Pending).Configure(cohorts, queues)
}

func newTrees(cohorts []Cohort, queues []Queue) *trees {
	t := &trees{queues: make([]Queue, len(queues)), tree: make([]int, len(queues))}
	for i := range queues {
		t.queues[i] = queues[i].Clone()
	}
	slices.SortFunc(t.queues, func(a, b Queue) int { return cmp.Compare(a.Name, b.Name) })
	parent, number := map[string]string{}, map[string]int{}
	for i := range cohorts {
		parent[cohorts[i].Name] = cohorts[i].Parent
	}
	for i := range t.queues {
		root := t.queues[i].Cohort
		for root != "" && parent[root] != "" {
			root = parent[root]
		}
		n, known := number[root]
		if !known || root == "" {
			n = t.count
			t.count++
			number[root] = n
		}
		t.tree[i] = n
	}
	return t
}

func (p *Pending) queueOf(name string) (int, bool) {
	if p == nil || p.shape == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(p.shape.queues, name, func(q Queue, name string) int { return cmp.Compare(q.Name, name) })
}

// Len returns the number of waiting workloads.
func (p *Pending) Len() int { return p.inside().byID.Len() }

var none Pending

// inside returns p, or an empty Pending if p is nil.
func (p *Pending) inside() *Pending {
	if p == nil {
		return &none
	}
	return p
}

// Heads returns the heads of all queues that have one, by queue name.
func (p *Pending) Heads() []Head {
	p = p.inside()
	var heads []Head
	var cursor setCursor[*waiting]
	for cursor.First(p.fronts); ; {
		w, ok := cursor.Item()
		if !ok {
			return heads
		}
		if p.shape.queues[w.queue].Inactive {
			cursor.Seek(p.fronts, func(other *waiting) bool { return other.queue <= w.queue })
			continue
		}
		heads = append(heads, Head{w.facts.Clone(), w.reason == PendingPreemption, p.clock, w.rules, p.owed.At(w.tree) > 0, w.owed})
		cursor.Seek(p.fronts, func(other *waiting) bool { return other.queue <= w.queue })
	}
}

// Find returns a waiting workload and where it is.
func (p *Pending) Find(id string) (w workload.Workload, at PendingStatus, ok bool) {
	p = p.inside()
	e, ok := p.find(id)
	if !ok {
		return workload.Workload{}, PendingStatus{}, false
	}
	at = PendingStatus{e.activity, e.reason, e.first, instant.Time(e.until)}
	if c, known := p.classOf(e); known && e.activity == Active && !e.first && c.keeps(e) {
		at.Activity, at.Reason, at.Until = Inadmissible, c.reason, instant.Time(c.until)
	}
	return e.facts.Clone(), at, true
}

// Workloads returns a copy of all waiting workloads, by ID.
func (p *Pending) Workloads() []workload.Workload {
	p = p.inside()
	var list []workload.Workload
	for _, e := range p.all() {
		list = append(list, e.facts.Clone())
	}
	return list
}

// NextAt returns the next time at which [Pending.Advance] makes a workload active; ok is
// false if there is none.
func (p *Pending) NextAt() (at time.Time, ok bool) {
	p = p.inside()
	var one setCursor[*waiting]
	var all setCursor[*class]
	one.First(p.timed)
	all.First(p.ending)
	e, some := one.Item()
	c, many := all.Item()
	switch {
	case some && (!many || e.until <= c.until):
		return instant.Time(e.until), true
	case many:
		return instant.Time(c.until), true
	}
	return time.Time{}, false
}

func (p *Pending) find(id string) (*waiting, bool) {
	p = p.inside()
	return p.byID.Get(func(w *waiting) int { return cmp.Compare(w.facts.ID, id) })
}

// newWaiting checks a workload. path is its path in the error.
func (p *Pending) newWaiting(path string, w workload.Workload) (*waiting, error) {
	faults, _ := workload.ValidatePending(path, &w).(fault.List)
	q, known := p.queueOf(w.Queue)
	if w.Queue != "" && !known {
		faults.Add(path+".queue", "unknown queue %q (workload %q)", w.Queue, w.ID)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	e := &waiting{facts: w.Clone(), queue: q, tree: p.shape.tree[q], priority: w.EffectivePriority(),
		queued: instant.Of(w.Queued), activity: Active, until: instant.Unset}
	p.compare(e)
	return e, nil
}

// signalling marks workloads that signal: they are alike only among themselves, see [Pending].
const signalling = " signalling"

// compare computes which workloads e is alike to.
func (p *Pending) compare(e *waiting) {
	if e.rules = ""; p.alikeBy != nil {
		e.rules = p.alikeBy(e.facts.Clone())
	}
	e.alike = alike(&e.facts) + e.rules
	if e.facts.Gates.Blocked.Signals() {
		e.alike += signalling
	}
}

// The orders of the sets. Each ends in the ID.

func compareByID(a, b *waiting) int { return cmp.Compare(a.facts.ID, b.facts.ID) }

func compareFronts(a, b *waiting) int {
	if a.queue != b.queue {
		return cmp.Compare(a.queue, b.queue)
	}
	if a.first != b.first {
		if a.first {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(instant.Rank(a.queued), instant.Rank(b.queued)), compareByID(a, b))
}

func compareMembers(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.alike, b.alike), compareInClass(a, b))
}

func compareInClass(a, b *waiting) int {
	return cmp.Or(cmp.Compare(instant.Rank(a.queued), instant.Rank(b.queued)), compareByID(a, b))
}

func compareAside(a, b *waiting) int { return cmp.Or(cmp.Compare(a.tree, b.tree), compareByID(a, b)) }

func compareTimed(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.until, b.until), compareByID(a, b))
}
