package serve

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
)

// Change is a change of the answer about a workload that waits, or waited.
type Change struct {
	At       time.Time `json:"at"` // when it was seen
	Workload string    `json:"workload"`
	Queue    string    `json:"queue"`
	// Kind is waits (it did not wait before), better, worse, other, runs (it holds quota now), or gone.
	Kind string `json:"change"`
	// Before and After are the answers. Before is absent if it did not wait, After if it is gone.
	Before *answers.Short `json:"before,omitempty"`
	After  *answers.Short `json:"after,omitempty"`

	was string // its queue before
}

// Begun is the first event of a stream: what follows are changes of the list as it is then.
type Begun struct {
	At      time.Time `json:"at"`
	Waiting int       `json:"waiting"` // workloads, whatever the filter
}

// Missed says that changes before the next event were not told: read the list again.
type Missed struct {
	Changes int64 `json:"changes,omitempty"` // whatever the filter; absent: how many is not known
}

// How many changes are kept for slow readers, how many are told at once, and how many may listen.
const (
	maxChanges   = 4096
	maxTold      = 256
	maxListeners = 64
)

// How often is looked for changes: at least once in so long, for time changes answers, too; and after a look, so many times as long as
// it took, but no less than a moment, nobody looks.
const (
	lookEvery = time.Minute
	restTimes = 3
	restLeast = 250 * time.Millisecond
)

// feed compares the list with that before, while somebody listens, and keeps the latest changes. The zero value is ready.
type feed struct {
	mu        sync.Mutex
	last      map[string]*Waits // nil: nobody looked yet
	order     []string          // of last
	changes   []Change          // the latest
	first     int64             // number of changes[0]
	looks     int64
	failed    error // of the last look
	listeners int
	count     func(kind string) // nil: nobody counts
	end       context.CancelFunc
	looked    chan struct{} // is closed after the next look
	wanted    chan struct{} // is closed when somebody begins to listen
}

// listener is one who reads changes.
type listener struct {
	filter Filter
	next   int64 // the change that is told next
	looks  int64 // not begun: how many looks there were before
	begun  bool
	failed error // what was told of a look
}

// event is a change, and how many there are with it.
type event struct {
	read int64
	Change
}

// told is what a listener is told at once.
type told struct {
	missed  *Missed
	begun   *Begun
	read    int64 // with begun: how many changes there were before
	changes []event
	failed  error
}

// compare adds what changed since the last look. A look whose context has ended is too late.
func (f *feed) compare(ctx context.Context, now time.Time, all *List, failed error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	f.looks++
	if f.failed = failed; failed == nil {
		f.add(now, all)
	}
	if f.looked != nil {
		close(f.looked)
		f.looked = nil
	}
}

func (f *feed) add(now time.Time, all *List) {
	next := make(map[string]*Waits, len(all.Workloads)+len(all.Skipped))
	order := make([]string, 0, cap(f.order))
	for _, part := range [][]Waits{all.Workloads, all.Skipped} {
		for i := range part {
			w := &part[i]
			next[w.Workload], order = w, append(order, w.Workload)
			before := f.last[w.Workload]
			switch {
			case f.last == nil:
			case before == nil:
				f.keep(Change{At: now, Workload: w.Workload, Queue: w.Queue, was: w.Queue, Kind: "waits", After: &w.Short})
			default:
				if change := answers.ChangeInTime(&before.Short, &w.Short); change != "" {
					f.keep(Change{At: now, Workload: w.Workload, Queue: w.Queue, was: before.Queue, Kind: change, Before: &before.Short, After: &w.Short})
				}
			}
		}
	}
	for _, id := range f.order {
		if next[id] != nil {
			continue
		}
		before := f.last[id]
		c := Change{At: now, Workload: id, Queue: before.Queue, was: before.Queue, Kind: "gone", Before: &before.Short}
		if _, runs := all.of.Snapshot.Find(id); runs {
			c.Kind, c.After = "runs", &answers.Short{Outcome: answers.Runs, Words: "runs"}
		}
		f.keep(c)
	}
	f.last, f.order = next, order
}

// keep keeps a change, and forgets the oldest one.
func (f *feed) keep(c Change) {
	if len(f.changes) == maxChanges {
		f.changes = slices.Delete(f.changes, 0, maxChanges/2)
		f.first += maxChanges / 2
	}
	f.changes = append(f.changes, c)
	if f.count != nil {
		f.count(c.Kind)
	}
}

// join adds a listener who has read so many changes; -1: who begins. Nil: too many listen.
func (f *feed) join(filter Filter, read int64, look func(context.Context)) *listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners == maxListeners {
		return nil
	}
	if f.listeners++; f.listeners == 1 {
		ctx, end := context.WithCancel(context.Background())
		f.end = end
		go look(ctx)
	}
	if f.wanted != nil {
		close(f.wanted)
		f.wanted = nil
	}
	l := &listener{filter: filter, looks: f.looks}
	if l.begun = read >= 0 && read <= f.first+int64(len(f.changes)); l.begun {
		l.next = read
	}
	return l
}

func (f *feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners--; f.listeners == 0 {
		f.end()
	}
}

// begins returns a channel that is closed when somebody begins to listen.
func (f *feed) begins() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wanted == nil {
		f.wanted = make(chan struct{})
	}
	return f.wanted
}

// tell returns what a listener is to be told; if that is nothing, a channel that is closed when there may be something.
func (f *feed) tell(l *listener, now time.Time) (t told, wait <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := f.first + int64(len(f.changes))
	if f.failed == nil && (l.failed != nil || !l.begun && f.looks > l.looks) {
		l.begun, l.next = true, end
		t.begun, t.read = &Begun{now, len(f.order)}, end
	}
	if l.begun && l.next < f.first {
		t.missed = &Missed{f.first - l.next}
		l.next = f.first
	}
	for ; l.begun && l.next < end && len(t.changes) < maxTold; l.next++ {
		if c := &f.changes[l.next-f.first]; l.accepts(c) {
			t.changes = append(t.changes, event{l.next + 1, *c})
		}
	}
	if f.failed != nil && l.failed == nil {
		t.failed = f.failed
	}
	l.failed = f.failed
	if t.begun != nil || t.missed != nil || t.changes != nil || t.failed != nil || l.begun && l.next < end {
		return t, nil
	}
	if f.looked == nil {
		f.looked = make(chan struct{})
	}
	return t, f.looked
}

// accepts reports whether a change is of what the filter accepts, before it or after.
func (l *listener) accepts(c *Change) bool {
	return c.Before != nil && l.filter.accepts(c.Workload, c.was, c.Before.Outcome) ||
		c.After != nil && l.filter.accepts(c.Workload, c.Queue, c.After.Outcome)
}

// look looks for changes until the context ends.
func (s *server) look(ctx context.Context) {
	for ctx.Err() == nil {
		begins, changed, began := s.feed.begins(), s.changed(), time.Now()
		value, err := s.answered(ctx, "workloads", listPath, s.all)
		took := time.Since(began)
		all, _ := value.(*List)
		s.feed.compare(ctx, s.Now(), all, err)
		if !sleep(ctx, max(restLeast, restTimes*took), nil, nil) || !sleep(ctx, s.untilNext(all), changed, begins) {
			return
		}
	}
}

// changed is the channel that is closed once the cluster is another one; nil if that is not known.
func (s *server) changed() <-chan struct{} {
	if s.Changed == nil {
		return nil
	}
	return s.Changed()
}

// untilNext is how long until time may change an answer.
func (s *server) untilNext(all *List) time.Duration {
	next := lookEvery
	if all == nil {
		return next
	}
	now := s.Now()
	for i := range all.Workloads {
		if at := all.Workloads[i].At; at.After(now) {
			next = min(next, at.Sub(now)+keptFor) // that from before is not given again
		}
	}
	return next
}

// sleep waits for a time or until a channel is closed. False: the context ended.
func sleep(ctx context.Context, d time.Duration, either, or <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-either:
	case <-or:
	}
	return true
}
