package limits

import (
	"math"
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

// counts reports whether an event is counted.
func (t *Together) counts(e *Event) bool {
	switch t.Limit.Scope {
	case PreemptingClusterQueue:
		if e.PreemptingQueue != t.PreemptingQueue {
			return false
		}
	case PreemptedClusterQueue:
		if e.PreemptedQueue != t.PreemptedQueue {
			return false
		}
	case PreemptedWorkload:
		if e.Victim != t.Victim {
			return false
		}
	}
	return t.Limit.Covers(&e.Class, t.Labels)
}

// Counted returns how many events in the window of the limit are counted together. It looks at each event
// in the window: looks is their number.
func (h *History) Counted(t *Together, now time.Time) (count int64, looks int) {
	window := h.after(t.since(now))
	for i := range window {
		if t.counts(&window[i]) {
			count++
		}
	}
	return count, len(window)
}

// FallsTo returns the first instant after now at which no more than count events are in the window of the
// limit, if none is added; ok is false if there is none, or if they are no more now.
func (h *History) FallsTo(t *Together, count int64, now time.Time) (at time.Time, ok bool, looks int) {
	window := h.after(t.since(now))
	for i := len(window) - 1; i >= 0 && count >= 0; i-- {
		if looks++; !t.counts(&window[i]) {
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
