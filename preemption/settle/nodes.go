package settle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// NodesRequest asks which pods must leave so that those on each node are within its capacity, and some nodes are empty. The zero
// value asks about the capacity of all nodes.
type NodesRequest struct {
	// Now is the time of the decision. It may be zero if no minimum runtimes are set.
	Now time.Time `json:"now,omitzero"`
	// Nodes are the nodes to settle. Empty: all.
	Nodes []string `json:"nodes,omitempty"`
	// Empty are nodes that are to be emptied: every pod on them is over. They need not be in Nodes.
	Empty []string `json:"empty,omitempty"`
}

// NodeExcess is what pods take of a resource beyond the capacity of their node. For a node that is to be empty it is their
// number, of [workload.PodsResource].
type NodeExcess struct {
	Node     string `json:"node"`
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
}

// NodesAnswer says which pods must leave. The zero value is invalid. Outcome is as that of [Answer].
type NodesAnswer struct {
	Outcome preemption.Outcome `json:"outcome"`
	// Victims are the units that leave now, sorted by the ID of their first pod. A group that yields whole leaves other nodes,
	// too. Violations counts their pods that leave against a disruption budget: none with [placement.Hard] budgets.
	Victims    []placement.Victim `json:"victims,omitempty"`
	Violations int                `json:"violations,omitempty"`
	// Withdrawn lists the IDs of waiting pods of which the nominations are void, sorted: on nodes that victims leave in their own step.
	Withdrawn []string `json:"withdrawn,omitempty"`
	// Excess is what is over before any victim leaves, without pods that terminate, by node and resource; Remaining what stays over
	// when the victims have left.
	Excess    []NodeExcess `json:"excess,omitempty"`
	Remaining []NodeExcess `json:"remaining,omitempty"`
	// MoreAt is the first instant at which more may leave, and RetryAt that at which settling again at each MoreAt has settled
	// all of it, if nothing but time changes. Zero: time alone does not do it.
	MoreAt  time.Time `json:"moreAt,omitzero"`
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Steps has a step for each node that is over, by name. A node that is no longer over once victims of nodes before it have
	// left has none.
	Steps []NodeStep `json:"steps,omitempty"`

	now time.Time
}

// NodeStep is the answer for one node, with the victims of the steps before it gone.
type NodeStep struct {
	Node   string       `json:"node"`
	Excess []NodeExcess `json:"excess"`
	// Decision is the answer to Question: Preempt if all of the excess may leave now; Fits if the victims of other nodes suffice; else it is
	// about what remains when the victims have left.
	Decision placement.Decision `json:"decision"`
	Victims  []placement.Victim `json:"victims,omitempty"`

	question  NodeQuestion
	withdrawn []string // nominations that are void for the victims
}

// Question returns the question that Decision answers.
func (s *NodeStep) Question() NodeQuestion { return s.question }

// Edits starts the evictions and withdraws the void nominations. An answer read back from JSON does not know the time of
// its evictions: use it for reading only.
func (a NodesAnswer) Edits() []placement.Edit {
	return placement.Decision{
		Outcome: a.Outcome, Placement: placement.Placement{Victims: a.Victims}, Withdrawn: a.Withdrawn, Now: a.now,
	}.Edits()
}

// DecideNodes answers a request by the configuration of a preemptor; nil decides by the zero [placement.Config]. Units yield as to a pod
// of the highest priority there is: units that have it do not. What protects units, and how budgets count, is as for any decision of
// the preemptor; a pod that terminates because it was preempted is charged to its budgets, unless they count it as disrupted. It
// changes neither the snapshot nor the request. It fails with [preemption.Faults]: an unknown or doubly listed
// node, a time outside the years 1678 to 2262, or one that is not set though minimum runtimes are.
func DecideNodes(p *placement.Preemptor, s *placement.Snapshot, r NodesRequest) (NodesAnswer, error) {
	if err := r.validate(s); err != nil {
		return NodesAnswer{}, err
	}
	present, err := s.With(chargesOf(s, toldToStop(s))...)
	if err == nil {
		present, err = present.With(removePods(r.terminating(s))...)
	}
	if err != nil {
		return NodesAnswer{}, err
	}
	f := &nodesRun{preemptor: p, request: &r, now: r.Now, before: present, left: present}
	if err := f.run(); err != nil {
		return NodesAnswer{}, err
	}
	a := f.answer(r.overAll(present))
	later := f
	for range maxRuns {
		at := later.moreAt()
		if at.IsZero() {
			break
		}
		later = &nodesRun{preemptor: p, request: &r, now: at, before: later.left, left: later.left}
		if err := later.run(); err != nil {
			return NodesAnswer{}, err
		}
	}
	if len(a.Remaining) > 0 && len(r.overAll(later.left)) == 0 {
		a.RetryAt = later.now
	}
	return a, nil
}

func (r *NodesRequest) validate(s *placement.Snapshot) error {
	var faults fault.List
	if !instant.Valid(r.Now) {
		faults.Add("request.now", "%v is not within %s", r.Now, instant.Range)
	}
	check := func(list string, names []string) {
		seen := map[string]bool{}
		for i, name := range names {
			path := fmt.Sprintf("request.%s[%d]", list, i)
			if _, known := s.Node(name); !known {
				faults.Add(path, "unknown node %q", name)
			} else if seen[name] {
				faults.Add(path, "%q is listed already", name)
			}
			seen[name] = true
		}
	}
	check("nodes", r.Nodes)
	check("empty", r.Empty)
	return faults.Err()
}

// names returns the nodes that are asked about, sorted.
func (r *NodesRequest) names(s *placement.Snapshot) []string {
	names := slices.Concat(r.Nodes, r.Empty)
	if len(r.Nodes) == 0 {
		for n := range s.Nodes() {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// asks reports whether a node is asked about.
func (r *NodesRequest) asks(node string) bool {
	return len(r.Nodes) == 0 || slices.Contains(r.Nodes, node) || slices.Contains(r.Empty, node)
}

// terminating returns the pods that terminate on the nodes that are asked about.
func (r *NodesRequest) terminating(s *placement.Snapshot) (ids []string) {
	if len(r.Nodes) == 0 {
		return s.Terminating()
	}
	for _, name := range r.names(s) {
		for p := range s.PodsOn(name) {
			if p.Terminating {
				ids = append(ids, p.ID)
			}
		}
	}
	return ids
}

// toldToStop returns the pods that terminate because of an answer before.
func toldToStop(s *placement.Snapshot) (pods []workload.Pod) {
	for _, id := range s.Terminating() {
		if p, _ := s.Find(id); p.Preempted {
			pods = append(pods, p)
		}
	}
	return pods
}

func removePods(ids []string) (edits []placement.Edit) {
	for _, id := range ids {
		edits = append(edits, placement.Remove(id))
	}
	return edits
}

// over returns what is over on a node, by resource.
func (r *NodesRequest) over(s *placement.Snapshot, name string) (list []NodeExcess) {
	if slices.Contains(r.Empty, name) {
		if pods := s.UsedOn(name)[workload.PodsResource]; pods > 0 {
			list = append(list, NodeExcess{name, workload.PodsResource, pods})
		}
		return list
	}
	for resource, free := range s.FreeOn(name) {
		if free < 0 {
			list = append(list, NodeExcess{name, resource, -free})
		}
	}
	slices.SortFunc(list, func(a, b NodeExcess) int { return cmp.Compare(a.Resource, b.Resource) })
	return list
}

// overAll returns what is over on all nodes that are asked about.
func (r *NodesRequest) overAll(s *placement.Snapshot) (list []NodeExcess) {
	for _, name := range r.names(s) {
		list = append(list, r.over(s, name)...)
	}
	return list
}
