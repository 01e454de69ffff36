package session

import (
	"cmp"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// search is what KAI's own search knows beside the session.
type search struct {
	settings map[string]minruntime.Settings // of the queues
	defaults minruntime.Defaults
	root     string                        // the cohort above all
	most     int                           // jobs that move for one; zero: any number
	books    *books                        // nil: not opened in this session
	twice    map[string][]fairshare.Amount // by queue, what KAI took off it although it was gone
	trials   int                           // in this action
	chosen   map[string]*workload.Pod      // by ID, with the GPUs that they share
	cut      bool                          // some set was not tried because of the limits
}

// Cut reports whether KAI's own search left out sets of victims, because it tried as many as it may.
func (s *Session) Cut() bool { return s.search != nil && s.search.cut }

func newSearch(c *Cluster) *search {
	s := &search{most: c.MostMoving, settings: map[string]minruntime.Settings{}, defaults: c.Config.MinRuntime}
	for i := range c.State.Queues {
		s.settings[c.State.Queues[i].Name] = c.State.Queues[i].MinRuntime
	}
	for i := range c.State.Cohorts {
		of := &c.State.Cohorts[i]
		if s.settings[of.Name] = of.MinRuntime; of.Parent == "" {
			s.root = of.Name
		}
	}
	return s
}

// prober finds victims as KAI's own search does: it probes the first 1, 2, 4, ... pods, halves after a failure, and what yields for fewer pods
// yields for more. Each set of victims is tried by looking ahead, and of what is found nothing is put back.
type prober struct {
	*Session
	action string
	asks   *job
	next   []int // its pods that are to start
	rules  *fairshare.Reclaim
	may    []*job          // who may yield
	among  []bool          // by node: KAI looks at it, beside those of the victims
	tried  map[string]bool // sets of victims
	trials int
}

// Limits of the sets of victims that are tried: for one job, and in one action. KAI has budgets of time. Its recorded sessions need 84 for a job.
const (
	mostTrials   = 1_000
	mostInAction = 5_000
)

// probe decides about the next pods of a job as KAI does, and carries the decision out. Nil: they do not start.
func (s *Session) probe(action string, j *job) (*Step, error) {
	pods := j.chunk()
	step := &Step{Action: action, Group: j.Workload.ID, Before: s.snapshot, Request: preemption.Request{Workload: s.asks(j, pods), Now: s.now}}
	alike := kind(&step.Request.Workload, pods)
	if s.failed[alike] || action != "allocate" && s.now.Before(j.PreemptsFrom) {
		return nil, nil
	}
	s.failed[alike] = true
	var err error
	if s.search.books == nil {
		if s.search.books, err = s.open(); err != nil {
			return nil, err
		}
	}
	p := &prober{Session: s, action: action, asks: j, next: j.next(), tried: map[string]bool{}}
	var t *trial
	if action == "allocate" {
		if t = s.look(p.all()); !t.start(t.own(j), true) {
			t = nil
		}
	} else {
		t, err = p.find()
	}
	if s.looked += p.trials + 1; t == nil || err != nil {
		return nil, err
	}
	s.failed = map[string]bool{}
	s.search.chosen = map[string]*workload.Pod{}
	for _, of := range t.copies {
		for i := range of.Pods {
			s.search.chosen[of.Pods[i].ID] = &of.Pods[i]
		}
	}
	err = s.carryOut(j, step, p.tell(step, t))
	s.search.books, s.search.twice, s.order = t.search.books, t.search.twice, nil
	return step, err
}

// tell says what a trial did, and returns the places of those that start.
func (p *prober) tell(step *Step, t *trial) (starts []placement.Nomination) {
	step.Decision.Outcome = preemption.Preempt
	reason := preemption.InCohortFairSharing
	if step.Action == "preempt" {
		reason = preemption.InClusterQueue
	}
	var moved []moves.Move
	for _, j := range p.jobs {
		of := t.copies[j]
		if of == nil {
			continue
		}
		held, gone := 0, int64(0)
		for i := range of.Pods {
			was, is := &j.Pods[i], &of.Pods[i]
			switch before, now := j.phases[i], of.phases[i]; {
			case before.holds() && !now.holds():
				step.Gone, gone = append(step.Gone, was.ID), gone+1
			case !before.holds() && now.holds():
				starts, gone = append(starts, placement.Nomination{Pod: is.ID, Node: is.Node}), gone-1 // of a victim in place of another pod
			case before.holds() && (was.Node != is.Node || kai.Device(was) != kai.Device(is)):
				moved = append(moved, moves.Move{Group: j.Workload.ID, Pods: []moves.PodMove{{Pod: is.ID, From: was.Node, To: is.Node}}})
			}
			if j.phases[i].holds() {
				held++
			}
		}
		if gone > 0 {
			v := preemption.Victim{Workload: j.Workload.ID, Queue: j.Workload.Queue, Reason: reason}
			if step.Action == "reclaim" {
				v.Cohort = p.meet(step.Request.Workload.Queue, j.Workload.Queue)
			}
			if gone < int64(held) {
				v.Replicas = []preemption.Replicas{{PodSet: rooms.PodSet, Count: gone}}
			}
			step.Decision.Victims = append(step.Decision.Victims, v)
		}
	}
	if len(moved) > 0 {
		step.Moving = &Moving{Decision: moves.Decision{Moves: moved}}
	}
	return starts
}

// meet returns the lowest cohort above two queues.
func (s *Session) meet(a, b string) string {
	for a != "" && !s.isBelow(b, a) {
		a = s.queue(a).Parent
	}
	return cmp.Or(a, s.search.root)
}

// all is every node.
func (p *prober) all() []bool {
	among := make([]bool, len(p.search.books.nodes))
	for i := range among {
		among[i] = true
	}
	return among
}

// find returns the trial that KAI carries out; nil: it finds none.
func (p *prober) find() (t *trial, err error) {
	if p.rules, err = p.reclaim(); err != nil {
		return nil, err
	}
	if ok, err := p.candidates(); !ok || err != nil {
		return nil, err
	}
	p.among = p.feasible()
	for _, sets := range []func(*probe) error{(*probe).byNode, (*probe).byNodes} {
		var yielded []batch
		solve := func(k int) (*trial, error) {
			of := &probe{prober: p, pods: k, yielded: yielded}
			of.begin()
			err := sets(of)
			if of.found != nil {
				yielded = of.victims()
			}
			return of.found, err
		}
		if most, err := widest(len(p.next), solve); err != nil {
			return nil, err
		} else if most == 0 {
			continue
		}
		if t, err = solve(len(p.next)); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

// widest returns the largest number of pods for which a probe succeeds, as far as KAI looks.
func widest(n int, solve func(k int) (*trial, error)) (most int, err error) {
	for over, k := n+1, 1; over-most > 1; {
		t, err := solve(k)
		switch {
		case err != nil:
			return 0, err
		case t != nil:
			most = k
		default:
			over = k
		}
		if k = (most + over) / 2; over > n {
			k = min(2*most, n)
		}
	}
	return most, nil
}
