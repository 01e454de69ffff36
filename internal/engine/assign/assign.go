package assign

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/why"
	"github.com/cedesched/cede/quota"
)

// Assign makes the choices of a request, up to the first without a flavor, and returns the
// number of choices made. The result is valid until its next use.
func (a *Assigner) Assign(c *cluster.Cluster, r *Request) (made int, ok bool) {
	if c != a.cluster { // another decision
		clear(a.forecasts)
	}
	a.cluster, a.request, a.Steps = c, r, 0
	a.taken, a.tried, a.asked = a.taken[:0], a.tried[:0], a.asked[:0]
	for _, l := range r.Given {
		a.take(l.Column, l.Amount)
	}
	for i := range r.Choices {
		ch := &r.Choices[i]
		a.choose(ch)
		if ch.Taken < 0 {
			return i + 1, false
		}
		for _, item := range ch.Items {
			a.take(ch.Group.Column(ch.Taken, item.Resource), item.Amount)
		}
	}
	return len(r.Choices), true
}

// Release drops the references to the cluster, so that it does not stay in memory.
func (a *Assigner) Release() {
	a.cluster, a.request, a.one = nil, nil, right.Request{}
}

// choose tries the flavors of a group in order. It assigns the flavor that stops the search;
// if none does, the best, of equals the first.
func (a *Assigner) choose(ch *Choice) {
	ch.Taken = -1
	if ch.Group == nil {
		return
	}
	first := len(a.tried)
	best := Verdict{}
	for flavor := ch.First; flavor < len(ch.Group.Flavors); flavor++ {
		tried := a.try(ch, flavor)
		a.tried = append(a.tried, tried)
		if tried.Passed == Stopped || tried.better(best, a.request.Fungibility.Preference) {
			best, ch.Taken = tried.Verdict, flavor
			for i := range ch.Items {
				ch.Items[i].Verdict = a.verdicts[i]
			}
		}
		if tried.Passed == Stopped {
			break
		}
	}
	ch.Tried = a.tried[first:len(a.tried):len(a.tried)]
}

func (a *Assigner) take(column int, amount int64) {
	for i := range a.taken {
		if l := &a.taken[i]; l.Column == column {
			l.Amount = quota.Add(l.Amount, amount)
			return
		}
	}
	a.taken = append(a.taken, quotatree.Load{Column: column, Amount: amount})
}

// ChangesAt returns the first instant, after that of the last Assign, at which time alone may
// change its result: a search without victims finds some, or the candidates or their order
// change in one with victims. ok is false if there is none.
func (a *Assigner) ChangesAt() (at int64, ok bool) {
	for _, l := range a.asked {
		f := a.forecasts[l]
		if !f.known {
			f.at, f.changes = a.Searcher.NextChange(a.cluster, a.about(l.column, l.amount), a.request.Rules)
			f.known = true
			a.forecasts[l] = f
		}
		if f.changes && (!ok || f.at < at) {
			at, ok = f.at, true
		}
	}
	return at, ok
}

// Blockers returns the blockers of preemption for an amount of one column, no more than most.
// The result belongs to the searcher.
func (a *Assigner) Blockers(column int, amount int64, most int) []why.Blocker {
	return a.search(column, amount, most).Blockers
}
