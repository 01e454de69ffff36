package assign

import (
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Mode says how a request gets its quota. Higher is better.
type Mode uint8

const (
	// NoFit: not in this flavor, whatever yields.
	NoFit Mode = iota
	// NoCandidates: it would need preemption, and no workload may yield.
	NoCandidates
	// Preempt: workloads of the own queue yield.
	Preempt
	// Reclaim: only workloads of other queues yield.
	Reclaim
	// Fit: it fits.
	Fit
)

// Verdict is a mode with the height of the subtree that has the quota.
type Verdict struct {
	Mode   Mode
	Height int
}

// better orders verdicts: what does not fit is last, before it what has no candidates; the
// rest by the queue's preference.
func (v Verdict) better(than Verdict, p queue.FlavorPreference) bool {
	if v.Mode != than.Mode && (p == queue.BorrowingOverPreemption || min(v.Mode, than.Mode) <= NoCandidates) {
		return v.Mode > than.Mode
	}
	if v.Height != than.Height {
		return v.Height < than.Height
	}
	return v.Mode > than.Mode
}

// Passed says why the search went on after a flavor.
type Passed uint8

const (
	// Stopped: it did not go on.
	Stopped Passed = iota
	// NoQuota: the queue has no quota for a resource in the flavor.
	NoQuota
	// ExceedsMax: the request is more than the queue could use if nothing ran anywhere.
	ExceedsMax
	// NotReclaimable: it is over nominal quota, and the queue may not preempt for that.
	NotReclaimable
	// NeverPreempts: no workload may yield for this one.
	NeverPreempts
	// Hopeless: no workload may yield for it now.
	Hopeless
	// WouldPreempt: others have to yield (whenCanPreempt TryNextFlavor).
	WouldPreempt
	// WouldBorrow: the queue borrows (whenCanBorrow TryNextFlavor).
	WouldBorrow
	// NotEligible: the flavor is not eligible for the pod set.
	NotEligible
)

// Tried is the result of one flavor: that of its worst resource.
type Tried struct {
	Flavor int // index in the group
	Verdict
	Item   int   // the worst resource, an index in the choice's items
	Amount int64 // the requested amount with that of earlier choices
	Passed Passed
}

// asked is a search made for one column, in a flavor that may fit.
type asked struct {
	column int
	amount int64
	found  bool // there are victims
	// at is, for a search without victims and if waits is true, the first instant at which it
	// finds some.
	at    int64
	waits bool
}

// try judges each resource of a choice in an eligible flavor. It leaves the verdicts in
// a.verdicts.
func (a *Assigner) try(ch *Choice, flavor int) Tried {
	if m := ch.Group.Mismatch(flavor, ch.Constraints); !m.None() {
		return Tried{Flavor: flavor, Passed: NotEligible}
	}
	tried := Tried{Flavor: flavor}
	first := len(a.asked)
	a.verdicts = a.verdicts[:0]
	for i, item := range ch.Items {
		v, passed, amount := Verdict{}, NoQuota, item.Amount
		if column := ch.Group.Column(flavor, item.Resource); column >= 0 {
			amount = quota.Add(amount, a.used(column))
			v, passed = a.ask(column, amount)
		} else if amount == 0 {
			v, passed = Verdict{Mode: Fit}, Stopped
		}
		a.verdicts = append(a.verdicts, v)
		if i == 0 || tried.Verdict.better(v, a.request.Fungibility.Preference) {
			tried.Verdict, tried.Item, tried.Amount, tried.Passed = v, i, amount, passed
		}
		if v.Mode == NoFit {
			a.asked = a.asked[:first] // it never fits
			return tried
		}
	}
	switch f := a.request.Fungibility; {
	case tried.Mode == NoCandidates:
		tried.Passed = Hopeless
	case tried.Mode < Fit && !f.MayStopPreempting():
		tried.Passed = WouldPreempt
	case tried.Height > 0 && !f.MayStopBorrowing():
		tried.Passed = WouldBorrow
	}
	return tried
}

// ask returns the verdict on one column, and for NoFit the reason.
func (a *Assigner) ask(column int, amount int64) (Verdict, Passed) {
	c, r := a.cluster, a.request
	q := r.Base.Queue
	if amount > c.Tree.PotentialAvailable(q, column) {
		return Verdict{}, ExceedsMax
	}
	height, belowRoot := c.Usage.BorrowHeight(q, column, amount)
	switch {
	case amount <= max(0, c.Usage.Available(q, column)):
		return Verdict{Fit, height}, Stopped
	case r.NeverPreempts:
		return Verdict{}, NeverPreempts
	case amount > c.Tree.Cell(q, column).Nominal && !belowRoot && !r.PreemptsWhileBorrowing:
		return Verdict{}, NotReclaimable
	}
	found := a.search(column, amount, 0)
	v := Verdict{NoCandidates, found.BorrowHeight}
	a.asked = append(a.asked, asked{column, amount, len(found.Victims) > 0, found.RetryAt, found.Waits})
	if len(found.Victims) == 0 {
		return v, Stopped
	}
	v.Mode = Reclaim
	for i := range found.Victims {
		if found.Victims[i].Queue == q {
			v.Mode = Preempt
		}
	}
	return v, Stopped
}
