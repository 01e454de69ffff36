package preemption

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/minruntime"
)

// Config configures a [Preemptor]. The zero value is valid: classical preemption
// by the policies of the queues, which permit nobody unless they are set.
type Config struct {
	// MaxBlockers bounds [Decision.Blockers]. Zero is 4; negative is an error.
	MaxBlockers int
	// SkipBlockers leaves [Decision.Blockers] out.
	SkipBlockers bool
	// SkipRetryAt leaves [Decision.RetryAt] out, the search for which may cost more than
	// the rest of a decision. Wait then says that time may help, not that it will;
	// Impossible still says that it does not.
	SkipRetryAt bool
	// IgnoreMinAdmitDuration turns time-based preemption among equals off, whatever
	// the queues say.
	IgnoreMinAdmitDuration bool
	// NewerByReservation takes KEP-8522 at its word: of equals in the own queue, one
	// is newer that was reserved after the preemptor was *created*. The hazard: of two
	// workloads with room for one, the first to be created evicts the other as soon as
	// that is admitted, and so in turn for ever; nobody gets the time that
	// minAdmitDuration is to guarantee. By default one is newer whose queue-order
	// timestamp is later.
	NewerByReservation bool
	// MinRuntime is the minimum runtimes where no queue or cohort sets one. Unset is
	// zero: nobody is protected. Negative is an error.
	MinRuntime minruntime.Settings
	// ReclaimMethod is how the minimum runtime against reclaims is found in the tree.
	// The zero value is [minruntime.LCA].
	ReclaimMethod minruntime.Method
	// MaxRetrySteps bounds the search for [Decision.RetryAt]: how many times, over all
	// instants that are tried, a workload may be looked at. When it is exceeded, RetryAt
	// is the first instant not tried: asked before it the answer is no, but at it the
	// answer may still be to wait, or that it is impossible. It is never too late. Zero
	// is 2 million, which takes about a tenth of a second, in fair sharing up to one;
	// negative is an error.
	MaxRetrySteps int
	// Sharing says whose workloads are reclaimed: by the queues' policies alone, or by
	// shares. The zero value is [Classical].
	Sharing Sharing
	// Fair is the details of [Fair] sharing. It must be zero in classical sharing.
	Fair FairSharing
	// ReconsiderLarger tries again when no victims are found: then the candidates of
	// other queues come by what they free of the request, most first. Without it a
	// large workload that alone would be enough is passed over when a smaller one, which
	// comes first in the order of candidates, brings its queue back within nominal
	// quota or, in fair sharing, to a small share. Kueue does not try again.
	//
	// A request that can be satisfied by the rules is less often refused, but workloads
	// may take each other's room in a circle more often: the large victim leaves its queue
	// with less than its nominal quota, which the queue reclaims. In fair sharing that
	// adds to the causes that [FairSharing] lists, in classical sharing to the one that
	// [queue.PreemptionPolicy] tells.
	ReconsiderLarger bool
	// Guards are the caller's own rules. Nil entries are an error.
	Guards []Guard
}

const (
	defaultMaxBlockers   = 4
	defaultMaxRetrySteps = 2_000_000
)

// Preemptor decides about requests. It holds no state of any decision: any number
// of goroutines may use one. Make it with [New]; the zero value, and nil, decide as the
// zero [Config] has it.
type Preemptor struct {
	config  Config
	scratch sync.Pool // of *scratch
}

// New returns a preemptor. It fails with [fault.List] when the configuration is not
// valid.
func New(c Config) (*Preemptor, error) {
	var faults fault.List
	if c.MaxBlockers < 0 {
		faults.Add("config.MaxBlockers", "%d is negative", c.MaxBlockers)
	}
	if c.MaxRetrySteps < 0 {
		faults.Add("config.MaxRetrySteps", "%d is negative", c.MaxRetrySteps)
	}
	if d, _ := c.MinRuntime.Preempt.Get(); d < 0 {
		faults.Add("config.MinRuntime.Preempt", "%v is negative", d)
	}
	if d, _ := c.MinRuntime.Reclaim.Get(); d < 0 {
		faults.Add("config.MinRuntime.Reclaim", "%v is negative", d)
	}
	if c.ReclaimMethod > minruntime.Queue {
		faults.Add("config.ReclaimMethod", "%v is unknown", c.ReclaimMethod)
	}
	c.Fair.validate(&faults, c.Sharing)
	for i, g := range c.Guards {
		if g == nil {
			faults.Add(fmt.Sprintf("config.Guards[%d]", i), "is nil")
		}
	}
	c.Guards = slices.Clone(c.Guards)
	c.Fair.Strategies = slices.Clone(c.Fair.Strategies)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &Preemptor{config: c}, nil
}

// maxBlockers is how many blockers are listed.
func (c *Config) maxBlockers() int {
	switch {
	case c.SkipBlockers:
		return 0
	case c.MaxBlockers == 0:
		return defaultMaxBlockers
	}
	return c.MaxBlockers
}

func (c *Config) maxRetrySteps() int {
	if c.MaxRetrySteps == 0 {
		return defaultMaxRetrySteps
	}
	return c.MaxRetrySteps
}

// standard decides where there is no preemptor.
var standard Preemptor

// Decide answers a request. Where requests of its pod sets are without flavor, it first
// assigns them, as the queue's [queue.FlavorFungibility] has it, then decides about the
// whole; see [Assignment] and the package's comment. It changes neither the snapshot nor
// the request. The error is about a malformed request only and lists all [fault.List]: what
// [workload.ValidatePending] finds, an unknown queue, an ID that is admitted already, a
// need for preemption in what is not requested, or before flavors are assigned; resources
// of one group and pod set of which some have a flavor; more than 65536 times a resource
// to try in a flavor; a zero time or one outside the years 1678 to 2262.
func (p *Preemptor) Decide(s *Snapshot, r Request) (Decision, error) {
	if p == nil {
		p = &standard
	}
	sc := p.borrow()
	defer p.giveBack(sc)
	if err := sc.enter(s, &p.config, &r); err != nil {
		return Decision{}, err
	}
	d, _ := sc.decide(s, &p.config, &r)
	return d, nil
}

// borrow returns a scratch to work in, which must be given back.
func (p *Preemptor) borrow() *scratch {
	sc, _ := p.scratch.Get().(*scratch)
	if sc == nil {
		sc = new(scratch)
	}
	return sc
}

func (p *Preemptor) giveBack(sc *scratch) {
	sc.open.release()
	sc.request.Room, sc.request.Guard = nil, nil // the caller's
	p.scratch.Put(sc)
}
