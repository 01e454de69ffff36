package limits

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
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
// another value. Nil and the zero value are empty.
type History struct {
	events []Event // each once, by time, then victim, then preemptor

	indexed sync.Once
	of      map[key][]*Event // once indexed: the events of each scope, by time
}

// key names events that a scope has in common.
type key struct {
	scope Scope
	name  string // of the queue or workload
}

// NewHistory returns the history of events, in any order; see [History.With].
func NewHistory(events []Event) (*History, error) { return (*History)(nil).With(events...) }

// With returns the history with more events. An event that is there already changes nothing. It
// fails, with all faults, on an event with an empty ID or queue, or a time that is not set or not
// within the years 1678 to 2262; it then returns its receiver. It copies the history.
func (h *History) With(events ...Event) (*History, error) {
	var faults fault.List
	for i := range events {
		events[i].validate(fmt.Sprintf("events[%d]", i), &faults)
	}
	if err := faults.Err(); err != nil || len(events) == 0 {
		return h, err
	}
	list := make([]Event, 0, h.Len()+len(events))
	if h != nil {
		list = append(list, h.events...)
	}
	for _, e := range events {
		e.At, e.Rules = instant.Time(instant.Of(e.At)), slices.Clone(e.Rules)
		list = append(list, e)
	}
	slices.SortStableFunc(list, compareEvents)
	return &History{events: slices.CompactFunc(list, func(a, b Event) bool { return compareEvents(a, b) == 0 })}, nil
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

func compareEvents(a, b Event) int {
	if c := a.At.Compare(b.At); c != 0 { // the usual case
		return c
	}
	return cmp.Or(strings.Compare(a.Victim, b.Victim), strings.Compare(a.Preemptor, b.Preemptor),
		strings.Compare(a.PreemptingQueue, b.PreemptingQueue), strings.Compare(a.PreemptedQueue, b.PreemptedQueue),
		strings.Compare(a.Config, b.Config), slices.Compare(a.Rules, b.Rules))
}

// Trim returns the history without the events up to an instant: trim to now less the longest
// window ([Longest]), and nothing that counts is lost.
func (h *History) Trim(until time.Time) *History {
	left := h.after(until)
	if len(left) == h.Len() {
		return h
	}
	return &History{events: slices.Clone(left)} // a copy, so that those before are not kept in memory
}

// after returns the events after an instant.
func (h *History) after(at time.Time) []Event {
	if h == nil {
		return nil
	}
	first := sort.Search(len(h.events), func(i int) bool { return h.events[i].At.After(at) })
	return h.events[first:]
}

// Len returns the number of events.
func (h *History) Len() int {
	if h == nil {
		return 0
	}
	return len(h.events)
}

// All yields the events by time, then victim, then preemptor.
func (h *History) All(yield func(Event) bool) {
	for _, e := range h.after(time.Time{}) {
		if e.Rules = slices.Clone(e.Rules); !yield(e) {
			return
		}
	}
}
