package limits

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
)

// Count returns how many events after an instant fall into the classes that match. It asks about
// each class of which there are events, and takes O(log n) for each that matches. What a limit counts
// is found sooner by [History.Counted].
func (h *History) Count(after time.Time, matches func(*Class) bool) (count int64) {
	h.eachClass(instant.Clamped(after), matches, func(_ *record, n int) { count += int64(n) })
	return count
}

// CountOf is Count of one victim's events. It takes O(log n) and a look at each of them.
func (h *History) CountOf(victim string, after time.Time, matches func(*Class) bool) (count int64) {
	for r := range h.of(victim, instant.Clamped(after)) {
		if c := h.class(r); matches(&c) {
			count++
		}
	}
	return count
}

// Next returns the first instant after the given one at which an event leaves a window of the
// limit, if it falls into a class that matches; ok is false if there is none.
func (h *History) Next(l *Limit, now time.Time, matches func(*Class) bool) (at time.Time, ok bool) {
	window, first := int64(l.Window.Or(0)), int64(math.MaxInt64)
	h.eachClass(before(instant.Clamped(now), window), matches, func(oldest *record, _ int) { first = min(first, oldest.at) })
	if first > math.MaxInt64-window {
		return time.Time{}, false
	}
	return instant.Time(first + window), true
}

// Since returns the instant up to which events have left the window of a limit.
func (l *Limit) Since(now time.Time) time.Time {
	return instant.Time(before(instant.Clamped(now), int64(l.Window.Or(0))))
}

// before returns the instant so long before another.
func before(at, window int64) int64 {
	if at < math.MinInt64+window {
		return math.MinInt64
	}
	return at - window
}

// eachClass calls yield for each class that matches and has events after an instant, with the oldest of
// these and their number.
func (h *History) eachClass(after int64, matches func(*Class) bool, yield func(oldest *record, n int)) {
	if h.Len() == 0 {
		return
	}
	set, to := h.sets[byPair], (*group)(nil)
	from := h.from.list()
	var c Class
	var cursor ordered.Cursor[*record, none]
	for cursor.First(set); ; {
		first, ok := cursor.Item()
		if !ok {
			return
		}
		if to == nil || to.number != first.to {
			to = h.to.of(first.to)
		}
		c = from[first.from].class
		if c.PreemptedQueue = to.class.PreemptedQueue; matches(&c) {
			if n, oldest := h.inPair(first, after); n > 0 {
				yield(oldest, n)
			}
		}
		passPair(&cursor, set, first)
	}
}

// passPair moves a cursor from the first event of a pair of groups to the first one of the next pair.
func passPair(cursor *ordered.Cursor[*record, none], set eventSet, first *record) {
	const few = 8 // a step costs less than a look-up
	for range few {
		cursor.Next()
		if r, ok := cursor.Item(); !ok || comparePairs(r, first) != 0 {
			return
		}
	}
	cursor.Seek(set, func(r *record) bool { return comparePairs(r, first) <= 0 })
}

// inPair returns how many events after an instant are of the same pair of groups, and the oldest.
func (h *History) inPair(of *record, after int64) (n int, oldest *record) {
	steps := 0
	in := run{&h.sets[byPair], func(r *record) int { return comparePairs(r, of) }}
	first, end := in.ranks(after, &steps)
	if first < end {
		oldest = h.sets[byPair].At(first)
	}
	return end - first, oldest
}

// of yields the records of a victim after an instant, by time.
func (h *History) of(victim string, after int64) func(yield func(*record) bool) {
	return func(yield func(*record) bool) {
		if h.Len() == 0 {
			return
		}
		var cursor ordered.Cursor[*record, none]
		cursor.Seek(h.sets[byVictim], func(r *record) bool { return r.victim < victim || r.victim == victim && r.at <= after })
		for ; ; cursor.Next() {
			r, ok := cursor.Item()
			if !ok || r.victim != victim || !yield(r) {
				return
			}
		}
	}
}
