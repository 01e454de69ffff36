package preemption

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/assign"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// Snapshot is an immutable cluster: configuration, running workloads, usage. Any number of
// goroutines may use one. Make it with [NewSnapshot]; the zero value is an empty cluster.
type Snapshot struct {
	cluster *cluster.Cluster
	plans   *assign.Plans        // of the cluster's configuration, and of the flavors
	rules   *selectors.Evaluator // of the cluster's configuration; nil: there are none
	shares  *shares              // nil: there are none
}

var empty = func() *cluster.Cluster {
	c, _ := cluster.New(nil, nil, nil) // an empty configuration is valid
	return c
}()

func (s *Snapshot) inside() *cluster.Cluster {
	if s == nil || s.cluster == nil {
		return empty
	}
	return s.cluster
}

// evaluator returns the rules; nil if there are none.
func (s *Snapshot) evaluator() *selectors.Evaluator {
	if s == nil {
		return nil
	}
	return s.rules
}

// flavors returns what is known about flavors, by name.
func (s *Snapshot) flavors() []queue.Flavor {
	if s == nil || s.plans == nil {
		return nil
	}
	return s.plans.Flavors()
}

// with returns the snapshot of a cluster made by edits of this one. flavors and configs, of
// rules, are nil if unchanged.
func (s *Snapshot) with(c *cluster.Cluster, flavors []queue.Flavor, configs []rules.Config) *Snapshot {
	next := &Snapshot{cluster: c}
	if s != nil {
		next.shares = s.shares
	}
	same := s != nil && s.plans != nil && s.cluster.Shape == c.Shape
	if same && flavors == nil {
		next.plans = s.plans
	} else {
		if flavors == nil {
			flavors = s.flavors()
		}
		next.plans = assign.NewPlans(c, flavors)
	}
	switch {
	case configs == nil && (same || s == nil || s.rules == nil):
		if s != nil {
			next.rules = s.rules
		}
	case configs == nil:
		next.rules, _ = s.rules.Among(c.Cohorts, c.Queues) // they are valid
	default:
		if len(configs) > 0 {
			next.rules, _ = selectors.New(c.Cohorts, c.Queues, configs)
		}
	}
	return next
}

// NewSnapshot makes a snapshot of a state, which it copies. It fails with [Faults] of
// everything wrong with the state, by path: what [queue.Validate], [workload.Validate] and
// [queue.ValidateFlavors] find, a workload in an unknown queue, a duplicate ID, a usage over
// [quota.MaxUsage], what [rules.ValidateForm] and [fairshare.Divide] find, fair shares of other queues than those of the state. Other faults of rules, which [rules.Validate]
// finds, do not make it fail: see [Decision.RuleFaults].
func NewSnapshot(st State) (*Snapshot, error) {
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	faults, _ := err.(fault.List)
	ofFlavors, _ := queue.ValidateFlavors(st.Flavors).(fault.List)
	ofRules, _ := rules.ValidateForm("rules", st.Rules).(fault.List)
	faults = append(append(faults, ofFlavors...), ofRules...)
	var of *shares
	if c != nil {
		var wrong error
		of, wrong = divide(c, &st.FairShares, sharesPath)
		more, _ := wrong.(fault.List)
		faults = append(faults, more...)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	flavors := clones(st.Flavors, (*queue.Flavor).Clone)
	slices.SortFunc(flavors, func(a, b queue.Flavor) int { return cmp.Compare(a.Name, b.Name) })
	next := (*Snapshot)(nil).with(c, flavors, st.Rules)
	next.shares = of
	return next, nil
}

// State returns a deep copy of the snapshot's state: cohorts, queues, flavors and rules by name,
// workloads by ID. [Snapshot.Cohorts], [Snapshot.Queues] and [Snapshot.Workloads] walk it
// without a copy of the whole.
func (s *Snapshot) State() State {
	return State{
		Cohorts:    slices.Collect(s.Cohorts()),
		Queues:     slices.Collect(s.Queues()),
		Flavors:    clones(s.flavors(), (*queue.Flavor).Clone),
		Rules:      clones(s.evaluator().Configs(), func(c *rules.Config) rules.Config { return c.Clone() }),
		FairShares: s.tree(),
		Admitted:   slices.Collect(s.Workloads()),
	}
}

func clones[T any](list []T, clone func(*T) T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = clone(&list[i])
	}
	return list
}
