package placement

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes"
	"github.com/cedesched/cede/workload"
)

// Fit says whether one request has a place on the nodes, while a caller removes and restores
// groups of running pods. It is the room of a decision whose victims another preemptor
// chooses, for instance by quota with the ID of a workload as the group of its pods.
// Priorities, disruption modes and budgets do not count. It starts with all running pods: in
// [ModeDesign] without terminating pods that are waited for; in the other modes terminating
// pods count as running.
//
// Its laws, for a search that removes groups until it fits and then restores those not
// needed:
//
//  1. If Fits returns true, [Fit.Nominations] is the placement.
//  2. After true, removing more leaves it true. After false, restoring leaves it false,
//     except for gangs of unequal pods: less room may happen to be filled better. With
//     set filters that are not monotone, it is as they answer.
//  3. Removing a removed group, restoring one that is not removed, and groups without
//     pods change nothing.
//
// Remove and Restore cost O(pods of the group). Fits costs as much as placing the request,
// unless the answer follows from the one before. A Fit is not safe for concurrent use. Make
// it with [Preemptor.Fit]; the zero value never fits.
type Fit struct {
	inside  *nodes.Fit
	cluster *nodes.Cluster
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
	r.Domains, r.Prefer = slices.Clone(r.Domains), slices.Clone(r.Prefer)
	r.Filters, r.SetFilters = slices.Clone(r.Filters), slices.Clone(r.SetFilters)
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return nil, err
	}
	return &Fit{nodes.NewFit(&p.inside, c, &sc.request), c, r.Pods}, nil
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

// Fits reports whether the request has a place without the removed groups.
func (f *Fit) Fits() bool { return f != nil && f.inside.Fits() }

// Nominations returns the node of each pod; none if the request does not fit.
func (f *Fit) Nominations() []Nomination {
	if f == nil {
		return nil
	}
	return nominations(f.cluster, f.pods, f.inside.Where())
}
