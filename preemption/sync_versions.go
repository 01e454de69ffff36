package preemption

import (
	"errors"
	"fmt"
	"iter"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/persist/listed"
	"github.com/cedesched/cede/workload"
)

// SyncVersions is [Snapshot.Sync] for callers that keep a version of each workload: a workload whose
// version is the one under which it was last described is not described again. running lists the
// running workloads by ID, in any order, each with its version: whatever is comparable and changes
// whenever the workload does, for example the resourceVersion of an object, or its pointer in a
// cache that never changes objects in place. (If V is an interface, its values must be comparable.)
// The zero V is no version: such a workload is described each time. describe returns the workload
// with an ID and version that running listed.
//
// config is the state without workloads. The first SyncVersions of a snapshot describes all of them,
// and so does one with another type of versions. An edit of a workload forgets its version, and more
// than 4,096 edits without a SyncVersions between them forget all.
//
// It fails as Sync does, with a fault if config has workloads, and with the errors of describe. If
// the state is not valid, running is ranged over a second time, and the paths of faults count in that
// order.
func SyncVersions[V comparable](s *Snapshot, config State, running iter.Seq2[string, V],
	describe func(id string, version V) (workload.Workload, error)) (*Snapshot, []Edit, error) {
	if len(config.Admitted) > 0 {
		return s, nil, fault.List{{Path: "admitted", Problem: fmt.Sprintf("%d workloads in the configuration", len(config.Admitted))}}
	}
	c := s.inside()
	x := versionSync[V]{known: cluster.KnownVersions[V](c), describe: describe, ok: true}
	for id, version := range running {
		x.ids[x.n], x.under[x.n] = id, version
		if x.n++; x.n == listed.Block {
			x.block()
		}
	}
	x.block()
	if x.failed != nil {
		return s, nil, errors.Join(x.failed...)
	}
	edits, ok := s.configEdits(config)
	if x.found.Gone = x.known.Gone(); !ok || !x.ok {
		return syncAll(s, config, running, describe)
	}
	if len(edits)+len(x.found.Gone)+len(x.found.Changed)+len(x.found.New) == 0 {
		if next := x.known.Under(c, x.describedIDs, x.describedUnder); s != nil && next != c {
			return s.of(next), nil, nil
		}
		return s, nil, nil
	}
	config.Admitted = x.described
	configures := len(edits) > 0
	edits, changes := syncEdits(config, x.found, edits, queuesStay(config, edits))
	next, err := s.synced(edits, changes, configures)
	if err != nil { // the state is invalid, or a snapshot between two edits is
		config.Admitted = nil
		return syncAll(s, config, running, describe)
	}
	return next.of(x.known.Under(next.inside(), x.describedIDs, x.describedUnder)), edits, nil
}

// versionSync is a SyncVersions on its way.
type versionSync[V comparable] struct {
	known    cluster.Known[V]
	describe func(id string, version V) (workload.Workload, error)

	ids   [listed.Block]string
	under [listed.Block]V
	n     int

	described      []workload.Workload
	describedIDs   []string
	describedUnder []V
	found          cluster.Difference
	failed         []error
	ok             bool // no ID was listed twice
}

// block takes the IDs listed since the last block.
func (x *versionSync[V]) block() {
	var old [listed.Block]*cluster.Workload
	var same [listed.Block]bool
	ids := x.ids[:x.n]
	x.n = 0
	if len(ids) == 0 {
		return
	}
	if !x.ok || !x.known.Find(ids, x.under[:len(ids)], &old, &same) {
		x.ok = false
		return
	}
	for i, id := range ids {
		if !same[i] {
			x.one(id, x.under[i], old[i])
		}
	}
}

// one describes a workload, which ran as old; nil: it did not.
func (x *versionSync[V]) one(id string, under V, old *cluster.Workload) {
	w, err := describedAs(id, under, x.describe)
	if err != nil {
		x.failed = append(x.failed, err)
		return
	}
	x.ok = x.found.Add(len(x.described), &w, old) && x.ok
	x.described = append(x.described, w)
	x.describedIDs, x.describedUnder = append(x.describedIDs, id), append(x.describedUnder, under)
}

// describedAs describes the workload with an ID.
func describedAs[V comparable](id string, under V, describe func(id string, version V) (workload.Workload, error)) (workload.Workload, error) {
	w, err := describe(id, under)
	if err == nil && w.ID != id {
		err = fault.List{{Path: "admitted", Problem: fmt.Sprintf("workload %q is described as %q", id, w.ID)}}
	}
	return w, err
}

// syncAll is Sync of the whole state, every workload described.
func syncAll[V comparable](s *Snapshot, st State, running iter.Seq2[string, V],
	describe func(id string, version V) (workload.Workload, error)) (*Snapshot, []Edit, error) {
	var failed []error
	for id, version := range running {
		w, err := describedAs(id, version, describe)
		if err != nil {
			failed = append(failed, err)
		}
		st.Admitted = append(st.Admitted, w)
	}
	if len(failed) > 0 {
		return s, nil, errors.Join(failed...)
	}
	return s.Sync(st)
}
