package cluster

import "github.com/cedesched/cede/internal/persist/listed"

// versions holds, by place in the list, the versions under which a caller described the workloads.
type versions[V comparable] struct{ listed.Pages[version[V]] }

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
	return Known[V]{list.Walk(false), kept.in(list, c.list)}
}

// in returns the versions by place in a later list than their own.
func (kept versions[V]) in(list, own *List) versions[V] {
	if kept.Len() == 0 || list.Continues(own) {
		return kept
	}
	var none listed.Pages[version[V]]
	next := versions[V]{none.Edit(list.Places())}
	for was := range kept.Len() {
		v := kept.At(was)
		if v.workload == nil {
			continue
		}
		if place := list.Place(v.workload.Facts.ID); place >= 0 && list.Item(place) == v.workload {
			next.Set(&none, place, *v)
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
		if place >= 0 && place < k.kept.Len() {
			v := k.kept.At(place)
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
	before := k.kept.in(list, k.walk.List)
	kept := versions[V]{before.Edit(list.Places())}
	for i, id := range ids {
		if place := list.Place(id); place >= 0 {
			kept.Set(&before.Pages, place, version[V]{under[i], list.Item(place)})
		}
	}
	next := c.Listing(list)
	next.versions = kept
	return next
}
