package witness

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Decide answers a request, as [preemption.Preemptor.Decide] does. The state and the request are
// valid.
func Decide(c preemption.Config, st preemption.State, r preemption.Request) preemption.Decision {
	d := decideWhole(c, st, r)
	if len(r.MinCounts) > 0 && !d.Possible() {
		return partial(c, st, r, d)
	}
	return d
}

// decideWhole is about all replicas.
func decideWhole(c preemption.Config, st preemption.State, r preemption.Request) preemption.Decision {
	w := newWorld(c, st, r)
	defer tell(w) // that all are there
	d := w.decide(r.Now)
	if d.Outcome == preemption.Impossible {
		d.Blockers, d.Shortage = blockers(w, r.Now), w.shortage(r.Now)
		d.NoRoom = noRoom(w, r.Now)
		if at, ok := RetryAt(c, st, r); ok {
			d.Outcome, d.RetryAt = preemption.Wait, at
		}
	}
	return d
}

// decide answers at an instant; it does not know whether time will help.
func (w *world) decide(at time.Time) preemption.Decision {
	assigned := w.assign(at)
	w.ask()
	d := preemption.Decision{Outcome: preemption.Impossible, Replaced: w.request.Replaces}
	if w.own.queue.Inactive { // "none of its waiting workloads is admitted or preempts"
		return d
	}
	if d.Assignment = w.assignment; !assigned {
		return d
	}
	d.BorrowHeight = borrowHeight(w)
	switch {
	case w.fitsNow():
		d.Outcome = preemption.Fits
		admitted := w.pending.Clone()
		admitted.ReservedAt = at // "Now as its reservation time"
		d.Admitted = &admitted
		return d
	case w.request.Workload.NeverPreempts: // "no other may yield for the workload"
		return d
	}
	victims, soon, s := w.yielding(at)
	if d.Triggers, d.RuleFaults = s.triggers, s.faults; len(victims) == 0 && !soon {
		return d
	}
	d.RuleFaults = nil // "for Wait and Impossible"
	for _, c := range victims {
		c.remove()
	}
	d.BorrowHeight = borrowHeight(w)
	restore(victims)
	d.Victims = w.named(victims)
	for _, v := range d.Victims {
		d.Lost = plus(d.Lost, v.Lost)
	}
	if d.Outcome, d.Leaving = gated(w, d.Victims); soon {
		d.Outcome, d.Leaving = preemption.Wait, true
	}
	return d
}

// ask notes what is requested, and which columns need victims: "the columns of the request that do
// not fit now", unless the caller says which.
func (w *world) ask() {
	w.asked, w.needs = map[column]int64{}, slices.Clone(w.request.NeedsPreemption)
	for _, a := range w.total() {
		if a.Amount > 0 {
			w.asked[a.FlavorResource()] = a.Amount
		}
	}
	if len(w.needs) > 0 {
		return
	}
	full := !w.hasRoom() // "all columns of which something is requested need preemption"
	for _, a := range w.total() {
		if a.Amount > 0 && (full || a.Amount > w.own.available(a.FlavorResource())) {
			w.needs = append(w.needs, a.FlavorResource())
		}
	}
}

// fitsNow: "the request fits now without victims".
func (w *world) fitsNow() bool {
	for fr, amount := range w.asked {
		if amount > w.own.available(fr) {
			return false
		}
	}
	return w.hasRoom()
}

// yielding: "by the policies of the queues and, if these permit no victims that help now, by the rules of the preemptor's
// queue".
func (w *world) yielding(at time.Time) (victims []*candidate, soon bool, s *ruleSearch) {
	if victims, soon = orLeaving(w, w.search(at), at); len(victims) > 0 || soon {
		return victims, soon, &ruleSearch{}
	}
	if s = byRules(w, at); s.enough {
		victims = s.victims
	}
	return victims, false, s
}

// search looks for victims in the way of sharing: "the policies of the queues alone, or the shares".
func (w *world) search(at time.Time) []*candidate {
	if w.config.Sharing == preemption.Classical {
		return classical(w, at)
	}
	return w.fair(at)
}

// gated: KEP-8303: a workload with a closed gate preempts nobody. "Gated is said only where a workload
// would have to be told that was not told before"; otherwise it waits for what is leaving.
func gated(w *world, victims []preemption.Victim) (outcome preemption.Outcome, leaving bool) {
	told := !slices.ContainsFunc(victims, func(v preemption.Victim) bool { return !v.Leaving })
	switch {
	case !gateIsClosed(w):
		return preemption.Preempt, false
	case told:
		return preemption.Wait, true
	}
	return preemption.Gated, false
}

// named returns the victims as the decision lists them, "sorted by workload ID". Order is "the number
// in the order in which the victims were chosen".
func (w *world) named(victims []*candidate) (list []preemption.Victim) {
	for _, c := range victims {
		i := slices.IndexFunc(list, func(v preemption.Victim) bool { return v.Workload == c.of.ID })
		if i < 0 {
			i = len(list)
			list = append(list, victim(w, c, i+1))
		}
		v := &list[i]
		v.Leaving, v.Reason, v.Rules = v.Leaving && c.leaving, c.reason, c.byRules // the right of the part that was taken last
	}
	for i := range list {
		list[i].Replicas = replicas(victims, list[i].Workload)
		list[i].Lost = lost(w, list[i], victims)
		if list[i].Reason == preemption.InClusterQueueTimeBased {
			list[i].PreemptorQueued = w.request.Workload.Queued
		}
	}
	slices.SortFunc(list, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return list
}

func victim(w *world, c *candidate, order int) preemption.Victim {
	v := preemption.Victim{Workload: c.of.ID, Queue: c.of.home.name, Reason: c.reason, Leaving: true, Order: order}
	if c.of.home != w.own && c.meet != nil {
		v.Cohort = c.meet.name
	}
	return v
}

// lost is, "with Config.Cost, what the victim loses".
func lost(w *world, v preemption.Victim, victims []*candidate) int64 {
	return ValueOf(w.config, w.request, []preemption.Victim{v}, func(id string) workload.Workload {
		return victims[slices.IndexFunc(victims, func(c *candidate) bool { return c.of.ID == id })].of.Workload
	}).Lost
}

// replicas lists what a workload yields by pod set: "Empty: the whole workload yields."
func replicas(victims []*candidate, id string) (list []preemption.Replicas) {
	for _, c := range victims {
		if c.of.ID != id {
			continue
		}
		if c.podSet == whole {
			return nil
		}
		name := c.of.PodSets[c.podSet].Name
		i := slices.IndexFunc(list, func(r preemption.Replicas) bool { return r.PodSet == name })
		if i < 0 {
			i = len(list)
			list = append(list, preemption.Replicas{PodSet: name})
		}
		list[i].Count += c.replicas
		if c.leaving {
			list[i].Leaving += c.replicas
		}
	}
	slices.SortFunc(list, func(a, b preemption.Replicas) int { return cmp.Compare(a.PodSet, b.PodSet) })
	return list
}

// gateIsClosed: KEP-8303: "A gate named in the workload is closed unless its state says open."
func gateIsClosed(w *world) bool { return w.request.Workload.Gates.AnyClosed() }
