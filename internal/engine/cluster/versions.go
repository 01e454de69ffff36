package cluster

import "github.com/cedesched/cede/internal/persist/listed"

// versions holds, by place in the list, the versions under which a caller described the workloads.
type versions[V comparable] []version[V]

type version[V comparable] struct {
	of       V
	workload *Workload // the record of what was described; another one runs if an edit replaced it
}

// Known walks through the IDs of a caller's list, each with a version. The zero V is no version.
type Known[V comparable] struct {
	walk listed.Walk[*Workload]
	kept versions[V]
}

// KnownVersions starts a walk.
func KnownVersions[V comparable](c *Cluster) Known[V] {
	list := c.Listed()
	kept, _ := c.versions.(versions[V])
	if !c.Lists(list) {
		kept = kept.in(list)
	}
	return Known[V]{list.Walk(), kept}
}

// in returns the versions by place in a later list, without those of workloads that edits replaced.
func (kept versions[V]) in(list *List) versions[V] {
	next := make(versions[V], list.Places())
	for was, v := range kept {
		if v.workload == nil {
			continue
		}
		place := was
		if was >= len(next) || list.Item(was) != v.workload { // it has another place, or is gone
			place = list.Place(v.workload.Facts.ID)
		}
		if place >= 0 && list.Item(place) == v.workload {
			next[place] = v
		}
	}
	return next
}

// Find finds the workloads with the next IDs, at most [listed.Block]; nil: none. same says which of
// them were described under the same version. ok is false if the walk met an ID before.
func (k *Known[V]) Find(ids []string, under []V, found *[listed.Block]*Workload, same *[listed.Block]bool) (ok bool) {
	var places [listed.Block]int
	if !k.walk.Find(ids, found, &places) {
		return false
	}
	var none V
	for i, place := range places[:len(ids)] {
		same[i] = false
		if place >= 0 && place < len(k.kept) {
			v := &k.kept[place]
			same[i] = v.of == under[i] && v.of != none && v.workload == found[i]
		}
	}
	return true
}

// Gone returns the workloads that the walk did not find.
func (k *Known[V]) Gone() []*Workload { return k.walk.Missed() }

// Under returns the cluster with the versions under which a caller described workloads just then, by
// ID, and with those that this cluster has, or one that edits led from, for the others.
func (k *Known[V]) Under(c *Cluster, ids []string, under []V) *Cluster {
	list := c.Listed()
	if len(ids) == 0 && c.Lists(list) {
		return c
	}
	kept := k.kept.in(list)
	for i, id := range ids {
		if place := list.Place(id); place >= 0 {
			kept[place] = version[V]{under[i], list.Item(place)}
		}
	}
	next := c.Listing(list)
	next.versions = kept
	return next
}
