package session

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// task is a pod of a job, by their places.
type task struct{ job, pod int }

// trial looks ahead: a copy of a session in which victims leave, and they and the job that asks are served.
type trial struct {
	Session
	copies map[*job]*job  // of jobs of the session, which change here
	claims map[int]bool   // by queue: its claims are copied
	gone   map[task]phase // who left here, and where it was before
	among  []bool         // by node: KAI looks at it
}

// look begins a trial.
func (s *Session) look(among []bool) *trial {
	t := &trial{Session: *s, copies: map[*job]*job{}, claims: map[int]bool{}, gone: map[task]phase{}, among: among}
	own := *s.search
	own.books, own.twice = own.books.clone(), maps.Clone(own.twice)
	t.jobs, t.tree.Queues, t.search = slices.Clone(s.jobs), slices.Clone(s.tree.Queues), &own
	return t
}

// own returns the copy of a job.
func (t *trial) own(j *job) *job {
	if t.copies[j] == nil {
		c := *j
		c.Pods, c.phases = slices.Clone(j.Pods), slices.Clone(j.phases)
		t.copies[j], t.jobs[j.at] = &c, &c
	}
	return t.copies[j]
}

// use counts what a pod of a queue holds, or with the sign -1 held.
func (t *trial) use(j *job, p *workload.Pod, sign int64) {
	t.order = nil
	at, known := t.places[j.Workload.Queue]
	if !known {
		return
	}
	q := &t.tree.Queues[at]
	if !t.claims[at] {
		q.Claims, t.claims[at] = slices.Clone(q.Claims), true
	}
	for k := range q.Claims {
		c := &q.Claims[k]
		amount := sign * kai.Counts(p, c.Resource)
		if c.Usage = quota.Add(c.Usage, amount); j.Workload.NeverYields {
			c.NonPreemptible = quota.Add(c.NonPreemptible, amount)
		}
	}
}

// evict lets a pod leave. Of one that has left here KAI takes what it held off its queue once more, for the rest of the session.
func (t *trial) evict(of *job, pod int) {
	j := t.own(of)
	p := &j.Pods[pod]
	if was := j.phases[pod]; was.holds() {
		t.gone[task{j.at, pod}], j.phases[pod] = was, waits
		j.running--
		t.search.books.hold(p, was, -1)
		t.search.books.hold(p, left, 1)
		t.use(j, p, -1)
		return
	}
	q := j.Workload.Queue
	list := t.sum(j, []int{pod})
	for k, of := range t.search.twice[q] {
		list[k].Amount = quota.Add(list[k].Amount, of.Amount)
	}
	if t.order = nil; t.search.twice == nil {
		t.search.twice = map[string][]fairshare.Amount{}
	}
	t.search.twice[q] = list
}

// lessTwice returns the tree with what KAI takes for the usage of its queues.
func (s *Session) lessTwice() fairshare.Tree {
	tree := s.tree.Clone()
	for i := range tree.Queues {
		q := &tree.Queues[i]
		for _, of := range s.search.twice[q.Name] {
			for k := range q.Claims {
				if c := &q.Claims[k]; c.Resource == of.Resource {
					c.Usage = max(c.NonPreemptible, c.Usage-of.Amount)
				}
			}
		}
	}
	return tree
}

// serve serves the victims and the job that asks, each once, and reports whether that starts.
func (t *trial) serve(asks *job, victims map[*job]bool) (starts bool, err error) {
	left := len(victims) + 1
	for l := t.line(); left > 0; {
		j, err := l.pop()
		switch {
		case j == nil || err != nil:
			return starts, err
		case j == asks:
			if left--; !t.start(j, false) {
				return false, nil
			}
			starts = true
		case victims[j]:
			left--
			t.start(j, false)
		}
	}
	return starts, nil
}

// start starts the next pods of a job, all or none. binds: those run at once for which there is room now.
func (t *trial) start(j *job, binds bool) bool {
	next := j.next()
	if t.over(j, next) {
		return false
	}
	before, on := *j, t.search.books.clone()
	before.Pods, before.phases = slices.Clone(j.Pods), slices.Clone(j.phases)
	for k, i := range next {
		at := t.search.books.nodeFor(&j.Pods[i], t.among)
		if at < 0 {
			*j, t.search.books = before, on
			for _, i := range next[:k] {
				t.use(j, &j.Pods[i], -1)
			}
			return false
		}
		t.place(j, i, at, binds)
	}
	return true
}

// place gives a pod a node. One that left that node just stays.
func (t *trial) place(j *job, i, at int, binds bool) {
	p, in := &j.Pods[i], placed
	n := &t.search.books.nodes[at]
	was, here := t.gone[task{j.at, i}]
	node, device := p.Node, kai.Device(p)
	if p.Node = n.Name; n.then != nil && kai.SharesGPU(p) {
		p.Node = node
		n.then.Choose(p, n.Name)
	}
	switch {
	case node != n.Name:
		if binds && n.fitsNow(p) {
			in = runs
		}
	case here && device != kai.Device(p): // it goes to another GPU
	case here:
		t.search.books.hold(p, left, -1)
		in = was
	}
	j.phases[i] = in
	j.running++
	t.search.books.hold(p, in, 1)
	t.use(j, p, 1)
}

// over reports whether pods of a job would exceed a limit of its queue or of one above, or, if they can never be preempted, a quota.
func (t *trial) over(j *job, pods []int) bool {
	asks := t.sum(j, pods)
	for q := j.Workload.Queue; q != ""; {
		held, fixed := t.holds(q)
		at := t.queue(q)
		for k, r := range t.tree.Resources {
			if asks[k].Amount == 0 {
				continue
			}
			claim := claimOn(at, r.Name)
			if limit, has := claim.Limit.Get(); has && quota.Add(held[k], asks[k].Amount) > limit {
				return true
			}
			if j.Workload.NeverYields && quota.Add(fixed[k], asks[k].Amount) > claim.Quota {
				return true
			}
		}
		q = at.Parent
	}
	return false
}

// sum returns what pods of a job take together, by resource of the tree.
func (s *Session) sum(j *job, pods []int) []fairshare.Amount {
	list := make([]fairshare.Amount, len(s.tree.Resources))
	for k, r := range s.tree.Resources {
		list[k].Resource = r.Name
		for _, i := range pods {
			list[k].Amount = quota.Add(list[k].Amount, kai.Counts(&j.Pods[i], r.Name))
		}
	}
	return list
}

// holds returns what a queue and those below it hold, by resource, and what of that can never be preempted.
func (s *Session) holds(queue string) (held, fixed []int64) {
	held, fixed = make([]int64, len(s.tree.Resources)), make([]int64, len(s.tree.Resources))
	for i := range s.tree.Queues {
		q := &s.tree.Queues[i]
		if !s.isBelow(q.Name, queue) {
			continue
		}
		for k, r := range s.tree.Resources {
			c := claimOn(q, r.Name)
			held[k], fixed[k] = quota.Add(held[k], c.Usage), quota.Add(fixed[k], c.NonPreemptible)
		}
	}
	return held, fixed
}

// queue returns a queue of the tree.
func (s *Session) queue(name string) *fairshare.Queue { return &s.tree.Queues[s.places[name]] }

// isBelow reports whether a queue is another one, or below it.
func (s *Session) isBelow(queue, other string) bool {
	for queue != "" && queue != other {
		queue = s.queue(queue).Parent
	}
	return queue == other
}

// claimOn returns the claim of a queue on a resource.
func claimOn(q *fairshare.Queue, resource string) (c fairshare.Claim) {
	for i := range q.Claims {
		if q.Claims[i].Resource == resource {
			c = q.Claims[i]
		}
	}
	return c
}
