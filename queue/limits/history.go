package limits

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
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
	from, to groups
	sets     sets
}

// NewHistory returns the history of events, in any order; see [History.With].
func NewHistory(events []Event) (*History, error) { return (*History)(nil).With(events...) }

// With returns the history with more events. An event that is there already changes nothing. It
// fails, with all faults, on an event with an empty ID or queue, or a time that is not set or not
// within the years 1678 to 2262; it then returns its receiver. An event costs O(log n).
func (h *History) With(events ...Event) (*History, error) {
	var faults fault.List
	for i := range events {
		events[i].validate(fmt.Sprintf("events[%d]", i), &faults)
	}
	if err := faults.Err(); err != nil || len(events) == 0 {
		return h, err
	}
	made := h.copy()
	records := make([]record, len(events))
	for i := range events {
		records[i] = made.record(&events[i])
	}
	if made.manyOf(len(events)) {
		made.sets = made.sets.edited(0, records)
		return made, nil
	}
	for i := range records {
		one := records[i] // a copy, which keeps no others in memory
		made.sets.insert(&one)
	}
	return made, nil
}

// manyOf reports whether a look at every event costs no more than so many edits.
func (h *History) manyOf(edits int) bool { return edits*bits.Len(uint(h.Len())) >= h.Len() }

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
	if h.Len() > 0 {
		c := *h
		return &c
	}
	return &History{from: newGroups(), to: newGroups(), sets: emptySets}
}

// record returns the record of an event, and gives numbers to its groups.
func (h *History) record(e *Event) record {
	r := record{at: instant.Of(e.At), victim: e.Victim, preemptor: e.Preemptor}
	h.from, r.from = h.from.with(Class{PreemptingQueue: e.PreemptingQueue, Config: e.Config, Rules: e.Rules})
	h.to, r.to = h.to.with(Class{PreemptedQueue: e.PreemptedQueue})
	return r
}

// Trim returns the history without the events up to an instant: trim to now less the longest
// window ([Longest]), and nothing that counts is lost. It costs O(log n) for each event that it removes.
func (h *History) Trim(until time.Time) *History {
	last := instant.Clamped(until)
	if h.Len() == 0 || h.sets[byTime].At(0).at > last {
		return h
	}
	gone := h.sets[byTime].Rank(func(r *record) bool { return r.at <= last })
	if gone == h.Len() {
		return (*History)(nil).copy()
	}
	made := h.copy()
	from, to := make([]int32, gone), make([]int32, gone)
	var cursor ordered.Cursor[*record, none]
	cursor.First(h.sets[byTime])
	for i := range gone {
		r, _ := cursor.Item()
		from[i], to[i] = r.from, r.to
		cursor.Next()
	}
	if made.manyOf(gone) {
		made.sets = made.sets.edited(gone, nil)
	} else {
		for range gone {
			made.sets.delete(made.sets[byTime].At(0))
		}
	}
	made.from = made.from.without(from, made.fromRun)
	made.to = made.to.without(to, made.toRun)
	return made
}

// Len returns the number of events.
func (h *History) Len() int {
	if h == nil {
		return 0
	}
	return h.sets[byTime].Len()
}

// All yields the events by time, then victim, then preemptor.
func (h *History) All(yield func(Event) bool) {
	if h.Len() == 0 {
		return
	}
	var cursor ordered.Cursor[*record, none]
	for cursor.First(h.sets[byTime]); ; cursor.Next() {
		r, ok := cursor.Item()
		if !ok {
			return
		}
		e := h.event(r)
		e.Rules = slices.Clone(e.Rules)
		if !yield(e) {
			return
		}
	}
}
