package reference

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// DecideOpen answers a valid request in which some amounts have no flavor: it assigns the flavors, then decides with
// them.
func DecideOpen(c preemption.Config, st preemption.State, r preemption.Request) (preemption.Assignment, Answer) {
	if slices.ContainsFunc(st.Queues, func(q queue.Queue) bool { return q.Name == r.Workload.Queue && q.Inactive }) {
		return nil, Decide(c, st, withFlavors(r))
	}
	a := assigner{Question: New(c, st, withFlavors(r)), st: st, open: r, taken: map[quota.FlavorResource]int64{}}
	if !a.assign() {
		return a.choices, Answer{Decision: a.unassigned()}
	}
	r.Workload = a.choices.Pin(r.Workload)
	answer := Decide(c, st, r)
	answer.Assignment = a.choices
	return a.choices, answer
}

type assigner struct {
	*Question
	st      preemption.State
	open    preemption.Request
	taken   map[quota.FlavorResource]int64 // by the workload itself
	choices preemption.Assignment
	lacking []quota.Amount // by flavor tried in the last choice: what was asked, with what is taken before
}

func (a *assigner) assign() bool {
	q := *a.Queue.Queue
	for _, p := range a.open.Workload.PodSets {
		for _, r := range p.Requests {
			if r.Flavor != "" {
				a.taken[r.FlavorResource()] = quota.Add(a.taken[r.FlavorResource()], p.Total(r.Amount))
			}
		}
	}
	for _, p := range a.open.Workload.PodSets {
		open := map[string]int64{}
		for _, r := range p.Requests {
			if r.Flavor == "" {
				open[r.Resource] = p.Total(r.Amount)
			}
		}
		if unknown := a.unknown(&q, open); len(unknown) > 0 {
			a.choices = append(a.choices, preemption.FlavorChoice{PodSet: p.Name, Resources: unknown})
			return false
		}
		for _, g := range q.ResourceGroups() {
			asked := map[string]int64{}
			for r, amount := range open {
				if slices.Contains(g.Resources, r) {
					asked[r] = amount
				}
			}
			if len(asked) > 0 && !a.choose(&q, &p, g.Flavors, asked) {
				return false
			}
		}
	}
	return true
}

// unknown lists the resources of which something is asked for and the queue has no quota.
func (a *assigner) unknown(q *queue.Queue, open map[string]int64) []preemption.AssignedResource {
	var list []preemption.AssignedResource
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if open[name] > 0 && !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.Resource == name }) {
			list = append(list, preemption.AssignedResource{Resource: name, Mode: preemption.ModeNoFit})
		}
	}
	return list
}

// choose: "Flavors of the resource group are tried in order. The flavor's representative
// mode is its worst (mode, level) over the resources."
func (a *assigner) choose(q *queue.Queue, p *workload.PodSet, flavors []string, asked map[string]int64) bool {
	choice := preemption.FlavorChoice{PodSet: p.Name}
	names := slices.Sorted(maps.Keys(asked))
	var per [][]preemption.AssignedResource
	a.lacking = nil
	first := 0 // "starting after the last flavor tried"
	for _, before := range a.open.Continue {
		of := func(r preemption.AssignedResource) bool { return r.Resource == names[0] }
		if n := len(before.Tried); before.PodSet == p.Name && n > 0 && slices.ContainsFunc(before.Resources, of) {
			if at := slices.Index(flavors, before.Tried[n-1].Flavor); at >= 0 {
				first = at + 1
			}
		}
	}
	if first == len(flavors) {
		first = 0
	}
	for _, f := range flavors[first:] {
		tried := preemption.TriedFlavor{Flavor: f}
		if tried.Mismatch = Mismatch(a.st.Flavors, q, f, p.NodeConstraints); tried.Mismatch != nil {
			tried.Skipped = preemption.NotEligible
			tried.AssignedResource = preemption.AssignedResource{Resource: names[0], Mode: preemption.ModeNoFit}
			choice.Tried, per, a.lacking = append(choice.Tried, tried), append(per, nil), append(a.lacking, quota.Amount{})
			continue
		}
		var all []preemption.AssignedResource
		var worst quota.Amount
		for _, name := range names {
			amount := quota.Amount{Flavor: f, Resource: name, Amount: asked[name]}
			one, why := a.try(q, amount)
			all = append(all, one)
			if len(all) == 1 || preferred(&tried.AssignedResource, &one, q.FlavorFungibility.Preference) {
				tried.AssignedResource, tried.Skipped = one, why
				worst = amount
			}
			if one.Mode == preemption.ModeNoFit {
				break
			}
		}
		if tried.Mode != preemption.ModeNoFit {
			tried.Skipped = tryNext(tried.AssignedResource, q.FlavorFungibility)
		}
		choice.Tried, per = append(choice.Tried, tried), append(per, all)
		a.lacking = append(a.lacking, worst)
		if tried.Skipped == 0 {
			break
		}
	}
	choice.Untried = len(flavors) - first - len(choice.Tried)
	best := len(choice.Tried) - 1
	if choice.Tried[best].Skipped != 0 { // the scan reached the end; ties keep the earlier flavor
		best = 0
		for i := range choice.Tried {
			if preferred(&choice.Tried[i].AssignedResource, &choice.Tried[best].AssignedResource, q.FlavorFungibility.Preference) {
				best = i
			}
		}
	}
	if choice.Tried[best].Mode == preemption.ModeNoFit {
		for _, name := range names {
			choice.Resources = append(choice.Resources, preemption.AssignedResource{Resource: name, Mode: preemption.ModeNoFit})
		}
		a.choices = append(a.choices, choice)
		return false
	}
	choice.Flavor, choice.Resources = choice.Tried[best].Flavor, per[best]
	a.choices = append(a.choices, choice)
	for name, amount := range asked {
		fr := quota.FlavorResource{Flavor: choice.Flavor, Resource: name}
		a.taken[fr] = quota.Add(a.taken[fr], amount)
	}
	return true
}

// tryNext: "noFit or noPreemptionCandidates -> next; preempt/reclaim and whenCanPreempt =
// TryNextFlavor (default) -> next; borrowing level > 0 and whenCanBorrow = TryNextFlavor
// (default is MayStopSearch) -> next; otherwise stop."
func tryNext(r preemption.AssignedResource, f queue.FlavorFungibility) preemption.SkipReason {
	switch {
	case r.Possibility == preemption.PossibilityNoCandidates:
		return preemption.NoCandidates
	case r.Mode == preemption.ModePreempt && f.WhenCanPreempt != queue.MayStopSearch:
		return preemption.WouldPreempt
	case r.BorrowHeight > 0 && f.WhenCanBorrow == queue.TryNextFlavor:
		return preemption.WouldBorrow
	}
	return 0
}

// preferred: "noFit last; then noPreemptionCandidates below everything else; then by
// preference: BorrowingOverPreemption: better preemption mode first (fit > reclaim >
// preempt), then smaller borrowing level; PreemptionOverBorrowing: smaller borrowing
// level first, then better mode."
func preferred(x, y *preemption.AssignedResource, p queue.FlavorPreference) bool {
	grade := func(r *preemption.AssignedResource) int {
		switch {
		case r.Mode == preemption.ModeNoFit:
			return 0
		case r.Possibility == preemption.PossibilityNoCandidates:
			return 1
		}
		return 2
	}
	mode := func(r *preemption.AssignedResource) int {
		switch {
		case r.Mode == preemption.ModeFit:
			return 3
		case r.Possibility == preemption.PossibilityReclaim:
			return 2
		}
		return 1
	}
	switch {
	case grade(x) != grade(y):
		return grade(x) > grade(y)
	case grade(x) == 0:
		return false
	case p == queue.PreemptionOverBorrowing && x.BorrowHeight != y.BorrowHeight:
		return x.BorrowHeight < y.BorrowHeight
	case mode(x) != mode(y):
		return mode(x) > mode(y)
	}
	return x.BorrowHeight < y.BorrowHeight
}

// try is the four steps of fitsResourceQuota.
func (a *assigner) try(q *queue.Queue, asked quota.Amount) (preemption.AssignedResource, preemption.SkipReason) {
	out := preemption.AssignedResource{Resource: asked.Resource, Mode: preemption.ModeNoFit}
	if !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.FlavorResource() == asked.FlavorResource() }) {
		if asked.Amount == 0 {
			out.Mode = preemption.ModeFit
		}
		return out, preemption.NoQuota
	}
	asked.Amount = quota.Add(asked.Amount, a.taken[asked.FlavorResource()])
	c := a.tree.numbers[asked.FlavorResource()]
	forecast := New(a.Config, a.st, a.alone(asked)).decide()
	available, _ := a.Queue.Available(c)
	borrows := asked.Amount > a.Queue.Quotas[c].Nominal && !a.fitsBelowRoot(c, asked.Amount)
	switch {
	case asked.Amount > a.Queue.potential(c):
		return out, preemption.ExceedsMaxQuota
	case asked.Amount <= max(0, available):
		out.Mode, out.BorrowHeight = preemption.ModeFit, forecast.BorrowHeight
		return out, 0
	case a.open.Workload.NeverPreempts:
		return out, preemption.NeverPreempts
	case borrows && q.Preemption.BorrowWithinCohort.Policy == queue.Never &&
		(!a.fair() || q.Preemption.ReclaimWithinCohort == queue.Never):
		return out, preemption.NotReclaimable
	}
	out.Mode, out.BorrowHeight = preemption.ModePreempt, forecast.BorrowHeight
	out.Possibility = preemption.PossibilityReclaim
	if len(forecast.Victims) == 0 {
		out.Possibility = preemption.PossibilityNoCandidates
	} else if slices.ContainsFunc(forecast.Victims, func(v preemption.Victim) bool { return v.Queue == q.Name }) {
		out.Possibility = preemption.PossibilityPreempt
	}
	return out, 0
}

// fitsBelowRoot: "the CQ or a cohort above it, short of the root, has quota for it with its present usage counted".
func (a *assigner) fitsBelowRoot(c Column, amount int64) bool {
	for n := a.Queue; n.Parent != nil; n = n.Parent {
		if quota.Add(n.Used[c], amount) <= n.Subtree[c] {
			return true
		}
		amount = quota.Sub(amount, n.LocalLeft(c))
	}
	return false
}

// alone returns the request for one amount by itself.
func (a *assigner) alone(asked quota.Amount) preemption.Request {
	one := a.open
	one.NeedsPreemption, one.Room = []quota.FlavorResource{asked.FlavorResource()}, nil
	one.Workload.PodSets = []workload.PodSet{{Name: "one", Count: 1, Requests: []quota.Amount{asked}}}
	return one
}

// unassigned returns the decision if the last choice has no flavor: what is missing in each
// flavor that was tried, with nothing taken, and the blockers in the first flavor that the queue
// has no right to preempt for.
func (a *assigner) unassigned() preemption.Decision {
	d := preemption.Decision{Outcome: preemption.Impossible, Assignment: a.choices}
	choice := a.choices[len(a.choices)-1]
	if choice.Tried == nil { // the queue has no quota of these
		for _, p := range a.open.Workload.PodSets {
			for _, r := range p.Requests {
				unknown := func(u preemption.AssignedResource) bool { return u.Resource == r.Resource }
				if p.Name == choice.PodSet && slices.ContainsFunc(choice.Resources, unknown) {
					d.Shortage = append(d.Shortage, preemption.Shortage{
						FlavorResource: quota.FlavorResource{Resource: r.Resource}, Missing: p.Total(r.Amount),
					})
				}
			}
		}
		slices.SortFunc(d.Shortage, func(x, y preemption.Shortage) int { return cmp.Compare(x.Resource, y.Resource) })
		return d
	}
	for i, t := range choice.Tried {
		asked := a.lacking[i]
		switch t.Skipped {
		case preemption.NotEligible: // no amount would do
			continue
		case preemption.NoQuota:
			d.Shortage = append(d.Shortage, preemption.Shortage{FlavorResource: asked.FlavorResource(), Missing: asked.Amount})
			continue
		}
		asked.Amount = quota.Add(asked.Amount, a.taken[asked.FlavorResource()])
		if t.Skipped == preemption.NotReclaimable && d.Blockers == nil {
			d.Blockers = Decide(a.Config, a.st, a.alone(asked)).Blockers
		}
		d.Shortage = append(d.Shortage, New(preemption.Config{}, a.st, a.alone(asked)).shortages()...)
	}
	slices.SortFunc(d.Shortage, func(x, y preemption.Shortage) int {
		return cmp.Or(cmp.Compare(x.Flavor, y.Flavor), cmp.Compare(x.Resource, y.Resource))
	})
	return d
}
