package preemption

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// scratch is the working memory of a decision. Names become integers in enter and names again
// in leave; between them there is no map and no string.
type scratch struct {
	searcher decide.Searcher
	request  search.Request
	names    []quota.FlavorResource // of the slots of the request
	open     open
}

// enter checks a request and puts it into dense form.
func (sc *scratch) enter(s *Snapshot, config *Config, r *Request) error {
	var faults fault.List
	c, w := s.inside(), &r.Workload
	if workload.ValidatePending("", w) != nil { // building paths costs more than the check
		faults = workload.ValidatePending("request.workload", w).(fault.List)
	}
	node, known := c.QueueNode(w.Queue)
	if w.Queue != "" && !known {
		faults.Add("request.workload.queue", "unknown queue %q", w.Queue)
	}
	if _, admitted := c.Find(w.ID); admitted {
		faults.Add("request.workload.id", "%q is admitted already", w.ID)
	}
	if r.Now.IsZero() {
		faults.Add("request.now", "is not set")
	} else if !instant.Valid(r.Now) {
		faults.Add("request.now", "%v is not within %s", r.Now, instant.Range)
	}
	if err := faults.Err(); err != nil {
		return err
	}
	d := &sc.request
	d.Queue = node
	d.Priority = w.EffectivePriority()
	d.Queued, d.Created, d.Now = instant.Of(w.Queued), instant.Of(w.Created), instant.Of(r.Now)
	d.MinAdmit, d.NewerByReservation = 0, config.NewerByReservation
	d.FindNeeds = len(r.NeedsPreemption) == 0
	d.Guard, d.SkipRetryAt, d.MaxRetrySteps = config.guard(r), config.SkipRetryAt, config.maxRetrySteps()
	d.Room = r.Room
	d.Fair, d.LargestFirst = config.fairness(), config.ReconsiderLarger
	d.MinRuntime = minimum.Config{Defaults: config.MinRuntime, Method: config.ReclaimMethod}
	if min, ok := c.Queue(node).Preemption.MinAdmitDuration.Get(); ok && !config.IgnoreMinAdmitDuration {
		d.MinAdmit = int64(min)
	}
	d.Columns, d.Amounts, d.Needs, sc.names = d.Columns[:0], d.Amounts[:0], d.Needs[:0], sc.names[:0]
	for i := range w.PodSets {
		for _, a := range w.PodSets[i].Requests {
			if a.Flavor == "" {
				continue
			}
			slot := sc.slot(c, a.FlavorResource())
			d.Amounts[slot] = quota.Add(d.Amounts[slot], quota.Mul(w.PodSets[i].Count, a.Amount))
		}
	}
	for i, fr := range r.NeedsPreemption {
		slot := slices.Index(sc.names, fr)
		if slot < 0 {
			faults.Add(fmt.Sprintf("request.needsPreemption[%d]", i), "%v is not requested", fr)
			continue
		}
		d.Needs[slot] = true
	}
	if isOpen(w) {
		if len(r.NeedsPreemption) > 0 {
			faults.Add("request.needsPreemption", "is given, but flavors are to be assigned first")
		}
		sc.open.enter(c, s.plans.Of(c, node), sc, config, r, &faults)
	}
	return faults.Err()
}

// find assigns flavors to requests without one, then searches victims; ok is false if some
// request found no flavor.
func (sc *scratch) find(c *cluster.Cluster, r *Request, maxBlockers int) (found decide.Result, ok bool) {
	open := isOpen(&r.Workload)
	sc.request.Trace.Silence()
	assigned := !open || sc.assign(c)
	sc.request.Trace.Resume()
	if !assigned {
		return decide.Result{Steps: sc.open.assigner.Steps}, false
	}
	found = sc.search(c, &r.Workload, maxBlockers)
	if open {
		found.Steps += sc.open.assigner.Steps
	}
	return found, true
}

// search decides about the slots. A workload that never preempts fits or does not, and time
// changes nothing.
func (sc *scratch) search(c *cluster.Cluster, w *workload.Workload, maxBlockers int) decide.Result {
	d := &sc.request
	if !w.NeverPreempts {
		return sc.searcher.Search(c, d, maxBlockers)
	}
	var found decide.Result
	for slot, column := range d.Columns {
		height, _ := c.Usage.BorrowHeight(d.Queue, column, d.Amounts[slot])
		found.BorrowHeight = max(found.BorrowHeight, height)
		if missing, bound := c.Usage.Missing(d.Queue, column, d.Amounts[slot]); missing > 0 {
			found.Shortages = append(found.Shortages, search.Shortage{Slot: slot, Missing: missing, Bound: bound})
		}
	}
	found.NoRoom = len(found.Shortages) == 0 && d.Room != nil && !d.Room.Fits()
	found.Fits = len(found.Shortages) == 0 && !found.NoRoom
	return found
}

// slot returns the slot of a column, a new one if it has none.
func (sc *scratch) slot(c *cluster.Cluster, fr quota.FlavorResource) int {
	if slot := slices.Index(sc.names, fr); slot >= 0 {
		return slot
	}
	d := &sc.request
	d.Columns, d.Amounts, d.Needs = append(d.Columns, c.Columns.Number(fr)), append(d.Amounts, 0), append(d.Needs, false)
	sc.names = append(sc.names, fr)
	return len(sc.names) - 1
}

// leave turns a result into a decision.
func (sc *scratch) leave(c *cluster.Cluster, r *Request, found decide.Result) Decision {
	d := Decision{BorrowHeight: found.BorrowHeight, Assignment: sc.open.assignment(&r.Workload)}
	switch {
	case found.Fits:
		d.Outcome = Fits
		w := d.Assignment.Pin(r.Workload)
		w.ReservedAt, w.Evicted = r.Now, false
		w.Gates = w.Gates.Cleared(r.Now)
		d.Admitted = &w
	case len(found.Victims) > 0:
		d.Outcome = Preempt
		if r.Workload.Gates.AnyClosed() { // KEP-8303, Kueue Scheduler
			d.Outcome = Gated
		}
		d.Victims = victims(c, &r.Workload, found.Victims)
	default:
		d.Outcome, d.NoRoom = Impossible, found.NoRoom
		if found.Waits {
			d.Outcome = Wait
			if !sc.request.SkipRetryAt {
				d.RetryAt = instant.Time(found.RetryAt)
			}
		}
		sc.explain(c, &d, found)
	}
	return d
}

// victims sorts the victims by workload and adds up the replicas of each. If a workload
// yields as a whole, its replicas that were taken before are part of it.
func victims(c *cluster.Cluster, preemptor *workload.Workload, taken []search.Victim) []Victim {
	slices.SortFunc(taken, func(a, b search.Victim) int {
		if order := cmp.Compare(a.Workload.Facts.ID, b.Workload.Facts.ID); order != 0 {
			return order
		}
		return cmp.Compare(a.Set, b.Set)
	})
	list := make([]Victim, 0, len(taken))
	for i, v := range taken {
		switch again := i > 0 && taken[i-1].Workload == v.Workload; {
		case !again:
			list = append(list, victim(c, preemptor, v))
		case len(list[len(list)-1].Replicas) == 0:
			continue // it yields whole
		}
		if v.Set >= 0 {
			last := &list[len(list)-1]
			last.Replicas = addReplicas(last.Replicas, v.Workload.PodSets[v.Workload.Surplus[v.Set].PodSet].Name, v.Count)
		}
	}
	for i := range list {
		slices.SortFunc(list[i].Replicas, func(a, b Replicas) int { return cmp.Compare(a.PodSet, b.PodSet) })
	}
	return list
}

func addReplicas(list []Replicas, podSet string, count int64) []Replicas {
	if last := len(list) - 1; last >= 0 && list[last].PodSet == podSet {
		list[last].Count += count
		return list
	}
	return append(list, Replicas{podSet, count})
}

func victim(c *cluster.Cluster, preemptor *workload.Workload, v search.Victim) Victim {
	out := Victim{Workload: v.Workload.Facts.ID, Queue: v.Workload.Facts.Queue(), Reason: InClusterQueue}
	if v.Expired {
		out.Reason, out.PreemptorQueued = InClusterQueueTimeBased, preemptor.Queued
	}
	if v.Cohort >= 0 {
		switch {
		case v.Fair:
			out.Reason = InCohortFairSharing
		case v.WhileBorrowing:
			out.Reason = InCohortReclaimWhileBorrowing
		default:
			out.Reason = InCohortReclamation
		}
		out.Cohort = c.Cohorts[v.Cohort].Name
	}
	return out
}

var ruleOf = [...]Rule{
	search.WithinClusterQueue:  WithinClusterQueue,
	search.ReclaimWithinCohort: ReclaimWithinCohort,
	search.WithinNominal:       WithinNominal,
	search.BorrowWithinCohort:  BorrowWithinCohort,
	search.GuaranteedRuntime:   GuaranteedRuntime,
	search.Guarded:             Guarded,
	search.FairShare:           FairShare,
}

// explain adds the shortage and the blockers.
func (sc *scratch) explain(c *cluster.Cluster, d *Decision, found decide.Result) {
	d.Shortage = make([]Shortage, 0, len(found.Shortages))
	for _, sh := range found.Shortages {
		out := Shortage{
			FlavorResource:     sc.names[sh.Slot],
			Missing:            sh.Missing,
			PotentialAvailable: c.Tree.PotentialAvailable(sc.request.Queue, sc.request.Columns[sh.Slot]),
		}
		if !c.IsQueue(sh.Bound) {
			out.Cohort = c.Cohorts[sh.Bound].Name
		}
		d.Shortage = append(d.Shortage, out)
	}
	slices.SortFunc(d.Shortage, func(a, b Shortage) int { return a.FlavorResource.Compare(b.FlavorResource) })
	d.Blockers = sc.blockers(c, found.Blockers)
}

func (sc *scratch) blockers(c *cluster.Cluster, found []search.Blocker) []Blocker {
	if len(found) == 0 {
		return nil
	}
	list := make([]Blocker, 0, len(found))
	for _, b := range found {
		out := Blocker{Rule: ruleOf[b.Rule]}
		if c.IsQueue(b.Node) {
			out.Queue = c.Queue(b.Node).Name
		} else {
			out.Cohort = c.Cohorts[b.Node].Name
		}
		if b.Workload != nil {
			out.Workload = b.Workload.Facts.ID
			if b.Rule == search.Guarded && b.Until < math.MaxInt64 {
				out.Until = instant.Time(b.Until)
			}
			if b.Rule == search.GuaranteedRuntime {
				out.Until, out.SetBy = instant.Time(b.Until), "default"
				if b.SetBy >= 0 {
					out.SetBy = c.NodeName(b.SetBy)
				}
			}
			if until, ends := sc.request.HeldUntil(b.Workload); ends && b.Rule == search.WithinClusterQueue {
				out.Until = instant.Time(until)
			}
		}
		list = append(list, out)
	}
	return list
}
