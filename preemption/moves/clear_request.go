package moves

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// ClearRequest asks which units must leave so that some domains are empty: racks for a large job, nodes that are to be repaired.
// The zero value asks for every node. With Within it asks about nodes that lost capacity.
type ClearRequest struct {
	// Now is the time of the decision. It may be zero if no minimum runtimes are set.
	Now time.Time `json:"now,omitzero"`
	// Domains are those of which some are to be empty. A node is in one of them at most. Empty: each schedulable node is a domain; with
	// Within each node that is over.
	Domains []placement.Domain `json:"domains,omitempty"`
	// Within asks no more than that the pods on each node are within its capacity. Nominations to the node then stay, and
	// LowerBound is zero.
	Within bool `json:"within,omitzero"`
	// Count is how many domains are to be empty, those that lose the least. Zero: all of them, as for a drain. With more than there
	// are the answer is no.
	Count int `json:"count,omitempty"`
	// Stays says that a pod belongs to its node, as those of daemon sets: it stays, and the node counts as empty. Nil: no pod does.
	// JSON leaves it out.
	Stays func(p workload.Pod) bool `json:"-"`
}

// ClearAnswer says which domains are emptied, and how. The zero value is invalid.
type ClearAnswer struct {
	// Outcome is Fits if Count domains are empty already, Preempt if they are once Moves and Victims have left, else Wait
	// or Impossible: Cleared then has as many as can be emptied now.
	Outcome preemption.Outcome `json:"outcome"`
	// Cleared has the domains in the order in which they were chosen: each adds what it costs, so the list says what N of them cost.
	Cleared []Cleared `json:"cleared,omitempty"`
	// Moves are the units with a place outside the cleared domains, Victims those that yield, both sorted by the ID of their first pod.
	Moves   []Move             `json:"moves,omitempty"`
	Victims []placement.Victim `json:"victims,omitempty"`
	// Steps is an order in which all of it can happen.
	Steps []Step `json:"steps,omitempty"`
	// Cost is what all of it costs. No answer for as many domains costs less than LowerBound.
	Cost       Cost `json:"cost,omitzero"`
	LowerBound Cost `json:"lowerBound,omitzero"`
	// Blocked says, if fewer than Count domains are cleared, what keeps the others: for each domain that was tried a unit that can
	// neither move nor yield, sorted by domain.
	Blocked []Blocked `json:"blocked,omitempty"`
	// RetryAt is, for Wait, the first instant at which Count domains can be emptied, of at most 64 that are tried: after those it is
	// the next one, which is not too late.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Tried is the number of domains of which the units were looked at.
	Tried int `json:"tried,omitzero"`
	// Now is the time of the request.
	Now time.Time `json:"now,omitzero"`
}

// Cleared is a domain that is emptied after those before it.
type Cleared struct {
	Domain string `json:"domain"`
	// Moves and Yields are the numbers of units that move and yield when the domain is empty, too.
	Moves  int `json:"moves,omitzero"`
	Yields int `json:"yields,omitzero"`
	// Cost is what the domain adds to the domains before it.
	Cost Cost `json:"cost,omitzero"`
}

// Blocked is a unit that keeps a domain from being emptied.
type Blocked struct {
	Domain string `json:"domain"`
	Cause  Cause  `json:"cause"`
	// Group is the ID of the unit's group, Pod that of its first pod.
	Group string `json:"group,omitempty"`
	Pod   string `json:"pod"`
	// Rule says, for Protected, which rule keeps the unit, and Until when it ends; zero: time does not end it.
	Rule  placement.Rule `json:"rule,omitzero"`
	Until time.Time      `json:"until,omitzero"`
}

// Cause is why a unit keeps a domain. The zero value is invalid.
type Cause uint8

const (
	// Protected: a rule says that it may not leave.
	Protected Cause = 1 + iota
	// NoPlace: it must not yield, and has no place.
	NoPlace
	// Budget: disruption budgets allow fewer of its pods at once, or, of units that yield, fewer in all; or, with [BeforeStop], it
	// never has room beside itself.
	Budget
	// Promised: a waiting pod is nominated to a node of the domain.
	Promised
)

// EditsWhenDone returns the edits after which the snapshot is as when all steps are done: units that yield are gone, those that
// move run since the time of the decision on their new nodes.
func (a ClearAnswer) EditsWhenDone(s *placement.Snapshot) []placement.Edit {
	return append(gone(a.Victims), started(s, a.Moves, a.Now)...)
}

func (r *ClearRequest) validate(s *placement.Snapshot, faults fault.List) error {
	if !instant.Valid(r.Now) {
		faults.Add("request.now", "%v is not within %s", r.Now, instant.Range)
	}
	if r.Count < 0 {
		faults.Add("request.count", "%d is negative", r.Count)
	}
	names, in := map[string]int{}, map[string]int{}
	for i, d := range r.Domains {
		path := fmt.Sprintf("request.domains[%d]", i)
		if d.Name == "" {
			faults.Add(path+".name", "is empty")
		} else if before, known := names[d.Name]; known {
			faults.Add(path+".name", "%q is that of request.domains[%d]", d.Name, before)
		}
		names[d.Name] = i
		for j, node := range d.Nodes {
			at := fmt.Sprintf("%s.nodes[%d]", path, j)
			if _, known := s.Node(node); !known {
				faults.Add(at, "unknown node %q", node)
			} else if before, taken := in[node]; taken {
				faults.Add(at, "node %q is in request.domains[%d] already", node, before)
			}
			in[node] = i
		}
	}
	return faults.Err()
}
