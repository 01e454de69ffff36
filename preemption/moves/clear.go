package moves

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/engine/best/moving"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/workload"
)

// Clear empties domains: those that lose the least, then those from which the fewest pods leave, then the first. Units leave as
// [settle.DecideNodes] says for nodes that are to be empty; those with a place outside the cleared domains move, the others yield, or
// keep the domain if they must not. All units of one domain have places, or yield, before the next domain is chosen: it may be that
// another choice of several domains costs less, but none costs less than LowerBound. With [placement.Exact] the units of a domain of at
// most 64 are placed so that it loses the least, beside the units that stay.
//
// At most [Config.MaxTries] domains are looked at for each that is cleared: those that may cost the least. It changes neither the
// snapshot nor the request. It fails with a [fault.List]: of the configuration as [Decide], a time outside the years 1678 to 2262, or
// none though minimum runtimes are set, a negative count, domains without a name or with the same, unknown nodes, nodes in two domains.
//
// [fault.List]: https://pkg.go.dev/github.com/cedesched/cede/preemption/fault#List
func Clear(p *placement.Preemptor, s *placement.Snapshot, r ClearRequest, c Config) (ClearAnswer, error) {
	if err := r.validate(s, c.validate()); err != nil {
		return ClearAnswer{}, err
	}
	f, err := newClearing(p, s, r, &c)
	if err != nil {
		return ClearAnswer{}, err
	}
	a, next, err := f.at(r.Now)
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
}

func newClearing(p *placement.Preemptor, s *placement.Snapshot, r ClearRequest, c *Config) (*clearing, error) {
	f := &clearing{config: c, before: s, leaving: s, domains: r.Domains, count: r.Count, promised: map[string]string{}}
	soft := p.Config()
	soft.Budgets, soft.MaxBlockers, soft.SkipBlockers = placement.Soft, 0, false
	var err error
	if f.preemptor, err = placement.New(soft); err != nil {
		return nil, err
	}
	if len(f.domains) == 0 {
		for n := range s.Nodes() {
			if !n.Unschedulable {
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
	f.findLeast()
	return f, nil
}

// findLeast finds what each domain costs at least: its pods that run, and, of the price of each unit, the part of the domain.
func (f *clearing) findLeast() {
	f.least = make([]Cost, len(f.domains))
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
		if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.Terminating }) {
			continue // it may leave without these, at another price
		}
		yield, move := f.config.price(&u)
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
			f.least[i].Lost += yield / int64(len(in))
		}
	}
}

// cleared is what is emptied so far, or with one domain more.
type cleared struct {
	now   *placement.Snapshot // after it
	left  *placement.Snapshot // the same, without the pods that belong to their nodes
	list  []leaver            // their nodes are those of the beginning
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
	a.now = now
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

func yieldsOf(list []leaver) (out []placement.Victim) {
	for i := range list {
		if l := &list[i]; l.to == nil {
			v := placement.Victim{Group: l.Group, Priority: l.Priority}
			for _, p := range l.Pods {
				v.Pods = append(v.Pods, p.ID)
			}
			slices.Sort(v.Pods)
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	for i := range out {
		out[i].Order = i + 1
	}
	return out
}

// with empties one domain more; nil: blocked says why it can not be emptied, and more when more units may leave.
func (f *clearing) with(done *cleared, d *placement.Domain, now time.Time) (x *cleared, blocked *Blocked, more time.Time, err error) {
	for _, node := range d.Nodes {
		if pod, promised := f.promised[node]; promised {
			return nil, &Blocked{Domain: d.Name, Cause: Promised, Pod: pod}, more, nil
		}
	}
	a, err := settle.DecideNodes(f.preemptor, done.left, settle.NodesRequest{Now: now, Nodes: d.Nodes, Empty: d.Nodes})
	if err != nil {
		return nil, nil, more, err
	}
	if len(a.Remaining) > 0 {
		return nil, protected(d.Name, &a), a.MoreAt, nil
	}
	list := f.leavers(done, a.Victims)
	for i := range list { // a budget never lets it go
		if pod, ok := f.mayEverStop(&list[i]); !ok {
			return nil, &Blocked{Domain: d.Name, Cause: Budget, Group: list[i].Group, Pod: pod}, more, nil
		}
	}
	after, err := without(done.now, d, a.Victims)
	if err != nil {
		return nil, nil, more, err
	}
	isPlaced, err := f.place(done, d, after, list)
	if err != nil {
		return nil, nil, more, err
	}
	if !isPlaced {
		at := slices.IndexFunc(list, func(l leaver) bool { return l.mustMove() && l.to == nil })
		return nil, &Blocked{Domain: d.Name, Cause: NoPlace, Group: list[at].Group, Pod: list[at].Pods[0].ID}, more, nil
	}
	x = &cleared{list: merged(done.list, list, f.before)}
	planner := f.config.newPlanner(f.before, func(string) bool { return false })
	if l := planner.overBudget(x.list); l != nil {
		return nil, &Blocked{Domain: d.Name, Cause: Budget, Group: l.Group, Pod: l.Pods[0].ID}, more, nil
	}
	steps, stuck := planner.plan(x.list, nil)
	if len(stuck) > 0 {
		return nil, &Blocked{Domain: d.Name, Cause: Budget, Group: stuck[0].Group, Pod: stuck[0].Pods[0].ID}, more, nil
	}
	x.steps, x.cost = steps, costOf(x.list)
	x.adds = Cleared{Domain: d.Name, Cost: x.cost.minus(done.cost)}
	x.adds.Moves, x.adds.Yields = countOf(x.list, true)-countOf(done.list, true), countOf(x.list, false)-countOf(done.list, false)
	var edits []placement.Edit
	for i := range list {
		for k, to := range list[i].to {
			pod := list[i].Pods[k] // its start is that of before: it has not moved yet
			pod.Node = to
			edits = append(edits, placement.Run(pod))
		}
	}
	if x.now, err = after.With(edits...); err != nil || done.left == done.now {
		x.left = x.now
		return x, nil, more, err
	}
	if after, err = without(done.left, d, a.Victims); err == nil {
		x.left, err = after.With(edits...)
	}
	return x, nil, more, err
}

// countOf counts the units that move, or yield.
func countOf(list []leaver, moves bool) (n int) {
	for i := range list {
		if (list[i].to != nil) == moves {
			n++
		}
	}
	return n
}

// merged joins the units that left for the domains before with those that leave for one more. Each leaves the nodes of the
// beginning.
func merged(list, more []leaver, before *placement.Snapshot) []leaver {
	out, at := slices.Clone(list), map[string]int{}
	for i := range out {
		at[out[i].Pods[0].ID] = i
	}
	for _, l := range more {
		l.Pods = slices.Clone(l.Pods)
		for k := range l.Pods {
			p, _ := before.Find(l.Pods[k].ID)
			l.Pods[k].Node = p.Node
		}
		if i, left := at[l.Pods[0].ID]; left {
			out[i] = l
		} else {
			out = append(out, l)
		}
	}
	return out
}

// protected says which unit may not leave.
func protected(domain string, a *settle.NodesAnswer) *Blocked {
	out := &Blocked{Domain: domain, Cause: Protected}
	for i := range a.Steps {
		for _, b := range a.Steps[i].Decision.Blockers {
			out.Group, out.Pod, out.Rule, out.Until = b.Group, b.Pod, b.Rule, b.Until
			return out
		}
	}
	return out
}

// leavers prices the victims, whatever budgets they violate: the steps keep them.
func (f *clearing) leavers(done *cleared, victims []placement.Victim) []leaver {
	victims = slices.Clone(victims)
	for i := range victims {
		victims[i].Violations = 0
	}
	return f.config.leavers(done.now, victims)
}

// mayEverStop reports whether each budget allows the pods of a unit at once; if not, it returns one that it does not.
func (f *clearing) mayEverStop(l *leaver) (pod string, ok bool) {
	for b := range f.before.Budgets() {
		var covered int64
		for i := range l.Pods {
			if b.Covers(&l.Pods[i]) && !slices.Contains(b.Disrupted, l.Pods[i].ID) {
				if covered++; covered > b.Allowed {
					return l.Pods[i].ID, false
				}
			}
		}
	}
	return "", true
}

// without returns the snapshot without victims, with a domain closed.
func without(s *placement.Snapshot, d *placement.Domain, victims []placement.Victim) (*placement.Snapshot, error) {
	var edits []placement.Edit
	for _, v := range victims {
		for _, id := range v.Pods {
			edits = append(edits, placement.Remove(id))
		}
	}
	for _, node := range d.Nodes {
		n, _ := s.Node(node)
		n.Unschedulable = true
		edits = append(edits, placement.SetNode(n))
	}
	return s.With(edits...)
}

// place gives places to the units of a domain, by an exact search if it is asked for and one of them yields or has none.
func (f *clearing) place(done *cleared, d *placement.Domain, after *placement.Snapshot, list []leaver) (bool, error) {
	ok, err := f.config.house(f.preemptor, after, list)
	if err != nil || f.config.Search != placement.Exact || len(list) > mostUnits ||
		!slices.ContainsFunc(list, func(l leaver) bool { return l.to == nil }) {
		return ok, err
	}
	b := f.config.newBuilder(f.preemptor, done.now, d.Nodes, func(string) bool { return false })
	b.addUnits(list)
	b.problem.Left = nil // the steps keep the budgets
	for i := range b.problem.Units {
		b.problem.Units[i].Charges = nil
	}
	if b.problem.Limit = moving.None; ok {
		b.problem.Limit = moving.Cost(costOf(list))
	}
	answer, _ := b.solve()
	if answer == nil {
		return ok, nil
	}
	var units []placement.Unit
	for i, l := range list {
		for k, to := range answer.Places[i] {
			if to >= 0 {
				units = append(units, placement.Unit{Pods: []workload.Pod{only(l.Pods[k], b.nodes[to].Name)}})
			}
		}
	}
	places, err := f.preemptor.Places(after, units, nil)
	if err != nil || slices.ContainsFunc(places, func(n []placement.Nomination) bool { return n == nil }) {
		return ok, err
	}
	for i := range list {
		list[i].to = nil
		for _, to := range answer.Places[i] {
			if to >= 0 {
				list[i].to = append(list[i].to, b.nodes[to].Name)
			}
		}
	}
	return true, nil
}

const mostUnits = 64
