package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/replay/internal/loop"
)

// summary is a policy in a world, over all seeds.
type summary struct {
	policy string
	loop.Result
	losts []int64 // what was lost, by seed
}

// worldGroup is a world with its policies, the first of which the others are compared with.
type worldGroup struct {
	world    string
	seeds    int
	policies []*summary
}

// group adds up lines by world and policy, in the order of the sweep.
func group(lines []line) []*worldGroup {
	var groups []*worldGroup
	for i := range lines {
		l := &lines[i]
		g := find(&groups, func(g *worldGroup) bool { return g.world == l.World }, &worldGroup{world: l.World})
		s := find(&g.policies, func(s *summary) bool { return s.policy == l.Policy }, &summary{policy: l.Policy})
		s.add(&l.Result)
		g.seeds = len(g.policies[0].losts)
	}
	return groups
}

func find[T any](list *[]*T, is func(*T) bool, fresh *T) *T {
	if i := slices.IndexFunc(*list, is); i >= 0 {
		return (*list)[i]
	}
	*list = append(*list, fresh)
	return fresh
}

func (s *summary) add(r *loop.Result) {
	s.losts = append(s.losts, r.Lost())
	if len(s.losts) == 1 {
		s.Result = *r
		s.Waits = slices.Clone(r.Waits)
		return
	}
	s.Jobs += r.Jobs
	s.Finished += r.Finished
	s.GPU += r.GPU
	s.Redone += r.Redone
	s.Restarts += r.Restarts
	s.Grace += r.Grace
	s.Evictions += r.Evictions
	s.Preemptions += r.Preemptions
	s.Decisions += r.Decisions
	s.Completion += r.Completion
	s.InUse += r.InUse
	s.Offered += r.Offered
	s.Times.Merge(r.Times)
	for _, w := range r.Waits {
		i := slices.IndexFunc(s.Waits, func(have loop.Wait) bool { return have.Priority <= w.Priority })
		switch {
		case i < 0:
			s.Waits = append(s.Waits, w)
		case s.Waits[i].Priority != w.Priority:
			s.Waits = slices.Insert(s.Waits, i, w)
		default:
			have := &s.Waits[i]
			have.Jobs, have.Sum, have.Evictions = have.Jobs+w.Jobs, have.Sum+w.Sum, have.Evictions+w.Evictions
			have.Most = max(have.Most, w.Most)
		}
	}
}

// perMille returns by how much a is more than b, in thousandths of b, rounded; ok is false if
// b is zero and a is not.
func perMille(a, b int64) (n int64, ok bool) {
	if b == 0 {
		return 0, a == 0
	}
	more := (a - b) * 2000
	if more < 0 {
		return -((-more/b + 1) / 2), true
	}
	return (more/b + 1) / 2, true
}

// worstSeed returns the change of what was lost in the seed where it is the worst.
func (s *summary) worstSeed(first *summary) string {
	worst := 0
	for i := range min(len(s.losts), len(first.losts)) {
		a, _ := perMille(s.losts[i], first.losts[i])
		b, _ := perMille(s.losts[worst], first.losts[worst])
		if a > b {
			worst = i
		}
	}
	return change(s.losts[worst], first.losts[worst])
}

// What counts as worse. Both limits have to be exceeded: a mean wait of two seconds is no
// worse for being one second longer.
const (
	tolerance = 10 // thousandths: of the time to completion, and of a wait
	leastWait = 10 // seconds of a mean wait
)

// verdict says whether a policy pays, compared with the first.
func (s *summary) verdict(first *summary) (pays bool, text string) {
	var against []string
	if s.Finished < first.Finished {
		against = append(against, "fewer jobs run")
	}
	if s.Lost() >= first.Lost() {
		against = append(against, "no less is lost")
	}
	if n, ok := perMille(s.Completion, first.Completion); !ok || n > tolerance {
		against = append(against, "jobs are done later")
	}
	for i := range s.Waits {
		if i < len(first.Waits) && worseWait(&s.Waits[i], &first.Waits[i]) {
			against = append(against, fmt.Sprintf("priority %d waits longer", s.Waits[i].Priority))
		}
	}
	if len(against) == 0 {
		return true, s.policy + " pays."
	}
	return false, s.policy + " does not pay: " + strings.Join(against, ", ") + "."
}

// verdicts are the verdicts of all policies but the first, a line each.
func (g *worldGroup) verdicts() (lines []string) {
	for _, s := range g.policies[1:] {
		_, text := s.verdict(g.policies[0])
		lines = append(lines, text)
	}
	return lines
}

func worseWait(w, first *loop.Wait) bool {
	n, ok := perMille(w.Sum, first.Sum)
	return (!ok || n > tolerance) && w.Sum-first.Sum > leastWait*max(1, w.Jobs)
}
