package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/spare"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue/limits"
)

// Config configures a [Preemptor]. The zero value is valid: classical preemption by the
// policies of the queues, which permit no victims unless they are set.
type Config struct {
	// MaxBlockers limits the length of [Decision.Blockers]. Zero is 4; negative: there are none.
	MaxBlockers int
	// MinRuntime holds the minimum runtimes where no queue or cohort sets one. Unset is zero:
	// no workload is protected. Negative is an error.
	MinRuntime minruntime.Defaults
	// Protection protects workloads by the kind of reason, beside the minimum runtimes of
	// queues and cohorts: the one that ends later holds. It does not protect from rules, whose
	// selectors have times of their own (KEP-9876 knows the reasons of policies only). The zero
	// value protects no workload.
	Protection minruntime.Protection
	// MaxRetrySteps limits the search for [Decision.RetryAt]: the number of workloads, and of
	// events of [Request.History], looked at, over all
	// instants that are tried. When it is exceeded, RetryAt is the first instant not tried. Before
	// that instant the request does not succeed; at that instant the decision may still be Wait or
	// Impossible. RetryAt is never too late. Zero is 2 million, which takes about a tenth of a
	// second, in fair sharing up to a second. Negative leaves RetryAt zero, because the search may
	// cost more than the rest of a decision: Wait then means that time may help, not that it will;
	// Impossible still means that it will not.
	MaxRetrySteps int
	// Sharing says what decides whose workloads are reclaimed: the policies of the queues
	// alone, or the shares. The zero value is [Classical].
	Sharing Sharing
	// Strategies are those of fair sharing: one or both, LessThanOrEqualToFinalShare first. The second is
	// tried, once for each queue, on candidates that fail the first, if the first does not free enough.
	// Empty is both. Other lists are errors, and any in classical sharing.
	Strategies []FairStrategy
	// Compat lets decisions follow an older version of Kueue, or a design. The zero value does not.
	Compat Compat
	// Search says how far victims are looked for. The zero value is [Greedy].
	Search Search
	// Cost says what a victim loses, for [Decision.Lost] and for the search, unless it is
	// [Greedy]. Nil: nothing is computed, and every victim counts the same. It must not be a
	// nil pointer.
	Cost Cost
	// Best configures the [Best] search. It must be zero in any other.
	Best BestSearch
	// Limits limit the preemptions in sliding windows, which [Request.History] tells: a victim
	// must be within each limit that it falls under, counting those taken before it in the same
	// decision. They count whole workloads: replicas of one are one preemption, and who is being
	// evicted already is none. A candidate that a limit refuses is passed over, in the documented
	// search, but rules of a later tier may take it; what the policies permit comes before what
	// rules permit, also where in the end it is put back. [Best] looks only at sets
	// that are within all limits. Limits must be valid ([limits.Validate]).
	Limits []limits.Limit
	// Guards are rules of the caller. A nil entry is an error.
	Guards []Guard
}

const (
	defaultMaxBlockers   = 4
	defaultMaxRetrySteps = 2_000_000
)

// Preemptor decides about requests. It holds no state between decisions: any number of
// goroutines may use one. Make it with [New]; the zero value and nil decide by the zero
// [Config].
type Preemptor struct {
	config  Config
	trace   *trace.Recorder // nil: its decisions are not recorded
	scratch spare.Spare[scratch]
}

// New returns a preemptor. It fails with [Faults] if the configuration is not valid.
func New(c Config) (*Preemptor, error) {
	var faults fault.List
	if d, _ := c.MinRuntime.Preempt.Get(); d < 0 {
		faults.Add("config.MinRuntime.Preempt", "%v is negative", d)
	}
	if d, _ := c.MinRuntime.Reclaim.Get(); d < 0 {
		faults.Add("config.MinRuntime.Reclaim", "%v is negative", d)
	}
	if c.MinRuntime.Method > minruntime.Queue {
		faults.Add("config.MinRuntime.Method", "%v is unknown", c.MinRuntime.Method)
	}
	c.Protection.Validate("config.Protection", &faults)
	if list, ok := limits.Validate("config.Limits", c.Limits).(fault.List); ok {
		faults = append(faults, list...)
	}
	c.validateSharing(&faults)
	c.validateSearch(&faults)
	for i, g := range c.Guards {
		if g == nil {
			faults.Add(fmt.Sprintf("config.Guards[%d]", i), "is nil")
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p := &Preemptor{config: c.clone()}
	p.config.Guards, p.trace = trace.Open(p.config.Guards)
	return p, nil
}

// Config returns a copy of the configuration.
func (p *Preemptor) Config() Config {
	if p == nil {
		p = &standard
	}
	return p.config.clone()
}

// clone returns a copy that shares no list.
func (c Config) clone() Config {
	c.Guards, c.Limits = slices.Clone(c.Guards), slices.Clone(c.Limits)
	for i := range c.Limits {
		c.Limits[i] = c.Limits[i].Clone()
	}
	c.Strategies = slices.Clone(c.Strategies)
	return c
}

// maxBlockers returns the maximum number of blockers.
func (c *Config) maxBlockers() int {
	return max(0, cmp.Or(c.MaxBlockers, defaultMaxBlockers))
}

func (c *Config) maxRetrySteps() int {
	if c.MaxRetrySteps <= 0 {
		return defaultMaxRetrySteps
	}
	return c.MaxRetrySteps
}

// standard decides for a nil preemptor.
var standard Preemptor

// Decide answers a request: by the policies of the queues and, if these permit no victims that help
// now, by the rules of the preemptor's queue ([queue.Queue.Rules], [State.Rules]).
//
// Rules are looked at in the state that the policies leave: all that these permit (of the
// attempts the one that may borrow) are taken, then
// candidates of the rules, tier by tier, until the request fits. The tier of InsufficientQuota
// is passed over if the quota suffices without those taken so far, and that of
// QuotaFeasibleAndInsufficientTopology if it does not. In a tier those come first that are being
// evicted; then those of other queues; then lower effective priority, later reservation (one that
// is not known is the latest), UID, ID. In the end those not needed are put back, latest first,
// so that a victim of the policies may stay because of one of the rules. A workload that both
// accept is a victim of the policies (Kueue as built).
//
// Candidates of rules use something that needs preemption; with a [Request.Room] all are
// candidates that may hold nodes, which InsufficientQuota does not take. They yield as a whole.
// As everywhere, no workload yields during its minimum runtime (in other queues the one against
// reclaim), against a guard, from an inactive queue, or if it never yields; those that are being
// evicted leave anyway. The request may borrow. Blockers and Shortage are about the policies;
// RetryAt is about policies and rules: the first instant at which one of them finds victims if
// nothing but time changes and triggers are observed all along. (If flavors are assigned, it takes
// it that a trigger that holds then has held since Now.) With victims of rules there is no Proof,
// and [Config.Best] plays no part.
//
// If requests of its pod sets have no flavor, it first assigns
// flavors by the queue's [queue.FlavorFungibility], then decides about the whole; see
// [Assignment] and the comment of the package. It changes neither the snapshot nor the
// request. It fails only on a malformed request, with [Faults] of everything wrong:
// what [workload.ValidatePending] finds; an unknown queue; a workload that is admitted
// already, or with HoldsQuota or Replaces one that is not; an entry of MinCounts that names no pod set,
// is a duplicate, is negative or more than the replicas of the pod set, or any entry with a
// Room; an entry of NeedsPreemption that is not requested, or any entry before flavors are
// assigned; requests of one resource group and pod set of which only some have a flavor;
// more than 65536 pairs of resource and flavor to try; a zero time or one outside the years
// 1678 to 2262.
func (p *Preemptor) Decide(s *Snapshot, r Request) (d Decision, err error) {
	d, _, err = p.DecideCounting(s, r)
	return d, err
}

func (p *Preemptor) release(sc *scratch) {
	sc.open.release()
	sc.request.Room, sc.request.Guard, sc.request.Better.Cost, sc.request.Limits = nil, nil, nil, nil // the caller's
	sc.leaveRules()
	p.scratch.Give(sc)
}
