package ask

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/workload"
)

// Config holds for all requests.
type Config struct {
	Mode        Mode
	Order       Order
	HardBudgets bool
	// FirstViolated charges a pod to its budgets up to the first violated one.
	FirstViolated bool
	MinRuntime    [2]int64 // by kind, of pods without one of which the group has none
}

// Mode is the version of the algorithm.
type Mode uint8

const (
	Design Mode = iota
	InPlace
)

// Order is the order in which nodes are tried.
type Order uint8

const (
	FirstFit Order = iota
	BestFit
	RoundRobin
)

// Request is a request with names.
type Request struct {
	Group              string
	Priority           int32
	Queue              string // empty: none
	Never              bool   // it preempts no unit
	MinCount           int
	Pods               []workload.Pod
	Several            bool            // the pods are of several units, and each is as it says; there is no group
	Gone               map[string]bool // running pods that count as gone, beside Several
	MinGroups          int
	Nested             []NestedGroup
	Domains            []Domain
	DomainsPreferred   bool
	Prefer             []string
	SkipFit            bool
	MaxDomains         int // zero: no limit
	FirstNode          int
	Rules              Rules
	Now                time.Time
	TerminationTimeout time.Duration
	// AwaitsAll: whoever terminates is waited for, whatever its priority.
	AwaitsAll bool
	// MaxBlockers limits the blockers. MaxRetrySteps limits the search for RetryAt; negative: there is none.
	MaxBlockers, MaxRetrySteps int
	Extent                     Extent
	// Trace records the steps; nil: no recording.
	Trace *trace.Recorder
}

// Extent says how much is computed if there is no place now.
type Extent uint8

const (
	OutcomeOnly Extent = iota
	WithReasons        // also shortages and blockers
	WithTime           // also whether and when time helps
)

// Domain is a set of nodes within which a group is placed.
type Domain struct {
	Name  string
	Nodes []string
}

// NestedGroup is what a group below that of the request needs.
type NestedGroup struct {
	Group            string
	MinCount         int // pods, with those of the groups below it
	MinGroups        int // groups directly below it
	Domains          []Domain
	DomainsPreferred bool
}

// Rules are rules of the caller.
type Rules struct {
	Filters    []Filter
	SetFilters []SetFilter
	Placer     func() PlacerTrial // nil: Config.Order
	// Importance, if set, compares units; the built-in order breaks ties.
	Importance func(a, b *state.Unit) int
	// Guard, if set, returns the last instant at which a unit must stay: instant.Unset for no protection,
	// math.MaxInt64 for ever.
	Guard func(*state.Unit) int64
}

// Filter is a rule about where pods may run. A Wide filter may have conflicts beyond one node.
type Filter struct {
	Rule interface {
		Feasible(pod workload.Pod, node workload.Node) bool
		Conflict(pod, other workload.Pod) bool
	}
	Wide bool
}

// SetFilter is a rule that answers for sets of pods. Begin returns a trial in which every running pod of the cluster
// is there. With Wide the answer for a node may depend on pods of other nodes.
type SetFilter struct {
	Begin func() Trial
	Wide  bool
}

// Trial says whether a pod may run on a node beside the pods that are there.
type Trial interface {
	Add(pod workload.Pod)
	Remove(pod workload.Pod)
	Allows(pod workload.Pod, node workload.Node) bool
}

// PlacerTrial is a trial that also places the pods of the request.
type PlacerTrial interface {
	Trial
	Place(pods []workload.Pod, nodes []string) []string
}

// DecidePlaces reports whether the rules decide about places, too.
func (r *Rules) DecidePlaces() bool { return len(r.Filters) > 0 || r.HaveTrials() }

// HaveTrials reports whether a rule answers for sets of pods.
func (r *Rules) HaveTrials() bool { return len(r.SetFilters) > 0 || r.Placer != nil }

// AreWide reports whether an answer for a node may depend on pods of other nodes.
func (r *Rules) AreWide() bool {
	return r.Placer != nil || slices.ContainsFunc(r.Filters, func(f Filter) bool { return f.Wide }) ||
		slices.ContainsFunc(r.SetFilters, func(f SetFilter) bool { return f.Wide })
}

// DecidesTogether reports whether a group is decided about as built in v1.37: placed once, in the first domain with room
// for it, whatever runs there; all units of lower priority are charged to the budgets, wherever they run; a basic group is
// a gang of which one pod is enough.
func (c *Config) DecidesTogether(r *Request) bool { return c.Mode == InPlace && r.Group != "" }

// IsOneByOne reports whether the pods of a group are decided about one by one: it is in the cluster and is no gang.
// (As built in v1.37 it is placed as a group of which one pod is enough.)
func (c *Config) IsOneByOne(of *state.Cluster, id string) bool {
	g := of.KnownGroup(id)
	return g != nil && g.Facts.Basic && c.Mode != InPlace
}

// IsAlone reports whether the built-in rules place a single pod.
func (r *Request) IsAlone() bool { return r.Group == "" && r.Rules.Placer == nil }

// GroupOf returns the group of a pod of the request: its own, else that of the request.
func (r *Request) GroupOf(p *workload.Pod) string { return cmp.Or(p.Group, r.Group) }

// Shown returns a pod of the request as filters, trials and placers see it: with the group, the priority and the
// queue of the request.
func (r *Request) Shown(i int) *workload.Pod {
	p := &r.Pods[i]
	if group := r.GroupOf(p); !r.Several && r.Rules.DecidePlaces() && (p.Group != group || p.Priority != r.Priority || p.Queue != r.Queue) {
		shown := *p
		shown.Group, shown.Priority, shown.Queue = group, r.Priority, r.Queue
		return &shown
	}
	return p
}
