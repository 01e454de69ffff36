package answers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Cluster is an input, ready to be asked.
type Cluster struct {
	Input
	Snapshot  *preemption.Snapshot
	Config    preemption.Config
	Preemptor *preemption.Preemptor
	Now       time.Time
	Sharing   string // why fair sharing decides, if the input says so
}

// MaxBlockers is more than the default: a person wants to see more of them than a scheduler.
const MaxBlockers = 16

// ByFairShares reports whether fair shares decide, as in KAI.
func (in *Input) ByFairShares() bool { return !in.State.FairShares.IsZero() }

// ShareAsFound sets fair sharing if the input says so, and fair shares if it has any.
func (c *Cluster) ShareAsFound() {
	if c.ByFairShares() {
		c.Config.Sharing = preemption.KAI
		return
	}
	if known := c.Found.Sharing; known.Known && known.On {
		c.Config.Sharing, c.Config.Strategies = preemption.Fair, known.Strategies
		c.Sharing = "decided by fair sharing because of " + known.Source
	}
}

// LimitAsFound sets the limits on preemptions that the input has.
func (c *Cluster) LimitAsFound() { c.Config.Limits = c.Found.Limits }

// Faults keeps the first fault of a state, and says how many more there are.
func Faults(err error) error {
	var faults preemption.Faults
	if !errors.As(err, &faults) {
		return err
	}
	return fmt.Errorf("the cluster is not valid: %w%s", faults[0], andMore(len(faults)-1))
}

// andMore says how many faults there are besides the one that is told.
func andMore(faults int) string {
	switch faults {
	case 0:
		return ""
	case 1:
		return " (and 1 more fault)"
	}
	return fmt.Sprintf(" (and %d more faults)", faults)
}

// Snapshot is [preemption.NewSnapshot]. In memory the workloads of a queue stand side by side, in the order in which they
// yield: a search that goes over all of them takes half as long.
func Snapshot(s preemption.State) (*preemption.Snapshot, error) {
	given := s
	s.Admitted = slices.Clone(s.Admitted)
	slices.SortFunc(s.Admitted, func(a, b workload.Workload) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.EffectivePriority(), b.EffectivePriority()), b.ReservedAt.Compare(a.ReservedAt), cmp.Compare(a.ID, b.ID))
	})
	made, err := preemption.NewSnapshot(s)
	if err != nil {
		return preemption.NewSnapshot(given) // its faults name places in the list as it was given
	}
	return made, nil
}

// HasLabels reports whether a node has all labels of a flavor. A flavor without labels says of no node that it is one of its own.
func HasLabels(node, flavor map[string]string) bool {
	if len(flavor) == 0 {
		return false
	}
	for key, value := range flavor {
		if has, is := node[key]; !is || has != value {
			return false
		}
	}
	return true
}
