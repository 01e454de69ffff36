package safe

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// PodAnswer says until when a running pod, with its group if that yields whole, is safe on its nodes. The zero value is invalid.
type PodAnswer struct {
	Pod     string  `json:"pod"`
	Outcome Outcome `json:"outcome"`
	// At is as in [Answer].
	At time.Time `json:"at,omitzero"`
	// Request is for Later and Now the least request that names the pod at At: of those on the first node where there is one (its own,
	// then those of its group by name) the least by amount of the first resource. Else nil.
	Request *PodRequest `json:"request,omitempty"`
	// Keeps is for Never and Later the rule that keeps it now from requests of the highest priority; zero: none does, but no request needs
	// it.
	Keeps placement.Rule `json:"keeps,omitzero"`
	// Doubts is for Unknown why.
	Doubts []Doubt `json:"doubts,omitempty"`
}

// PodRequest is a request for room on a node that names a pod: one pod that asks for one resource, or, where a pod holds nothing but its
// place among the pods of a node, so many that ask for nothing.
type PodRequest struct {
	Node     string `json:"node"`
	Priority int32  `json:"priority"`
	// Queue is another queue than that of the pod, if only requests of others have the right; else its own.
	Queue string `json:"queue,omitempty"`
	Pods  int    `json:"pods"`
	// Resource and Amount are what each asks for; empty and zero: nothing.
	Resource string `json:"resource,omitempty"`
	Amount   int64  `json:"amount,omitempty"`
}

// UntilOnNodes answers for a running pod: a request is any new pod, or group of pods, of any priority of 32 bits and any queue, that may
// run on any schedulable nodes and asks for any amounts. It comes alone, with claims or a termination timeout of none; a pod that is
// resized is not asked for. Of the options Now, GuardsReadWorkloads and MaxDecisions count. A pod that holds any resource yields, when its
// unit may, to one that asks for all that units of no higher priority leave of it, so that nothing else is exact: disruption budgets
// protect it only where they are hard. It fails with preemption.Faults: a bad option, a pod that does not run.
func UntilOnNodes(p *placement.Preemptor, s *placement.Snapshot, pod string, o Options) (PodAnswer, error) {
	if err := o.check(); err != nil {
		return PodAnswer{}, err
	}
	w, ok := s.Find(pod)
	if !ok {
		var faults fault.List
		faults.Add("pod", "no pod %q runs", pod)
		return PodAnswer{}, faults.Err()
	}
	answer := PodAnswer{Pod: pod}
	if w.Terminating {
		answer.Outcome = Leaving
		return answer, nil
	}
	c := p.Config()
	a := &podAsker{snapshot: s, now: o.Now, left: cmp.Or(o.MaxDecisions, defaultDecisions), pod: pod}
	a.hard, a.filtered = c.Budgets == placement.Hard, len(c.Filters)+len(c.SetFilters) > 0
	a.guarded = len(c.Guards) > 0 && !o.GuardsReadWorkloads
	c.MaxBlockers, c.MaxRetrySteps = math.MaxInt32, -1
	a.decider, _ = placement.New(c) // it was valid
	for a.id = "safe"; a.taken(a.id); {
		a.id += "'"
	}
	a.until(&w, &answer)
	return answer, nil
}

// podAsker asks about one pod.
type podAsker struct {
	decider                 *placement.Preemptor
	snapshot                *placement.Snapshot
	now                     time.Time
	pod, id                 string
	left                    int
	hard, filtered, guarded bool
}

func (a *podAsker) taken(id string) bool {
	_, runs := a.snapshot.Find(id)
	_, waits := a.snapshot.Nominated(id)
	_, groups := a.snapshot.Group(id)
	return runs || waits || groups
}

func (a *podAsker) until(w *workload.Pod, answer *PodAnswer) {
	unit := a.unit()
	nodes := []string{w.Node}
	for i := range unit.Pods {
		if n := unit.Pods[i].Node; !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes[1:])
	queues := a.queues(unit)
	instants := []time.Time{a.now}
	for _, q := range queues {
		for _, n := range nodes {
			list, _ := a.decider.Instants(a.snapshot, a.request(n, q, math.MaxInt32, a.now, 1))
			instants = append(instants, list...)
		}
	}
	slices.SortFunc(instants, time.Time.Compare)
	answer.Outcome, answer.Keeps = Never, a.keeps(nodes[0], unit)
	for _, at := range slices.CompactFunc(instants, time.Time.Equal) {
		mayYield := false
		for _, q := range queues {
			for _, n := range nodes {
				if unit.Priority == math.MaxInt32 || !a.candidate(a.request(n, q, unit.Priority+1, at, 1)) {
					continue
				}
				mayYield = true
				if found := a.leastOn(n, q, unit.Priority, at); found != nil {
					answer.Outcome, answer.At, answer.Request = Later, at, found
					if at.Equal(a.now) {
						answer.Outcome, answer.Keeps = Now, 0
					}
					return
				}
			}
		}
		if answer.Doubts = a.doubts(mayYield); len(answer.Doubts) > 0 {
			answer.Outcome, answer.At, answer.Keeps = Unknown, at, 0
			return
		}
	}
}

// doubts says why requests that were not asked may count.
func (a *podAsker) doubts(mayYield bool) (list []Doubt) {
	if a.guarded {
		list = append(list, Guards)
	}
	if mayYield && a.filtered {
		list = append(list, Filters)
	}
	if mayYield && a.hard {
		list = append(list, Budgets)
	}
	if a.left <= 0 {
		list = append(list, Decisions)
	}
	return list
}

// unit returns what the pod yields with.
func (a *podAsker) unit() placement.Unit {
	for _, u := range a.snapshot.Units() {
		if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.ID == a.pod }) {
			return u
		}
	}
	return placement.Unit{}
}

// counts returns the queue and the priority that count for a pod: those of the root of its groups, if there is one.
func (a *podAsker) counts(p *workload.Pod) (queue string, priority int32) {
	queue, priority = p.Queue, p.Priority
	for g, ok := a.snapshot.Group(p.Group); ok; g, ok = a.snapshot.Group(g.Parent) {
		queue, priority = g.Queue, g.Priority
	}
	return queue, priority
}

// queues returns the queues of requests that matter: that of the unit, or none, and another one.
func (a *podAsker) queues(u placement.Unit) []string {
	own, _ := a.counts(&u.Pods[0])
	if own == "" {
		return []string{""}
	}
	return []string{own, own + "'"}
}

// priorities returns the priorities of requests at which what may yield on a node changes, rising from the least with a right.
func (a *podAsker) priorities(node string, own int32) (list []int32) {
	list = append(list, own+1)
	add := func(p *workload.Pod) {
		if _, priority := a.counts(p); p.Node == node && priority > own && priority < math.MaxInt32 {
			list = append(list, priority+1)
		}
	}
	for p := range a.snapshot.PodsOn(node) {
		add(&p)
	}
	for p := range a.snapshot.NominatedPods() {
		add(&p)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// check returns everything that is wrong with the options.
func (o *Options) check() error {
	var faults fault.List
	if o.Now.IsZero() || !instant.Valid(o.Now) {
		faults.Add("options.Now", "want a time in %s", instant.Range)
	}
	if !instant.Valid(o.Since) {
		faults.Add("options.Since", "want a time in %s", instant.Range)
	}
	if o.MaxDecisions < 0 {
		faults.Add("options.MaxDecisions", "%d is negative", o.MaxDecisions)
	}
	return faults.Err()
}
