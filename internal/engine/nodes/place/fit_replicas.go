package place

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// PodSets says of which pod set a running pod is, and which of two leaves first; nil: the last by ID. Pods that
// terminate leave before others. Nothing may be removed.
func (f *Fit) PodSets(name func(workload.Pod) string, compare func(a, b workload.Pod) int) {
	f.replicas = replicas{name, compare, map[string][]podSet{}}
}

// SetRemoved says how many replicas of a pod set are removed.
func (f *Fit) SetRemoved(workload, name string, count int64) {
	set := f.podSet(workload, name)
	if set == nil {
		return
	}
	before := set.removed
	set.removed = int(max(0, min(count, int64(len(set.pods)))))
	switch {
	case f.away[workload]:
	case set.removed > before:
		f.move(set.pods[before:set.removed], true)
	default:
		f.move(set.pods[set.removed:before], false)
	}
}

// Replicas returns the IDs of the running pods of a pod set, in the order in which they leave.
func (f *Fit) Replicas(workload, name string) (ids []string) {
	if set := f.podSet(workload, name); set != nil {
		for _, p := range set.pods {
			ids = append(ids, p.Facts.ID)
		}
	}
	return ids
}

// podSet returns a pod set; nil: it has no running pod.
func (f *Fit) podSet(workload, name string) *podSet {
	if f == nil || f.replicas.podSet == nil {
		return nil
	}
	sets, known := f.replicas.of[workload]
	if g := f.board.Cluster.Group(workload); g != nil && !known {
		sets = f.replicas.split(g.Members)
		f.replicas.of[workload] = sets
	}
	if i := slices.IndexFunc(sets, func(s podSet) bool { return s.name == name }); i >= 0 {
		return &sets[i]
	}
	return nil
}

// split returns the pod sets of a workload's pods.
func (r *replicas) split(pods []*state.Pod) (sets []podSet) {
	for _, p := range pods {
		name := r.podSet(p.Facts)
		i := slices.IndexFunc(sets, func(s podSet) bool { return s.name == name })
		if i < 0 {
			i, sets = len(sets), append(sets, podSet{name: name})
		}
		sets[i].pods = append(sets[i].pods, p)
	}
	for i := range sets {
		slices.SortFunc(sets[i].pods, r.order)
	}
	return sets
}

func (r *replicas) order(a, b *state.Pod) int {
	if a.Facts.Terminating != b.Facts.Terminating {
		if a.Facts.Terminating {
			return -1
		}
		return 1
	}
	order := 0
	if r.compare != nil {
		order = r.compare(a.Facts, b.Facts)
	}
	return cmp.Or(order, cmp.Compare(b.Facts.ID, a.Facts.ID))
}
