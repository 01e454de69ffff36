package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// force gives a workload the flavors in a comma-separated list, each to the resources of its
// group.
func force(w *workload.Workload, q *queue.Queue, list string) error {
	groups := q.ResourceGroups()
	forced := map[int]string{} // by group
	for _, flavor := range strings.Split(list, ",") {
		g := slices.IndexFunc(groups, func(g queue.ResourceGroup) bool { return slices.Contains(g.Flavors, flavor) })
		switch {
		case g < 0:
			return fmt.Errorf("queue %s has no flavor %q; it has: %s", q.Name, flavor, answers.OrNothing(flavorsOf(groups)))
		case forced[g] != "":
			return fmt.Errorf("-flavor %s: %s and %s are for the same resources", list, forced[g], flavor)
		}
		forced[g] = flavor
	}
	for i := range w.PodSets {
		for j := range w.PodSets[i].Requests {
			r := &w.PodSets[i].Requests[j]
			g := slices.IndexFunc(groups, func(g queue.ResourceGroup) bool { return slices.Contains(g.Resources, r.Resource) })
			if g < 0 || forced[g] == "" {
				continue
			}
			r.Flavor = forced[g]
			if r.Amount > 0 && !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.FlavorResource() == r.FlavorResource() }) {
				return fmt.Errorf("queue %s has no quota for %s in flavor %s", q.Name, r.Resource, r.Flavor)
			}
		}
	}
	return nil
}

func flavorsOf(groups []queue.ResourceGroup) []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.Flavors...)
	}
	return names
}

func resourcesOf(groups []queue.ResourceGroup) []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.Resources...)
	}
	return names
}

// printFlavors prints how each flavor was judged, if several were tried for one that was
// assigned.
func (a *answer) printFlavors(b *cli.Page) {
	tried := &cli.Table{Columns: []cli.Column{{Name: "flavor tried", Least: 12}, {Name: "pod set", Least: 8}, {Name: "resource", Least: 10}, {Name: "result", Least: 20}}}
	for _, c := range a.decision.Assignment {
		if len(c.Tried) < 2 || c.Flavor == "" {
			continue
		}
		for _, f := range c.Tried {
			name, set, worst := f.Flavor, "", f.Resource
			if f.Mode == preemption.ModeFit && f.BorrowHeight == 0 {
				worst = ""
			}
			if f.Flavor == c.Flavor && f.Skipped != 0 {
				name += " <- taken"
			}
			if len(a.request.Workload.PodSets) > 1 {
				set = c.PodSet
			}
			tried.Row(name, set, worst, explain.Tried(&f))
		}
	}
	if tried.Empty() {
		return
	}
	b.Gap()
	b.Table(tried)
}

// printLack prints what is missing in each flavor that was tried.
func (a *answer) printLack(b *cli.Page, c preemption.FlavorChoice) {
	q := a.queue()
	if len(c.Tried) == 0 {
		for _, r := range c.Resources {
			b.Say("Queue %s has no quota for %s; it has: %s.\n", q.Name, r.Resource, answers.OrNothing(resourcesOf(q.ResourceGroups())))
		}
		return
	}
	for _, f := range c.Tried {
		if f.Skipped == preemption.NotEligible {
			b.Say("Flavor %s: %s.\n", f.Flavor, explain.Tried(&f))
			continue
		}
		of := slices.DeleteFunc(slices.Clone(a.decision.Shortage), func(s preemption.Shortage) bool { return s.Flavor != f.Flavor })
		s := of[0]
		if f.Skipped != preemption.ExceedsMaxQuota { // else it is the one that does
			s = answers.Scarcest(of, &a.request)
		}
		bound := "queue " + q.Name
		if s.Cohort != "" {
			bound = "cohort " + s.Cohort
		}
		most := ""
		if f.Skipped == preemption.ExceedsMaxQuota {
			most = ", which is " + units.Amount(s.Resource, s.PotentialAvailable)
		}
		b.Say("%s %s of %s are missing in %s: %s%s%s.\n", units.Amount(s.Resource, s.Missing), s.Resource, s.Flavor, bound, explain.Tried(&f), most, a.alsoShort(&s))
	}
}

// alsoShort says what else of a flavor is missing, where a decision about the flavor ends at the first resource. Of several pod sets that
// depends on where the others are.
func (a *answer) alsoShort(than *preemption.Shortage) string {
	w := &a.request.Workload
	if len(w.PodSets) != 1 || a.request.Replaces != "" {
		return ""
	}
	rows, _ := a.Snapshot.QueueStatus(w.Queue)
	var parts []string
	for _, u := range w.Usage() {
		at := slices.IndexFunc(rows, func(r preemption.QuotaStatus) bool { return r.Flavor == than.Flavor && r.Resource == u.Resource })
		if at < 0 || u.Resource == than.Resource {
			continue
		}
		if missing := quota.Sub(u.Amount, rows[at].Available); missing > 0 {
			parts = append(parts, units.Amount(u.Resource, missing)+" "+u.Resource)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; so are " + strings.Join(parts, ", ")
}
