package explain

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// maxSamples is how many workloads of a number an explanation names: enough to see the pattern on a
// screen.
const maxSamples = 4

// Counted is a number of workloads or units, with the IDs of a few.
type Counted struct {
	Count   int64    `json:"count"`
	Samples []string `json:"samples,omitempty"`
}

func (n *Counted) add(name string) {
	if n.Count++; len(n.Samples) < maxSamples {
		n.Samples = append(n.Samples, name)
	}
}

// Kept is a number of workloads or units that one rule keeps from yielding.
type Kept[Rule preemption.Rule | placement.Rule] struct {
	// Rule is the rule. Zero: they use nothing of what is short. On nodes RuleTerminating: they were told
	// to stop already.
	Rule Rule `json:"rule,omitzero"`
	// SetBy names the node that sets the rule or that borrows nothing, as `cohort "research"`; for a
	// minimum runtime also "default" (of the configuration), "protection", "pod" or "group". Else empty:
	// the policy of the level, the workload itself, or a guard.
	SetBy string `json:"setBy,omitempty"`
	Counted
	// From and Until are the first and the last instant at which the rule ends for one of
	// them, if time ends it. Zero: it does not.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// keptKey is what tells numbers of kept workloads apart.
type keptKey struct {
	rule  trace.Rule
	setBy int
}

// countKept adds what a step says is kept to the number with the same rule, which it begins if there is none.
// at holds the indexes of the numbers.
func countKept[Rule preemption.Rule | placement.Rule](at map[keptKey]int, list *[]Kept[Rule], s *trace.Step, name string, timed bool, begin func() Kept[Rule]) {
	key := keptKey{s.Rule, s.SetBy}
	i, known := at[key]
	if !known {
		i = len(*list)
		at[key], *list = i, append(*list, begin())
	}
	k := &(*list)[i]
	k.add(name)
	if timed && s.Until < math.MaxInt64 {
		widen(&k.From, &k.Until, instant.Time(s.Until))
	}
}

// widen makes a span of time include an instant.
func widen(from, until *time.Time, at time.Time) {
	if from.IsZero() || at.Before(*from) {
		*from = at
	}
	if at.After(*until) {
		*until = at
	}
}

func sortKept[Rule preemption.Rule | placement.Rule](list []Kept[Rule]) {
	slices.SortStableFunc(list, func(a, b Kept[Rule]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.SetBy, b.SetBy))
	})
}
