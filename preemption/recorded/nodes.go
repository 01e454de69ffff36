package recorded

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// Departures from kube-scheduler, by name.
const (
	totalOrder      = "units alike in all but their ID are ordered by it"
	countedReprieve = "a filter that counts its answers is not one"
	sparesPriority  = "a place for the minimum of the group spares a higher priority"
)

// OnNodes is a question about room on nodes and what the other scheduler answered.
type OnNodes struct {
	Mode  placement.Mode  `json:"mode,omitzero"`
	Order placement.Order `json:"order,omitzero"`
	// Protected are pods that never yield.
	Protected []string `json:"protected,omitempty"`
	// Conflicts are pairs of pods that exclude each other on one node or, with a third word, anywhere.
	Conflicts [][]string `json:"conflicts,omitempty"`
	// Importance is the order of units of equal priority: "name", "start", or empty for the order of the library.
	Importance string `json:"importance,omitempty"`
	// Reprieves says that a filter of the other scheduler permits only so many pods to stay.
	Reprieves *int `json:"reprieves,omitempty"`
	// Again says that the pods of a group without a place are asked about again, once the victims are gone and the others
	// run, until no more of them gets one.
	Again   bool              `json:"again,omitempty"`
	State   placement.State   `json:"state"`
	Request placement.Request `json:"request,omitzero"`
	Want    WantOnNodes       `json:"want"`
}

// WantOnNodes holds the answers about nodes. Nil and zero: the answer is not recorded.
type WantOnNodes struct {
	// Possible says that there is a place, now or once the victims are gone.
	Possible *bool              `json:"possible,omitempty"`
	Outcome  preemption.Outcome `json:"outcome,omitzero"`
	Reason   placement.Reason   `json:"reason,omitzero"`
	// Eligible says that the request may preempt: it does not wait, and no policy forbids it.
	Eligible *bool `json:"eligible,omitempty"`
	// Victims are the pods of the victims. Of VictimsOf only so many are: Count.
	Victims   []string `json:"victims,omitzero"`
	VictimsOf []string `json:"victimsOf,omitzero"`
	Count     int      `json:"count,omitempty"`
	// Domain is the node or domain; DomainOf lists several, of which it is one.
	Domain     *string           `json:"domain,omitempty"`
	DomainOf   []string          `json:"domainOf,omitempty"`
	Nominated  map[string]string `json:"nominated,omitempty"` // nodes by pod
	Violations *int              `json:"violations,omitempty"`
	// Placed are pods of the request that have a place, NotPlaced others that have none. Within says on which nodes
	// pods are.
	Placed    []string `json:"placed,omitempty"`
	NotPlaced []string `json:"notPlaced,omitempty"`
	Within    []Within `json:"within,omitempty"`
	// Refused says that the state is not valid. No request is asked then.
	Refused bool `json:"refused,omitempty"`
	// Disruptions counts the victims that are groups or a pod of one.
	Disruptions *int        `json:"disruptions,omitempty"`
	Candidates  []Candidate `json:"candidates,omitzero"` // the places with their victims
	Units       []Unit      `json:"units,omitzero"`      // all that run
	// Potential are the units that may yield to the priority of the request, the least important first.
	// Split are all units that run, in any order, with what they violate.
	Potential []Unit `json:"potential,omitzero"`
	// Ordered are all units that run, the most important first; Violations are those of units that may yield.
	Ordered []Unit `json:"ordered,omitzero"`
	Split   []Unit `json:"split,omitzero"`
	// First is a pod of the most important unit.
	First string `json:"first,omitempty"`
	// Group is the group that the most important unit is; empty: it is a pod.
	Group *string `json:"group,omitempty"`
}

// Within are sets of nodes: the pods that have a place are on the nodes of one set.
type Within struct {
	Pods  []string   `json:"pods"`
	Nodes [][]string `json:"nodes"`
}

// Candidate is a place with the pods that yield for it.
type Candidate struct {
	Domain     string   `json:"domain"`
	Victims    []string `json:"victims"`
	Violations int      `json:"violations,omitempty"`
}

// Unit is what yields as a whole. Nodes and Priority are those of Units and Ordered, Violations those of Potential and Ordered.
type Unit struct {
	Pods       []string `json:"pods"`
	Nodes      []string `json:"nodes,omitempty"`
	Priority   int32    `json:"priority,omitempty"`
	Violations int      `json:"violations,omitempty"`
}

func (u Unit) text() string {
	return fmt.Sprintf("%v on %v priority %d violates %d", sorted(u.Pods), slices.Compact(sorted(u.Nodes)), u.Priority, u.Violations)
}

func (c Candidate) text() string {
	return fmt.Sprintf("%s: %v violates %d", c.Domain, sorted(c.Victims), c.Violations)
}

func (q *OnNodes) check(r *Report) error {
	s, err := placement.NewSnapshot(q.State)
	if q.Want.Refused {
		r.compare(excuse{}, "the state is refused", one(true), one(err != nil))
		return nil
	}
	if err != nil {
		return err
	}
	p, err := placement.New(q.Config())
	if err != nil {
		return err
	}
	q.compareUnits(r, s, p)
	if len(q.Request.Pods) == 0 {
		return nil
	}
	d, err := q.decide(p, s)
	if err != nil {
		return err
	}
	e := func(got []string) excuse { return excuse{q.departure(&d), got} }
	q.compareDecision(r, &d, e)
	if q.Want.Candidates == nil {
		return nil
	}
	list, err := p.Placements(s, q.Request)
	got := texts(list, func(p placement.Placement) string {
		return Candidate{p.Domain, podsOf(p.Victims), p.Violations}.text()
	})
	r.compare(e(got), "candidates", texts(q.Want.Candidates, Candidate.text), got)
	return err
}

// departure returns the departure that explains another decision; empty for none.
func (q *OnNodes) departure(d *placement.Decision) string {
	switch {
	case q.Reprieves != nil && verify.Placement(q.State, q.Request, q.Config(), *d) == nil:
		return countedReprieve
	case q.sparesHigher(d):
		return sparesPriority
	}
	return ""
}

// sparesHigher is the predicate of sparesPriority: by the design the minimum of the group has a place without a victim of the
// highest priority that yields when as many of its pods are placed as can be.
func (q *OnNodes) sparesHigher(d *placement.Decision) bool {
	highest := func(names []string) (most int32, some bool) {
		for _, p := range q.State.Pods {
			if slices.Contains(names, p.ID) && (!some || p.Priority > most) {
				most, some = p.Priority, true
			}
		}
		return most, some
	}
	least := max(1, q.Request.MinCount)
	here, some := highest(podsOf(d.Victims))
	there, others := highest(q.Want.Victims)
	return q.Mode == placement.ModeDesign && len(q.Want.Nominated) > least && len(d.Nominations) >= least && others && (!some || here < there)
}

// Config returns the configuration of the question.
func (q *OnNodes) Config() placement.Config {
	config := placement.Config{Mode: q.Mode, Order: q.Order}
	if len(q.Protected) > 0 {
		config.Guards = []placement.Guard{protected(q.Protected)}
	}
	if len(q.Conflicts) > 0 {
		config.Filters = []placement.Filter{conflicts(q.Conflicts)}
	}
	switch q.Importance {
	case "name":
		config.Importance = func(a, b placement.Unit) int { return cmp.Compare(a.Pods[0].ID, b.Pods[0].ID) }
	case "start":
		config.Importance = func(a, b placement.Unit) int { return a.Pods[0].Started.Compare(b.Pods[0].Started) }
	}
	return config
}

// protected is a guard that protects pods.
type protected []string

// Verdict implements [placement.Guard].
func (p protected) Verdict(u placement.Unit, _ placement.Request) preemption.Verdict {
	if slices.ContainsFunc(u.Pods, func(pod workload.Pod) bool { return slices.Contains(p, pod.ID) }) {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

// conflicts are pairs of pods that exclude each other.
type conflicts [][]string

// Feasible implements [placement.Filter].
func (conflicts) Feasible(workload.Pod, workload.Node) bool { return true }

// Conflict implements [placement.Filter].
func (c conflicts) Conflict(pod, other workload.Pod) bool {
	return slices.ContainsFunc(c, func(pair []string) bool {
		both := pair[0] == pod.ID && pair[1] == other.ID || pair[0] == other.ID && pair[1] == pod.ID
		return both && (pod.Node == other.Node || len(pair) > 2)
	})
}

// Reach implements [placement.Filter].
func (c conflicts) Reach() placement.Reach {
	if slices.ContainsFunc(c, func(pair []string) bool { return len(pair) > 2 }) {
		return placement.ReachCluster
	}
	return placement.ReachNode
}

func podsOf(victims []placement.Victim) (list []string) {
	for _, v := range victims {
		list = append(list, v.Pods...)
	}
	return sorted(list)
}

func ids(pods []workload.Pod) (list []string) {
	for _, p := range pods {
		list = append(list, p.ID)
	}
	return list
}

func sorted(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return list
}
