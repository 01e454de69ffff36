package preemption

import (
	"maps"
	"reflect"
	"slices"

	"github.com/cedesched/cede/internal/base/difference"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// Sync returns a snapshot of the state and the edits that lead to it. The snapshot equals the
// one that [NewSnapshot] makes, at the cost of what changed. If nothing changed there are no
// edits.
//
// Sync compares everything by value (times as instants), so no change is missed. It looks at
// each workload once, and each workload that changed costs what its edits cost. The state may list
// the workloads in any order; it is fastest in that of the last Sync or NewSnapshot. A change of the
// configuration costs O(queues + workloads). Until the next Sync the snapshot keeps in memory
// what edits replace. [SyncVersions] does not need what did not change.
//
// [Snapshot.With] with the edits, in their order, leads from s to the new snapshot. The order
// is: Remove, by ID, of workloads that are gone or that change and cannot be updated;
// SetFlavor and RemoveFlavor, by name; SetRules and RemoveRules, by name; SetCohort, SetQueue,
// RemoveQueue and RemoveCohort, each by name; SetFairShareQueue, in the order of the tree, or SetFairShares; Admit, by ID, of workloads that
// changed, then of those that are new or were removed to change. A workload cannot be updated if its old queue is removed, or
// if a usage would exceed [quota.MaxUsage] between two edits.
//
// It fails as NewSnapshot does, with the same faults, and returns s and no edits.
func (s *Snapshot) Sync(st State) (*Snapshot, []Edit, error) {
	c := s.inside()
	found, list, ok := c.Compare(st.Admitted)
	config, unique := s.configEdits(st)
	if !ok || !unique {
		_, err := NewSnapshot(st)
		return s, nil, err
	}
	if len(config)+len(found.Gone)+len(found.Changed)+len(found.New) == 0 {
		if s == nil || c.Lists(list) {
			return s, nil, nil
		}
		return s.of(c.Listing(list)), nil, nil
	}
	edits, changes := syncEdits(st, found, config, queuesStay(st, config))
	next, err := s.synced(edits, changes, len(config) > 0)
	if err != nil { // the state is invalid, or a snapshot between two edits is
		if next, err = NewSnapshot(st); err != nil {
			return s, nil, err
		}
		edits, _ = syncEdits(st, found, config, func(*cluster.Workload) bool { return false })
		return next, edits, nil
	}
	return next.of(next.inside().Listing(list)), edits, nil
}

// queuesStay returns a function that reports whether the queue of a workload stays.
func queuesStay(st State, config []Edit) func(*cluster.Workload) bool {
	if len(config) == 0 {
		return func(*cluster.Workload) bool { return true }
	}
	stay := make(map[string]bool, len(st.Queues))
	for i := range st.Queues {
		stay[st.Queues[i].Name] = true
	}
	return func(w *cluster.Workload) bool { return stay[w.Facts.Queue()] }
}

// of returns the snapshot of an equal cluster.
func (s *Snapshot) of(c *cluster.Cluster) *Snapshot {
	next := *s
	next.cluster = c
	return &next
}

// syncEdits returns the edits for a difference, and the changes of workloads that they make.
func syncEdits(st State, found cluster.Difference, config []Edit, mayStay func(old *cluster.Workload) bool) ([]Edit, []cluster.Change) {
	n := len(found.Changed)
	remove := make([]Edit, 0, len(found.Gone))
	update, admit := make([]Edit, 0, n), make([]Edit, 0, len(found.New))
	changes := make([]cluster.Change, 0, len(found.Gone)+n+len(found.New))
	for _, w := range found.Gone {
		remove = append(remove, Remove(w.Facts.ID))
		changes = append(changes, cluster.Change{Old: w})
	}
	for _, changed := range found.Changed {
		e := Admit(st.Admitted[changed.New])
		changes = append(changes, cluster.Change{Old: changed.Old, New: e.to.(*workload.Workload)})
		if mayStay(changed.Old) {
			update = append(update, e)
		} else {
			remove, admit = append(remove, Remove(e.name)), append(admit, e)
		}
	}
	for _, i := range found.New {
		e := Admit(st.Admitted[i])
		changes = append(changes, cluster.Change{New: e.to.(*workload.Workload)})
		admit = append(admit, e)
	}
	for _, list := range [][]Edit{remove, update, admit} {
		slices.SortFunc(list, byName)
	}
	return slices.Concat(remove, config, update, admit), changes
}

// synced applies the edits, all at once if they are edits of workloads only: the changes.
func (s *Snapshot) synced(edits []Edit, changes []cluster.Change, configures bool) (*Snapshot, error) {
	if configures {
		return s.With(edits...)
	}
	next, err := s.inside().Replace(changes)
	if err != nil {
		return nil, err
	}
	return s.with(next, nil, nil), nil
}

// configEdits returns the edits that turn the flavors, rules, cohorts and queues into those of the
// state; ok is false if two have the same name.
func (s *Snapshot) configEdits(st State) (edits []Edit, ok bool) {
	c, ok := s.inside(), true
	setFlavors, removeFlavors := differences(s.flavors(), st.Flavors, &ok, flavorName, equalFlavors, SetFlavor, RemoveFlavor)
	setRules, removeRules := differences(s.evaluator().Configs(), st.Rules, &ok, rulesName, equalRules, SetRules, RemoveRules)
	setCohorts, removeCohorts := differences(c.Cohorts, st.Cohorts, &ok, cohortName, equalCohorts, SetCohort, RemoveCohort)
	setQueues, removeQueues := differences(c.Queues, st.Queues, &ok, queueName, equalQueues, SetQueue, RemoveQueue)
	edits = slices.Concat(setFlavors, removeFlavors, setRules, removeRules, setCohorts, setQueues, removeQueues, removeCohorts)
	if have := s.tree(); !have.IsZero() || !st.FairShares.IsZero() {
		edits = append(edits, shareEdits(&have, &st.FairShares)...)
	}
	return edits, ok
}

// differences returns the edits that turn the things in have into those in want, by name; ok
// becomes false if two in want have the same name.
func differences[T any](have, want []T, ok *bool, name func(*T) string, equal func(a, b *T) bool,
	set func(T) Edit, remove func(string) Edit) (sets, removes []Edit) {
	found := difference.Between(len(have), func(i int) *T { return &have[i] }, want, name, equal)
	*ok = *ok && !found.Repeated
	for _, one := range found.Come {
		sets = append(sets, set(*one))
	}
	for _, one := range found.Gone {
		removes = append(removes, remove(name(one)))
	}
	slices.SortFunc(sets, byName)
	slices.SortFunc(removes, byName)
	return sets, removes
}

func equalRules(a, b *rules.Config) bool { return reflect.DeepEqual(a, b) }

func equalFlavors(a, b *queue.Flavor) bool {
	return a.Name == b.Name && maps.Equal(a.NodeLabels, b.NodeLabels) &&
		slices.Equal(a.NodeTaints, b.NodeTaints) && slices.Equal(a.Tolerations, b.Tolerations) &&
		a.Topology.Name == b.Topology.Name && slices.Equal(a.Topology.Levels, b.Topology.Levels)
}

func equalCohorts(a, b *queue.Cohort) bool {
	return a.Name == b.Name && a.Parent == b.Parent && slices.Equal(a.Quotas, b.Quotas) && slices.Equal(a.Reserved, b.Reserved) &&
		a.FairWeight == b.FairWeight && a.MinRuntime == b.MinRuntime
}

func equalQueues(a, b *queue.Queue) bool {
	return a.Name == b.Name && a.Cohort == b.Cohort && maps.Equal(a.Labels, b.Labels) && a.Rules == b.Rules && slices.Equal(a.Quotas, b.Quotas) && slices.Equal(a.Reserved, b.Reserved) &&
		a.Inactive == b.Inactive && a.Preemption == b.Preemption && a.FlavorFungibility == b.FlavorFungibility &&
		a.FairWeight == b.FairWeight && a.Strategy == b.Strategy && a.MinRuntime == b.MinRuntime
}
