package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge/kai"
	sessions "github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/examples/internal/session/judge"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// Departures of KAI's sessions, by name. What is placed and who yields is judged by verify in each.
const (
	onlyVictims  = "for a reclaim or a preemption only pods move that may yield to it"
	fewerVictims = "victims that are not needed stay"
	otherVictims = "other victims than those that KAI's search finds yield"
	morePlaced   = "room is found that KAI's search does not find"
	otherNodes   = "later jobs find the nodes of earlier ones taken"
	fewerMoves   = "no more pods move than need to"
	otherOrders  = "moves are found that one order of placing does not find"
	oneSet       = "one set of victims is tried for each domain"
	inexact      = "the fractions of [fair shares](designs/fairshare.md) are exact"
)

// Session is what KAI decided in one session about all pending jobs, and what its rules say apart from any search.
type Session struct{ *session }

// ParseSession reads a line; ok is false if it is no session.
func ParseSession(line []byte) (s Session, ok bool, err error) {
	one, err := parseSession(line)
	if err != nil || len(one.Input.Nodes) == 0 || one.Input.Action == "" || one.Kind == "consolidation" {
		return s, false, nil // another form says what is wrong
	}
	return Session{one}, true, nil
}

// Check asks everything.
func (s Session) Check() (r recorded.Report, err error) {
	switch {
	case s.notAsked != "":
		r.NotAsked = s.notAsked
		return r, nil
	case s.Kind == "integration":
		return r, s.checkRounds(&r)
	}
	tree, err := s.tree()
	if err != nil {
		return r, err
	}
	same, err := s.sameShares(tree)
	if err != nil {
		return r, err
	}
	if !same {
		r.Departures = append(r.Departures, inexact)
		return r, nil
	}
	if s.Input.Action == "allocate,consolidation" || s.Input.Action == "consolidation" {
		return r, s.checkMoves(&r)
	}
	if err := s.checkRules(tree, &r); err != nil {
		return r, err
	}
	return r, s.checkDecided(&r)
}

// sameShares reports whether the shares are those recorded.
func (s *session) sameShares(tree fairshare.Tree) (bool, error) {
	want, err := s.Want.list()
	if err != nil {
		return false, err
	}
	reclaim, err := fairshare.NewReclaim(tree)
	return err == nil && slices.Equal(sharesOf(reclaim), want), err
}

func sharesOf(r *fairshare.Reclaim) (list []recorded.FairShare) {
	for _, of := range r.Shares() {
		for _, s := range of.Shares {
			list = append(list, recorded.FairShare{Queue: of.Queue, Resource: s.Resource, FairShare: s.FairShare})
		}
	}
	return list
}

// checkRules asks who may reclaim, who are candidates, and whether sets of victims are acceptable, where no minimum runtime is set.
func (s *session) checkRules(tree fairshare.Tree, r *recorded.Report) error {
	for i := range tree.Queues {
		for _, j := range s.Input.Jobs {
			if j.Queue != tree.Queues[i].Name {
				continue
			}
			for k, holds := range j.amounts(j.running()) { // in the same order
				claim := &tree.Queues[i].Claims[k]
				if claim.Usage += holds.Amount; !j.Preemptible {
					claim.NonPreemptible += holds.Amount
				}
			}
		}
	}
	rules, err := fairshare.NewReclaim(tree)
	if err != nil {
		return err
	}
	for _, want := range s.Want.Rules {
		in := s.job(want.Preemptor).reclaimer()
		if err := s.checkOrder(rules, &want, r); err != nil {
			return err
		}
		if want.CanReclaim == nil {
			refused, err := rules.MayPreempt(in)
			if err != nil {
				return err
			}
			s.differ(r, want.Preemptor+" is over its quota", want.OverQuota, refused.Rule == fairshare.NonPreemptibleQuota)
			if got := s.lower(s.job(want.Preemptor)); !s.protects(true) && !slices.Equal(got, want.Candidates) {
				r.Differences = append(r.Differences, recorded.Difference{What: "candidates of " + want.Preemptor, Want: want.Candidates, Got: got})
			}
			continue
		}
		refused, err := rules.May(in)
		if err != nil {
			return err
		}
		s.differ(r, want.Preemptor+" may reclaim", *want.CanReclaim, refused == fairshare.Refusal{})
		if s.protects(false) {
			continue
		}
		if got, err := s.candidates(rules, in); err != nil {
			return err
		} else if !slices.Equal(got, want.Candidates) {
			r.Differences = append(r.Differences, recorded.Difference{What: "candidates of " + want.Preemptor, Want: want.Candidates, Got: got})
		}
		for _, set := range want.Sets {
			some, all, err := s.accepted(rules, in, set.Victims)
			if err != nil {
				return err
			}
			s.differ(r, fmt.Sprintf("%s takes %v, in some order", want.Preemptor, set.Victims), set.OK, some)
			s.differ(r, fmt.Sprintf("%s takes %v, and not in all orders", want.Preemptor, set.Victims), set.OrderDependent, some && !all)
		}
	}
	return nil
}

// differ notes that an answer is another one.
func (s *session) differ(r *recorded.Report, what string, want, got bool) {
	if want != got {
		r.Differences = append(r.Differences, recorded.Difference{What: what, Want: []string{fmt.Sprint(want)}, Got: []string{fmt.Sprint(got)}})
	}
}

func (s *session) job(name string) *sessionJob {
	return &s.Input.Jobs[slices.IndexFunc(s.Input.Jobs, func(j sessionJob) bool { return j.Name == name })]
}

// protects reports whether a minimum runtime is set, against preemption or reclaim.
func (s *session) protects(preemption bool) bool {
	of := &s.Input.Settings
	if preemption {
		return of.Preempt != nil || slices.ContainsFunc(s.Input.Minimums, func(q sessionMinimum) bool { return q.Preempt != nil })
	}
	return of.Reclaim != nil || slices.ContainsFunc(s.Input.Minimums, func(q sessionMinimum) bool { return q.Reclaim != nil })
}

// lower returns the jobs of the queue of a job that it may preempt.
func (s *session) lower(of *sessionJob) []string {
	list := []string{}
	for _, j := range s.Input.Jobs {
		if j.Queue == of.Queue && j.Preemptible && j.running() > 0 && j.Priority < of.Priority {
			list = append(list, j.Name)
		}
	}
	return list
}

func (s *session) candidates(rules *fairshare.Reclaim, in fairshare.Reclaimer) ([]string, error) {
	list := []string{}
	for _, j := range s.Input.Jobs {
		if !j.Preemptible || j.running() == 0 {
			continue
		}
		refused, err := rules.Candidate(in, j.Queue)
		if err != nil {
			return nil, err
		}
		if refused == (fairshare.Refusal{}) {
			list = append(list, j.Name)
		}
	}
	return list, nil
}

// accepted reports whether victims may yield in some order of their jobs, and in all orders. Siblings of the reclaimer lose them, each
// apart from the others, and of its jobs the last alone decides. So each is the last once, in the sibling that comes first.
func (s *session) accepted(rules *fairshare.Reclaim, in fairshare.Reclaimer, victims []string) (some, all bool, err error) {
	of := map[string]int{}
	for _, task := range victims {
		of[task[:strings.LastIndex(task, "-")]]++
	}
	losers := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		loser := s.below(in.Queue, s.job(name).Queue)
		losers[loser] = append(losers[loser], name)
	}
	ask := func(order []string) (fairshare.Refusal, error) {
		var list []fairshare.Unit
		for _, name := range order {
			j, n := s.job(name), of[name]
			for ; n > j.Groups.PodSets[0].MinAvailable; n-- {
				list = append(list, fairshare.Unit{Queue: j.Queue, Usage: j.amounts(1)})
			}
			list = append(list, fairshare.Unit{Queue: j.Queue, Usage: j.amounts(n)})
		}
		return rules.Allows(in, list)
	}
	all = true
	var good []string
	for _, loser := range slices.Sorted(maps.Keys(losers)) {
		list := slices.Clone(losers[loser])
		order := list
		for range losers[loser] {
			list = append(list[1:len(list):len(list)], list[0])
			refused, err := ask(list)
			if err != nil {
				return false, false, err
			}
			if refused.Rule == fairshare.NotOver {
				all = false
			} else {
				order = list
			}
		}
		good = append(good, order...)
	}
	refused, err := ask(good)
	some = refused == fairshare.Refusal{}
	return some, some && all, err
}

// below returns the queue that a queue is in, or is, and of which the parent is above the reclaimer's queue.
func (s *session) below(reclaimer, queue string) string {
	above := map[string]bool{"": true}
	parents := map[string]string{}
	for _, q := range s.Input.Queues {
		parents[q.Name] = q.Parent
	}
	for q := reclaimer; q != ""; q = parents[q] {
		above[q] = true
	}
	for !above[parents[queue]] {
		queue = parents[queue]
	}
	return queue
}

// checkDecided plays the session, and compares who yields in the end.
func (s *session) checkDecided(r *recorded.Report) error {
	on, config, err := s.start()
	if err != nil {
		return err
	}
	order, err := on.Order()
	if err != nil {
		return err
	}
	if s.Want.TryOrder != nil && !slices.Equal(order, s.Want.TryOrder) {
		r.Differences = append(r.Differences, recorded.Difference{What: "the order in which jobs are served", Want: s.Want.TryOrder, Got: order})
	}
	floor := judge.NewFloor(s.floor())
	gone, placed, err := s.play(on, func(step *sessions.Step) {
		if s.kaiSearch {
			judgeSearch(step, config, floor, r)
			return
		}
		if judgeMoves(step, r); len(step.Decision.Victims) == 0 {
			return
		}
		if wrong := verify.Decision(step.Before.State(), step.Request, config, step.Decision); wrong != nil {
			r.Differences = append(r.Differences, recorded.Difference{What: "what the judge finds wrong", Got: []string{wrong.Error()}})
		}
	})
	if err != nil {
		return err
	}
	answers := []decided{s.Want.Decided}
	for _, a := range s.Answers {
		answers = append(answers, a.Decided)
	}
	for i := range answers {
		if slices.Equal(gone, names(answers[i].Evicted, answers[i].Undone)) && (!s.kaiSearch || sameMoves(floor, answers[i].Moved)) {
			return nil
		}
	}
	if why := s.departure(gone, placed); why != "" {
		r.Departures = append(r.Departures, why)
		return nil
	}
	r.Differences = append(r.Differences, recorded.Difference{What: "evicted", Want: names(s.Want.Decided.Evicted, s.Want.Decided.Undone), Got: gone})
	return nil
}

// checkMoves asks which pods start, and how many move for them.
func (s *session) checkMoves(r *recorded.Report) error {
	on, config, err := s.start()
	if err != nil {
		return err
	}
	moved, floor := 0, judge.NewFloor(s.floor())
	_, placed, err := s.play(on, func(step *sessions.Step) {
		if s.kaiSearch {
			judgeSearch(step, config, floor, r)
			return
		}
		moved += len(movedBy(step))
		judgeMoves(step, r)
	})
	d := &s.Want.Decided
	if s.kaiSearch {
		if !slices.Equal(placed, names(d.Placed, d.Bound)) || !sameMoves(floor, d.Moved) {
			r.Departures = append(r.Departures, s.searchDeparture())
		}
		return err
	}
	if why := movesDeparture(placed, names(d.Placed, d.Bound), moved, len(d.Moved)); why != "" {
		r.Departures = append(r.Departures, why)
	}
	return err
}

// movedBy returns the pods that a step moves.
func movedBy(step *sessions.Step) (tasks []string) {
	for _, m := range step.Moves() {
		tasks = append(tasks, m.Pod)
	}
	return tasks
}

// judgeMoves notes what is wrong with the moves of a step.
func judgeMoves(step *sessions.Step, r *recorded.Report) {
	if of := step.Moving; of != nil && of.Before != nil { // KAI's own search is judged otherwise
		if slices.ContainsFunc(slices.Concat(of.Before.State().Pods, of.Request.Pods), func(p workload.Pod) bool { return kai.SharesGPU(&p) }) { // package verify knows no rules of sets
			if err := judge.Devices(step); err != nil {
				r.Differences = append(r.Differences, recorded.Difference{What: "what the judge finds wrong with the GPUs of " + step.Group, Got: []string{err.Error()}})
			}
			return
		}
		if wrong := verify.Moves(of.Before.State(), of.Request, placement.Config{}, sessions.AllMove, of.Decision); wrong != nil {
			r.Differences = append(r.Differences, recorded.Difference{What: "what the judge finds wrong with the moves", Got: []string{wrong.Error()}})
		}
	}
}

// movesDeparture says what is not as recorded of moves that the judge accepts; empty: nothing.
func movesDeparture(placed, want []string, moved, wantMoved int) string {
	same := slices.Equal(placed, want)
	switch {
	case same && moved == wantMoved:
		return ""
	case same && moved < wantMoved:
		return fewerMoves
	case len(placed) > len(want):
		return otherOrders
	}
	return oneSet
}

// departure says why others yield than in KAI; empty: nothing explains it. The victims of each decision are right.
func (s *session) departure(gone, got []string) string {
	if s.kaiSearch {
		return s.searchDeparture()
	}
	d := &s.Want.Decided
	placed, evicted := names(d.Placed, d.Bound), names(d.Evicted, d.Undone)
	missing := slices.ContainsFunc(placed, func(task string) bool { return !slices.Contains(got, task) })
	switch {
	case missing && len(d.Moved) > 0:
		return onlyVictims
	case missing && len(s.Want.TryOrder) > 1:
		return otherNodes
	case missing:
		return ""
	case len(got) > len(placed):
		return morePlaced
	case len(gone) < len(evicted):
		return fewerVictims
	}
	return otherVictims
}
