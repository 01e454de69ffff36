package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// maxRows is how many victims, or blockers, have a line of their own on a screen. If there are more, those that are alike share one.
const maxRows = 8

// kin are victims of one queue that yield for one reason, or one victim alone.
type kin struct {
	names         []string
	queue, reason string
	least, most   int64 // priorities
	from, until   time.Time
	holds         []quota.Amount
	leaving       bool
}

// kins groups the victims: each alone, or by queue and reason.
func (a *answer) kins(together bool) (list []*kin) {
	for _, v := range a.victims() {
		name, since := v.Workload, v.ReservedAt
		if v.Leaving {
			since = v.LeavingSince
		}
		for _, r := range v.Replicas {
			name += fmt.Sprintf(", %s of %s", plural(int(r.Count), "1 replica", "%d replicas"), r.PodSet)
		}
		at := slices.IndexFunc(list, func(k *kin) bool {
			return together && k.queue == v.Queue && k.reason == reasonOf(&v.Victim) && k.leaving == v.Leaving
		})
		if at < 0 {
			at, list = len(list), append(list, &kin{queue: v.Queue, reason: reasonOf(&v.Victim), leaving: v.Leaving, least: v.Priority, most: v.Priority, from: since, until: since})
		}
		k := list[at]
		k.names = append(k.names, name)
		k.least, k.most = min(k.least, v.Priority), max(k.most, v.Priority)
		if since.Before(k.from) {
			k.from = since
		}
		if since.After(k.until) {
			k.until = since
		}
		for _, h := range v.Holds {
			i := slices.IndexFunc(k.holds, func(other quota.Amount) bool { return other.Resource == h.Resource })
			if i < 0 {
				k.holds = append(k.holds, quota.Amount{Resource: h.Resource, Amount: h.Amount})
				continue
			}
			k.holds[i].Amount = quota.Add(k.holds[i].Amount, h.Amount)
		}
	}
	if together {
		slices.SortStableFunc(list, func(a, b *kin) int { return cmp.Compare(len(b.names), len(a.names)) })
	}
	return list
}

// printVictims prints who yields, and who is leaving already.
func (a *answer) printVictims(b *cli.Page) {
	told, awaited := a.victimTable("victim", "age"), a.victimTable("awaited", "told")
	narrow := a.brief || b.Screen.Width > 0
	list := a.kins(narrow && len(a.decision.Victims) > maxRows)
	left := 0
	for i, k := range list {
		if narrow && i >= maxRows {
			left += len(k.names)
			continue
		}
		t, name := told, k.names[0]
		if k.leaving {
			t = awaited
		}
		if n := len(k.names); n > 1 {
			name = fmt.Sprintf("%d workloads", n)
		}
		t.Row(name, k.queue, k.reason, span(fmt.Sprint(k.least), fmt.Sprint(k.most)),
			span(units.Age(a.request.Now, k.until), units.Age(a.request.Now, k.from)), a.holds(k.holds, narrow))
	}
	reasons := a.reasons()
	for _, t := range []*cli.Table{told, awaited} {
		if t.Empty() {
			continue
		}
		if len(reasons) == 1 && reasons[0] != preemption.ConfigurablePreemption {
			t.Drop(2) // the line below says it of all
		}
		b.Table(t)
	}
	switch {
	case left > 0:
		b.Say("... and %d more; -o wide names all.\n", left)
	case len(list) < len(a.decision.Victims):
		b.Say("-o wide names them.\n")
	}
}

// span is from the least to the most, or the one that is both.
func span(least, most string) string {
	if least == most {
		return least
	}
	return least + " to " + most
}

// holds says what victims hold: on a screen of what is short alone, if that is enough, and of many resources one.
func (a *answer) holds(list []quota.Amount, narrow bool) string {
	if narrow {
		contested := a.contested()
		short := slices.DeleteFunc(slices.Clone(list), func(h quota.Amount) bool {
			return !slices.ContainsFunc(contested, func(c quota.FlavorResource) bool { return c.Resource == h.Resource })
		})
		if len(short) > 2 {
			short = []quota.Amount{slices.MinFunc(short, func(x, y quota.Amount) int { return cmp.Compare(x.Amount, y.Amount) })}
		}
		if len(short) > 0 {
			list = short
		}
	}
	var parts []string
	for _, h := range list {
		parts = append(parts, units.Amount(h.Resource, h.Amount)+" "+h.Resource)
	}
	return strings.Join(parts, ", ")
}

// victimTable is a table of who yields, or is leaving already.
func (a *answer) victimTable(who, since string) *cli.Table {
	return &cli.Table{Columns: []cli.Column{
		{Name: who, Least: 28, Cut: true}, {Name: "queue", Least: 8, Cut: true}, {Name: "reason", Least: 19}, {Name: "priority", Right: true}, {Name: since, Right: true}, {Name: "holds", Least: 12},
	}}
}

// alsoKept names the policy that would keep a blocker if reclaimWithinCohort did not: a request that is over the quota of its queue borrows,
// whoever yields. (In a cohort with another one above it the quota of the cohort counts, too.)
func (a *answer) alsoKept(k preemption.Blocker) string {
	q := a.queue()
	if k.Rule != preemption.RuleReclaimWithinCohort || a.Config.Sharing != preemption.Classical || q.Preemption.BorrowWithinCohort.Policy != queue.Never {
		return ""
	}
	const too = "; the request would borrow, and borrowWithinCohort is Never, too"
	for _, c := range a.decision.Assignment {
		if c.Flavor == "" && slices.ContainsFunc(c.Tried, func(f preemption.TriedFlavor) bool { return f.Skipped == preemption.NotReclaimable }) {
			return too
		}
	}
	if within, _ := a.Snapshot.Cohort(q.Cohort); within.Parent != "" {
		return ""
	}
	rows, _ := a.Snapshot.QueueStatus(q.Name)
	for _, u := range a.assigned.Usage() {
		of := slices.DeleteFunc(slices.Clone(rows), func(r preemption.QuotaStatus) bool {
			return r.Resource != u.Resource || u.Flavor != "" && r.Flavor != u.Flavor
		})
		if len(of) > 0 && !slices.ContainsFunc(of, func(r preemption.QuotaStatus) bool { return u.Amount <= r.Nominal }) {
			return too
		}
	}
	return ""
}

// printBlockers prints who may not yield, and why; on a screen those together that the same keeps.
func (a *answer) printBlockers(b *cli.Page) {
	if _, alone := a.ruled(); alone {
		a.printRefusals(b)
	}
	if len(a.decision.Blockers) == 0 {
		return
	}
	type kept struct {
		names         []string
		priority, why string
	}
	var list []kept
	together := a.brief || b.Screen.Width > 0 && len(a.decision.Blockers) > maxRows/2
	for _, k := range a.decision.Blockers {
		one := kept{names: []string{"queue " + k.Queue}, why: a.Words(explain.Blocker(a.Snapshot, &a.request, k)) + a.alsoKept(k)}
		if k.Cohort != "" {
			one.names[0] = a.Words("cohort " + k.Cohort)
		}
		if k.Workload != "" {
			w, _ := a.Snapshot.Find(k.Workload)
			one.names[0], one.priority = k.Workload+" in queue "+k.Queue, fmt.Sprint(w.EffectivePriority())
		}
		at := slices.IndexFunc(list, func(other kept) bool { return together && other.why == one.why && other.priority == one.priority })
		if at < 0 {
			list = append(list, one)
			continue
		}
		list[at].names = append(list[at].names, one.names[0])
	}
	shown := list
	if a.brief && len(list) > maxRows/2+1 {
		shown = list[:maxRows/2]
	}
	b.Gap()
	t := &cli.Table{Columns: []cli.Column{{Name: "blocker", Least: 20}, {Name: "priority", Right: true}, {Name: "why it may not yield", Least: 30}}}
	for _, k := range shown {
		name := strings.Join(k.names, ", ")
		if more := len(k.names) - 1; more > 1 {
			name = fmt.Sprintf("%s and %d more", k.names[0], more)
		}
		t.Row(name, k.priority, k.why)
	}
	b.Table(t)
	if more := len(list) - len(shown); more > 0 {
		b.Say("... and %d more; -o wide names all.\n", more)
	}
}
