package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/assign"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// maxTrials limits how many pairs of a resource and a flavor a request may try.
const maxTrials = 1 << 16

// isOpen reports whether some request has no flavor.
func isOpen(w *workload.Workload) bool {
	for i := range w.PodSets {
		for j := range w.PodSets[i].Requests {
			if w.PodSets[i].Requests[j].Flavor == "" {
				return true
			}
		}
	}
	return false
}

// open holds the requests without flavor, in dense form.
type open struct {
	assigner assign.Assigner
	request  assign.Request
	items    []assign.Item
}

// enter collects the choices: for each pod set first the resources without quota in the
// queue, if any, then its resource groups.
func (o *open) enter(c *cluster.Cluster, plan *assign.Plan, sc *scratch, config *Config, r *Request, faults *fault.List) {
	w := &r.Workload
	q := c.Queue(sc.request.Queue)
	o.assigner.Searcher = &sc.searcher
	o.request = assign.Request{
		Base: &sc.request, Rules: sc.taker(), Fungibility: q.FlavorFungibility, NeverPreempts: w.NeverPreempts,
		PreemptsWhileBorrowing: q.Preemption.BorrowWithinCohort.Policy != queue.Never || sc.byRules ||
			config.Sharing != Classical && q.Preemption.ReclaimWithinCohort != queue.Never,
		Given: o.request.Given[:0], Choices: o.request.Choices[:0],
	}
	requests, trials := 0, 0
	for i := range w.PodSets {
		requests += len(w.PodSets[i].Requests)
	}
	o.items = slices.Grow(o.items[:0], requests) // the array must not move: choices hold parts of it
	for i := range w.PodSets {
		trials += o.enterPodSet(c, plan, r, i, faults)
	}
	if trials > maxTrials {
		faults.Add("request.workload.podSets", "%d times a resource to try in a flavor: more than %d", trials, maxTrials)
	}
}

func (o *open) enterPodSet(c *cluster.Cluster, plan *assign.Plan, request *Request, podSet int, faults *fault.List) (trials int) {
	p := &request.Workload.PodSets[podSet]
	first := len(o.items)
	for j := range p.Requests {
		r := &p.Requests[j]
		amount := p.Total(r.Amount)
		if r.Flavor != "" {
			o.request.Given = append(o.request.Given, quotatree.Load{Column: c.Columns.Number(r.FlavorResource()), Amount: amount})
			continue
		}
		group, at, known := plan.Place(r.Resource)
		switch {
		case known:
			trials += len(plan.Groups[group].Flavors)
		case amount == 0:
			continue // nothing is requested of a resource without quota
		default:
			group = -1
		}
		o.items = append(o.items, assign.Item{Request: j, Group: group, Resource: at, Amount: amount})
	}
	items := o.items[first:]
	slices.SortFunc(items, func(a, b assign.Item) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(p.Requests[a.Request].Resource, p.Requests[b.Request].Resource))
	})
	for j := range p.Requests {
		if group, _, known := plan.Place(p.Requests[j].Resource); known && p.Requests[j].Flavor != "" {
			if i := slices.IndexFunc(items, func(it assign.Item) bool { return it.Group == group }); i >= 0 {
				faults.Add(fmt.Sprintf("request.workload.podSets[%d].requests[%d].flavor", podSet, items[i].Request),
					"is empty, but that of requests[%d], in the same resource group, is %q", j, p.Requests[j].Flavor)
			}
		}
	}
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Group == items[0].Group {
			n++
		}
		choice := assign.Choice{PodSet: podSet, Items: items[:n:n], Constraints: p.NodeConstraints}
		if items[0].Group >= 0 {
			choice.Group = &plan.Groups[items[0].Group]
			choice.First = request.Continue.next(p.Name, p.Requests[items[0].Request].Resource, choice.Group.Flavors)
		}
		o.request.Choices = append(o.request.Choices, choice)
		items = items[n:]
	}
	return trials
}

// next returns the index of the flavor after the last one tried for a resource.
func (a Assignment) next(podSet, resource string, flavors []string) int {
	for i := range a {
		asked := func(r AssignedResource) bool { return r.Resource == resource }
		if last := len(a[i].Tried) - 1; last >= 0 && a[i].PodSet == podSet && slices.ContainsFunc(a[i].Resources, asked) {
			return (slices.Index(flavors, a[i].Tried[last].Flavor) + 1) % len(flavors)
		}
	}
	return 0
}

// assign chooses the flavors and adds the requests to the slots; ok is false if a choice
// found no flavor.
func (sc *scratch) assign(c *cluster.Cluster) (ok bool) {
	o := &sc.open
	made, ok := o.assigner.Assign(c, &o.request)
	clear(o.request.Choices[made:]) // the choices that were not made; see release
	o.request.Choices = o.request.Choices[:made]
	for i := range o.request.Choices {
		ch := &o.request.Choices[i]
		for _, item := range ch.Items {
			if ch.Taken >= 0 {
				slot := sc.slot(c, nameOf(ch, ch.Taken, item))
				sc.request.Amounts[slot] = quota.Add(sc.request.Amounts[slot], item.Amount)
			}
		}
	}
	return ok
}

func nameOf(ch *assign.Choice, flavor int, item assign.Item) quota.FlavorResource {
	return quota.FlavorResource{Flavor: ch.Group.Flavors[flavor], Resource: ch.Group.Resources[item.Resource]}
}

// assignment turns the choices into names. The resources of all choices are one allocation,
// so are their trials.
func (o *open) assignment(w *workload.Workload) Assignment {
	if len(o.request.Choices) == 0 {
		return nil
	}
	items, trials := 0, 0
	for i := range o.request.Choices {
		items += len(o.request.Choices[i].Items)
		trials += len(o.request.Choices[i].Tried)
	}
	resources, tried := make([]AssignedResource, 0, items), make([]TriedFlavor, 0, trials)
	list := make(Assignment, len(o.request.Choices))
	for i := range list {
		ch, out := &o.request.Choices[i], &list[i]
		p := &w.PodSets[ch.PodSet]
		out.PodSet = p.Name
		if ch.Taken >= 0 {
			out.Flavor = ch.Group.Flavors[ch.Taken]
		}
		for _, item := range ch.Items {
			resources = append(resources, assigned(p.Requests[item.Request].Resource, item.Verdict))
		}
		for _, t := range ch.Tried {
			tried = append(tried, TriedFlavor{
				Flavor:           ch.Group.Flavors[t.Flavor],
				AssignedResource: assigned(p.Requests[ch.Items[t.Item].Request].Resource, t.Verdict),
				Skipped:          SkipReason(t.Passed), // the constants are the same
				Mismatch:         mismatch(ch, t),
			})
		}
		out.Resources, resources = cut(resources, len(ch.Items))
		if out.Tried, tried = cut(tried, len(ch.Tried)); len(ch.Tried) == 0 {
			out.Tried = nil
		} else {
			out.Untried = len(ch.Group.Flavors) - ch.Tried[len(ch.Tried)-1].Flavor - 1
		}
	}
	return list
}

// cut returns the last n items, with capacity n, and the free capacity after them.
func cut[T any](list []T, n int) (last, rest []T) {
	return list[len(list)-n : len(list) : len(list)], list[len(list):]
}

func assigned(resource string, v assign.Verdict) AssignedResource {
	out := AssignedResource{Resource: resource, Mode: ModePreempt, BorrowHeight: v.Height}
	switch v.Mode {
	case assign.NoFit:
		out.Mode = ModeNoFit
	case assign.NoCandidates:
		out.Possibility = PossibilityNoCandidates
	case assign.Preempt:
		out.Possibility = PossibilityPreempt
	case assign.Reclaim:
		out.Possibility = PossibilityReclaim
	case assign.Fit:
		out.Mode = ModeFit
	}
	return out
}

// unassigned returns the decision if the last choice found no flavor: the shortage in each
// flavor that was tried, with no victims, and the blockers in the first flavor that the
// queue has no right to preempt for.
func (sc *scratch) unassigned(c *cluster.Cluster, w *workload.Workload, maxBlockers int) Decision {
	o := &sc.open
	d := Decision{Outcome: Impossible, Assignment: o.assignment(w)}
	ch := &o.request.Choices[len(o.request.Choices)-1]
	if ch.Group == nil {
		for _, item := range ch.Items {
			d.Shortage = append(d.Shortage, Shortage{
				FlavorResource: quota.FlavorResource{Resource: w.PodSets[ch.PodSet].Requests[item.Request].Resource}, Missing: item.Amount,
			})
		}
		return d
	}
	for _, t := range ch.Tried {
		if t.Passed == assign.NotEligible {
			continue
		}
		item := ch.Items[t.Item]
		out := Shortage{FlavorResource: nameOf(ch, t.Flavor, item), Missing: t.Amount}
		if column := ch.Group.Column(t.Flavor, item.Resource); column >= 0 {
			out.PotentialAvailable = c.Tree.PotentialAvailable(sc.request.Queue, column)
			var bound int
			if out.Missing, bound = c.Usage.Missing(sc.request.Queue, column, t.Amount); !c.IsQueue(bound) {
				out.Cohort = c.Cohorts[bound].Name
			}
			if t.Passed == assign.NotReclaimable && d.Blockers == nil {
				d.Blockers = sc.blockers(c, o.assigner.Blockers(column, t.Amount, maxBlockers))
			}
		}
		d.Shortage = append(d.Shortage, out)
	}
	slices.SortFunc(d.Shortage, func(a, b Shortage) int { return a.FlavorResource.Compare(b.FlavorResource) })
	return d
}

// release drops all references into the snapshot.
func (o *open) release() {
	o.assigner.Release()
	clear(o.request.Choices)
	o.request.Choices = o.request.Choices[:0]
}

// Forecast is what preemption can do for one resource in one flavor.
type Forecast struct {
	Possibility Possibility `json:"possibility"`
	// BorrowHeight is as in Decision.BorrowHeight.
	BorrowHeight int `json:"borrowHeight"`
}

// Forecast says what preemption could do for the given amount of one resource in one flavor,
// alone, as the assignment of flavors asks it. It reads the facts of the request's workload
// except its requests, and the time. It is about the search in order alone; the
// assignment also counts what is leaving already, where that is enough. It does not read the Room, and not the MinCounts, as the amount is given: with
// fewer replicas, give what they take. The error is that of [Preemptor.Decide].
func (p *Preemptor) Forecast(s *Snapshot, r Request, a quota.Amount) (Forecast, error) {
	if p == nil {
		p = &standard
	}
	one := r
	one.Workload.PodSets = []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{a}}}
	if one.NeedsPreemption = []quota.FlavorResource{a.FlavorResource()}; a.Flavor == "" {
		return Forecast{}, fault.List{{Path: "amount.flavor", Problem: "is empty"}}
	}
	sc := p.scratch.Take()
	defer p.release(sc)
	one.MinCounts, one.Room = nil, nil
	s, err := sc.begin(s, &p.config, &one)
	if err != nil {
		return Forecast{}, err
	}
	if s.inside().Queue(sc.request.Queue).Inactive {
		return Forecast{Possibility: PossibilityNoCandidates}, nil
	}
	sc.request.Guard, sc.request.Forecast = p.config.guard(&r), true
	found := sc.search(s.inside(), &r.Workload, 0)
	f := Forecast{PossibilityNoCandidates, found.BorrowHeight}
	if len(found.Victims) > 0 {
		f.Possibility = PossibilityReclaim
	}
	for i := range found.Victims {
		if found.Victims[i].Queue == sc.request.Queue {
			f.Possibility = PossibilityPreempt
		}
	}
	return f, nil
}
