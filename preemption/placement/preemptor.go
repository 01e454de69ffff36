package placement

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/spare"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/quota"
)

// Mode is the version of the algorithm. The zero value is ModeDesign.
type Mode uint8

const (
	// ModeDesign is KEP-5710 as first written, with a binary search over priorities; see the documentation of the
	// package.
	ModeDesign Mode = iota
	// ModeInPlace is as built in v1.37: the preemptor is placed once, without regard to who runs there, and units are
	// put back around it. A group goes to the first of its domains with room, all
	// units of lower priority are charged to the budgets, wherever they run, and a Basic group is placed as a group of
	// which one pod is enough.
	ModeInPlace
)

// Order is the order in which placement tries nodes. The zero value is FirstFit.
type Order uint8

const (
	// FirstFit chooses the first node with room.
	FirstFit Order = iota
	// BestFit chooses the node with the least left after the pod: the smallest sum, over the requested resources, of
	// the free part of the capacity, each rounded down to units of 2^-32.
	BestFit
	// RoundRobin chooses the first node with room after the one chosen last.
	RoundRobin
)

// BudgetMode says whether a disruption budget may be violated. The zero value is Soft.
type BudgetMode uint8

const (
	// Soft: units that would violate a budget are put back first (KEP-5710, Preemption algorithm). If that is not
	// enough, a budget is violated.
	Soft BudgetMode = iota
	// Hard: a budget is never violated. If the soft answer violates one, the decision is made again: the least
	// important units of each budget may use its allowance, and its other units stay. So the reason may be
	// ReasonBudgets although another way to use the allowance would help.
	Hard
)

// Charge says to which of several disruption budgets that cover a pod its eviction is charged. It decides which pods
// violate a budget. The zero value is ChargeByMode.
type Charge uint8

const (
	// ChargeByMode: as built in v1.37 in [ModeInPlace] (ChargeToFirstViolated), else ChargeToAll.
	ChargeByMode Charge = iota
	// ChargeToAll: to all of them (as built in v1.36).
	ChargeToAll
	// ChargeToFirstViolated: to one after the other, by name, up to the first that it violates (as built in v1.37).
	ChargeToFirstViolated
)

// toFirstViolated reports whether a pod is charged up to the first budget that it violates.
func (c *Config) toFirstViolated() bool {
	return c.Charge == ChargeToFirstViolated || c.Charge == ChargeByMode && c.Mode == ModeInPlace
}

// Config configures a [Preemptor]. The zero value is valid: ModeDesign, FirstFit, soft budgets, no unit
// protected by time, no rules of the caller.
type Config struct {
	// MaxBlockers limits the length of [Decision.Blockers]. Zero is 4; negative: there are none.
	MaxBlockers int
	// MaxRetrySteps limits the search for [Decision.RetryAt]: the number of running pods looked at, over all instants
	// that are tried. When it is exceeded, RetryAt is the first instant not tried, which is never too late: at that
	// instant the decision may still be Wait or Impossible. Zero is 2 million.
	//
	// Negative leaves RetryAt zero: the search for it may cost more than the rest of a decision. Wait then means that
	// time may help, not that it will; Impossible still means that it will not.
	MaxRetrySteps int
	// MinRuntime is the minimum runtime of pods that have none, as their group has none, ReclaimMinRuntime that
	// against requests of other queues. Unset is zero: no unit is protected. Negative is an error. See
	// [workload.Pod.MinRuntime].
	MinRuntime, ReclaimMinRuntime quota.OptionalDuration
	Mode                          Mode
	Order                         Order
	Budgets                       BudgetMode
	Charge                        Charge
	// Filters and SetFilters are rules of the caller about where pods may run, for all requests; see also
	// Request.Filters. A nil entry is an error.
	Filters    []Filter
	SetFilters []SetFilter
	// Guards are rules of the caller about who may yield. A nil entry is an error.
	Guards []Guard
	// Importance, if set, compares units in place of the built-in order, which then breaks ties. It is negative if a
	// is more important. It must be a strict weak order that depends on its arguments alone. It is not part of the JSON form.
	Importance func(a, b Unit) int `json:"-"`
}

const (
	defaultMaxBlockers   = 4
	defaultMaxRetrySteps = 2_000_000
)

// maxBlockers returns the maximum number of blockers.
func (c *Config) maxBlockers() int {
	return max(0, cmp.Or(c.MaxBlockers, defaultMaxBlockers))
}

// maxRetrySteps is negative where no time is searched.
func (c *Config) maxRetrySteps() int { return cmp.Or(c.MaxRetrySteps, defaultMaxRetrySteps) }

// Preemptor decides about requests. It holds no state between decisions: any number of goroutines may use one. Make
// it with [New]; the zero value and nil decide by the zero [Config].
type Preemptor struct {
	config  Config
	inside  ask.Config
	filters []ask.Filter
	trace   *trace.Recorder // nil: its decisions are not recorded
	scratch spare.Spare[scratch]
}

// New returns a preemptor. It fails with preemption.Faults if the configuration is not valid.
func New(c Config) (*Preemptor, error) {
	var faults fault.List
	p := &Preemptor{config: c, inside: ask.Config{
		Mode: ask.Mode(c.Mode), Order: ask.Order(c.Order), HardBudgets: c.Budgets == Hard, FirstViolated: c.toFirstViolated(),
	}}
	if !modeNames.Valid(c.Mode) {
		faults.Add("config.Mode", "%v is unknown", c.Mode)
	}
	if !orderNames.Valid(c.Order) {
		faults.Add("config.Order", "%v is unknown", c.Order)
	}
	if !budgetNames.Valid(c.Budgets) {
		faults.Add("config.Budgets", "%v is unknown", c.Budgets)
	}
	if !chargeNames.Valid(c.Charge) {
		faults.Add("config.Charge", "%v is unknown", c.Charge)
	}
	p.inside.MinRuntime = [...]int64{int64(c.MinRuntime.Or(0)), int64(c.ReclaimMinRuntime.Or(0))}
	for kind, field := range [...]string{"MinRuntime", "ReclaimMinRuntime"} {
		if minimum := p.inside.MinRuntime[kind]; minimum < 0 {
			faults.Add("config."+field, "%v is negative", time.Duration(minimum))
		}
	}
	p.filters = appendFilters(nil, &faults, "config.Filters", c.Filters)
	p.config.SetFilters = slices.Clone(c.SetFilters)
	validateSetFilters(&faults, "config.SetFilters", c.SetFilters)
	for i, g := range c.Guards {
		if g == nil {
			faults.Add(fmt.Sprintf("config.Guards[%d]", i), "is nil")
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p.config.Guards, p.trace = trace.Open(c.Guards)
	return p, nil
}

// standard decides for a nil preemptor.
var standard Preemptor

// Config returns a copy of the configuration.
func (p *Preemptor) Config() Config {
	if p == nil {
		p = &standard
	}
	c := p.config
	c.Filters, c.SetFilters, c.Guards = slices.Clone(c.Filters), slices.Clone(c.SetFilters), slices.Clone(c.Guards)
	return c
}

// Decide answers a request. It changes neither the snapshot nor the request. It fails only on a malformed request,
// with preemption.Faults of everything wrong: no pods, or several without a group; empty or duplicate IDs; a pod that
// runs already, has a node or terminates; negative amounts; a MinCount larger than the number of pods; unknown or
// duplicate nodes; a priority or queue other than that of the group, or of a pod without one; pods of another group;
// a group in Nested that is not below that of the request, is there twice, or needs more than it has; Nested or
// MinGroups with a placer or for a Basic group; a termination timeout or minimum runtimes without Now; a [Request.Resize] of
// a pod that does not run, terminates or has another priority; and pods of a Basic group which, placed one after the other, would
// use more than 2^62 of a resource of a node together with what runs there.
func (p *Preemptor) Decide(snapshot *Snapshot, r Request) (Decision, error) {
	if p == nil {
		p = &standard
	}
	return p.record(snapshot, r, p.trace)
}

// record decides; the recorder, if it is not nil, gets the steps of the decision.
func (p *Preemptor) record(snapshot *Snapshot, r Request, to *trace.Recorder) (Decision, error) {
	if r.Resize {
		without, request, pod, err := snapshot.resize(r)
		if err != nil {
			return Decision{}, err
		}
		d, err := p.record(without, request, to)
		d.resized(pod)
		return d, err
	}
	c := snapshot.inside()
	if p.inside.IsOneByOne(c, r.Group) {
		return p.decideEach(snapshot, &r, to)
	}
	return p.decide(c, &r, ask.WithTime, to)
}

// decide decides about a single pod or a gang.
func (p *Preemptor) decide(c *state.Cluster, r *Request, extent ask.Extent, to *trace.Recorder) (Decision, error) {
	sc := p.scratch.Take()
	defer p.release(sc)
	if err := p.enter(sc, c, r); err != nil {
		return Decision{}, err
	}
	sc.request.Extent, sc.request.Trace = extent, to
	found := sc.search.Decide(&p.inside, c, &sc.request)
	return decision(c, r, &found), nil
}

// Placements returns every domain in which preemption makes room, with its victims, in the order of the domains. With
// Request.MaxDomains only those that are compared: domains without violations first. It looks at preemption alone: a
// domain where no unit has to yield is not in the list, and PreemptNever and nominations do not count. Its errors are
// those of [Preemptor.Decide], and one for several pods of a Basic group: each is placed alone.
func (p *Preemptor) Placements(snapshot *Snapshot, r Request) ([]Placement, error) {
	if p == nil {
		p = &standard
	}
	if r.Resize {
		without, request, _, err := snapshot.resize(r)
		if err != nil {
			return nil, err
		}
		return p.Placements(without, request)
	}
	c := snapshot.inside()
	basic := p.inside.IsOneByOne(c, r.Group)
	if basic && len(r.Pods) == 1 {
		r, basic = r.alone(0), false
	}
	sc := p.scratch.Take()
	defer p.release(sc)
	if err := p.enter(sc, c, &r); err != nil {
		return nil, err
	}
	if basic {
		var faults fault.List
		faults.Add("request.pods", "%d of the basic group %q: each is placed alone", len(r.Pods), r.Group)
		return nil, faults
	}
	var list []Placement
	for _, choice := range sc.search.Placements(&p.inside, c, &sc.request) {
		list = append(list, placement(c, r.Pods, &choice))
	}
	return list, nil
}
