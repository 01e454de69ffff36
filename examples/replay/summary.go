package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// summary is a policy in a world, over all seeds.
type summary struct {
	policy string
	short  string // its name in tables
	loop.Result
	runs   []*sweep.Line // by seed
	broken bool          // some seed was broken off
}

// worldGroup is a world with its policies, the first of which the others are compared with.
type worldGroup struct {
	world    string
	seeds    int
	policies []*summary
}

// group adds up lines by world and policy, in the order of the sweep.
func group(lines []sweep.Line) []*worldGroup {
	var groups []*worldGroup
	for i := range lines {
		l := &lines[i]
		g := find(&groups, func(g *worldGroup) bool { return g.world == l.World }, &worldGroup{world: l.World})
		s := find(&g.policies, func(s *summary) bool { return s.policy == l.Policy }, &summary{policy: l.Policy})
		s.add(l)
		g.seeds = len(g.policies[0].runs)
	}
	var policies []string
	for i := range lines {
		if !slices.Contains(policies, lines[i].Policy) {
			policies = append(policies, lines[i].Policy)
		}
	}
	short := shortNames(policies)
	for _, g := range groups {
		for _, s := range g.policies {
			s.short = cmp.Or(short[s.policy], s.policy)
		}
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

func (s *summary) add(l *sweep.Line) {
	r := &l.Result
	s.runs, s.broken = append(s.runs, l), s.broken || l.Circle != ""
	if len(s.runs) == 1 {
		s.Result = *r
		s.Priorities, s.Sizes, s.Queues = slices.Clone(r.Priorities), slices.Clone(r.Sizes), slices.Clone(r.Queues)
		return
	}
	s.Jobs += r.Jobs
	s.Finished += r.Finished
	s.GPU += r.GPU
	s.Redone += r.Redone
	s.Restarts += r.Restarts
	s.Grace += r.Grace
	s.Evictions += r.Evictions
	s.OfOne = max(s.OfOne, r.OfOne)
	s.Preemptions += r.Preemptions
	s.Decisions += r.Decisions
	s.InUse += r.InUse
	s.Offered += r.Offered
	s.Times.Merge(r.Times)
	s.All.Merge(r.All)
	s.Priorities, s.Sizes, s.Queues = merged(s.Priorities, r.Priorities), merged(s.Sizes, r.Sizes), merged(s.Queues, r.Queues)
}

// merged adds groups by name. New ones are put behind what they follow.
func merged(have, more []loop.Group) []loop.Group {
	at := 0
	for _, g := range more {
		if i := slices.IndexFunc(have, func(h loop.Group) bool { return h.Name == g.Name }); i >= 0 {
			have[i].Merge(g)
			at = i + 1
			continue
		}
		have = slices.Insert(have, at, g)
		at++
	}
	return have
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

// What counts as worse. Both limits have to be exceeded: a mean wait of two seconds is no
// worse for being one second longer.
const (
	tolerance = 10 // thousandths: of the time to completion, and of a wait
	leastWait = 10 // seconds of a mean wait
)

// reason speaks against a policy: in few words, and with its numbers.
type reason struct{ short, long string }

// against lists what speaks against a policy, compared with the first. Without a reason it pays.
func (s *summary) against(first *summary) (list []reason) {
	add := func(short, long string) { list = append(list, reason{short, long}) }
	if s.Finished < first.Finished {
		add("fewer jobs run", fmt.Sprintf("%d jobs fewer run", first.Finished-s.Finished))
	}
	if s.Lost() >= first.Lost() {
		add("no less is lost", "no less is lost")
	}
	if n, ok := perMille(s.All.Done.Sum, first.All.Done.Sum); !ok || n > tolerance {
		add("jobs are done later", "jobs are done "+strings.TrimLeft(change(s.All.Done.Sum, first.All.Done.Sum), "+")+" later")
	}
	for i := range s.Priorities {
		if i < len(first.Priorities) && worseWait(&s.Priorities[i], &first.Priorities[i]) {
			now, before := &s.Priorities[i], &first.Priorities[i]
			add(fmt.Sprintf("priority %s waits longer", now.Name), fmt.Sprintf("priority %s waits %s instead of %s", now.Name, meanWait(now), meanWait(before)))
		}
	}
	return list
}

func meanWait(g *loop.Group) string { return span(mean(g.Wait.Sum, g.Jobs)) }

// verdict says whether a policy pays, compared with the first, and whether that may be chance.
func (s *summary) verdict(first *summary) (pays bool, text string) {
	if s.broken || first.broken {
		return false, s.policy + " is not compared: " + cmp.Or(map[bool]string{true: "it"}[s.broken], first.policy) + " was broken off."
	}
	var against []string
	for _, r := range s.against(first) {
		against = append(against, r.short)
	}
	switch {
	case len(against) > 0:
		return false, s.policy + " does not pay: " + strings.Join(against, ", ") + "."
	case s.mayBeChance(first):
		return true, s.policy + " pays, which may be chance."
	}
	return true, s.policy + " pays."
}

// verdict is a line about a policy.
type verdict struct {
	text string
	pays bool
}

// verdicts are the circles of all policies, then the verdicts of all but the first, a line each.
func (g *worldGroup) verdicts() (lines []verdict) {
	for _, s := range g.policies {
		if text := s.circles(); text != "" {
			lines = append(lines, verdict{text: text})
		}
	}
	for _, s := range g.policies[1:] {
		pays, text := s.verdict(g.policies[0])
		lines = append(lines, verdict{text, pays})
	}
	return lines
}

func worseWait(g, first *loop.Group) bool {
	n, ok := perMille(g.Wait.Sum, first.Wait.Sum)
	return (!ok || n > tolerance) && g.Wait.Sum-first.Wait.Sum > leastWait*max(1, g.Jobs)
}
