package kueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const (
	boostAnnotation    = Group + "/priority-boost"
	neverAnnotation    = Group + "/cannot-preempt"
	gatedAnnotation    = Group + "/admission-gated-by"
	replacesAnnotation = Group + "/workload-slice-replacement-for"
	defaultPodSet      = "main"
	maxPods            = 1 << 31 // Kueue counts pods in an int32
)

// Stage says how far a workload has come. The zero value is invalid.
type Stage uint8

const (
	// StagePending: the workload waits for quota.
	StagePending Stage = 1 + iota
	// StageAdmitted: the workload holds quota.
	StageAdmitted
	// StageFinished: the workload is finished and holds nothing.
	StageFinished
	// StageIncomplete: the workload holds quota, but does not say in which queue.
	StageIncomplete
)

// Stage returns the stage of the workload, by its conditions QuotaReserved and Finished. What an inactive workload held
// does not count any more.
func (w *Workload) Stage() Stage {
	if _, finished := w.Status.condition("Finished"); finished {
		return StageFinished
	}
	switch _, holds := w.Status.condition("QuotaReserved"); {
	case !holds, w.inactive():
		return StagePending
	case w.Status.Admission == nil:
		return StageIncomplete
	}
	return StageAdmitted
}

// Admitted returns a workload that holds quota, for a state or for Snapshot.Admit. It fails
// on a workload in another stage, on a count out of range, on an annotation priority-boost
// that is not an integer, and on what [workload.Validate] refuses.
func (w *Workload) Admitted() (workload.Workload, error) {
	if w.Stage() != StageAdmitted {
		return workload.Workload{}, fmt.Errorf("workload %s holds no quota", w.Metadata.ID())
	}
	out, err := w.admitted()
	if err == nil {
		err = workload.Validate("workload", &out)
	}
	if err != nil {
		return workload.Workload{}, err
	}
	return out, nil
}

// admitted returns what is known of the workload also with an error.
func (w *Workload) admitted() (workload.Workload, error) {
	boost, err := w.check()
	reserved, _ := w.Status.condition("QuotaReserved")
	out := workload.Workload{
		ID: w.Metadata.ID(), UID: w.Metadata.UID, Queue: w.Status.Admission.ClusterQueue,
		Priority: w.Spec.Priority, PriorityBoost: boost,
		Created: w.Metadata.CreationTimestamp, Queued: w.facts().queued,
		ReservedAt: reserved.LastTransitionTime,
	}
	w.named(&out)
	if admitted, ok := w.Status.condition("Admitted"); ok {
		out.AdmittedAt = admitted.LastTransitionTime
	}
	_, out.Evicted = w.Status.condition("Evicted")
	for i, a := range w.Status.Admission.PodSetAssignments {
		count := a.count(&w.Spec)
		if count < 0 || count > maxPods {
			err = fmt.Errorf("status.admission.podSetAssignments[%d].count: %d is out of range", i, count)
			continue
		}
		out.PodSets = append(out.PodSets, assigned(&a, count, a.returned(count, w)))
	}
	return out, err
}

// named sets what rules read of a workload.
func (w *Workload) named(out *workload.Workload) {
	if w.Spec.QueueName != "" {
		out.LocalQueue = strings.TrimSuffix(out.ID, w.Metadata.Name) + w.Spec.QueueName // of the same namespace
	}
	out.Labels = maps.Clone(w.Metadata.Labels)
	out.PriorityClass = cmp.Or(w.Spec.PriorityClassRef.Name, w.Spec.PriorityClassName)
}

// check checks every workload that is not finished. boost is its priority boost.
func (w *Workload) check() (boost int64, err error) {
	if text, ok := w.Metadata.Annotations[boostAnnotation]; ok {
		if boost, err = strconv.ParseInt(text, 10, 32); err != nil {
			return 0, fmt.Errorf("metadata.annotations[%s]: %q is not an integer", boostAnnotation, text)
		}
	}
	for i, c := range w.Status.Conditions {
		if !slices.Contains([]string{"True", "False", "Unknown", ""}, c.Status) {
			return boost, unknown(fmt.Sprintf("status.conditions[%d].status", i), c.Status, "True", "False", "Unknown")
		}
	}
	for i, s := range w.Spec.PodSets {
		if s.Count != nil && (*s.Count < 0 || *s.Count > maxPods) {
			return 0, fmt.Errorf("spec.podSets[%d].count: %d is out of range", i, *s.Count)
		}
	}
	return boost, nil
}

// count returns the admitted number of replicas, or that of the spec if the assignment does
// not say.
func (a *PodSetAssignment) count(spec *WorkloadSpec) int64 {
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

// returned returns the number of admitted replicas that hold nothing any more: those that gave their quota back, after those
// that were never admitted (partial admission), and those that the spec does not have any more.
func (a *PodSetAssignment) returned(count int64, w *Workload) int64 {
	if len(w.Spec.PodSets) == 0 {
		return max(0, w.Status.reclaimed(a.Name))
	}
	left := int64(0)
	for _, s := range w.Spec.PodSets {
		if s.Name == a.Name || s.Name == "" && a.Name == defaultPodSet {
			left = 1
			if s.Count != nil {
				left = *s.Count
			}
		}
	}
	return max(0, count-max(0, left-w.Status.reclaimed(a.Name)))
}

// assigned returns what a pod set holds. Kueue writes the total of all replicas; those that
// gave their quota back no longer count.
func assigned(a *PodSetAssignment, count, reclaimed int64) workload.PodSet {
	var totals []quota.Amount
	for _, name := range slices.Sorted(maps.Keys(a.Flavors)) {
		// The flavor is assigned even if no usage is given.
		totals = append(totals, quota.Amount{Flavor: a.Flavors[name], Resource: name, Amount: a.ResourceUsage[name].Amount(name)})
	}
	set := workload.PodSet{Name: a.Name, Count: max(0, count-reclaimed), Requests: totals}
	if !divisible(totals, count) && reclaimed == 0 {
		set.Totals = true
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

// gates returns the gates of a workload, and the signal that they block it (KEP-8303). Kueue ignores states
// of unnamed gates.
func (w *Workload) gates() (g gate.Gates) {
	if g = w.gatesAsTheyStand(); len(g.Names) == 0 {
		return gate.Gates{}
	}
	g.States = slices.DeleteFunc(g.States, func(s gate.State) bool { return !g.Has(s.Name) })
	return g
}

// gatesAsTheyStand are the gates with all states that are Open, also of those that are not named.
func (w *Workload) gatesAsTheyStand() (g gate.Gates) {
	for _, named := range w.Spec.PreemptionGates {
		g.Names = append(g.Names, named.Name)
	}
	for _, s := range w.Status.PreemptionGates {
		again := slices.ContainsFunc(g.States, func(before gate.State) bool { return before.Name == s.Name })
		if !again && (s.Position == gate.Open.String() || s.State == gate.Open.String()) {
			if s.LastTransitionTime.IsZero() {
				s.LastTransitionTime = time.Unix(0, 0) // some time ago
			}
			g.States = append(g.States, gate.State{Name: s.Name, Position: gate.Open, Since: s.LastTransitionTime})
		}
	}
	if c, ok := w.Status.condition(gate.BlockedOnPreemptionGates); ok && c.Reason != "" {
		g.Blocked = gate.Condition{Active: true, Reason: c.Reason, Since: c.LastTransitionTime}
		if g.Blocked.Since.IsZero() {
			g.Blocked.Since = time.Unix(0, 0) // some time ago
		}
	}
	return g
}

// noter collects the notes on an object.
type noter struct {
	object string
	notes  []bridge.Note
}

// add adds a note; the text names the object.
func (n *noter) add(path, format string, args ...any) {
	n.notes = append(n.notes, bridge.Note{Object: n.object, Path: path, Text: fmt.Sprintf(format, args...)})
}

// stopInLine is stop for what keeps its place in the queue all the same.
func (n *noter) stopInLine(path, format string, args ...any) {
	n.stop(path, format, args...)
	n.notes[len(n.notes)-1].InLine = true
}

// stop adds a note on what keeps the object from being considered at all.
func (n *noter) stop(path, format string, args ...any) {
	n.add(path, format, args...)
	n.notes[len(n.notes)-1].Stops = true
}
