package right

import (
	"math"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/queue/limits"
)

// A search asks the limits about one victim after another. If none of their answers changes, and nothing
// else does, the search ends as before. So the limits note, of each victim that they refuse, how far which
// counts must fall, and the next instant is the first one at which that happens to a victim.

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
