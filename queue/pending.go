package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// Pending is the workloads that wait, of all queues. It is immutable, as a snapshot is:
// methods return a new one that shares what they did not change, in O(log n) for each
// workload that moves, and any number of goroutines may read one. Make it with
// [NewPending]; the zero value knows no queue.
//
// Of each queue the active workloads are ordered: higher effective priority first, then
// earlier queue-order timestamp, then ID; before all of them, under BestEffortFIFO, the
// one whose victims are terminating. The first is the head. A head that a cycle admitted
// leaves with [Pending.Admit]; one that it did not goes back with [Pending.Requeue]. Under
// StrictFIFO that stays the head. Under BestEffortFIFO it may become inadmissible: it
// steps aside, until one of these brings it back:
//
//   - room or quota in its cohort tree: [Pending.Release], [Pending.Configure];
//   - where nobody might yield for it, a workload admitted in its tree, which may be one
//     that yields, or makes its queue borrow: [Pending.Admit];
//   - a change of the workload that a decision could read, as of its gates from closed to
//     open: [Pending.Update];
//   - its RetryAt: [Pending.Advance].
//
// Where there is no room for one and nobody to yield, all workloads of the queue that are
// alike and come later in the order step aside with it, newcomers too, until the same
// events: as one, however many there are. Two are alike when nothing differs by which a
// decision could tell them apart: all fields of a workload but its names and timestamps,
// and the open and closed gates in detail; and what [Pending.AlikeBy] adds.
//
// A method that fails returns the Pending that it was called on, with the error. A nil
// Pending is an empty one that knows no queue.
type Pending struct {
	shape *trees
	byID  set[*waiting]
	// members is the active ones but those that preempt, by class. fronts is, of each
	// class, the first that is not barred, and those that preempt, in the order of their
	// queue: a head is the first front.
	members set[*waiting]
	fronts  set[*waiting]
	aside   set[*waiting] // inadmissible by themselves
	timed   set[*waiting] // those with a time: aside or kept away
	classes set[*class]
	barred  set[*class] // those with a bar, by tree
	ending  set[*class] // those whose bar has a time, by that
	// released is, by tree, the value of clock at its last release.
	released vector.Vector[int64]
	// admitted is the same for the last admission, and owed how many workloads and bars of
	// a tree wait for their nominal quota.
	admitted vector.Vector[int64]
	owed     vector.Vector[int64]
	clock    int64
	alikeBy  func(workload.Workload) string // nil: no more than the fields
}

// set is a set without sums.
type (
	set[T any]       = ordered.Set[T, struct{}]
	setCursor[T any] = ordered.Cursor[T, struct{}]
)

func emptySet[T any](compare func(a, b T) int) set[T] {
	return ordered.New(&ordered.Order[T, struct{}]{Compare: compare})
}

// trees is the configuration that matters here.
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
	rules    string // what alikeBy says
	alike    string // equal for those that are alike
	place    Place
	reason   RequeueReason // of the last requeue, zero if there was none
	first    bool          // its victims are terminating
	owed     bool          // it was seen to wait for its nominal quota
	until    int64         // an instant: when time moves it; instant.Unset: never
}

// Place is where a waiting workload stands. The zero value is invalid.
type Place uint8

const (
	// Active: it is in the order of its queue.
	Active Place = 1 + iota
	// Inadmissible: it stepped aside until something changes.
	Inadmissible
	// Away: it backs off.
	Away
)

var placeNames = enum.Names[Place]{Type: "Place", First: 1, List: []string{"Active", "Inadmissible", "Away"}}

// String returns the name of the constant.
func (p Place) String() string { return placeNames.String(p) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (p Place) MarshalText() ([]byte, error) { return placeNames.Marshal(p) }

// UnmarshalText reads a name. It fails on any other text.
func (p *Place) UnmarshalText(text []byte) error { return placeNames.Unmarshal(text, p) }

// Head is the first workload of a queue, as plain data.
type Head struct {
	Workload workload.Workload `json:"workload"`
	// Preempting: when it was last the head, room was made for it, which may still be on
	// its way.
	Preempting bool `json:"preempting,omitzero"`
	// Seen is the state of the Pending that it was read from, for [Pending.Requeue]: what
	// happened since the cycle did not see. It has no meaning elsewhere.
	Seen int64 `json:"seen,omitzero"`
	// Alike is what the function of [Pending.AlikeBy] says of the workload. Empty: there
	// is none.
	Alike string `json:"alike,omitempty"`
	// NominalWaits: some workload of the cohort tree waits for quota within the nominal
	// quota of its queue, be it inadmissible; see [Requeue.WithinNominal].
	NominalWaits bool `json:"nominalWaits,omitzero"`
	// WithinNominal: it was last put back as one that does ([Requeue.WithinNominal]).
	WithinNominal bool `json:"withinNominal,omitzero"`
}

// Standing is where a workload stands.
type Standing struct {
	Place Place `json:"place"`
	// Reason is that of its last requeueing; zero if there was none.
	Reason RequeueReason `json:"reason,omitzero"`
	// Preempting: its victims are terminating, and it is the first of its queue.
	Preempting bool `json:"preempting,omitzero"`
	// Until is, for Away, when it comes back; for Inadmissible, when at the latest, zero
	// where time alone does not bring it back.
	Until time.Time `json:"until,omitzero"`
}

// NewPending returns an empty one for the configuration, which it copies. It fails as
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

// Len returns how many workloads wait.
func (p *Pending) Len() int { return p.inside().byID.Len() }

var nobody Pending

// inside returns p, an empty one for nil.
func (p *Pending) inside() *Pending {
	if p == nil {
		return &nobody
	}
	return p
}

// Heads returns the head of each queue that has one, by queue.
func (p *Pending) Heads() []Head {
	p = p.inside()
	var heads []Head
	var cursor setCursor[*waiting]
	for cursor.First(p.fronts); ; {
		w, ok := cursor.Item()
		if !ok {
			return heads
		}
		heads = append(heads, Head{w.facts.Clone(), w.reason == PendingPreemption, p.clock, w.rules, p.owed.At(w.tree) > 0, w.owed})
		cursor.Seek(p.fronts, func(other *waiting) bool { return other.queue <= w.queue })
	}
}

// Find returns a waiting workload and where it stands.
func (p *Pending) Find(id string) (w workload.Workload, at Standing, ok bool) {
	p = p.inside()
	e, ok := p.find(id)
	if !ok {
		return workload.Workload{}, Standing{}, false
	}
	at = Standing{e.place, e.reason, e.first, instant.Time(e.until)}
	if c, known := p.classOf(e); known && e.place == Active && !e.first && c.keeps(e) {
		at.Place, at.Reason, at.Until = Inadmissible, c.reason, instant.Time(c.until)
	}
	return e.facts.Clone(), at, true
}

// Workloads returns a copy of all that wait, by ID.
func (p *Pending) Workloads() []workload.Workload {
	p = p.inside()
	var list []workload.Workload
	for _, e := range p.all() {
		list = append(list, e.facts.Clone())
	}
	return list
}

// NextAt returns when time alone will bring the next workload back; ok is false when it
// brings none.
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

// newWaiting checks a workload; path leads to it.
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
		queued: instant.Of(w.Queued), place: Active, until: instant.Unset}
	p.compare(e)
	return e, nil
}

// compare notes whom a workload is like.
func (p *Pending) compare(e *waiting) {
	if e.rules = ""; p.alikeBy != nil {
		e.rules = p.alikeBy(e.facts.Clone())
	}
	e.alike = alike(&e.facts) + e.rules
}

// The orders of the sets; each ends in the ID.

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
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.queued, b.queued), compareByID(a, b))
}

func compareMembers(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.alike, b.alike), compareInClass(a, b))
}

func compareInClass(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.queued, b.queued), compareByID(a, b))
}

func compareAside(a, b *waiting) int { return cmp.Or(cmp.Compare(a.tree, b.tree), compareByID(a, b)) }

func compareTimed(a, b *waiting) int {
	return cmp.Or(cmp.Compare(a.until, b.until), compareByID(a, b))
}
