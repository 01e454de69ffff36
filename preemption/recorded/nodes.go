package recorded

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/guard"
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
	Reprieves *int              `json:"reprieves,omitempty"`
	State     placement.State   `json:"state"`
	Request   placement.Request `json:"request,omitzero"`
	Want      WantOnNodes       `json:"want"`
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
	d, err := p.Decide(s, q.Request)
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

// compareUnits compares what runs, what may yield, and in which order.
func (q *OnNodes) compareUnits(r *Report, s *placement.Snapshot, p *placement.Preemptor) {
	w := &q.Want
	if units := s.Units(); w.First != "" && len(units) > 0 {
		e := excuse{}
		if q.alike() {
			e = excuse{totalOrder, one(q.State.Pods[0].ID)}
		}
		r.compare(e, "the most important", one(w.First), one(units[0].Pods[0].ID))
	}
	if w.Potential != nil {
		var got []string
		for _, p := range slices.Backward(p.PotentialVictims(s, q.Request.Priority)) {
			got = append(got, Unit{Pods: ids(p.Pods), Violations: p.Violations}.text())
		}
		var want []string
		for _, u := range w.Potential {
			want = append(want, u.text())
		}
		r.compare(excuse{}, "may yield, the least important first", want, got)
	}
	if w.Split != nil {
		got := texts(p.PotentialVictims(s, math.MaxInt32), func(p placement.PotentialVictim) string {
			return Unit{Pods: ids(p.Pods), Violations: p.Violations}.text()
		})
		r.compare(excuse{}, "what units violate", texts(w.Split, Unit.text), got)
	}
	if w.Units != nil {
		got := texts(s.Units(), func(u placement.Unit) string { return unitOf(u).text() })
		r.compare(excuse{}, "units", texts(w.Units, Unit.text), got)
	}
	if w.Ordered != nil {
		violations := map[string]int{}
		for _, v := range p.PotentialVictims(s, q.Request.Priority) {
			violations[v.Pods[0].ID] = v.Violations
		}
		var want, got []string
		for _, u := range w.Ordered {
			want = append(want, u.text())
		}
		for _, u := range s.Units() {
			out := unitOf(u)
			out.Violations = violations[u.Pods[0].ID]
			got = append(got, out.text())
		}
		r.compare(excuse{}, "units, the most important first", want, got)
	}
	if w.Group != nil && len(q.State.Pods) > 0 {
		r.compare(excuse{}, "yields with group", one(*w.Group), one(s.Units()[0].Group))
	}
}

func unitOf(u placement.Unit) Unit {
	out := Unit{Pods: ids(u.Pods), Priority: u.Priority}
	for _, p := range u.Pods {
		out.Nodes = append(out.Nodes, p.Node)
	}
	return out
}

// alike is the predicate of totalOrder: two units of the same size, and all pods alike in all but their ID.
func (q *OnNodes) alike() bool {
	pods, count := q.State.Pods, map[string]int{}
	for _, p := range pods {
		count[p.Group]++
		if p.Priority != pods[0].Priority || p.UID != pods[0].UID || !p.Started.Equal(pods[0].Started) {
			return false
		}
	}
	return count[""] == len(pods) || len(count) == 2 && 2*count[pods[0].Group] == len(pods) && count[""] == 0
}

func (q *OnNodes) compareDecision(r *Report, d *placement.Decision, e func(got []string) excuse) {
	w, victims := &q.Want, podsOf(d.Victims)
	compare := func(what string, want, got []string) { r.compare(e(got), what, want, got) }
	if w.Possible != nil {
		compare("possible", one(*w.Possible), one(d.Outcome.Succeeds()))
	}
	if w.Outcome != 0 {
		compare("outcome", one(w.Outcome), one(d.Outcome))
	}
	if w.Reason != 0 {
		compare("reason", one(w.Reason), one(d.Reason))
	}
	if w.Eligible != nil {
		compare("eligible", one(*w.Eligible), one(d.Outcome != preemption.Wait && d.Reason != placement.ReasonPolicyNever))
	}
	if w.Victims != nil {
		compare("victims", sorted(w.Victims), victims)
	}
	if w.VictimsOf != nil {
		among := slices.DeleteFunc(slices.Clone(victims), func(id string) bool { return !slices.Contains(w.VictimsOf, id) })
		compare("number of victims", one(w.Count), one(len(among)))
		compare("victims", among, victims)
	}
	if w.Domain != nil {
		compare("node", one(*w.Domain), one(d.Domain))
	}
	if len(w.DomainOf) > 0 && !slices.Contains(w.DomainOf, d.Domain) {
		compare("node, one of", sorted(w.DomainOf), one(d.Domain))
	}
	if w.Violations != nil {
		compare("violations", one(*w.Violations), one(d.Violations))
	}
	if w.Disruptions != nil {
		compare("victims that are groups or of one", one(*w.Disruptions), one(q.disruptions(d)))
	}
	if w.Nominated != nil && d.Outcome != preemption.Wait {
		got := map[string]string{}
		for _, n := range d.Nominations {
			got[n.Pod] = n.Node
		}
		compare("nominated", one(w.Nominated), one(got))
	}
}

// disruptions counts the victims that are groups or a pod of one.
func (q *OnNodes) disruptions(d *placement.Decision) (n int) {
	for _, v := range d.Victims {
		if slices.ContainsFunc(q.State.Pods, func(p workload.Pod) bool { return p.ID == v.Pods[0] && p.Group != "" }) {
			n++
		}
	}
	return n
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
func (p protected) Verdict(u placement.Unit, _ placement.Request) guard.Verdict {
	if slices.ContainsFunc(u.Pods, func(pod workload.Pod) bool { return slices.Contains(p, pod.ID) }) {
		return guard.NeverYields()
	}
	return guard.MayYield()
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
