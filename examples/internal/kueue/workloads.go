package kueue

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const (
	boostAnnotation    = Group + "/priority-boost"
	neverAnnotation    = Group + "/cannot-preempt"
	replacesAnnotation = Group + "/workload-slice-replacement-for"
	defaultPodSet      = "main"
	maxPods            = 1 << 31 // Kueue counts pods in an int32
)

// addWorkload sorts workloads into those that hold quota, those that wait for it
// and those that are done.
func (b *Builder) addWorkload(o *input.Object) error {
	var spec workloadSpec
	var status workloadStatus
	if err := o.Read(&spec, &status); err != nil {
		return err
	}
	if _, finished := status.condition("Finished"); finished {
		b.c.Finished = append(b.c.Finished, o.ID())
		return nil
	}
	boost, err := priorityBoost(o)
	if err != nil {
		return err
	}
	for _, s := range spec.PodSets {
		if s.Count != nil && (*s.Count < 0 || *s.Count > maxPods) {
			return fmt.Errorf("podSets %q: count %d is out of range", s.Name, *s.Count)
		}
	}
	reserved, holdsQuota := status.condition("QuotaReserved")
	switch {
	case !holdsQuota:
		return b.addPending(o, &spec, &status, boost)
	case status.Admission == nil:
		b.warn("Workload %s: QuotaReserved, but without status.admission: left out", o.ID())
		return nil
	}
	w := workload.Workload{
		ID: o.ID(), UID: o.Metadata.UID, Queue: status.Admission.ClusterQueue,
		Priority: spec.Priority, PriorityBoost: boost,
		Created: o.Metadata.CreationTimestamp, Queued: queuedAt(o, &status),
		ReservedAt: reserved.LastTransitionTime,
	}
	_, w.Evicted = status.condition("Evicted")
	for _, a := range status.Admission.PodSetAssignments {
		count := a.count(&spec)
		if count < 0 || count > maxPods {
			return fmt.Errorf("podSetAssignments %q: count %d is out of range", a.Name, count)
		}
		w.PodSets = append(w.PodSets, assigned(&a, count, a.returned(count, &spec, &status)))
	}
	b.c.Admitted = append(b.c.Admitted, w)
	return nil
}

// gates are those of a workload. States of no gate mean nothing to Kueue.
func gates(spec *workloadSpec, status *workloadStatus) (g gate.Gates) {
	for _, named := range spec.PreemptionGates {
		g.Names = append(g.Names, named.Name)
		for _, s := range status.PreemptionGates {
			if s.Name == named.Name && (s.Position == gate.Open.String() || s.State == gate.Open.String()) {
				if s.LastTransitionTime.IsZero() {
					s.LastTransitionTime = time.Unix(0, 0) // some time ago
				}
				g = g.Opened(s.Name, s.LastTransitionTime)
			}
		}
	}
	return g
}

// count is the admitted number of replicas: that of the spec where the assignment
// does not say.
func (a *podSetAssignment) count(spec *workloadSpec) int64 {
	if a.Count != nil {
		return *a.Count
	}
	for _, s := range spec.PodSets {
		if s.Name == a.Name && s.Count != nil {
			return *s.Count
		}
	}
	return 1
}

// returned is how many of the admitted replicas gave their quota back. Replicas that were
// never admitted, as with partial admission, are the first of those that are reclaimable.
func (a *podSetAssignment) returned(count int64, spec *workloadSpec, status *workloadStatus) int64 {
	reclaimed := status.reclaimed(a.Name)
	for _, s := range spec.PodSets {
		if s.Name == a.Name && s.Count != nil {
			reclaimed -= max(0, *s.Count-count)
		}
	}
	return max(0, reclaimed)
}

// assigned is what a pod set holds. Kueue writes the total of all replicas; those
// that gave their quota back no longer count.
func assigned(a *podSetAssignment, count, reclaimed int64) workload.PodSet {
	var totals []quota.Amount
	for _, name := range slices.Sorted(maps.Keys(a.Flavors)) {
		used := a.ResourceUsage[name] // none: the flavor is assigned all the same
		totals = append(totals, quota.Amount{Flavor: a.Flavors[name], Resource: name, Amount: pods.Amount(name, used.Quantity)})
	}
	set := workload.PodSet{Name: a.Name, Count: max(0, count-reclaimed), Requests: totals}
	if !divisible(totals, count) && reclaimed == 0 {
		set.Count = 1 // keep the total exact
		return set
	}
	for i := range totals {
		if count > 0 {
			totals[i].Amount /= count
		}
	}
	return set
}

func divisible(totals []quota.Amount, count int64) bool {
	return !slices.ContainsFunc(totals, func(t quota.Amount) bool {
		return t.Amount != 0 && (count == 0 || t.Amount%count != 0)
	})
}

func (b *Builder) addPending(o *input.Object, spec *workloadSpec, status *workloadStatus, boost int64) error {
	p := Pending{
		ID: o.ID(), UID: o.Metadata.UID, Queue: spec.QueueName, // resolved at the end
		Priority: spec.Priority, Boost: boost,
		Created: o.Metadata.CreationTimestamp, Queued: queuedAt(o, status),
		NeverPreempts: o.Metadata.Annotations[neverAnnotation] == "true",
	}
	for i := range spec.PodSets {
		s, err := requested(&spec.PodSets[i], status)
		if err != nil {
			return err
		}
		var dropped []string
		if s.Constraints, dropped, err = constraints(&spec.PodSets[i]); err != nil {
			return err
		}
		for _, d := range dropped {
			p.note("pod set %s: %s", s.Name, d)
		}
		p.PodSets = append(p.PodSets, s)
		if spec.PodSets[i].MinCount != nil {
			p.note("pod set %s may start with %d replicas (minCount); all %d are asked for",
				s.Name, *spec.PodSets[i].MinCount, s.Count*max(1, s.pods))
		}
	}
	noteWorkload(&p, o, spec, status)
	if p.Gates = gates(spec, status); gate.Validate("", p.Gates) != nil {
		return gate.Validate("preemptionGates", p.Gates)
	}
	if old := o.Metadata.Annotations[replacesAnnotation]; old != "" {
		p.note("the workload replaces %s, which still counts here", old)
	}
	b.c.Pending = append(b.c.Pending, p)
	return nil
}

func (p *Pending) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// requested is what a pending pod set asks for: what Kueue computed, or else what
// the template says.
func requested(spec *podSetSpec, status *workloadStatus) (PodSet, error) {
	s := PodSet{Name: spec.Name, Count: 1}
	if s.Name == "" {
		s.Name = defaultPodSet
	}
	if spec.Count != nil {
		s.Count = *spec.Count
	}
	s.Count = max(0, s.Count-status.reclaimed(s.Name))
	for _, r := range status.ResourceRequests {
		if r.Name != s.Name {
			continue
		}
		exact := true
		for _, name := range slices.Sorted(maps.Keys(r.Resources)) {
			total := pods.Amount(name, r.Resources[name].Quantity)
			exact = exact && (total == 0 || s.Count > 0 && total%s.Count == 0)
			s.Requests = append(s.Requests, Request{name, total})
		}
		if !exact {
			s.Count, s.pods = 1, s.Count // keep the total exact
			return s, nil
		}
		for i := range s.Requests {
			s.Requests[i].Amount /= max(1, s.Count)
		}
		return s, nil
	}
	var err error
	s.Requests, err = templateRequests(spec)
	return s, err
}

// templateRequests is what one pod of the template takes.
func templateRequests(spec *podSetSpec) ([]Request, error) {
	if len(spec.Template) == 0 {
		return nil, nil
	}
	var template struct {
		Spec pods.Spec `json:"spec"`
	}
	if err := input.Decode("template", spec.Template, &template); err != nil {
		return nil, fmt.Errorf("podSets %q: %w", spec.Name, err)
	}
	var requests []Request
	for _, r := range template.Spec.Requests(nil) {
		requests = append(requests, Request(r))
	}
	return requests, nil
}

// queuedAt is the place in the queue: that of an eviction which was not the
// workload's preemption, else the creation.
func queuedAt(o *input.Object, status *workloadStatus) time.Time {
	evicted, ok := status.condition("Evicted")
	if ok && (evicted.Reason == "PodsReadyTimeout" || evicted.Reason == "AdmissionCheck") {
		return evicted.LastTransitionTime
	}
	return o.Metadata.CreationTimestamp
}

func priorityBoost(o *input.Object) (int64, error) {
	text, ok := o.Metadata.Annotations[boostAnnotation]
	if !ok {
		return 0, nil
	}
	boost, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("annotation %s: %q is not an integer", boostAnnotation, text)
	}
	return boost, nil
}
