package gate

import (
	"cmp"
	"math"
	"slices"
	"time"
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

// Rules says by whose rules gates are opened. The zero value is Design.
type Rules uint8

const (
	// Design: the text of KEP-8303 as it is today and, where it is silent, the rulings that
	// [Orchestrate] lists.
	Design Rules = iota
	// Kueue019: as Kueue 0.19 does it (pkg/controller/admissionchecks/multikueue/workload.go,
	// workloadToOpenPreemptionGate), to tell what a real manager does next. A lost replica is
	// forgotten, with its opening. A signal counts whatever its reason is, whether it is stale,
	// and whether the replica has the gate, has its quota or is preempting. Victims that leave
	// are not waited for. If nobody signals there is no time to ask again. Of equal signals
	// Kueue takes any; this takes the smaller name. Of the configuration Gate and Timeout are
	// read; the rest must be zero.
	Kueue019
)

// Config configures [Orchestrate]. The zero value is valid: the gate MultiKueue, a timeout of
// five minutes, no grace, order FirstSignal.
type Config struct {
	// Rules says by whose rules gates are opened.
	Rules Rules
	// Gate is the gate to open. Empty is [MultiKueue].
	Gate string
	// Timeout is how long a replica may try, counted from the opening of its gate, before the
	// next gate is opened (SingleClusterPreemptionTimeout). Zero is [DefaultTimeout];
	// negative is an error. A zero that somebody wrote down is an error, too: [Written] tells
	// it from none.
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

// Written is a timeout that somebody wrote down: [Orchestrate] takes what it returns for zero as an
// error, where a Config without timeout has the default. Who wants preemption in all clusters at once
// sets no gates.
func Written(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return writtenZero
	}
	return timeout
}

// writtenZero is negative, and so refused.
const writtenZero = math.MinInt64

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
// its gate would open a second gate within the timeout. After a restart ask once every cluster was
// read or is known to be lost ([Replica.Lost]).
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
//   - A replica that another closed gate holds back, too, has its turn after all others, and
//     not never: two controllers would wait for each other.
//   - Of a lost replica its opening counts, and nothing else.
//   - A signal from before [Replica.Evicted] is none.
//   - Times after now are taken as they are written: a clock is ahead. They make the wait
//     longer; they open no second gate.
//
// The error lists all faults: an empty or duplicate name, what [Validate] finds, an unknown
// progress, order or rules, a negative timeout, grace or offer, what rules of Kueue do not read,
// a preempting replica without time, a zero now, and times outside the years 1678 to 2262.
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
	if c.Rules == Kueue019 {
		return c.asBuilt(now, replicas), nil
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
		case r.Lost:
		case r.Progress == Reserved:
			return next, next == nil || c.Order != Preference // under Preference, a replica found before is more preferred
		case c.waits(r) && c.Order == Preference && !c.heldElsewhere(r):
			return r, false
		case c.waits(r):
			if next == nil || c.before(r, next) {
				next = r
			}
		case c.Order == Preference && r.Progress == NotEvaluated && !c.open(r):
			return nil, false
		}
	}
	return next, false
}

// heldElsewhere reports whether another gate of the replica is closed.
func (c *Config) heldElsewhere(r *Replica) bool {
	return slices.ContainsFunc(r.Gates.Names, func(name string) bool {
		_, open := r.Gates.OpenSince(name)
		return name != c.Gate && !open
	})
}

func (c *Config) open(r *Replica) bool {
	_, open := r.Gates.OpenSince(c.Gate)
	return open
}

// waits reports whether the replica signals and its gate is closed.
func (c *Config) waits(r *Replica) bool {
	signal := &r.Gates.Blocked
	return !r.Lost && r.Progress < Reserved && r.Gates.Has(c.Gate) && !c.open(r) && signal.Signals() && !signal.Since.Before(r.Evicted)
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
		if r := &replicas[i]; !r.Lost && r.Progress == Preempting && r.Since.Add(c.PreemptingTimeout).After(ends) {
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

// before is the order of replicas that wait. Under Preference it is asked about those that another gate holds back.
func (c *Config) before(a, b *Replica) bool {
	order := compareBool(c.heldElsewhere(a), c.heldElsewhere(b))
	switch c.Order {
	case Cheapest:
		order = cmp.Or(order, a.Offer.compare(b.Offer))
	case Preference:
		return false // in the given order
	}
	return cmp.Or(order, bySignal(a, b)) < 0
}

// bySignal orders replicas by when they signalled, then by name.
func bySignal(a, b *Replica) int {
	return cmp.Or(a.Gates.Blocked.Since.Compare(b.Gates.Blocked.Since), cmp.Compare(a.Name, b.Name))
}
