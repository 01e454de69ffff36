package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// More follows the ID of a group of which pods run: what waits is its next pods.
const More = kai.More

// Actions are those of a session, in KAI's order.
var Actions = []string{"allocate", Consolidation, "reclaim", "preempt"}

// policies are those of the actions. Allocate and consolidation let nobody yield.
var policies = map[string]queue.PreemptionPolicy{
	"allocate":    {},
	Consolidation: {},
	"reclaim":     {ReclaimWithinCohort: queue.Any},
	"preempt":     {WithinClusterQueue: queue.LowerPriority},
}

// Step is a group that was served.
type Step struct {
	Action string
	Group  string
	// Pods are those that start, with their nodes.
	Pods []workload.Pod
	// Gone are the pods that yield for them, by ID.
	Gone []string
	// Before is what was decided on.
	Before   *preemption.Snapshot
	Request  preemption.Request
	Decision preemption.Decision
	// Moving is what was decided on nodes if pods that run move: all of consolidation, of a reclaim or a preemption what is left once Gone left.
	Moving *Moving
}

// Run takes an action for all groups that wait, and tells of each that is served.
func (s *Session) Run(action string, tell func(*Step)) error {
	if err := s.allow(policies[action]); err != nil {
		return err
	}
	if s.failed = map[string]bool{}; s.search != nil {
		s.search.trials = 0
	}
	for line := s.line(); ; {
		j, err := line.pop()
		if j == nil || err != nil {
			return err
		}
		var step *Step
		switch {
		case s.search != nil:
			step, err = s.probe(action, j)
		case action == Consolidation:
			step, err = s.consolidate(j)
		default:
			step, err = s.try(action, j)
		}
		if err != nil {
			return err
		}
		if step == nil {
			continue
		}
		tell(step)
		if action == "allocate" && len(j.chunk()) > 0 {
			line.push(j)
		}
	}
}

// allow sets the policy of all queues.
func (s *Session) allow(policy queue.PreemptionPolicy) (err error) {
	edits := make([]preemption.Edit, len(s.queues))
	for i, q := range s.queues {
		q.Preemption = policy
		edits[i] = preemption.SetQueue(q)
	}
	s.snapshot, err = s.snapshot.With(edits...)
	return err
}

// request is that of pods of a job, with their room on nodes.
func (s *Session) request(j *job, pods []workload.Pod, never bool) (r preemption.Request, err error) {
	r = preemption.Request{Workload: s.asks(j, pods), Now: s.now}
	r.Workload.NeverPreempts = never
	pods = slices.Clone(pods)
	for i := range pods {
		pods[i].Group = r.Workload.ID
	}
	r.Room, err = s.rooms.Fit(pods, s.now)
	return r, err
}

// try decides about the next pods of a job, and carries the decision out. Nil: they do not start.
func (s *Session) try(action string, j *job) (*Step, error) {
	pods := j.chunk()
	r, err := s.request(j, pods, action == "allocate" || s.now.Before(j.PreemptsFrom))
	if err != nil {
		return nil, err
	}
	alike := kind(&r.Workload, pods)
	if s.failed[alike] {
		return nil, nil
	}
	step := &Step{Action: action, Group: j.Workload.ID, Before: s.snapshot, Request: r}
	looked := 0
	if step.Decision, looked, err = s.preemptor.DecideCounting(s.snapshot, step.Request); err != nil {
		return nil, err
	}
	if s.looked += looked + 1; !step.Decision.Outcome.Succeeds() {
		s.failed[alike] = true
		return nil, nil
	}
	s.failed = map[string]bool{}
	room := r.Room.(*placement.Fit)
	if len(step.Decision.Victims) > 0 {
		if err := s.spare(step, room, pods); err != nil {
			return nil, err
		}
	}
	nominated, err := s.leave(step, room)
	if err != nil {
		return nil, err
	}
	return step, s.carryOut(j, step, nominated)
}

// Looked is how many workloads the decisions looked at.
func (s *Session) Looked() int { return s.looked }

// leave says which pods the victims of a decision are, and returns the places of those that start.
func (s *Session) leave(step *Step, room *placement.Fit) ([]placement.Nomination, error) {
	for _, v := range step.Decision.Victims { // the decision left all in the room
		list := room.Replicas(v.Workload, rooms.PodSet)
		switch {
		case s.byID[v.Workload] == nil: // it has no pods on these nodes
			list = []string{v.Workload}
			if err := s.remove(v); err != nil {
				return nil, err
			}
		case len(v.Replicas) > 0:
			list = list[:v.Replicas[0].Count]
			room.SetRemoved(v.Workload, rooms.PodSet, v.Replicas[0].Count)
		default:
			room.Remove(v.Workload)
		}
		step.Gone = append(step.Gone, list...)
	}
	if step.Moving != nil {
		return step.Moving.Decision.Decision.Nominations, nil
	}
	room.Fits()
	return room.Nominations(), nil
}

// carryOut lets the victims of a step leave, moves who moves, and places the pods of a job.
func (s *Session) carryOut(j *job, step *Step, nominated []placement.Nomination) error {
	to, leaves := map[string]string{}, map[string]bool{}
	for _, n := range nominated {
		to[n.Pod] = n.Node
	}
	for _, m := range step.Moves() {
		to[m.Pod] = m.To
	}
	for _, id := range step.Gone {
		leaves[id] = true
	}
	changed := []*job{j}
	for _, of := range s.jobs {
		if of != j && slices.ContainsFunc(of.Pods, func(p workload.Pod) bool { return to[p.ID] != "" || leaves[p.ID] }) {
			changed = append(changed, of)
		}
	}
	return s.change(changed, func(of *job, i int) phase {
		p := &of.Pods[i]
		node, waited := to[p.ID], of.phases[i] == waits
		switch {
		case leaves[p.ID]:
			return left
		case node == "":
			return of.phases[i]
		}
		if kai.GoesAnywhere(p); s.search != nil && s.search.chosen[p.ID] != nil {
			p.Labels = s.search.chosen[p.ID].Labels
		}
		if p.Node = node; waited {
			step.Pods = append(step.Pods, *p)
		}
		if step.Action == "allocate" {
			return runs
		}
		return placed
	})
}

// Moves are the pods that move for the step, with their nodes.
func (s *Step) Moves() (list []moves.PodMove) {
	if s.Moving != nil {
		for _, m := range s.Moving.Decision.Moves {
			list = append(list, m.Pods...)
		}
	}
	return list
}

// remove removes a victim, or replicas of it.
func (s *Session) remove(v preemption.Victim) (err error) {
	if w, runs := s.snapshot.Find(v.Workload); runs {
		s.count(&w, -1)
	}
	if s.snapshot, err = s.snapshot.With(preemption.Remove(v.Workload, v.Replicas...)); err != nil {
		return err
	}
	if w, runs := s.snapshot.Find(v.Workload); runs {
		s.count(&w, 1)
	}
	return nil
}

// change changes the pods of jobs, and counts what they hold. to returns the phase in which a pod then is.
func (s *Session) change(jobs []*job, to func(of *job, pod int) phase) error {
	s.onNodes = nil
	var edits []preemption.Edit
	var onNodes, starts []placement.Edit
	for _, j := range jobs {
		before := j.running
		if before > 0 {
			w := s.held(j)
			s.count(&w, -1)
		}
		for i := range j.Pods {
			held, node, device := j.phases[i].holds(), j.Pods[i].Node, kai.Device(&j.Pods[i])
			j.phases[i] = to(j, i)
			switch holds := j.phases[i].holds(); {
			case holds && !held:
				starts = append(starts, placement.Run(j.Pods[i]))
				j.running++
			case holds && (node != j.Pods[i].Node || device != kai.Device(&j.Pods[i])):
				onNodes, starts = append(onNodes, placement.Remove(j.Pods[i].ID)), append(starts, placement.Run(j.Pods[i]))
			case held && !holds:
				onNodes = append(onNodes, placement.Remove(j.Pods[i].ID))
				j.running--
			}
		}
		if j.running > 0 {
			w := s.held(j)
			s.count(&w, 1)
			edits = append(edits, preemption.Admit(w))
		} else if before > 0 {
			edits = append(edits, preemption.Remove(j.Workload.ID))
		}
	}
	if err := s.rooms.Change(append(onNodes, starts...)...); err != nil {
		return err
	}
	var err error
	s.snapshot, err = s.snapshot.With(edits...)
	return err
}

// End ends a session. What was bound runs; what waits for room of others waits again, and so does what was told to leave.
func (s *Session) End() error {
	if s.order = nil; s.search != nil {
		s.search.books, s.search.twice = nil, nil
	}
	var jobs []*job
	for _, j := range s.jobs {
		started := j.Workload.ReservedAt
		switch {
		case !slices.Contains(j.phases, runs):
			j.Workload.ReservedAt = time.Time{}
		case started.IsZero():
			j.Workload.ReservedAt = s.now
		}
		if slices.Contains(j.phases, placed) || slices.Contains(j.phases, left) || started != j.Workload.ReservedAt {
			jobs = append(jobs, j)
		}
	}
	return s.change(jobs, func(of *job, i int) phase {
		if of.phases[i] == runs {
			return runs
		}
		of.Pods[i].Node = ""
		return waits
	})
}

// Wait lets time pass until the next session begins.
func (s *Session) Wait(until time.Time) { s.now = until }

// Rest tells of each group that still waits how it is answered as things stand now, by all actions together. later is the first time at which
// time alone may help one of them; zero: there is none.
func (s *Session) Rest(tell func(group string, r preemption.Request, d preemption.Decision)) (later time.Time, err error) {
	if err = s.allow(queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any, WithinClusterQueue: queue.LowerPriority}); err != nil {
		return later, err
	}
	helps := func(at time.Time) {
		if at.After(s.now) && (later.IsZero() || at.Before(later)) {
			later = at
		}
	}
	known := map[string]preemption.Decision{}
	for _, j := range s.jobs {
		pods := j.chunk()
		if len(pods) == 0 {
			continue
		}
		r, err := s.request(j, pods, s.now.Before(j.PreemptsFrom))
		if err != nil {
			return later, err
		}
		alike := kind(&r.Workload, pods)
		d, is := known[alike]
		if !is {
			looked := 0
			if d, looked, err = s.preemptor.DecideCounting(s.snapshot, r); err != nil {
				return later, err
			}
			s.looked, known[alike] = s.looked+looked+1, d
		}
		helps(j.PreemptsFrom)
		helps(d.RetryAt)
		tell(j.Workload.ID, r, d)
	}
	return later, nil
}

// Snapshot is what runs now, on quota.
func (s *Session) Snapshot() *preemption.Snapshot { return s.snapshot }

// Order returns the groups that wait in the order in which they would be served if nothing was placed.
func (s *Session) Order() (ids []string, err error) {
	for line := s.line(); ; {
		j, err := line.pop()
		if j == nil || err != nil {
			return ids, err
		}
		ids = append(ids, j.Workload.ID)
	}
}

// line holds the jobs that are to be served, by queue.
type line struct {
	session *Session
	queues  []string // with jobs, sorted
	jobs    map[string][]*job
}

// line returns all that wait.
func (s *Session) line() *line {
	l := &line{session: s, jobs: map[string][]*job{}}
	for _, j := range s.jobs {
		if q := j.Workload.Queue; len(j.chunk()) > 0 {
			if l.jobs[q] = append(l.jobs[q], j); len(l.jobs[q]) == 1 {
				l.queues = append(l.queues, q)
			}
		}
	}
	slices.Sort(l.queues)
	for _, q := range l.queues {
		slices.SortFunc(l.jobs[q], compareJobs)
	}
	return l
}

// push lets a job that was served wait for its next pods.
func (l *line) push(j *job) {
	q := j.Workload.Queue
	if !slices.Contains(l.queues, q) {
		l.queues = append(l.queues, q)
		slices.Sort(l.queues)
	}
	at, _ := slices.BinarySearchFunc(l.jobs[q], j, compareJobs)
	l.jobs[q] = slices.Insert(l.jobs[q], at, j)
}

// pop takes the job that is served next; nil: none waits. Those that yielded and have not enough pods any more are left out.
func (l *line) pop() (*job, error) {
	s := l.session
	l.queues = slices.DeleteFunc(l.queues, func(q string) bool {
		for len(l.jobs[q]) > 0 && len(l.jobs[q][0].chunk()) == 0 {
			l.jobs[q] = l.jobs[q][1:]
		}
		return len(l.jobs[q]) == 0
	})
	var first []fairshare.Reclaimer
	for _, q := range l.queues {
		j := l.jobs[q][0]
		in := fairshare.Reclaimer{Queue: q}
		w := s.asks(j, j.chunk())
		for _, u := range w.Usage() {
			in.Requests = append(in.Requests, fairshare.Amount{Resource: u.Resource, Amount: u.Amount})
		}
		first = append(first, in)
	}
	rules, err := s.reclaim()
	if err != nil {
		return nil, err
	}
	at, err := rules.ServedNext(first)
	if at < 0 || err != nil {
		return nil, err
	}
	q := l.queues[at]
	j := l.jobs[q][0]
	l.jobs[q] = l.jobs[q][1:]
	return j, nil
}

// reclaim returns the rules of fair shares as things stand.
func (s *Session) reclaim() (*fairshare.Reclaim, error) {
	if s.order != nil {
		return s.order, nil
	}
	tree := s.tree
	if s.search != nil && len(s.search.twice) > 0 {
		tree = s.lessTwice()
	}
	var err error
	s.order, err = fairshare.NewReclaim(tree)
	return s.order, err
}

// compareJobs is the order in which the jobs of a queue are served (KAI): higher priority, below the minimum before at the minimum before above
// it, the older, the smaller name.
func compareJobs(a, b *job) int {
	return cmp.Or(
		cmp.Compare(b.Workload.Priority, a.Workload.Priority), cmp.Compare(a.elastic(), b.elastic()),
		a.Workload.Created.Compare(b.Workload.Created), cmp.Compare(a.Workload.ID, b.Workload.ID))
}

// elastic is less than zero below the minimum, and more above it.
func (j *job) elastic() int { return cmp.Compare(j.running, max(1, j.Minimum)) }
