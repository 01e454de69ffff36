package right

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/queue/limits"
)

// A search asks the limits about one victim after another. If none of their answers changes, and nothing
// else does, the search ends as before. So the limits note, of each victim that they refuse, how far which
// counts must fall, and the next instant is the first one at which that happens to a victim.

// counted is what a limit counts together, in the history at one instant.
type counted struct {
	limits.Together
	count int64
	// noted is the largest count at which a workload that this limit alone refused is not refused; -1: there
	// is no such workload, or it is never.
	noted int64
	// asked is how many victims a search of sets asked about.
	asked int64
	// falls is when the count falls to fallsTo; -1: that was not asked.
	fallsTo, falls int64
}

type countedKey struct {
	limit int
	name  string // of the queue or workload
}

// wait is what keeps a victim that several limits refused: until the last count has fallen.
type wait struct {
	*counted
	to   int64
	more bool // the next wait is of the same victim
}

// begin notes that a search at an instant begins.
func (l *Limiter) begin(now int64) {
	l.moveTo(now)
	l.begun, l.waits = true, l.waits[:0]
	for _, c := range l.counts {
		c.noted, c.asked = -1, 0
	}
}

// moveTo forgets what was true at another instant.
func (l *Limiter) moveTo(now int64) {
	if now == l.now {
		return
	}
	l.now, l.classOf, l.begun = now, nil, false
	clear(l.known)
	l.counts, l.waits = l.counts[:0], l.waits[:0]
}

// counted counts the events that a limit counts together with a victim.
func (l *Limiter) counted(limit int, class *limits.Class, victim string) *counted {
	of := &l.Limits[limit]
	key := countedKey{limit: limit}
	switch of.Scope {
	case limits.PreemptedClusterQueue:
		key.name = class.PreemptedQueue
	case limits.PreemptedWorkload:
		key.name = victim
	}
	if c := l.known[key]; c != nil {
		return c
	}
	c := &counted{noted: -1, fallsTo: -1}
	c.Together = limits.Together{Limit: of, PreemptingQueue: l.Queue, PreemptedQueue: class.PreemptedQueue, Victim: victim, Labels: l.labels}
	var looks int
	c.count, looks = l.History.Counted(&c.Together, instant.Time(l.now))
	l.looks += looks
	if l.known == nil {
		l.known = map[countedKey]*counted{}
	}
	l.known[key] = c
	l.counts = append(l.counts, c)
	return c
}

// noteWaits ends the notes of one victim that the limits from the given wait on refused.
func (l *Limiter) noteWaits(from int) {
	switch some := l.waits[from:]; len(some) {
	case 0:
	case 1:
		some[0].noted = max(some[0].noted, some[0].to)
		l.waits = l.waits[:from]
	default:
		for i := range some {
			if some[i].to < 0 { // for ever
				l.waits = l.waits[:from]
				return
			}
			some[i].more = i+1 < len(some)
		}
	}
}

// fallsAt returns the first instant at which a count has fallen; the highest int64: never.
func (l *Limiter) fallsAt(c *counted, to int64) int64 {
	if to < 0 {
		return math.MaxInt64
	}
	if c.fallsTo != to {
		at, ok, looks := l.History.FallsTo(&c.Together, to, instant.Time(l.now))
		l.looks += looks
		if c.fallsTo, c.falls = to, math.MaxInt64; ok {
			c.falls = instant.Of(at)
		}
	}
	return c.falls
}

// next returns the first instant after now at which an answer to the search that began last may
// change, if that was now; else, at which any event leaves the window of a limit.
func (l *Limiter) next(now int64) (at int64, ok bool) {
	if now != l.now || !l.begun {
		l.moveTo(now)
		return l.nextOfAny()
	}
	at = math.MaxInt64
	for _, c := range l.counts {
		at = min(at, l.fallsAt(c, c.noted))
		if most := c.Limit.Limit - c.count; most > 0 && c.asked > most {
			at = min(at, l.fallsAt(c, c.count-1))
		}
	}
	for i := 0; i < len(l.waits); i++ {
		last := l.fallsAt(l.waits[i].counted, l.waits[i].to)
		for ; l.waits[i].more; i++ {
			last = max(last, l.fallsAt(l.waits[i+1].counted, l.waits[i+1].to))
		}
		at = min(at, last)
	}
	return at, at < math.MaxInt64
}

// nextOfAny returns the first instant after that of the limits at which an event leaves a window.
func (l *Limiter) nextOfAny() (at int64, ok bool) {
	at = math.MaxInt64
	for i := range l.Limits {
		if l.Limits[i].Limit == 0 {
			continue
		}
		of := limits.Limit{Scope: limits.Global, Window: l.Limits[i].Window}
		c := &counted{Together: limits.Together{Limit: &of}, fallsTo: -1}
		var looks int
		c.count, looks = l.History.Counted(&c.Together, instant.Time(l.now))
		l.looks += looks
		at = min(at, l.fallsAt(c, c.count-1))
	}
	return at, at < math.MaxInt64
}

// Looks returns how many events were looked at since it was asked last.
func (l *Limiter) Looks() (looks int) {
	looks, l.looks = l.looks, 0
	return looks
}
