package settle

import (
	"math"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
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
