package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// WayKind is what a [Way] changes. The zero value is invalid.
type WayKind uint8

const (
	// WayTime: wait. At.
	WayTime WayKind = 1 + iota
	// WayPriority: a higher priority. Priority.
	WayPriority
	// WayReplicas: fewer replicas of a pod set. PodSet, Replicas.
	WayReplicas
	// WayFlavor: all requests for the resources of a group get another flavor. Flavor,
	// Resources.
	WayFlavor
	// WayNominal: the queue gets more nominal quota. Queue, Nominal.
	WayNominal
	// WayPolicy: the queue gets a more permissive policy. Queue, Policy, Value.
	WayPolicy
	// WayGates: all gates of the workload are open.
	WayGates
	// WayMayPreempt: the workload may preempt ([workload.Workload.NeverPreempts] is false); on nodes, its
	// priority class may ([placement.PreemptLowerPriority]).
	WayMayPreempt
	// WayMinCount: on nodes, fewer pods must have a place. MinCount.
	WayMinCount
	// WayCapacity: a node gets more capacity. Node, Capacity.
	WayCapacity
	// WayBorrowing: the queue may borrow more, where its borrowing limit keeps it from what is there. Queue, Borrowing.
	WayBorrowing
)

// The policies of a queue that a [Way] changes.
const (
	withinClusterQueue  = "withinClusterQueue"
	reclaimWithinCohort = "reclaimWithinCohort"
	borrowWithinCohort  = "borrowWithinCohort"
	whileBorrowing      = reclaimWithinCohort + "," + borrowWithinCohort
)

var wayNames = enum.Names[WayKind]{Type: "WayKind", First: 1, List: []string{
	"Time", "Priority", "Replicas", "Flavor", "Nominal", "Policy", "Gates", "MayPreempt", "MinCount", "Capacity", "Borrowing",
}}

// String returns the name of the constant without its prefix.
func (k WayKind) String() string { return wayNames.String(k) }

// MarshalText returns that name. It fails on an invalid kind.
func (k WayKind) MarshalText() ([]byte, error) { return wayNames.Marshal(k) }

// UnmarshalText reads that name. It fails on any other text.
func (k *WayKind) UnmarshalText(text []byte) error { return wayNames.Unmarshal(text, k) }

// Way is one change that makes a request succeed, as a new decision has confirmed. Nothing
// else is changed. It is the smallest of its kind: with one unit less (a nanosecond, a
// priority, a replica, a unit of one amount, the next less permissive policy) the request does
// not succeed. The zero value is invalid.
type Way struct {
	Kind WayKind `json:"kind"`
	// At is, for WayTime, the first instant at which the request succeeds.
	At time.Time `json:"at,omitzero"`
	// Priority is, for WayPriority, the priority of the workload, without its boost, or of the group or pod.
	Priority int64 `json:"priority,omitempty"`
	// PodSet and Replicas are, for WayReplicas, a pod set and its new number of replicas.
	PodSet   string `json:"podSet,omitempty"`
	Replicas int64  `json:"replicas,omitempty"`
	// Flavor and Resources are, for WayFlavor, the flavor of these resources.
	Flavor    string   `json:"flavor,omitempty"`
	Resources []string `json:"resources,omitempty"`
	// Queue is, for WayNominal, WayBorrowing and WayPolicy, the queue that changes.
	Queue string `json:"queue,omitempty"`
	// Nominal lists, for WayNominal, what is added to the nominal quota.
	Nominal []quota.Amount `json:"nominal,omitempty"`
	// Borrowing lists, for WayBorrowing, what is added to the borrowing limits.
	Borrowing []quota.Amount `json:"borrowing,omitempty"`
	// Policy and Value are, for WayPolicy, a policy of the queue, as "reclaimWithinCohort", and its new value; two policies, with a comma,
	// where neither alone helps: borrowWithinCohort is valid only with reclaimWithinCohort.
	Policy string             `json:"policy,omitempty"`
	Value  queue.VictimPolicy `json:"value,omitzero"`
	// MinCount is, for WayMinCount, the new number of pods that must have a place.
	MinCount int `json:"minCount,omitempty"`
	// Node and Capacity are, for WayCapacity, a node and what is added to its capacity.
	Node     string             `json:"node,omitempty"`
	Capacity workload.Resources `json:"capacity,omitempty"`
	// Outcome is that of the decision after the change: Fits or Preempt, then with Victims
	// victims; if that is one, Victim is its workload, on nodes its group or pod.
	Outcome preemption.Outcome `json:"outcome"`
	Victims int                `json:"victims,omitempty"`
	Victim  string             `json:"victim,omitempty"`
}

// Apply returns the snapshot and the request after the change. It changes neither s nor r. It
// fails if the way changes nothing, does not match them, or the changed queue is not valid.
func (w Way) Apply(s *preemption.Snapshot, r preemption.Request) (*preemption.Snapshot, preemption.Request, error) {
	r.Workload = r.Workload.Clone()
	applies := false
	switch w.Kind {
	case WayTime:
		applies = w.At.After(r.Now)
		r.Now = w.At
	case WayPriority:
		applies = w.Priority != r.Workload.Priority
		r.Workload.Priority = w.Priority
	case WayReplicas:
		applies = w.setReplicas(&r.Workload)
	case WayFlavor:
		if applies = w.changesFlavor(&r, nil); applies {
			w.setFlavor(&r)
		}
	case WayGates:
		applies = r.Workload.Gates.AnyClosed()
		r.Workload.Gates = gate.Gates{}
	case WayMayPreempt:
		applies = r.Workload.NeverPreempts
		r.Workload.NeverPreempts = false
	case WayNominal, WayBorrowing, WayPolicy:
		q, ok := s.Queue(w.Queue)
		if applies = ok; ok {
			w.configure(&q)
			next, err := s.With(preemption.SetQueue(q))
			return next, r, err
		}
	}
	if !applies {
		return s, r, w.fault(r.Workload.ID)
	}
	return s, r, nil
}

func (w *Way) fault(id string) error {
	return fmt.Errorf("explain: the change of %v does not apply to the request of %q", w.Kind, id)
}

func (w *Way) setReplicas(to *workload.Workload) bool {
	at := slices.IndexFunc(to.PodSets, func(p workload.PodSet) bool { return p.Name == w.PodSet })
	if at < 0 || to.PodSets[at].Totals {
		return false
	}
	p := &to.PodSets[at]
	p.Count = w.Replicas
	if minimum, ok := p.MinCount.Get(); ok && minimum > p.Count {
		p.MinCount = workload.AtLeast(p.Count)
	}
	return true
}

// concerns reports whether the way changes the flavor of a request.
func (w *Way) concerns(a *quota.Amount) bool { return slices.Contains(w.Resources, a.Resource) }

// changesFlavor reports whether some request gets another flavor than it has or was assigned.
func (w *Way) changesFlavor(r *preemption.Request, assigned preemption.Assignment) bool {
	is := assigned.Pin(r.Workload)
	return slices.ContainsFunc(is.PodSets, func(p workload.PodSet) bool {
		return slices.ContainsFunc(p.Requests, func(a quota.Amount) bool { return w.concerns(&a) && a.Flavor != w.Flavor })
	})
}

func (w *Way) setFlavor(r *preemption.Request) {
	for i := range r.Workload.PodSets {
		for j := range r.Workload.PodSets[i].Requests {
			if a := &r.Workload.PodSets[i].Requests[j]; w.concerns(a) {
				a.Flavor = w.Flavor
			}
		}
	}
	r.NeedsPreemption, r.Continue = nil, nil // they are about the flavors before
}

// configure changes a queue.
func (w *Way) configure(q *queue.Queue) {
	if w.Kind == WayPolicy {
		switch w.Policy {
		case withinClusterQueue:
			q.Preemption.WithinClusterQueue = w.Value
		case reclaimWithinCohort:
			q.Preemption.ReclaimWithinCohort = w.Value
		case borrowWithinCohort:
			q.Preemption.BorrowWithinCohort.Policy = w.Value
		case whileBorrowing:
			q.Preemption.ReclaimWithinCohort, q.Preemption.BorrowWithinCohort.Policy = w.Value, w.Value
		}
		return
	}
	for _, a := range w.Borrowing {
		for i := range q.Quotas {
			if limit, set := q.Quotas[i].BorrowingLimit.Get(); set && q.Quotas[i].FlavorResource() == a.FlavorResource() {
				q.Quotas[i].BorrowingLimit = quota.Some(quota.Add(limit, a.Amount))
			}
		}
	}
	for _, a := range w.Nominal {
		if a.Amount == 0 {
			continue
		}
		at := slices.IndexFunc(q.Quotas, func(e quota.Quota) bool { return e.Flavor == a.Flavor && e.Resource == a.Resource })
		if at < 0 {
			at = len(q.Quotas)
			q.Quotas = append(q.Quotas, quota.Quota{Flavor: a.Flavor, Resource: a.Resource})
		}
		q.Quotas[at].Nominal = quota.Add(q.Quotas[at].Nominal, a.Amount)
	}
}

// way says what a change is, and what follows: the words on nodes are others.
func (pr Printer) way(w *Way, now time.Time, onNodes bool) string {
	then, who, victim := ": it fits", "workload", "workload"
	if onNodes {
		then, who, victim = ": it has a place", "priority class", "unit"
	}
	if w.Outcome == preemption.Preempt {
		then = ": it preempts " + cmp.Or(w.Victim, count(w.Victims, victim))
	}
	switch w.Kind {
	case WayTime:
		return "Wait until " + clock(w.At, now) + then
	case WayPriority:
		return fmt.Sprintf("Raise the priority to %d", w.Priority) + then
	case WayReplicas:
		return fmt.Sprintf("Ask for %s of pod set %s", count(w.Replicas, "replica"), w.PodSet) + then
	case WayFlavor:
		return fmt.Sprintf("Ask for flavor %s (%s)", w.Flavor, strings.Join(w.Resources, ", ")) + then
	case WayNominal:
		parts := each(w.Nominal, func(a *quota.Amount) string { return pr.amount(a.Amount, a.FlavorResource()) })
		return fmt.Sprintf("Give queue %q %s more nominal quota", w.Queue, strings.Join(parts, " and ")) + then
	case WayBorrowing:
		parts := each(w.Borrowing, func(a *quota.Amount) string { return pr.amount(a.Amount, a.FlavorResource()) })
		return fmt.Sprintf("Let queue %q borrow %s more (borrowingLimit)", w.Queue, strings.Join(parts, " and ")) + then
	case WayPolicy:
		return fmt.Sprintf("Set %v of queue %q to %v", strings.ReplaceAll(w.Policy, ",", " and "), w.Queue, w.Value) + then
	case WayGates:
		return "Open the gates" + then
	case WayMinCount:
		return "Start with " + count(w.MinCount, "pod") + then
	case WayCapacity:
		var parts []string
		for _, resource := range slices.Sorted(maps.Keys(w.Capacity)) {
			parts = append(parts, pr.amount(w.Capacity[resource], quota.FlavorResource{Resource: resource}))
		}
		return fmt.Sprintf("Give node %s %s more", w.Node, strings.Join(parts, " and ")) + then
	}
	return "Let the " + who + " preempt" + then
}
