package preemptiontest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// purpose is the rule that a record should reach: the tree is changed so that it can be
// reached, workloads that would have to yield fill the quota, and the request is for a little
// more than what is left. None of this is certain, so near misses are drawn, too.
type purpose uint8

const (
	anything   purpose = iota // a state and an independent request
	ownQueue                  // victims in the preemptor's queue
	sibling                   // victims in a queue of the same cohort
	throughTop                // victims in a queue that only a higher cohort joins
	byTime                    // victims of equal priority whose time is over
	surplus                   // replicas over the minimum
	later                     // the workloads that would yield are protected for some time
)

// drawRecord draws a record with the given columns.
func drawRecord(t *rapid.T, flavorResources func(*rapid.T) []quota.FlavorResource) preemption.Record {
	frs := flavorResources(t)
	st := tree(t, frs)
	p := pick(t, "purpose", anything, ownQueue, ownQueue, ownQueue, sibling, sibling, sibling, sibling,
		throughTop, throughTop, throughTop, throughTop, byTime, byTime, byTime, byTime, byTime, surplus, later, later, later, later)
	if p == anything {
		run(t, &st, pick(t, "workloads", 0, 3, 6, 8, 10, 12, 14, 16))
		r := Requests(st).Draw(t, "request")
		localQueues(t, &st, &r)
		return preemption.Record{State: st, Request: &r}
	}
	sc := &scene{purpose: p, frs: frs, st: st}
	sc.arrange(t)
	run(t, &sc.st, pick(t, "workloads", 0, 1, 2, 4, 8))
	r := preemption.Request{Now: Now, Workload: workload.Workload{
		ID: "ns/pending", UID: "u-pending", Queue: sc.st.Queues[0].Name, Priority: pick[int64](t, "priority", 1, 0, 2, 3),
		Created: instantOrNone(t, "created"), Queued: instantOrNone(t, "queued"),
	}}
	s := snapshot(t, sc.st)
	sc.fill(t, s, &r.Workload)
	sc.ask(t, &r.Workload)
	r.Workload.NeverPreempts = chance(t, 1, 40)
	r.Workload.Gates = gates(t)
	localQueues(t, &sc.st, &r)
	return preemption.Record{State: sc.st, Request: &r}
}

// scene is a record under construction. The preemptor's queue is the first of the state.
type scene struct {
	purpose
	frs     []quota.FlavorResource
	st      preemption.State
	donors  []string // queues whose workloads are to yield
	donated []workload.Workload
	left    []preemption.QuotaStatus // of the preemptor's queue, when all is filled
}

// arrange changes the tree and the policies of the first queue.
func (sc *scene) arrange(t *rapid.T) {
	own := &sc.st.Queues[0]
	from := sc.purpose
	if from == surplus || from == later {
		from = pick(t, "from", sibling, ownQueue, throughTop)
	}
	if from != ownQueue && from != byTime {
		sc.join(t, from == throughTop)
		own = &sc.st.Queues[0]
	} else {
		sc.donors = []string{own.Name}
	}
	for _, fr := range sc.frs {
		if chance(t, 5, 6) {
			own.Quotas = setQuota(own.Quotas, quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource, Nominal: pick[int64](t, "own nominal", 4, 2, 6, 8, 1)})
		}
	}
	own.Inactive = false
	p := &own.Preemption
	if (from == ownQueue || from == byTime) && p.WithinClusterQueue == queue.Never {
		p.WithinClusterQueue = queue.LowerPriority
	}
	if from == byTime || from == ownQueue && sc.purpose == later && chance(t, 1, 2) {
		p.WithinClusterQueue = queue.LowerOrNewerEqualPriority
		p.MinAdmitDuration = quota.Some(pick[time.Duration](t, "min admit duration", 10, 1, 20, 30) * time.Minute)
	}
	if from == sibling || from == throughTop {
		if p.ReclaimWithinCohort == queue.Never || chance(t, 1, 2) {
			p.ReclaimWithinCohort = queue.Any
		}
		if chance(t, 1, 4) {
			p.BorrowWithinCohort.Policy = queue.LowerPriority
		}
	}
	switch {
	case sc.purpose == later:
		sc.protect(t)
	case chance(t, 2, 3):
		own.MinRuntime = minruntime.Settings{}
	}
}

// join puts one or two other queues into the first queue's cohort, or, if higher, into a
// cohort that shares only a higher cohort with it.
func (sc *scene) join(t *rapid.T, higher bool) {
	for len(sc.st.Cohorts) < 3 {
		sc.st.Cohorts = append(sc.st.Cohorts, queue.Cohort{Name: fmt.Sprintf("c%d", len(sc.st.Cohorts))})
	}
	for len(sc.st.Queues) < 3 {
		q := queue.Queue{Name: fmt.Sprintf("q%d", len(sc.st.Queues)), Cohort: "c0", Preemption: preemptionOf(t), Quotas: quotas(t, sc.frs, true, true)}
		sc.st.Queues = append(sc.st.Queues, q)
	}
	own, theirs := "c0", "c0"
	if higher {
		own, theirs = "c1", pick(t, "theirs", "c0", "c2")
		sc.st.Cohorts[1].Parent = "c0"
		if theirs == "c2" {
			sc.st.Cohorts[2].Parent = pick(t, "parent of theirs", "c0", "c0", "c1")
		}
	}
	sc.st.Queues[0].Cohort = own
	for i := range pick(t, "donors", 1, 2) {
		q := &sc.st.Queues[1+i]
		q.Cohort = theirs
		sc.donors = append(sc.donors, q.Name)
		sc.unbind(t, q.Quotas)
		for j := range q.Quotas {
			if chance(t, 2, 3) { // it borrows nearly all of its usage
				q.Quotas = setQuota(q.Quotas, quota.Quota{Flavor: q.Quotas[j].Flavor, Resource: q.Quotas[j].Resource, Nominal: pick[int64](t, "their nominal", 0, 1, 2)})
			}
		}
	}
	sc.unbind(t, sc.st.Queues[0].Quotas)
	if chance(t, 1, 5) {
		sc.donors = append(sc.donors, sc.st.Queues[0].Name)
	}
	for i := range sc.st.Cohorts {
		sc.unbind(t, sc.st.Cohorts[i].Quotas)
	}
}

// unbind removes most borrowing and lending limits: with all of them little is borrowed.
func (sc *scene) unbind(t *rapid.T, quotas []quota.Quota) {
	for i := range quotas {
		if chance(t, 3, 4) {
			quotas[i].BorrowingLimit, quotas[i].LendingLimit = quota.OptionalInt64{}, quota.OptionalInt64{}
		}
	}
}

// protect gives a minimum runtime to the queue of a donor or to a cohort.
func (sc *scene) protect(t *rapid.T) {
	least := quota.Some(pick[time.Duration](t, "protected for", 20, 10, 35) * time.Minute)
	both := minruntime.Settings{Preempt: least, Reclaim: least}
	for i := range sc.st.Queues {
		if slices.Contains(sc.donors, sc.st.Queues[i].Name) && chance(t, 5, 6) {
			sc.st.Queues[i].MinRuntime = both
		}
	}
	if len(sc.st.Cohorts) > 0 && chance(t, 1, 3) {
		sc.st.Cohorts[rapid.IntRange(0, len(sc.st.Cohorts)-1).Draw(t, "protecting")].MinRuntime = both
	}
}

func setQuota(list []quota.Quota, q quota.Quota) []quota.Quota {
	for i := range list {
		if list[i].FlavorResource() == q.FlavorResource() {
			list[i].Nominal = q.Nominal
			if limit, ok := list[i].LendingLimit.Get(); ok {
				list[i].LendingLimit = quota.AtMost(min(limit, q.Nominal))
			}
			return list
		}
	}
	return append(list, q)
}

// fill lets the donors use what is available to them, in one to four workloads.
func (sc *scene) fill(t *rapid.T, s *preemption.Snapshot, pending *workload.Workload) {
	for _, donor := range sc.donors {
		rows, _ := s.QueueStatus(donor)
		number := pick[int64](t, "workloads of a donor", 2, 3, 1, 4)
		var edits []preemption.Edit
		for i := range number {
			w := sc.donation(t, pending, donor, fmt.Sprintf("ns/%c%d", 'd'+i, len(sc.donated)))
			p := &w.PodSets[0]
			for _, row := range rows {
				if !slices.Contains(sc.frs, row.FlavorResource) {
					continue
				}
				part := min(max(0, row.Available), 60) / number
				if i == 0 {
					part += min(max(0, row.Available), 60)%number + pick[int64](t, "over", 0, 0, 0, 0, 0, 0, 1, -1)
				}
				p.Requests = append(p.Requests, quota.Amount{Flavor: row.Flavor, Resource: row.Resource, Amount: max(0, part)})
			}
			if sc.purpose == surplus || chance(t, 1, 10) {
				sc.stretch(t, p)
			}
			sc.donated = append(sc.donated, w)
			edits = append(edits, preemption.Admit(w))
		}
		next, err := s.With(edits...)
		if err != nil {
			t.Fatalf("preemptiontest: %v", err)
		}
		s = next
	}
	sc.st.Admitted = append(sc.st.Admitted, sc.donated...)
	sc.left, _ = s.QueueStatus(pending.Queue)
}

// stretch splits what a pod set takes into replicas.
func (sc *scene) stretch(t *rapid.T, p *workload.PodSet) {
	p.Count = pick[int64](t, "replicas", 2, 3, 4)
	p.MinCount = workload.AtLeast(pick[int64](t, "at least", 1, 0, 2))
	for i := range p.Requests {
		if p.Requests[i].Amount > 0 {
			p.Requests[i].Amount = max(1, p.Requests[i].Amount/p.Count)
		}
	}
}

// donation draws a workload that is to yield to the pending one.
func (sc *scene) donation(t *rapid.T, pending *workload.Workload, donor, id string) workload.Workload {
	w := workload.Workload{
		ID: id, UID: fmt.Sprintf("u%d", rapid.IntRange(0, 3).Draw(t, "uid")), Queue: donor,
		Priority: pending.Priority - pick[int64](t, "less important by", 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 0, 0, -1),
		Created:  instantOrNone(t, "created"), Queued: instantOrNone(t, "queued"),
		ReservedAt: instant(t, "reserved"), Evicted: chance(t, 1, 20), NeverYields: chance(t, 1, 100),
		PodSets: []workload.PodSet{{Name: "main", Count: 1}},
	}
	switch sc.purpose {
	case byTime:
		least, _ := sc.st.Queues[0].Preemption.MinAdmitDuration.Get()
		over := pick[time.Duration](t, "over time by", 1, 1, 10*time.Minute, time.Hour, time.Hour, time.Hour, 0, -1)
		if chance(t, 9, 10) {
			w.Priority, w.ReservedAt = pending.Priority, Now.Add(-least-over)
			w.Queued = after(pending.Queued, pick[time.Duration](t, "queued before", -10, 0, -10, 0, 10)*time.Minute)
			if chance(t, 1, 6) {
				w.Queued = time.Time{}
			}
		}
	case later:
		if chance(t, 3, 4) {
			w.ReservedAt = Now.Add(-pick[time.Duration](t, "started before", 0, 10, 1, 5) * time.Minute)
			w.Evicted = false
		}
		if donor == sc.st.Queues[0].Name && sc.st.Queues[0].Preemption.WithinClusterQueue == queue.LowerOrNewerEqualPriority && chance(t, 1, 2) {
			w.Priority, w.Queued = pending.Priority, after(pending.Queued, -10*time.Minute)
		}
	}
	return w
}

// ask makes the request so large that a drawn number of donations has to yield, or one more
// or less. It is mostly within nominal quota if others are to yield, and within what could
// ever be available.
func (sc *scene) ask(t *rapid.T, w *workload.Workload) {
	w.PodSets = []workload.PodSet{{Name: "main", Count: 1}}
	gone := pick(t, "donations to go", 2, 3, 3, 2, 4, 2, 1)
	contended := -1
	for i, fr := range sc.frs { // the first, or a later one, of what the queue has
		has := slices.ContainsFunc(sc.st.Queues[0].Quotas, func(q quota.Quota) bool { return q.FlavorResource() == fr })
		if has && (contended < 0 || chance(t, 1, 2)) {
			contended = i
		}
	}
	withinNominal := sc.donors[0] != w.Queue && chance(t, 4, 5)
	for i, fr := range sc.frs {
		j := slices.IndexFunc(sc.left, func(row preemption.QuotaStatus) bool { return row.FlavorResource == fr })
		if j < 0 || i != contended && chance(t, 1, 2) {
			continue
		}
		row := sc.left[j]
		free, freed := max(0, row.Available), int64(0)
		for _, d := range sc.donated[:min(gone, len(sc.donated))] {
			for _, a := range d.Usage() {
				if a.FlavorResource() == fr {
					freed += a.Amount
				}
			}
		}
		amount := quota.Add(free, max(1, freed+pick[int64](t, "more", 0, 0, -1, 1)))
		if i != contended && chance(t, 1, 2) {
			amount = min(free, pick[int64](t, "uncontended", 0, 1, 2))
		}
		if nominal := row.Nominal - row.Usage; withinNominal && nominal > free {
			amount = min(amount, nominal)
		}
		if !chance(t, 1, 40) {
			amount = min(amount, row.PotentialAvailable)
		}
		w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: min(amount, 100)})
	}
}

// moveToEdges sometimes shifts all priorities to an end of their range, or multiplies all
// amounts. The answer does not change by that.
func moveToEdges(t *rapid.T, record *preemption.Record) {
	all := make([]*workload.Workload, 0, 20)
	for i := range record.State.Admitted {
		all = append(all, &record.State.Admitted[i])
	}
	all = append(all, &record.Request.Workload)
	switch {
	case chance(t, 1, 20):
		shiftPriorities(record, all, pick(t, "end", false, true))
	case chance(t, 1, 30):
		multiply(record, all, pick[int64](t, "unit", 1000, 1<<30, 1<<50))
	}
}

func shiftPriorities(record *preemption.Record, all []*workload.Workload, top bool) {
	var least, most int64
	for _, w := range all {
		least, most = min(least, w.Priority), max(most, w.Priority)
	}
	by := math.MinInt64 - least
	if top {
		by = math.MaxInt64 - most
	}
	for _, w := range all {
		w.Priority += by
	}
	for i := range record.State.Queues {
		threshold := &record.State.Queues[i].Preemption.BorrowWithinCohort.MaxPriorityThreshold
		if p, ok := threshold.Get(); ok && least <= p && p <= most {
			*threshold = queue.AtMostPriority(p + by)
		}
	}
}

func multiply(record *preemption.Record, all []*workload.Workload, by int64) {
	limit := func(l *quota.OptionalInt64) {
		if n, ok := l.Get(); ok {
			*l = quota.AtMost(quota.Mul(by, n))
		}
	}
	amounts := func(list []quota.Amount) {
		for i := range list {
			list[i].Amount = quota.Mul(by, list[i].Amount)
		}
	}
	quotas := func(list []quota.Quota) {
		for i := range list {
			list[i].Nominal = quota.Mul(by, list[i].Nominal)
			limit(&list[i].BorrowingLimit)
			limit(&list[i].LendingLimit)
		}
	}
	for i := range record.State.Cohorts {
		quotas(record.State.Cohorts[i].Quotas)
		amounts(record.State.Cohorts[i].Reserved)
	}
	for i := range record.State.Queues {
		quotas(record.State.Queues[i].Quotas)
		amounts(record.State.Queues[i].Reserved)
	}
	for _, w := range all {
		for i := range w.PodSets {
			w.PodSets[i].Requests = slices.Clone(w.PodSets[i].Requests)
			amounts(w.PodSets[i].Requests)
		}
	}
}

// after returns a time some time after another; if that is not known, so is it.
func after(other time.Time, by time.Duration) time.Time {
	if other.IsZero() {
		return other
	}
	return other.Add(by)
}

// localQueues submits workloads to local queues in some records, and says what these have used.
func localQueues(t *rapid.T, st *preemption.State, r *preemption.Request) {
	if !chance(t, 1, 2) {
		return
	}
	for i := range st.Admitted {
		st.Admitted[i].LocalQueue = pick(t, "local queue", "", "ns/a", "ns/b", "ns/c")
	}
	for _, name := range []string{"ns/a", "ns/b"} {
		r.LocalQueueUsage = append(r.LocalQueueUsage, queue.LocalQueueUsage{LocalQueue: name, Usage: pick(t, "usage", 0, 0.5, 1, 2)})
	}
}
