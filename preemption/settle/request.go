package settle

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
)

// Node names a queue or a cohort: the other field is empty.
type Node struct {
	Queue  string `json:"queue,omitempty"`
	Cohort string `json:"cohort,omitempty"`
}

// String returns `queue "name"` or `cohort "name"`.
func (n Node) String() string {
	if n.Queue != "" {
		return fmt.Sprintf("queue %q", n.Queue)
	}
	return fmt.Sprintf("cohort %q", n.Cohort)
}

// Delay is how long an excess must last before victims are told to leave.
type Delay struct {
	// Node is where it holds, and below, as far as no nearer node has one. The zero value: everywhere.
	Node
	// For counts from the beginning of the excess. Zero is none; negative is an error.
	For time.Duration `json:"for"`
}

// Since says from when on a node has been over without a break; see [Observe].
type Since struct {
	Node
	At time.Time `json:"at"`
}

// Request asks who must yield. The zero value is invalid: Now must be set.
type Request struct {
	// Now is the time of the decision.
	Now time.Time `json:"now"`
	// Nodes are the queues and cohorts to settle. Empty: all.
	Nodes []Node `json:"nodes,omitempty"`
	// Delays are the delays after the beginning of an excess, at most one for each node. Empty: none.
	Delays []Delay `json:"delays,omitempty"`
	// Since says when an excess began, at most one entry for each node. A node that is not listed is over
	// since Now.
	Since []Since `json:"since,omitempty"`
	// MaxVictims limits the workloads that are told to leave: the first in the order of choice. Zero: no limit;
	// negative is an error.
	MaxVictims int `json:"maxVictims,omitzero"`
	// LocalQueueUsage and History are as in [preemption.Request]. A snapshot without excess does not check them.
	LocalQueueUsage []queue.LocalQueueUsage `json:"localQueueUsage,omitempty"`
	History         *limits.History         `json:"-"`
}

// validate finds what is wrong with a request about a snapshot.
func (r *Request) validate(p *preemption.Preemptor, s *preemption.Snapshot) error {
	var faults fault.List
	if p.Config().Sharing == preemption.KAI {
		faults.Add("config.Sharing", "is KAI, which says nothing about usage over a limit: give a preemptor with another")
	}
	if r.Now.IsZero() {
		faults.Add("request.now", "is not set")
	} else if !instant.Valid(r.Now) {
		faults.Add("request.now", "%v is not within %s", r.Now, instant.Range)
	}
	if r.MaxVictims < 0 {
		faults.Add("request.maxVictims", "%d is negative", r.MaxVictims)
	}
	check := func(path string, n Node, seen map[Node]bool, all bool) {
		queueKnown, cohortKnown := true, true
		if n.Queue != "" {
			_, queueKnown = s.Queue(n.Queue)
		}
		if n.Cohort != "" {
			_, cohortKnown = s.Cohort(n.Cohort)
		}
		switch {
		case n.Queue != "" && n.Cohort != "":
			faults.Add(path, "names queue %q and cohort %q", n.Queue, n.Cohort)
		case n == (Node{}) && !all:
			faults.Add(path, "names no queue and no cohort")
		case !queueKnown:
			faults.Add(path+".queue", "unknown queue %q", n.Queue)
		case !cohortKnown:
			faults.Add(path+".cohort", "unknown cohort %q", n.Cohort)
		case seen[n]:
			faults.Add(path, "%v has an entry already", n)
		}
		seen[n] = true
	}
	nodes, delays, since := map[Node]bool{}, map[Node]bool{}, map[Node]bool{}
	for i, n := range r.Nodes {
		check(fmt.Sprintf("request.nodes[%d]", i), n, nodes, false)
	}
	for i, d := range r.Delays {
		path := fmt.Sprintf("request.delays[%d]", i)
		check(path, d.Node, delays, true)
		if d.For < 0 {
			faults.Add(path+".for", "%v is negative", d.For)
		}
	}
	for i, e := range r.Since {
		path := fmt.Sprintf("request.since[%d]", i)
		check(path, e.Node, since, false)
		if e.At.IsZero() {
			faults.Add(path+".at", "is not set")
		} else if !instant.Valid(e.At) {
			faults.Add(path+".at", "%v is not within %s", e.At, instant.Range)
		}
	}
	return faults.Err()
}
