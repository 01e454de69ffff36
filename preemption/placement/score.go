package placement

import (
	"cmp"
	"math"
	"slices"
)

// score rates a candidate; the smaller is better. The functions are those that
// kube-scheduler has for the victims on a node, over units instead of pods (KEP-5710,
// "we score scheduling decisions for each of the domains").
type score struct {
	violations int   // pods evicted against a budget
	highest    int32 // priority of a victim
	sum        int64 // over the pods of victims: priority + 2^31, so that fewer are better
	pods       int
	started    int64 // the earliest start of a victim of the highest priority: the latest is best
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

// rate scores what a run has found.
func (s *search) rate() score {
	r := score{highest: math.MinInt32}
	for i, u := range s.victims {
		r.violations += s.violations[u]
		r.pods += len(u.pods)
		r.sum += int64(len(u.pods)) * (int64(u.priority) + 1<<31)
		if i == 0 || u.priority > r.highest {
			r.highest, r.started = u.priority, u.started
		} else if u.priority == r.highest {
			r.started = min(r.started, u.started)
		}
	}
	return r
}

// choice is a candidate inside of a search.
type choice struct {
	score      score
	domain     string
	where      []int32
	victims    []*unit
	violations []int
}

// keep copies what a run has found.
func (s *search) keep(into *choice, d span, rating score) {
	into.score, into.domain = rating, d.name
	if s.r.Group == "" {
		into.domain = s.nodes[d.from].facts.Name
	}
	into.where = append(into.where[:0], s.where...)
	into.victims = append(into.victims[:0], s.victims...)
	into.violations = into.violations[:0]
	for _, u := range s.victims {
		into.violations = append(into.violations, s.violations[u])
	}
}

// candidate turns a choice into names.
func (s *search) candidate(c *choice) Candidate {
	out := Candidate{Domain: c.domain, Violations: c.score.violations, Nominations: s.nominations(c.where)}
	out.Placeable = len(out.Nominations)
	for i, u := range c.victims {
		v := Victim{Group: u.group, Priority: u.priority, Violations: c.violations[i], Pods: make([]string, len(u.pods))}
		for j, p := range u.pods {
			v.Pods[j] = p.facts.ID
		}
		slices.Sort(v.Pods)
		out.Victims = append(out.Victims, v)
	}
	slices.SortFunc(out.Victims, func(a, b Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out
}

func (s *search) nominations(where []int32) []Nomination {
	var list []Nomination
	for m, at := range where {
		if at >= 0 {
			list = append(list, Nomination{s.members[m].facts.ID, s.nodes[at].facts.Name})
		}
	}
	return list
}
