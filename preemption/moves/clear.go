package moves

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Clear empties domains, or brings them within their capacity: those that lose the least, then those from which the fewest pods leave, then
// the first. Units leave as to a pod of the highest priority; those with a place outside the cleared domains move, the others yield, or
// keep the domain if they must not. Minimum runtimes and guards protect as in package placement; the steps keep the budgets, to which
// a pod that terminates because it was preempted is charged, unless they count it as disrupted. All units of one domain have places, or yield, before the next domain is chosen: it may be that
// another choice of several domains costs less, but none costs less than LowerBound.
//
// At most [Config.MaxTries] domains are looked at for each that is cleared: those that may cost the least. It changes neither the
// snapshot nor the request. It fails with [preemption.Faults]: of the configuration as [Decide], a time outside the years 1678 to 2262, or
// none though minimum runtimes are set, a negative count, domains without a name or with the same, unknown nodes, nodes in two domains.
func Clear(p *placement.Preemptor, s *placement.Snapshot, r ClearRequest, c Config) (ClearAnswer, error) {
	if err := r.validate(s, c.validate()); err != nil {
		return ClearAnswer{}, err
	}
	f, err := newClearing(p, s, r, &c)
	if err != nil {
		return ClearAnswer{}, err
	}
	return f.answer(r.Now)
}

// answer empties domains at an instant, and finds the first one at which more can be emptied.
func (f *clearing) answer(now time.Time) (ClearAnswer, error) {
	a, next, err := f.at(now)
	if err != nil || a.Outcome.Succeeds() {
		return a, err
	}
	for range mostInstants {
		if next.IsZero() {
			return a, nil
		}
		at := next
		var later ClearAnswer
		if later, next, err = f.at(at); err != nil {
			return ClearAnswer{}, err
		}
		if later.Outcome.Succeeds() {
			a.Outcome, a.RetryAt = preemption.Wait, at
			return a, nil
		}
	}
	if !next.IsZero() {
		a.Outcome, a.RetryAt = preemption.Wait, next
	}
	return a, nil
}

// clearing empties domains of a snapshot.
type clearing struct {
	config    *Config
	preemptor *placement.Preemptor // with soft budgets: the steps keep them
	before    *placement.Snapshot
	leaving   *placement.Snapshot // without the pods that belong to their nodes
	domains   []placement.Domain
	least     []Cost // by domain
	promised  map[string]string
	count     int
	within    bool
}

func newClearing(p *placement.Preemptor, s *placement.Snapshot, r ClearRequest, c *Config) (*clearing, error) {
	f := &clearing{config: c, before: s, leaving: s, domains: r.Domains, count: r.Count, promised: map[string]string{}, within: r.Within}
	soft := p.Config()
	soft.Budgets, soft.MaxBlockers = placement.Soft, 0
	var err error
	if f.preemptor, err = placement.New(soft); err != nil {
		return nil, err
	}
	if len(f.domains) == 0 {
		for n := range s.Nodes() {
			if r.Within && isOver(s, n.Name) || !r.Within && !n.Unschedulable {
				f.domains = append(f.domains, placement.Domain{Name: n.Name, Nodes: []string{n.Name}})
			}
		}
	}
	if f.count == 0 {
		f.count = len(f.domains)
	}
	if r.Stays != nil {
		var edits []placement.Edit
		for _, d := range f.domains {
			for _, node := range d.Nodes {
				for p := range s.PodsOn(node) {
					if r.Stays(p) {
						edits = append(edits, placement.Remove(p.ID))
					}
				}
			}
		}
		if f.leaving, err = s.With(edits...); err != nil {
			return nil, err
		}
	}
	for p := range s.NominatedPods() {
		f.promised[p.Node] = p.ID
	}
	if f.least = make([]Cost, len(f.domains)); !f.within {
		f.findLeast()
	}
	return f, nil
}

// findLeast finds what each domain costs at least: its pods that run, and, of the price of each unit, the part of the domain.
func (f *clearing) findLeast() {
	of := map[string]int{}
	for i, d := range f.domains {
		for _, node := range d.Nodes {
			of[node] = i
			f.least[i].Pods += f.leaving.UsedOn(node)[workload.PodsResource]
		}
	}
	for _, id := range f.leaving.Terminating() {
		p, _ := f.leaving.Find(id)
		if i, in := of[p.Node]; in {
			f.least[i].Pods--
		}
	}
	if f.config.Price == nil {
		return
	}
	for _, u := range f.leaving.Units() {
		v := f.config.victim(u)
		if v.terminates() {
			continue // it may leave without these pods, at another price
		}
		yield, move := v.yield, v.move
		if yield < 0 || move >= 0 && move < yield {
			yield = max(0, move)
		}
		in := map[int]bool{}
		for _, p := range u.Pods {
			if i, known := of[p.Node]; known {
				in[i] = true
			}
		}
		for i := range in {
			f.least[i].Lost = quota.Add(f.least[i].Lost, yield/int64(len(in)))
		}
	}
}

// cleared is what is emptied so far, or with one domain more.
type cleared struct {
	now   *placement.Snapshot // after it
	left  *placement.Snapshot // the same, without the pods that belong to their nodes
	list  []victim            // their nodes are those of the beginning
	steps []Step
	cost  Cost
	adds  Cleared
}

// at empties domains at an instant. If fewer than asked are, next is the first instant at which more units may leave.
func (f *clearing) at(now time.Time) (a ClearAnswer, next time.Time, err error) {
	order := make([]int, len(f.domains))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return f.least[i].Compare(f.least[j]) })
	for _, i := range order[:min(f.count, len(order))] {
		a.LowerBound = a.LowerBound.plus(f.least[i])
	}
	a.Now = now
	done := &cleared{now: f.before, left: f.leaving}
	for len(a.Cleared) < f.count {
		var best *cleared
		var taken, tried int
		a.Blocked = nil
		for k, i := range order {
			if tried == f.config.maxTries() || best != nil && f.least[i].Compare(best.cost.minus(done.cost)) >= 0 {
				break
			}
			tried++
			x, blocked, more, err := f.with(done, &f.domains[i], now)
			if err != nil {
				return ClearAnswer{}, time.Time{}, err
			}
			if blocked != nil {
				a.Blocked = append(a.Blocked, *blocked)
			}
			if !more.IsZero() && (next.IsZero() || more.Before(next)) {
				next = more
			}
			if x != nil && (best == nil || x.cost.Compare(best.cost) < 0) {
				best, taken = x, k
			}
		}
		if a.Tried += tried; best == nil {
			break
		}
		order = slices.Delete(order, taken, taken+1)
		done = best
		a.Cleared = append(a.Cleared, best.adds)
	}
	a.Moves, a.Steps, a.Cost = movesOf(done.list), done.steps, done.cost
	a.Victims = yieldsOf(done.list)
	switch {
	case len(a.Cleared) < f.count:
		a.Outcome, a.LowerBound = preemption.Impossible, Cost{}
		slices.SortFunc(a.Blocked, func(x, y Blocked) int { return cmp.Compare(x.Domain, y.Domain) })
		return a, next, nil
	case len(done.list) > 0:
		a.Outcome = preemption.Preempt
	default:
		a.Outcome = preemption.Fits
	}
	a.Blocked = nil
	return a, time.Time{}, nil
}

func (a Cost) minus(b Cost) Cost { return Cost{a.Lost - b.Lost, a.Pods - b.Pods} }
