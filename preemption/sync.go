package preemption

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Sync returns a snapshot of a state, and the edits that lead to it: what [NewSnapshot]
// makes of the state, at the cost of what changed. Where nothing did there are no edits.
//
// Everything is compared by value, times as instants, so that no change is missed. It costs
// a look at each workload, and for each that changed what its edits cost; least when the
// state lists the workloads in the order of the last Sync. A change of the configuration
// costs as much as there are queues and workloads. Until the next Sync the snapshot keeps
// what edits replace.
//
// The edits, made by [Snapshot.With] in their order, lead from s to the new snapshot: first
// Remove of workloads that are gone and of those that change and cannot be updated, by ID;
// then SetFlavor and RemoveFlavor, by name; SetCohort, SetQueue, RemoveQueue and RemoveCohort,
// each by name; then Update of workloads that changed, by ID; last Admit of those that are new
// or were removed to come again, by ID. A workload cannot be updated where its old queue goes,
// or where on the way a usage would pass [quota.MaxUsage].
//
// It fails as NewSnapshot does, with the same faults, and returns s and no edits.
func (s *Snapshot) Sync(st State) (*Snapshot, []Edit, error) {
	c := s.inside()
	found, ok := c.Compare(st.Admitted, c.Current(s.lastOrder()))
	config, unique := s.configEdits(st)
	if !ok || !unique {
		_, err := NewSnapshot(st)
		return s, nil, err
	}
	if len(config)+len(found.Gone)+len(found.Changed)+len(found.New) == 0 {
		return s.inOrder(found.Records), nil, nil
	}
	stays := func(old *cluster.Workload) bool {
		return len(config) == 0 || slices.ContainsFunc(st.Queues, func(q queue.Queue) bool { return q.Name == old.Facts.Queue() })
	}
	edits := syncEdits(st, found, config, stays)
	next, err := s.synced(edits, found, len(config) > 0)
	if err != nil { // something is wrong with the state, or on the way to it
		if next, err = NewSnapshot(st); err != nil {
			return s, nil, err
		}
		edits = syncEdits(st, found, config, func(*cluster.Workload) bool { return false })
	}
	return next.inOrder(records(next.inside(), st.Admitted, found)), edits, nil
}

// lastOrder is the workloads in the order in which the last Sync found them, and the IDs of
// those that were edited since.
func (s *Snapshot) lastOrder() (order []*cluster.Workload, edited []string) {
	if s == nil {
		return nil, nil
	}
	return s.order, s.edited
}

// inOrder returns the snapshot with an order to compare with the next time.
func (s *Snapshot) inOrder(order []*cluster.Workload) *Snapshot {
	if s == nil || len(s.edited) == 0 && slices.Equal(s.order, order) {
		return s
	}
	next := *s
	next.order, next.edited = order, nil
	return &next
}

// maxEdited is how many edits since the last Sync cost more to go through than they save.
const maxEdited = 1 << 12

// follow keeps the order of a snapshot that the edits were made on, in one that nobody else
// has yet.
func (s *Snapshot) follow(before *Snapshot, edits []Edit) *Snapshot {
	if before == nil || len(before.order) == 0 || len(before.edited)+len(edits) > maxEdited {
		return s
	}
	s.order, s.edited = before.order, slices.Clip(before.edited)
	for i := range edits {
		if id := edits[i].id(); id != "" {
			s.edited = append(s.edited, id)
		}
	}
	return s
}

// records completes the workloads of a list, in its order.
func records(c *cluster.Cluster, admitted []workload.Workload, found cluster.Difference) []*cluster.Workload {
	for _, changed := range found.Changed {
		found.Records[changed.New], _ = c.Find(admitted[changed.New].ID)
	}
	for _, i := range found.New {
		found.Records[i], _ = c.Find(admitted[i].ID)
	}
	return found.Records
}

// syncEdits returns the edits by which a difference is made good.
func syncEdits(st State, found cluster.Difference, config []Edit, mayStay func(old *cluster.Workload) bool) []Edit {
	var remove, update, admit []Edit
	for _, w := range found.Gone {
		remove = append(remove, Remove(w.Facts.ID))
	}
	for _, changed := range found.Changed {
		w := st.Admitted[changed.New]
		if mayStay(changed.Old) {
			update = append(update, Update(w))
		} else {
			remove, admit = append(remove, Remove(w.ID)), append(admit, Admit(w))
		}
	}
	for _, i := range found.New {
		admit = append(admit, Admit(st.Admitted[i]))
	}
	for _, list := range [][]Edit{remove, update, admit} {
		slices.SortFunc(list, func(a, b Edit) int { return cmp.Compare(a.id(), b.id()) })
	}
	return slices.Concat(remove, config, update, admit)
}

// id is the workload's that the edit is about; empty for others.
func (e *Edit) id() string {
	switch e.kind {
	case editAdmit, editUpdate:
		return e.workload.ID
	case editStartEviction, editStartShrink, editShrink, editRemove:
		return e.name
	}
	return ""
}

// synced makes the edits: where all are of workloads, at once.
func (s *Snapshot) synced(edits []Edit, found cluster.Difference, configures bool) (*Snapshot, error) {
	if configures {
		return s.With(edits...)
	}
	gone := slices.Clone(found.Gone)
	for _, changed := range found.Changed {
		gone = append(gone, changed.Old)
	}
	come := make([]workload.Workload, 0, len(edits))
	for i := range edits {
		if edits[i].kind == editAdmit || edits[i].kind == editUpdate {
			come = append(come, edits[i].workload) // the edit's copy, which nobody changes
		}
	}
	next, err := s.inside().Replace(gone, come)
	if err != nil {
		return nil, err
	}
	return s.with(next, nil), nil
}

// configEdits returns the edits that make flavors, cohorts and queues those of a state; ok is
// false where two have one name.
func (s *Snapshot) configEdits(st State) (edits []Edit, ok bool) {
	c := s.inside()
	setFlavors, removeFlavors, ok1 := differences(s.flavors(), st.Flavors,
		func(f *queue.Flavor) string { return f.Name }, equalFlavors, SetFlavor, RemoveFlavor)
	setCohorts, removeCohorts, ok2 := differences(c.Cohorts, st.Cohorts,
		func(c *queue.Cohort) string { return c.Name }, equalCohorts, SetCohort, RemoveCohort)
	setQueues, removeQueues, ok3 := differences(c.Queues, st.Queues,
		func(q *queue.Queue) string { return q.Name }, equalQueues, SetQueue, RemoveQueue)
	return slices.Concat(setFlavors, removeFlavors, setCohorts, setQueues, removeQueues, removeCohorts), ok1 && ok2 && ok3
}

// differences returns the edits that make of things those that are wanted, by name; ok is
// false where two of those have one name.
func differences[T any](have, want []T, name func(*T) string, equal func(a, b *T) bool,
	set func(T) Edit, remove func(string) Edit) (sets, removes []Edit, ok bool) {
	at := make(map[string]int, len(want))
	for i := range want {
		at[name(&want[i])] = i
	}
	same := make([]bool, len(want))
	for i := range have {
		if j, kept := at[name(&have[i])]; !kept {
			removes = append(removes, remove(name(&have[i])))
		} else {
			same[j] = equal(&have[i], &want[j])
		}
	}
	for j := range want {
		if !same[j] {
			sets = append(sets, set(want[j]))
		}
	}
	for _, list := range [][]Edit{sets, removes} {
		slices.SortFunc(list, func(a, b Edit) int { return cmp.Compare(a.name, b.name) })
	}
	return sets, removes, len(at) == len(want)
}

func equalFlavors(a, b *queue.Flavor) bool {
	return a.Name == b.Name && maps.Equal(a.NodeLabels, b.NodeLabels) &&
		slices.Equal(a.NodeTaints, b.NodeTaints) && slices.Equal(a.Tolerations, b.Tolerations)
}

func equalCohorts(a, b *queue.Cohort) bool {
	return a.Name == b.Name && a.Parent == b.Parent && slices.Equal(a.Quotas, b.Quotas) &&
		a.FairWeight == b.FairWeight && a.MinRuntime == b.MinRuntime
}

func equalQueues(a, b *queue.Queue) bool {
	return a.Name == b.Name && a.Cohort == b.Cohort && slices.Equal(a.Quotas, b.Quotas) &&
		a.Preemption == b.Preemption && a.FlavorFungibility == b.FlavorFungibility &&
		a.FairWeight == b.FairWeight && a.Strategy == b.Strategy && a.MinRuntime == b.MinRuntime
}
