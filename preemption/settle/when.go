package settle

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// delayEnds returns the end of the delay of a node.
func (r *Request) delayEnds(s *preemption.Snapshot, n Node) time.Time {
	since, delay := r.Now, time.Duration(0)
	for _, e := range r.Since {
		if e.Node == n {
			since = e.At
		}
	}
	for at, ok := n, true; ok; at, ok = parent(s, at) {
		if d, has := r.delayAt(at); has {
			delay = d
			break
		}
	}
	if ends := since.Add(delay); instant.Valid(ends) {
		return ends
	}
	return instant.Time(math.MaxInt64)
}

func (r *Request) delayAt(n Node) (time.Duration, bool) {
	for _, d := range r.Delays {
		if d.Node == n {
			return d.For, true
		}
	}
	return 0, false
}

// parent returns the cohort above a node; above a root the zero node, which stands for everywhere.
func parent(s *preemption.Snapshot, n Node) (above Node, ok bool) {
	if q, known := s.Queue(n.Queue); known {
		return Node{Cohort: q.Cohort}, true
	}
	c, known := s.Cohort(n.Cohort)
	return Node{Cohort: c.Parent}, known
}

// maxRuns limits how often all nodes are settled at later instants. After so many the answer is an instant that is not too
// late.
const maxRuns = 256

// retryAt returns the first instant at which nothing remains; see [Answer].
func (f *run) retryAt() (time.Time, error) {
	if last, all := f.lastRetryAt(); all && (f.apart || !f.nested(f.waiting())) {
		return last, nil
	}
	later := f
	for range maxRuns { // what leaves for one node may suffice for another
		var next time.Time
		for _, step := range later.waiting() {
			next = earlier(next, later.moreAt(step))
		}
		if next.IsZero() {
			if len(later.waiting()) > 0 {
				return next, nil
			}
			break
		}
		var err error
		if later, err = settled(f.preemptor, f.given, later.left(), f.request, next); err != nil {
			return time.Time{}, err
		}
	}
	return later.now, nil
}

// lastRetryAt returns the instant at which the rest of every step may leave; all is false if that of some step never may at once.
func (f *run) lastRetryAt() (last time.Time, all bool) {
	for _, step := range f.waiting() {
		at := step.Decision.RetryAt
		if at.IsZero() {
			return last, false
		}
		if at.After(last) {
			last = at
		}
	}
	return last, true
}

// waiting returns the steps of which something remains.
func (f *run) waiting() (list []*Step) {
	for i := range f.steps {
		if len(f.restOf(&f.steps[i])) > 0 {
			list = append(list, &f.steps[i])
		}
	}
	return list
}

// restOf returns what remains of a step without the victims so far.
func (f *run) restOf(step *Step) []quota.Amount {
	if f.apart && !f.cut && step.Decision.Outcome == preemption.Preempt {
		return nil
	}
	return excessOf(f.left(), step.Node)
}

// nested reports whether the node of one of the steps is above another.
func (f *run) nested(steps []*Step) bool {
	var nodes []Node
	for _, step := range steps {
		nodes = append(nodes, step.Node)
	}
	return f.related(nodes)
}

// related reports whether one of the nodes is above another.
func (f *run) related(nodes []Node) bool {
	at := make(map[Node]bool, len(nodes))
	for _, n := range nodes {
		at[n] = true
	}
	for _, n := range nodes {
		for n, ok := parent(f.before, n); ok; n, ok = parent(f.before, n) {
			if at[n] {
				return true
			}
		}
	}
	return false
}

// Observe returns since when nodes have been over, for the next request: of nodes that are still over as before, of others
// since now. A second lowering starts no new delay; a node that is within what it may use is forgotten.
// excess is that of an [Answer]: what is leaving does not count.
func Observe(before []Since, excess []preemption.Excess, now time.Time) (list []Since) {
	known := make(map[Node]time.Time, len(before))
	for _, e := range before {
		known[e.Node] = e.At
	}
	for i, e := range excess {
		n := Node{e.Queue, e.Cohort}
		if i > 0 && n == (Node{excess[i-1].Queue, excess[i-1].Cohort}) {
			continue // another column
		}
		at, was := known[n]
		if !was {
			at = now
		}
		list = append(list, Since{n, at})
	}
	return list
}
