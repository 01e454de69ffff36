package limits

import (
	"cmp"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/ordered"
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

// Counted returns how many events in the window of the limit are counted together. It takes O(log n) if
// the limit counts all of a scope. If it names rules or selects queues, it takes O(log n) for each pair of
// queues, with configuration and rules, that it has to look at; of one victim it looks at each event. The
// result looks is the number of events looked at.
func (h *History) Counted(t *Together, now time.Time) (count int64, looks int) {
	if h.Len() == 0 {
		return 0, 0
	}
	runs := h.runsOf(t, &looks)
	return runs.count(before(instant.Clamped(now), int64(t.Limit.Window.Or(0))), &looks), looks
}

// FallsTo returns the first instant after now at which no more than count events are in the window of the
// limit, if none is added; ok is false if there is none, or if they are no more now.
func (h *History) FallsTo(t *Together, count int64, now time.Time) (at time.Time, ok bool, looks int) {
	if h.Len() == 0 || count < 0 {
		return time.Time{}, false, 0
	}
	runs, window := h.runsOf(t, &looks), int64(t.Limit.Window.Or(0))
	last, ok := runs.leaves(before(instant.Clamped(now), window), count, h.sets[byTime], &looks)
	if !ok || last > math.MaxInt64-window {
		return time.Time{}, false, looks
	}
	return instant.Time(last + window), true, looks
}

// runs are the events that are counted together, whenever they were. Those of a victim that are counted
// are listed by time, in place of runs, if the limit does not count all.
type runs struct {
	list   []run
	listed []int64
}

// runsOf returns the runs of what is counted together.
func (h *History) runsOf(t *Together, looks *int) (found runs) {
	l := t.Limit
	oneSide := len(l.Configs) == 0 && len(l.Rules) == 0 && l.PreemptingQueues == nil // nothing is asked about from
	otherSide := l.PreemptedQueues == nil                                            // nothing is asked about to
	from := func(g *group) bool {
		*looks++
		return l.ofRules(&g.class) && selects(l.PreemptingQueues, t.Labels, g.class.PreemptingQueue)
	}
	to := func(g *group) bool { *looks++; return selects(l.PreemptedQueues, t.Labels, g.class.PreemptedQueue) }
	switch {
	case l.Scope == PreemptedWorkload && oneSide && otherSide:
		found.list = []run{{&h.sets[byVictim], func(r *record) int { return strings.Compare(r.victim, t.Victim) }}}
	case l.Scope == PreemptedWorkload:
		for r := range h.of(t.Victim, math.MinInt64) {
			if *looks++; from(h.from.of(r.from)) && to(h.to.of(r.to)) {
				found.listed = append(found.listed, r.at)
			}
		}
	case l.Scope == PreemptedClusterQueue:
		target, known := h.to.byClass.Get(func(g *group) int { return strings.Compare(g.class.PreemptedQueue, t.PreemptedQueue) })
		switch {
		case !known || !to(target):
		case oneSide:
			found.list = []run{h.toRun(target.number)}
		default:
			found.list = h.pairRuns(target, from)
		}
	case otherSide && oneSide && l.Scope == Global:
		found.list = []run{{&h.sets[byTime], func(*record) int { return 0 }}}
	case otherSide:
		h.from.each(l.preempting(t), func(g *group) {
			if from(g) {
				found.list = append(found.list, h.fromRun(g.number))
			}
		})
	case oneSide && l.Scope == Global:
		h.to.each("", func(g *group) {
			if to(g) {
				found.list = append(found.list, h.toRun(g.number))
			}
		})
	default:
		var sources []*group
		h.from.each(l.preempting(t), func(g *group) {
			if from(g) {
				sources = append(sources, g)
			}
		})
		h.to.each("", func(g *group) {
			if !to(g) {
				return
			}
			if l.Scope == Global {
				found.list = append(found.list, h.pairRuns(g, from)...)
				return
			}
			for _, source := range sources {
				found.list = append(found.list, h.pairRun(source.number, g.number))
			}
		})
	}
	return found
}

// preempting returns the only preempting queue that is counted; "": all are.
func (l *Limit) preempting(t *Together) string {
	if l.Scope == PreemptingClusterQueue {
		return t.PreemptingQueue
	}
	return ""
}

func (h *History) fromRun(number int32) run {
	return run{&h.sets[byFrom], func(r *record) int { return cmp.Compare(r.from, number) }}
}

func (h *History) toRun(number int32) run {
	return run{&h.sets[byTo], func(r *record) int { return cmp.Compare(r.to, number) }}
}

func (h *History) pairRun(from, to int32) run {
	return run{&h.sets[byPair], func(r *record) int { return cmp.Or(cmp.Compare(r.to, to), cmp.Compare(r.from, from)) }}
}

// pairRuns returns a run for each group from which there are events to a group, if it is counted.
func (h *History) pairRuns(to *group, counted func(from *group) bool) (list []run) {
	set := h.sets[byPair]
	var cursor ordered.Cursor[*record, none]
	for cursor.Seek(set, func(r *record) bool { return r.to < to.number }); ; {
		first, ok := cursor.Item()
		if !ok || first.to != to.number {
			return list
		}
		if counted(h.from.of(first.from)) {
			list = append(list, h.pairRun(first.from, first.to))
		}
		passPair(&cursor, set, first)
	}
}

// any reports whether there are events in the run.
func (r run) any(steps *int) bool {
	first, end := r.ranks(math.MinInt64, steps)
	return first < end
}

// count counts the events after an instant.
func (r *runs) count(after int64, steps *int) (count int64) {
	for i := range r.list {
		first, end := r.list[i].ranks(after, steps)
		count += int64(end - first)
	}
	return count + int64(len(r.listed)-r.left(after))
}

// left returns how many of the listed events are not after an instant.
func (r *runs) left(after int64) int {
	return sort.Search(len(r.listed), func(i int) bool { return r.listed[i] > after })
}

// leaves returns the time of the last event after an instant that has to leave until no more than most are
// left. all is the set of all events by time.
func (r *runs) leaves(after, most int64, all eventSet, steps *int) (at int64, ok bool) {
	count := r.count(after, steps)
	switch {
	case count <= most:
		return 0, false
	case len(r.list) == 0:
		return r.listed[r.left(after)+int(count-most)-1], true
	case len(r.list) == 1:
		first, _ := r.list[0].ranks(after, steps)
		return r.list[0].set.At(first + int(count-most) - 1).at, true
	}
	// The instant is that of an event, so halve by rank among all.
	rank := sort.Search(all.Len(), func(i int) bool {
		at := all.At(i).at
		return at > after && r.count(at, steps) <= most
	})
	return all.At(rank).at, true
}
