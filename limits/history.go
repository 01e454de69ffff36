package limits

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
)

// Event is a preemption that was confirmed: the victim was told to stop. The zero value is
// invalid.
type Event struct {
	// Preemptor and Victim are the IDs of the workloads.
	Preemptor string `json:"preemptor"`
	Victim    string `json:"victim"`
	// At is when it was confirmed.
	At time.Time `json:"at"`
	Class
}

// Class is what selectors of limits read of an event.
type Class struct {
	// PreemptingQueue and PreemptedQueue are the queues of preemptor and victim.
	PreemptingQueue string `json:"preemptingQueue"`
	PreemptedQueue  string `json:"preemptedQueue"`
	// Config is the name of the configuration, and Rules are the names of its rules, that made
	// the victim one: of the tier that took it. Empty: the policies of the queue.
	Config string   `json:"config,omitempty"`
	Rules  []string `json:"rules,omitempty"`
}

// History holds the events of some time. It is immutable: the methods that change it return
// another value, and share what is equal. Nil and the zero value are empty.
type History struct {
	classes  []Class          // by number
	numbers  map[string]int32 // of classes, by text
	byClass  eventSet
	byVictim eventSet
}

// record is an event in 48 bytes. It is immutable.
type record struct {
	at                int64
	victim, preemptor string
	class             int32
}

type eventSet = ordered.Set[*record, int]

var (
	classOrder = &ordered.Order[*record, int]{
		Compare: func(a, b *record) int {
			return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.at, b.at), strings.Compare(a.victim, b.victim), strings.Compare(a.preemptor, b.preemptor))
		},
		AddItem: func(sum *int, _ *record) { *sum++ },
		AddSum:  func(sum *int, other int) { *sum += other },
	}
	victimOrder = &ordered.Order[*record, int]{
		Compare: func(a, b *record) int {
			return cmp.Or(strings.Compare(a.victim, b.victim), cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class), strings.Compare(a.preemptor, b.preemptor))
		},
		AddItem: classOrder.AddItem,
		AddSum:  classOrder.AddSum,
	}
)

// NewHistory returns the history of events, in any order; see [History.With].
func NewHistory(events []Event) (*History, error) { return (*History)(nil).With(events...) }

// With returns the history with more events. An event that is there already changes nothing. It
// fails, with all faults, on an event with an empty ID or queue, or a time that is not set or not
// within the years 1678 to 2262; it then returns its receiver.
func (h *History) With(events ...Event) (*History, error) {
	var faults fault.List
	for i := range events {
		events[i].validate(fmt.Sprintf("events[%d]", i), &faults)
	}
	if err := faults.Err(); err != nil || len(events) == 0 {
		return h, err
	}
	made, known := h.copy(), h.classCount()
	records := make([]record, len(events))
	list := make([]*record, len(events))
	for i := range events {
		e := &events[i]
		records[i] = record{instant.Of(e.At), e.Victim, e.Preemptor, made.number(&e.Class, known)}
		list[i] = &records[i]
	}
	if made.byClass.Len() == 0 { // build both at once
		sorted := func(o *ordered.Order[*record, int]) eventSet {
			some := slices.Clone(list)
			slices.SortFunc(some, o.Compare)
			some = slices.CompactFunc(some, func(a, b *record) bool { return o.Compare(a, b) == 0 })
			return ordered.Of(o, slices.Clip(some))
		}
		made.byClass, made.byVictim = sorted(classOrder), sorted(victimOrder)
		return made, nil
	}
	for _, r := range list {
		made.byClass, made.byVictim = made.byClass.Insert(r), made.byVictim.Insert(r)
	}
	return made, nil
}

func (e *Event) validate(path string, faults *fault.List) {
	for _, f := range [...]struct{ name, value string }{
		{"preemptor", e.Preemptor}, {"victim", e.Victim}, {"preemptingQueue", e.PreemptingQueue}, {"preemptedQueue", e.PreemptedQueue},
	} {
		if f.value == "" {
			faults.Add(path+"."+f.name, "is empty")
		}
	}
	switch {
	case e.At.IsZero():
		faults.Add(path+".at", "is not set")
	case !instant.Valid(e.At):
		faults.Add(path+".at", "%v is not within %s", e.At, instant.Range)
	}
}

// copy returns a history that may be changed; its sets have their orders.
func (h *History) copy() *History {
	if h == nil || h.numbers == nil {
		return &History{numbers: map[string]int32{}, byClass: ordered.New(classOrder), byVictim: ordered.New(victimOrder)}
	}
	c := *h
	return &c
}

func (h *History) classCount() int {
	if h == nil {
		return 0
	}
	return len(h.classes)
}

// number returns the number of a class, a new one if it has none. With no more classes than were
// known when the history was copied, the lists are those of another one.
func (h *History) number(c *Class, known int) int32 {
	key := fmt.Sprintf("%q %q %q %q", c.PreemptingQueue, c.PreemptedQueue, c.Config, c.Rules)
	if n, has := h.numbers[key]; has {
		return n
	}
	if len(h.classes) == known {
		h.classes, h.numbers = slices.Clip(h.classes), maps.Clone(h.numbers)
	}
	n := int32(len(h.classes))
	h.numbers[key] = n
	own := *c
	own.Rules = slices.Clone(c.Rules)
	h.classes = append(h.classes, own)
	return n
}

// Trim returns the history without the events up to an instant: trim to now less the longest
// window ([Longest]), and nothing that counts is lost.
func (h *History) Trim(until time.Time) *History {
	if h.Len() == 0 {
		return h
	}
	made, last := h.copy(), instant.Clamped(until)
	for n := range h.classes {
		for {
			var cursor ordered.Cursor[*record, int]
			cursor.Seek(made.byClass, func(r *record) bool { return r.class < int32(n) })
			r, ok := cursor.Item()
			if !ok || r.class != int32(n) || r.at > last {
				break
			}
			made.byClass, _ = made.byClass.Delete(r)
			made.byVictim, _ = made.byVictim.Delete(r)
		}
	}
	return made
}

// Len returns the number of events.
func (h *History) Len() int {
	if h == nil || h.numbers == nil {
		return 0
	}
	return h.byClass.Len()
}

// All yields the events by time, then victim, then preemptor.
func (h *History) All(yield func(Event) bool) {
	if h.Len() == 0 {
		return
	}
	var list []*record
	var cursor ordered.Cursor[*record, int]
	for cursor.First(h.byClass); ; cursor.Next() {
		r, ok := cursor.Item()
		if !ok {
			break
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *record) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.victim, b.victim), strings.Compare(a.preemptor, b.preemptor), cmp.Compare(a.class, b.class))
	})
	for _, r := range list {
		c := h.classes[r.class]
		c.Rules = slices.Clone(c.Rules)
		if !yield(Event{r.preemptor, r.victim, instant.Time(r.at), c}) {
			return
		}
	}
}

// Count returns how many events after an instant fall into the classes that match. It takes
// O(log n) of the events for each such class.
func (h *History) Count(after time.Time, matches func(*Class) bool) (count int64) {
	if h.Len() == 0 {
		return 0
	}
	at, steps := instant.Clamped(after), 0
	for n := range h.classes {
		if matches(&h.classes[n]) {
			count += h.since(int32(n), at, &steps)
		}
	}
	return count
}

// since returns how many events of a class there are after an instant. steps counts the events
// looked at.
func (h *History) since(class int32, at int64, steps *int) int64 {
	upTo, all := 0, 0
	h.byClass.Sum(&upTo, func(r *record) bool {
		*steps++
		return r.class < class || r.class == class && r.at <= at
	})
	h.byClass.Sum(&all, func(r *record) bool {
		*steps++
		return r.class <= class
	})
	return int64(all - upTo)
}

// CountOf is Count of one victim's events. It takes O(log n) and a look at each of them.
func (h *History) CountOf(victim string, after time.Time, matches func(*Class) bool) (count int64) {
	for r := range h.of(victim, instant.Clamped(after)) {
		if matches(&h.classes[r.class]) {
			count++
		}
	}
	return count
}

// of yields the records of a victim after an instant, by time.
func (h *History) of(victim string, after int64) func(yield func(*record) bool) {
	return func(yield func(*record) bool) {
		if h.Len() == 0 {
			return
		}
		var cursor ordered.Cursor[*record, int]
		cursor.Seek(h.byVictim, func(r *record) bool { return r.victim < victim || r.victim == victim && r.at <= after })
		for ; ; cursor.Next() {
			r, ok := cursor.Item()
			if !ok || r.victim != victim || !yield(r) {
				return
			}
		}
	}
}

// before returns the instant so long before another.
func before(at, window int64) int64 {
	if at < math.MinInt64+window {
		return math.MinInt64
	}
	return at - window
}

// Since returns the instant up to which events have left the window of a limit.
func (l *Limit) Since(now time.Time) time.Time {
	return instant.Time(before(instant.Clamped(now), int64(l.Window.Or(0))))
}

// Next returns the first instant after the given one at which an event leaves a window of the
// limit, if it falls into a class that matches; ok is false if there is none.
func (h *History) Next(l *Limit, now time.Time, matches func(*Class) bool) (at time.Time, ok bool) {
	if h.Len() == 0 {
		return time.Time{}, false
	}
	window, first := int64(l.Window.Or(0)), int64(math.MaxInt64)
	after := before(instant.Clamped(now), window)
	for n := range h.classes {
		if !matches(&h.classes[n]) {
			continue
		}
		var cursor ordered.Cursor[*record, int]
		cursor.Seek(h.byClass, func(r *record) bool { return r.class < int32(n) || r.class == int32(n) && r.at <= after })
		if r, is := cursor.Item(); is && r.class == int32(n) {
			first = min(first, r.at)
		}
	}
	if first > math.MaxInt64-window {
		return time.Time{}, false
	}
	return instant.Time(first + window), true
}
