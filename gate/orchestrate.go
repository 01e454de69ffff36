package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// ReplicaOrder is the order in which replicas that signal may preempt. The zero value is
// FirstSignal. Ties go to the earlier signal, then to the smaller name.
type ReplicaOrder uint8

const (
	// FirstSignal chooses the replica that signalled first (KEP-8303).
	FirstSignal ReplicaOrder = iota
	// Preference chooses the most preferred replica: the first in the given order. It is for
	// variants of a workload in one cluster, one for each flavor. No gate is opened while a
	// more preferred replica is [NotEvaluated]: it may fit without preemption. No gate is
	// opened for a replica less preferred than one that has its quota.
	Preference
	// Cheapest chooses the replica whose offer costs least: Lost, fewest victims, then least lost
	// work. Replicas without an offer come last.
	Cheapest
)

// Progress says how far a replica has come. The zero value is NotEvaluated.
type Progress uint8

const (
	// NotEvaluated: the scheduler has not looked at the replica yet.
	NotEvaluated Progress = iota
	// Pending: the scheduler looked at the replica, which has no quota.
	Pending
	// Reserved: the replica has its quota.
	Reserved
	// Preempting: the victims of the replica were told to stop, and some have not left yet.
	Preempting
)

// Replica is one copy of a workload, in one cluster, as the manager last saw it. The caller
// leaves out replicas that do not exist yet, are deactivated or finished.
type Replica struct {
	// Name is the name of the cluster or variant, unique among the replicas.
	Name     string
	Gates    Gates
	Progress Progress
	// Since is, for Preempting, when the victims were told to stop; it must then be set.
	Since time.Time
	// Offer is the cost of opening the gate, if the cluster reports it (see
	// preemption.Decision with outcome Gated). The zero value is unknown.
	Offer Offer
}

// Offer is the cost of a preemption by a replica. The zero value is unknown.
type Offer struct {
	// Victims is the number of workloads that would be evicted; zero is unknown.
	Victims int
	// LostWork is the sum of the times that the victims have run.
	LostWork time.Duration
	// Lost is what the victims lose by a cost that all clusters share (preemption.Decision.Lost).
	// If it is set it counts before the others; a replica without comes after those with it.
	Lost quota.OptionalInt64
}

func (o Offer) compare(other Offer) int {
	return cmp.Or(compareBool(o.Victims == 0, other.Victims == 0), compareBool(o.Lost.IsZero(), other.Lost.IsZero()),
		cmp.Compare(o.Lost.Or(0), other.Lost.Or(0)), cmp.Compare(o.Victims, other.Victims), cmp.Compare(o.LostWork, other.LostWork))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Config configures [Orchestrate]. The zero value is valid: the gate MultiKueue, a timeout of
// five minutes, no grace, order FirstSignal.
type Config struct {
	// Gate is the gate to open. Empty is [MultiKueue].
	Gate string
	// Timeout is how long a replica may try, counted from the opening of its gate, before the
	// next gate is opened (SingleClusterPreemptionTimeout). Zero is [DefaultTimeout];
	// negative is an error.
	Timeout time.Duration
	Order   ReplicaOrder
	// PreemptingTimeout is how long the victims of a replica may take to leave, counted from
	// when they were told to stop. Until then no other gate is opened, even after Timeout.
	// The wait has an end, however often a replica preempts again: Timeout + PreemptingTimeout
	// after the latest opening; if no gate is open, PreemptingTimeout after the first signal
	// of the replicas that wait for an opening. Zero is Timeout; negative is an error.
	PreemptingTimeout time.Duration
	// Grace is how long to wait for a cluster in which the workload fits without preemption,
	// counted from the first signal of the replicas that wait for an opening. Zero opens at
	// once; negative is an error.
	Grace time.Duration
}

// DefaultTimeout is the timeout of KEP-8303.
const DefaultTimeout = 5 * time.Minute

// Action says what to do now. The zero value: wait for the next event.
type Action struct {
	// Open is the name of the replica whose gate to open now ([Gates.Opened]). Empty: none.
	Open string
	// WakeAt is when to ask again if no event comes before: the latest of what is still to come of
	// the end of the timeout, of the wait for victims, and, if a replica waits for an opening, of
	// the grace. The timeout counts even if no replica is left to open: a signal may get lost
	// (KEP-8303, MultiKueue Controller, step 3). With Open it is Timeout after now. Zero: time alone
	// changes nothing.
	WakeAt time.Time
	// Done says that a replica has its quota, and no gate is opened while it has: under [Preference]
	// only if no more preferred replica waits for an opening or keeps the gates closed. The other
	// fields are then zero.
	Done bool
}

// Orchestrate says, about the replicas of one waiting workload, whose gate to open now and
// when to ask again. The answer depends on the arguments alone, and Orchestrate keeps
// nothing. Ask at every event and at WakeAt. Late, repeated or reordered events do no harm;
// the next call makes up for a lost event; a restart loses nothing. But the replicas must show
// the openings that were carried out before: a report of a replica from before the opening of
// its gate would open a second gate within the timeout.
//
//   - If a replica has its quota, no gate is opened. (Under [Preference] this holds
//     for less preferred replicas; a more preferred one may still take over.)
//   - At most one gate is opened within a timeout, counted from the latest opening of
//     a gate that is still open. Eviction closes a gate and so ends its opening.
//   - No gate is opened while another replica is [Preempting], within PreemptingTimeout.
//     A replica that preempts again and again does not keep the gates closed: KEP-8303,
//     Proposal: "a timeout mechanism will ensure that the gate is eventually removed for
//     other replica workloads so that another worker gets a chance to preempt".
//   - A replica waits for an opening while it signals, its gate is closed, and it is
//     NotEvaluated or Pending. One that is Preempting is not opened, though it signals.
//   - A replica whose gate is open is not opened again, so each replica that signals
//     has its turn. Only the signal counts: a replica that cleared it, because its
//     answer is no longer Gated, is not opened.
//   - Orchestrate does not wait for a replica that does not name the gate.
//
// The error lists all faults: an empty or duplicate name, what [Validate] finds, an unknown
// reservation or rule, a negative timeout, grace or offer, a preempting replica without time,
// a zero now, and times outside the years 1678 to 2262.
func Orchestrate(c Config, now time.Time, replicas []Replica) (Action, error) {
	if err := check(&c, now, replicas); err != nil {
		return Action{}, err
	}
	if c.Gate == "" {
		c.Gate = MultiKueue
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.PreemptingTimeout == 0 {
		c.PreemptingTimeout = c.Timeout
	}
	next, done := c.next(replicas)
	if done {
		return Action{Done: true}, nil
	}
	opened, signal := c.latestOpening(replicas), c.firstSignal(replicas)
	var act Action
	if free := opened.Add(c.Timeout); !opened.IsZero() && free.After(now) {
		act.WakeAt = free // even if no replica waits: a signal may get lost (KEP-8303, step 3)
	}
	if leave := c.left(replicas, opened, signal); leave.After(now) && leave.After(act.WakeAt) {
		act.WakeAt = leave
	}
	if next == nil {
		return act, nil
	}
	if hold := signal.Add(c.Grace); hold.After(now) && hold.After(act.WakeAt) {
		act.WakeAt = hold
	}
	if act.WakeAt.IsZero() {
		act.Open, act.WakeAt = next.Name, now.Add(c.Timeout)
	}
	return act, nil
}

// next returns the replica whose gate may be opened, or nil. done says that a replica has its
// quota.
func (c *Config) next(replicas []Replica) (next *Replica, done bool) {
	for i := range replicas {
		r := &replicas[i]
		switch {
		case r.Progress == Reserved:
			return nil, true // under Preference, a replica found before is more preferred
		case c.waits(r) && c.Order == Preference:
			return r, false
		case c.waits(r) && (next == nil || c.before(r, next)):
			next = r
		case c.Order == Preference && r.Progress == NotEvaluated && !c.open(r):
			return nil, false
		}
	}
	return next, false
}

func (c *Config) open(r *Replica) bool {
	_, open := r.Gates.OpenSince(c.Gate)
	return open
}

// waits reports whether the replica signals and its gate is closed.
func (c *Config) waits(r *Replica) bool {
	return r.Progress < Reserved && r.Gates.Has(c.Gate) && !c.open(r) && r.Gates.Blocked.Signals()
}

// latestOpening returns when the last of the open gates was opened; the zero time if none is
// open.
func (c *Config) latestOpening(replicas []Replica) (latest time.Time) {
	for i := range replicas {
		if at, open := replicas[i].Gates.OpenSince(c.Gate); open && (latest.IsZero() || at.After(latest)) {
			latest = at
		}
	}
	return latest
}

// left returns when the wait for victims that leave ends; the zero time if none leave.
func (c *Config) left(replicas []Replica, opened, signal time.Time) (ends time.Time) {
	for i := range replicas {
		if r := &replicas[i]; r.Progress == Preempting && r.Since.Add(c.PreemptingTimeout).After(ends) {
			ends = r.Since.Add(c.PreemptingTimeout)
		}
	}
	turn := signal
	if !opened.IsZero() {
		turn = opened.Add(c.Timeout)
	}
	if last := turn.Add(c.PreemptingTimeout); !turn.IsZero() && last.Before(ends) {
		ends = last // also if a replica has preempted again since
	}
	return ends
}

// firstSignal returns the time of the first signal; the zero time if no replica waits.
func (c *Config) firstSignal(replicas []Replica) (first time.Time) {
	for i := range replicas {
		if at := replicas[i].Gates.Blocked.Since; c.waits(&replicas[i]) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// before is the order of FirstSignal and Cheapest.
func (c *Config) before(a, b *Replica) bool {
	order := 0
	if c.Order == Cheapest {
		order = a.Offer.compare(b.Offer)
	}
	return cmp.Or(order, a.Gates.Blocked.Since.Compare(b.Gates.Blocked.Since), cmp.Compare(a.Name, b.Name)) < 0
}

func check(c *Config, now time.Time, replicas []Replica) error {
	var faults fault.List
	if len(c.Gate) > MaxName {
		faults.Add("config.Gate", "%q is longer than %d bytes", c.Gate, MaxName)
	}
	if c.Timeout < 0 {
		faults.Add("config.Timeout", "%v is negative", c.Timeout)
	}
	if c.PreemptingTimeout < 0 {
		faults.Add("config.PreemptingTimeout", "%v is negative", c.PreemptingTimeout)
	}
	if c.Grace < 0 {
		faults.Add("config.Grace", "%v is negative", c.Grace)
	}
	if c.Order > Cheapest {
		faults.Add("config.Order", "%v is unknown", c.Order)
	}
	if now.IsZero() {
		faults.Add("now", "is not set")
	} else if !instant.Valid(now) {
		faults.Add("now", "%v is not within %s", now, instant.Range)
	}
	names := make([]string, 0, len(replicas))
	for i := range replicas {
		r, path := &replicas[i], fmt.Sprintf("replicas[%d]", i)
		if r.Name == "" {
			faults.Add(path+".name", "is empty")
		} else {
			names = append(names, r.Name)
		}
		if err, bad := Validate(path+".gates", r.Gates).(fault.List); bad {
			faults = append(faults, err...)
		}
		if r.Progress > Preempting {
			faults.Add(path+".progress", "%d is unknown", r.Progress)
		}
		validateTime(&faults, path+".since", r.Since, r.Progress == Preempting)
		if lost := r.Offer.Lost.Or(0); lost < 0 {
			faults.Add(path+".offer", "%d is lost: negative", lost)
		}
		if r.Offer.Victims < 0 || r.Offer.LostWork < 0 {
			faults.Add(path+".offer", "%d victims, %v of work: negative", r.Offer.Victims, r.Offer.LostWork)
		}
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] && (i == 1 || names[i] != names[i-2]) {
			faults.Add("replicas", "two are named %q", names[i])
		}
	}
	return faults.Err()
}
