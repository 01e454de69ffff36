package session

import (
	"math"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Consolidation moves pods that run, so that those that wait have room together. Nobody yields for it.
const Consolidation = "consolidation"

// AllMove is how pods move: each of them has a place elsewhere, and whoever has one moves first.
var AllMove = moves.Config{Prefer: true, Price: func(placement.Unit) (yield, move int64) { return -1, 0 }}

// Moving is what a step of consolidation decided on nodes.
type Moving struct {
	Before   *placement.Snapshot
	Request  placement.Request
	Decision moves.Decision
}

// nodes is what consolidation sees: the pods by themselves, and what is free on all nodes together.
type nodes struct {
	*placement.Snapshot
	idle workload.Resources
}

// consolidate looks for room for the next pods of a job that can be preempted, and moves who is in their way. Nil: they do not start.
func (s *Session) consolidate(j *job) (*Step, error) {
	pods := j.chunk()
	step := &Step{Action: Consolidation, Group: j.Workload.ID, Before: s.snapshot, Request: preemption.Request{Workload: s.asks(j, pods), Now: s.now}}
	w := &step.Request.Workload
	w.NeverPreempts = true
	alike := kind(w, pods)
	if w.NeverYields || s.failed[alike] {
		return nil, nil
	}
	s.failed[alike] = true
	looked := 0
	var err error
	if step.Decision, looked, err = s.preemptor.DecideCounting(s.snapshot, step.Request); err != nil {
		return nil, err
	}
	if s.looked += looked + 1; step.Decision.Outcome != preemption.Fits {
		return nil, nil
	}
	on, err := s.movable()
	if err != nil || !on.enough(w) {
		return nil, err
	}
	of := &Moving{Before: on.Snapshot}
	of.Request = placement.Request{Group: w.ID, MinCount: len(pods), Pods: slices.Clone(pods), Priority: math.MaxInt32, Now: s.now}
	for i := range of.Request.Pods {
		of.Request.Pods[i].Group = w.ID
	}
	if of.Decision, err = moves.Decide(s.placer(pods), on.Snapshot, of.Request, AllMove); err == nil && !of.Decision.Decision.Outcome.Succeeds() {
		for _, n := range on.State().Nodes { // another set of victims for each node
			of.Request.Domains = append(of.Request.Domains, placement.Domain{Name: n.Name, Nodes: []string{n.Name}})
		}
		of.Decision, err = moves.Decide(s.placer(pods), on.Snapshot, of.Request, AllMove)
	}
	s.looked += of.Decision.Tried
	if err != nil || !of.Decision.Decision.Outcome.Succeeds() {
		return nil, err
	}
	s.failed = map[string]bool{}
	step.Moving = of
	return step, s.carryOut(j, step, of.Decision.Decision.Nominations)
}

// placer places pods as the rooms do, also those that move.
func (s *Session) placer(pods []workload.Pod) *placement.Preemptor {
	p, _ := placement.New(placement.Config{SetFilters: s.rooms.Devices(pods)}) // valid
	return p
}

// movable returns what runs on the nodes. What cannot be preempted is of the highest priority: it stays.
func (s *Session) movable() (*nodes, error) {
	if s.onNodes != nil {
		return s.onNodes, nil
	}
	all, err := s.rooms.Snapshot()
	if err != nil {
		return nil, err
	}
	st := all.State()
	on := &nodes{idle: workload.Resources{}}
	for _, n := range st.Nodes {
		for name, amount := range n.Capacity {
			on.idle[name] = quota.Add(on.idle[name], amount)
		}
	}
	for i := range st.Pods {
		p := &st.Pods[i]
		if p.Node != "" && !p.Terminating {
			for name, amount := range p.Requests {
				on.idle[name] = quota.Sub(on.idle[name], amount)
			}
		}
		if j := s.byID[p.Group]; j == nil || j.Workload.NeverYields {
			p.Priority = math.MaxInt32
		} else {
			p.Priority, p.Started = int32(max(math.MinInt32, min(j.Workload.Priority, math.MaxInt32-1))), j.Workload.Created
		}
		p.Group = ""
	}
	st.Groups = nil
	if on.Snapshot, err = placement.NewSnapshot(st); err != nil {
		return nil, err
	}
	s.onNodes = on
	return on, nil
}

// enough reports whether what is free on all nodes together would be enough.
func (n *nodes) enough(w *workload.Workload) bool {
	return !slices.ContainsFunc(w.Usage(), func(u quota.Amount) bool { return u.Amount > max(0, n.idle[u.Resource]) })
}
