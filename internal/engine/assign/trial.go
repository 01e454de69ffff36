package assign

import (
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/quota"
)

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
	asked := load{column, amount}
	a.asked = append(a.asked, asked)
	return a.forecastOf(asked).Verdict, Stopped
}

// forecastOf makes each search once, as long as time cannot change what it finds: many pod sets may ask for the same of a flavor that
// none of them takes, and an assignment is made again at other instants.
func (a *Assigner) forecastOf(l load) forecast {
	if of, made := a.forecasts[l]; made && a.holds(&of) {
		a.Steps++
		return of
	}
	found := a.search(l.column, l.amount, 0)
	of := forecast{Verdict: Verdict{NoCandidates, found.BorrowHeight}, since: a.request.Base.Now, at: found.RetryAt, changes: found.Waits, known: true}
	if len(found.Victims) > 0 {
		of.Mode, of.known = Reclaim, false
	}
	if of.isShort = len(found.Shortages) > 0; of.isShort {
		of.short = found.Shortages[0]
	}
	for i := range found.Victims {
		if found.Victims[i].Queue == a.request.Base.Queue {
			of.Mode = Preempt
		}
	}
	if a.forecasts == nil {
		a.forecasts = map[load]forecast{}
	}
	a.forecasts[l] = of
	return of
}

// Failed returns what the search for an amount of one column alone found short at an instant; see [decide.Failures].
func (a *Assigner) Failed(column int, amount, now int64) (short []search.Shortage, ok bool) {
	of, made := a.forecasts[load{column, amount}]
	if !made || of.Mode != NoCandidates || of.since != now {
		return nil, false
	}
	a.short[0] = of.short
	if of.isShort {
		return a.short[:], true
	}
	return nil, true
}

// holds reports whether a search would find the same now. Costs may change with time, and limits note what they are asked.
func (a *Assigner) holds(f *forecast) bool {
	r := a.request.Base
	if r.Now == f.since {
		return true
	}
	return r.Now > f.since && f.known && (!f.changes || r.Now < f.at) && r.Better.Cost == nil && r.Limits == nil
}

// used returns the amount of earlier choices in a column.
func (a *Assigner) used(column int) int64 {
	for _, l := range a.taken {
		if l.Column == column {
			return l.Amount
		}
	}
	return 0
}

// search decides about one column alone.
func (a *Assigner) search(column int, amount int64, maxBlockers int) decide.Result {
	found := a.Searcher.Search(a.cluster, a.about(column, amount), a.request.Rules, maxBlockers)
	a.Steps += found.Steps
	return found
}

// about returns the request for one column alone.
func (a *Assigner) about(column int, amount int64) *right.Request {
	a.column[0], a.amount[0], a.needs[0] = column, amount, true
	a.one = *a.request.Base
	a.one.Room = nil // the room is for the whole request
	a.one.Trace = nil
	a.one.FindNeeds = false
	a.one.Retry.MaxSteps = max(0, a.one.Retry.MaxSteps-a.Steps) // those of all searches together
	a.one.Columns, a.one.Amounts, a.one.Needs = a.column[:], a.amount[:], a.needs[:]
	return &a.one
}
