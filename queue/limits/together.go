package limits

import (
	"math"
	"sort"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
)

// Together is what a limit counts together with one preemption: by its scope, the events of one queue or
// workload, or all.
type Together struct {
	Limit *Limit
	// PreemptingQueue, PreemptedQueue and Victim are those of the preemption. The scope says which of
	// them is read.
	PreemptingQueue, PreemptedQueue, Victim string
	// Labels returns the labels of a queue; nil for one that is not known.
	Labels func(queue string) map[string]string
}

// key is what the events of the scope have in common.
func (t *Together) key() key {
	k := key{scope: t.Limit.Scope}
	switch k.scope {
	case PreemptingClusterQueue:
		k.name = t.PreemptingQueue
	case PreemptedClusterQueue:
		k.name = t.PreemptedQueue
	case PreemptedWorkload:
		k.name = t.Victim
	}
	return k
}

// window returns the events of the scope in the window of the limit, by time.
func (h *History) window(t *Together, now time.Time) []*Event {
	if h.Len() == 0 {
		return nil
	}
	h.indexed.Do(h.index)
	list, since := h.of[t.key()], t.since(now)
	return list[sort.Search(len(list), func(i int) bool { return list[i].At.After(since) }):]
}

// index lists the events of each scope.
func (h *History) index() {
	h.of = map[key][]*Event{}
	for i := range h.events {
		e := &h.events[i]
		for _, k := range [...]key{{Global, ""}, {PreemptingClusterQueue, e.PreemptingQueue}, {PreemptedClusterQueue, e.PreemptedQueue}, {PreemptedWorkload, e.Victim}} {
			h.of[k] = append(h.of[k], e)
		}
	}
}

// Counted returns how many events in the window of the limit are counted together. It looks at each event
// of the scope in the window: looks is their number.
func (h *History) Counted(t *Together, now time.Time) (count int64, looks int) {
	window := h.window(t, now)
	for _, e := range window {
		if t.Limit.Covers(&e.Class, t.Labels) {
			count++
		}
	}
	return count, len(window)
}

// FallsTo returns the first instant after now at which no more than count events are in the window of the
// limit, if none is added; ok is false if there is none, or if they are no more now.
func (h *History) FallsTo(t *Together, count int64, now time.Time) (at time.Time, ok bool, looks int) {
	window := h.window(t, now)
	for i := len(window) - 1; i >= 0 && count >= 0; i-- {
		if looks++; !t.Limit.Covers(&window[i].Class, t.Labels) {
			continue
		}
		if count--; count < 0 {
			last, length := instant.Of(window[i].At), int64(t.Limit.Window.Or(0))
			if last > math.MaxInt64-length {
				return time.Time{}, false, looks
			}
			return instant.Time(last + length), true, looks
		}
	}
	return time.Time{}, false, looks
}

// since returns the instant up to which events have left the window.
func (t *Together) since(now time.Time) time.Time {
	at, length := instant.Clamped(now), int64(t.Limit.Window.Or(0))
	if at < math.MinInt64+length {
		return instant.Time(math.MinInt64)
	}
	return instant.Time(at - length)
}
