package placement

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes"
	"github.com/cedesched/cede/workload"
)

// Fit answers for one request whether it has a place, while groups are taken away and given
// back: the room side of a decision whose victims somebody else chooses (by quota, say, with
// the ID of a workload as that of its pods' group). Priorities, disruption modes and budgets
// do not count. It starts with everything that runs: in [ModeDesign] without what terminates and
// is waited for, in the other modes, where that counts as running, with it.
//
// Its laws, for a search that takes until it fits and then gives back what it can:
//
//  1. An answer of true has a placement behind it, [Fit.Nominations].
//  2. After true, taking more leaves it true. After false, giving back leaves it false,
//     but for gangs of unequal pods: nodes may be filled in a better way with less room.
//  3. Taking what was taken, or giving back what was not, changes nothing; nor does a group
//     without pods.
//
// Taking and giving back cost as much as the group has pods; an answer as much as placing
// the request, unless it follows from the one before. A Fit may be used by one goroutine at
// a time. Make it with [Preemptor.Fit]; the zero value never fits.
type Fit struct {
	inside  *nodes.Fit
	cluster *nodes.Cluster
	pods    []workload.Pod
}

// Fit returns a fit for a request. Errors are those of [Preemptor.Decide].
func (p *Preemptor) Fit(snapshot *Snapshot, r Request) (*Fit, error) {
	if p == nil {
		p = &standard
	}
	r.Pods = slices.Clone(r.Pods)
	for i := range r.Pods {
		r.Pods[i] = r.Pods[i].Clone()
	}
	r.Domains, r.Prefer = slices.Clone(r.Domains), slices.Clone(r.Prefer)
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return nil, err
	}
	return &Fit{nodes.NewFit(&p.inside, c, &sc.request), c, r.Pods}, nil
}

// Remove takes the running pods of a group away.
func (f *Fit) Remove(group string) {
	if f != nil {
		f.inside.Remove(group)
	}
}

// Restore puts the running pods of a removed group back.
func (f *Fit) Restore(group string) {
	if f != nil {
		f.inside.Restore(group)
	}
}

// Fits reports whether the request has a place without the groups that are taken.
func (f *Fit) Fits() bool { return f != nil && f.inside.Fits() }

// Nominations returns where the pods have their place; none if it does not fit.
func (f *Fit) Nominations() []Nomination {
	if f == nil {
		return nil
	}
	return nominations(f.cluster, f.pods, f.inside.Where())
}
