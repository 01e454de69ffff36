package placement

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Fit says whether one request has a place on the nodes, while a caller removes and restores groups of running pods,
// and replicas of them ([Fit.PodSets]). It is the room of a decision of which another preemptor chooses the victims,
// for instance by quota with the ID of a workload as the group of its pods. Priorities, disruption modes and budgets
// do not count. It starts with all running pods. Those that terminate are there until they are gone or removed, in every mode: Fits
// is about now.
//
// Its laws, for a search that removes groups until it fits and then restores what is not needed:
//
//  1. If Fits returns true, [Fit.Nominations] is the placement.
//  2. After true, removing more leaves it true. After false, restoring leaves it false,
//     except for gangs of unequal pods: less room may happen to be filled better. With
//     set filters that are not monotone, it is as they answer.
//  3. Removing a removed group, restoring one that is not removed, and groups and pod sets
//     without pods change nothing.
//
// Remove and Restore cost O(pods of the group), SetRemoved O(pods that move). Fits costs as much as placing the
// request, unless the answer follows from the one before. A Fit is not safe for concurrent use. Make it with
// [Preemptor.Fit]; the zero value never fits.
type Fit struct {
	inside  *place.Fit
	cluster *state.Cluster
	pods    []workload.Pod
}

// Fit returns a Fit for a request. Its errors are those of [Preemptor.Decide].
func (p *Preemptor) Fit(snapshot *Snapshot, r Request) (*Fit, error) {
	if p == nil {
		p = &standard
	}
	r.Pods = slices.Clone(r.Pods)
	for i := range r.Pods {
		r.Pods[i] = r.Pods[i].Clone()
	}
	r.Nested = slices.Clone(r.Nested)
	r.Domains, r.Prefer = slices.Clone(r.Domains), slices.Clone(r.Prefer)
	r.Filters, r.SetFilters = slices.Clone(r.Filters), slices.Clone(r.SetFilters)
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return nil, err
	}
	return &Fit{place.NewFit(&p.inside, c, &sc.request), c, r.Pods}, nil
}

// Remove removes the running pods of a group.
func (f *Fit) Remove(group string) {
	if f != nil {
		f.inside.Remove(group)
	}
}

// Restore restores the running pods of a removed group.
func (f *Fit) Restore(group string) {
	if f != nil {
		f.inside.Restore(group)
	}
}

// PodSets makes f a [preemption.ReplicaRoom], which frees single replicas: podSet returns the name of the pod set of
// a running pod of a workload, and first is negative if pod a leaves before pod b of the same pod set. With nil, and
// where first is zero, the last by ID leaves first. Pods that terminate leave before all others, whatever first says.
// Nothing may be removed when PodSets is called. The functions must answer alike each time and must not change the
// pods.
//
// Without PodSets, SetRemoved changes nothing. Pods of which no workload has the pod set leave only with their
// workload.
//
// [preemption.ReplicaRoom]: https://pkg.go.dev/github.com/cedesched/cede/preemption#ReplicaRoom
func (f *Fit) PodSets(podSet func(pod workload.Pod) string, first func(a, b workload.Pod) int) {
	if f != nil {
		f.inside.PodSets(podSet, first)
	}
}

// SetRemoved says how many replicas of a pod set of a workload are removed, in place of the number said before: the
// first so many in the order of [Fit.PodSets]. While the workload is removed the number does not count.
func (f *Fit) SetRemoved(workload, podSet string, replicas int64) {
	if f != nil {
		f.inside.SetRemoved(workload, podSet, replicas)
	}
}

// Replicas returns the IDs of the running pods of a pod set of a workload, in the order in which they leave: a
// decision that takes some replicas means the first so many.
func (f *Fit) Replicas(workload, podSet string) []string {
	if f == nil {
		return nil
	}
	return f.inside.Replicas(workload, podSet)
}

// Fits reports whether the request has a place without the removed groups.
func (f *Fit) Fits() bool { return f != nil && f.inside.Fits() }

// FitsSoon makes f a [preemption.LeavingRoom]: it reports whether the request has a place without the removed groups
// once all that terminates is gone. A pod that terminates for longer than [Request.TerminationTimeout] is not waited for: it
// counts as running, also when it is removed.
//
// [preemption.LeavingRoom]: https://pkg.go.dev/github.com/cedesched/cede/preemption#LeavingRoom
func (f *Fit) FitsSoon() bool { return f != nil && f.inside.FitsSoon() }

// Nominations returns the node of each pod; none if the request does not fit.
func (f *Fit) Nominations() []Nomination {
	if f == nil {
		return nil
	}
	return nominations(f.cluster, f.pods, f.inside.Where())
}
