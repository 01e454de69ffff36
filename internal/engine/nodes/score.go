package nodes

import (
	"cmp"
	"math"
)

// score rates a candidate; smaller is better. The functions are those of kube-scheduler for
// the victims on a node, applied to units instead of pods (KEP-5710, "we score scheduling
// decisions for each of the domains").
type score struct {
	violations int   // pods evicted against a budget
	highest    int32 // the highest priority of a victim
	sum        int64 // over the pods of victims: priority + 2^31, so that fewer are better
	pods       int
	started    int64 // the earliest start of a victim of the highest priority; the latest is best
}

func (a score) compare(b score) int {
	return cmp.Or(
		cmp.Compare(a.violations, b.violations),
		cmp.Compare(a.highest, b.highest),
		cmp.Compare(a.sum, b.sum),
		cmp.Compare(a.pods, b.pods),
		cmp.Compare(b.started, a.started),
	)
}

// rate scores the result of a run.
func (s *Searcher) rate() score {
	r := rate(s.victims, nil)
	for _, u := range s.victims {
		r.violations += s.violations[u]
	}
	return r
}

// rate scores victims. Violations are by victim; nil: none.
func rate(victims []*Unit, violations []int) score {
	r := score{highest: math.MinInt32}
	for _, n := range violations {
		r.violations += n
	}
	for i, u := range victims {
		r.pods += len(u.Pods)
		r.sum += int64(len(u.Pods)) * (int64(u.Priority) + 1<<31)
		if i == 0 || u.Priority > r.highest {
			r.highest, r.started = u.Priority, u.started
		} else if u.Priority == r.highest {
			r.started = min(r.started, u.started)
		}
	}
	return r
}

// Placement is a domain and the victims of preempting there.
type Placement struct {
	Domain     string
	Where      []int32 // by member: the number of its node, -1: none; during a search the search's own numbers
	Victims    []*Unit
	Violations []int // by victim: pods evicted against a budget
	score      score
	isNumbered bool // Where has the cluster's numbers
}

// Violated returns the number of pods evicted against a budget.
func (x *Placement) Violated() int { return x.score.violations }

// keep copies the result of a run.
func (s *Searcher) keep(into *Placement, d span, rating score) {
	into.score, into.Domain = rating, d.name
	if s.r.Group == "" {
		into.Domain = s.nodes[d.from].Facts.Name
	}
	into.Where = append(into.Where[:0], s.where...)
	into.Victims = append(into.Victims[:0], s.victims...)
	into.Violations = into.Violations[:0]
	for _, u := range s.victims {
		into.Violations = append(into.Violations, s.violations[u])
	}
}

// numbered changes the search's node numbers into the cluster's.
func (s *Searcher) numbered(c *Placement) {
	if c.isNumbered {
		return
	}
	for m, at := range c.Where {
		if at >= 0 {
			c.Where[m] = s.nodes[at].number
		}
	}
	c.isNumbered = true
}
