package loop

import (
	"cmp"
	"fmt"
	"slices"
)

// Circle is jobs that take the same room back and forth: one stops another, loses the room
// and stops the same one again, [circleTurns] times or more. Whether time goes on between does
// not matter. A circle may have more than two jobs: each stops the next one.
type Circle struct {
	Jobs      []string `json:"jobs"`      // by ID
	Evictions int64    `json:"evictions"` // of these jobs by each other
	From      int64    `json:"from"`      // the second of the first of them
	To        int64    `json:"to"`        // and that of the last
}

const (
	// circleTurns is how often a job stops the same other job before that is a circle.
	circleTurns = 10
	// endlessTurns is the same for a circle that is taken to go on for ever. While time stands
	// still circleTurns are enough: nothing else can happen then.
	endlessTurns = 1000
)

// ErrCircle is that jobs take each other's room for ever. The replay is then broken off.
var ErrCircle = fmt.Errorf("jobs evict each other in a circle")

// pair is a job that was stopped, and the one that needed its room.
type pair struct{ victim, preemptor int }

// turns counts the evictions of a pair.
type turns struct {
	n, first, last int64
	now            int64 // those at the time of the last
}

// count counts an eviction.
func (l *Loop) count(j *job, victim, preemptor int) {
	if l.pairs == nil {
		l.pairs = map[pair]turns{}
	}
	p := pair{victim, preemptor}
	t := l.pairs[p]
	if t.n == 0 {
		t.first = l.now
		j.pairs = append(j.pairs, p)
	}
	if t.n++; t.last == l.now {
		t.now++
	} else {
		t.last, t.now = l.now, 1
	}
	l.pairs[p] = t
	l.endless = l.endless || t.now > circleTurns || t.n > endlessTurns
}

// circles returns the circles, the one that began first before the others.
func (l *Loop) circles() (list []Circle) {
	var often []pair
	for p, t := range l.pairs {
		if t.n >= circleTurns {
			often = append(often, p)
		}
	}
	slices.SortFunc(often, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.victim, b.victim), cmp.Compare(a.preemptor, b.preemptor))
	})
	for len(often) > 0 {
		jobs, rest := []int{often[0].victim}, often
		c := Circle{From: l.pairs[often[0]].first}
		for grown := true; grown; {
			grown = false
			rest = slices.DeleteFunc(rest, func(p pair) bool {
				if !slices.Contains(jobs, p.victim) && !slices.Contains(jobs, p.preemptor) {
					return false
				}
				for _, j := range []int{p.victim, p.preemptor} {
					if !slices.Contains(jobs, j) {
						jobs = append(jobs, j)
					}
				}
				t := l.pairs[p]
				c.Evictions, c.From, c.To, grown = c.Evictions+t.n, min(c.From, t.first), max(c.To, t.last), true
				return true
			})
		}
		for _, j := range jobs {
			c.Jobs = append(c.Jobs, l.world.Jobs[j].ID)
		}
		slices.Sort(c.Jobs)
		list, often = append(list, c), rest
	}
	slices.SortStableFunc(list, func(a, b Circle) int { return cmp.Compare(a.From, b.From) })
	return list
}
