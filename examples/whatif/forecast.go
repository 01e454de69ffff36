package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/clock"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// forecast is a run of cycles in advance.
type forecast struct {
	steps    []step
	cycles   int
	ends     bool     // nothing changes before an event
	looked   int      // workloads that the decisions looked at
	cut      bool     // it ended before so many cycles, because they looked at too many
	searched bool     // KAI's own search tried as much as it may
	held     []string // workloads that are not considered
	unknown  []string // workloads about which nothing is known for sure
	placed   []string // workloads that need room on nodes; no cycle tries them

	cycle     *cycle.Cycle
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
	pending   *queue.Pending
	now       time.Time
	submitted map[string]workload.Workload            // as they last waited, by ID
	victims   map[string]preemption.Victim            // who was told to stop in this cycle, by ID
	said      map[string]string                       // what was last said about a workload, by ID
	later     clock.Agenda[string, workload.Workload] // what backs off, by ID

	least    map[string][]preemption.Replicas // the fewest replicas to start with, by ID
	queues   map[string]string                // of those that waited at first, by ID
	replaces map[string]string                // the workload that holds quota and that another comes in place of, by ID

	since   map[string][]rules.Observation // of the triggers of rules, by ID
	history *limits.History                // of the preemptions of the cycles so far

	first *preemption.Snapshot // before all cycles
	roots map[string]string    // of the trees, by queue
	won   []won                // who was admitted or preempts, in order
}

// won is a head that got room.
type won struct {
	id    string
	cycle int
	root  string // of its tree
	usage []quota.Amount
}

// forecast runs cycles until nothing changes, or so many, or until they have looked at the most workloads; zero is no limit.
func (c *cluster) forecast(o *options, most int, screen cli.Screen) (*forecast, error) {
	if c.ByFairShares() {
		return c.sessions(o, most, screen)
	}
	list, err := c.forCycles(o)
	if err != nil {
		return nil, err
	}
	least := leastOf(list)
	config := cycle.Config{Preemption: c.Config}
	if len(least) > 0 {
		config.Alike = func(w workload.Workload) string { return fmt.Sprint(least[w.ID]) }
	}
	admission, err := cycle.New(config)
	if err != nil {
		return nil, err
	}
	pending, err := queue.NewPending(c.State.Cohorts, c.State.Queues)
	if err != nil {
		return nil, answers.Faults(err)
	}
	f := &forecast{
		cycle: admission, preemptor: c.Preemptor, snapshot: c.Snapshot, pending: pending.AlikeBy(admission.Alike), now: c.Now,
		submitted: map[string]workload.Workload{}, said: map[string]string{},
		first: c.Snapshot, roots: map[string]string{}, since: map[string][]rules.Observation{}, least: least, replaces: map[string]string{}, queues: map[string]string{},
	}
	for _, n := range answers.Tree(c.Snapshot) {
		if !n.Cohort {
			f.roots[n.Name] = cmp.Or(n.Root, n.Name)
		}
	}
	for i := range list {
		if len(c.State.Rules) == 0 { // no rule reads them, and with equal ones workloads are alike
			list[i].Workload.Labels, list[i].Workload.PriorityClass = nil, ""
		}
	}
	if err := f.fill(c, list); err != nil {
		return nil, err
	}
	progress := screen.Start("cycles", int64(o.cycles))
	defer progress.Done()
	for f.cycles < o.cycles {
		if f.cut = most > 0 && f.looked >= most; f.cut {
			break
		}
		progress.Add(1)
		more, err := f.run()
		if err != nil {
			return nil, err
		}
		if !more {
			f.ends = true
			break
		}
	}
	return f, nil
}

// fill adds who waits.
func (f *forecast) fill(c *cluster, list []answers.Waiting) (err error) {
	for i := range list {
		w := &list[i]
		f.queues[w.Workload.ID] = w.Workload.Queue
		w.Behind = "" // cycles keep the order of queues themselves
		if w.Blocked != "" {
			f.unknown = append(f.unknown, w.Workload.ID)
			continue
		}
		if w.Request.Replaces != "" {
			f.replaces[w.Workload.ID] = w.Request.Replaces
		}
		switch v := w.Verdict(nil); { // without a decision: only of those that are not considered
		case !w.HeldUntil.IsZero() && w.Unasked == "" && len(w.Doubts)+len(w.TooLarge) == 0:
			f.later = f.later.Set(w.HeldUntil, w.Workload.ID, w.Workload)
			continue
		case v.Outcome == answers.Held:
			f.held = append(f.held, w.Workload.ID)
			continue
		case v.Outcome == answers.Unknown || len(w.TooLarge) > 0:
			s, err := c.Shorten(w)
			if err != nil {
				return err
			}
			switch {
			case s.Outcome == answers.Unknown:
				f.unknown = append(f.unknown, w.Workload.ID)
				continue
			case v.Outcome == answers.Unknown || answers.NoNode(w.TooLarge, &w.Workload, c.findQueue(w.Workload.Queue)) != "": // a no stands, whatever is in doubt
				f.steps = append(f.steps, step{Cycle: 1, At: f.now, Workload: w.Workload.ID, Queue: w.Workload.Queue, Outcome: cycle.Inadmissible, Words: "stays: " + strings.TrimPrefix(s.Words, "no: ")})
				continue
			}
		}
		if w.Request.Room != nil { // where the heads before it go is not known
			f.placed = append(f.placed, w.Workload.ID)
			continue
		}
		if f.pending, err = f.pending.Add(w.Workload); err != nil {
			return answers.Faults(err)
		}
		f.submitted[w.Workload.ID] = w.Workload
	}
	return nil
}

// run runs a cycle and lets its victims leave; more says that another one may change
// something.
func (f *forecast) run() (more bool, err error) {
	heads := f.pending.Heads()
	if len(heads) == 0 {
		return f.wait()
	}
	f.forgetReplaced()
	r := cycle.Request{Heads: heads, Now: f.now, Replaces: f.replaces, TriggersSince: f.since, History: f.history}
	if len(f.least) > 0 {
		r.MinCounts = func(w workload.Workload) []preemption.Replicas { return f.least[w.ID] }
	}
	result, err := f.cycle.RunRequest(f.snapshot, r)
	if err != nil {
		return false, answers.Faults(err)
	}
	f.cycles++
	f.looked += result.Looked
	f.victims = map[string]preemption.Victim{}
	before := f.snapshot
	if f.history, err = f.history.With(result.Events(f.snapshot, f.now)...); err != nil {
		return false, err
	}
	if f.snapshot, err = f.snapshot.With(result.Edits()...); err != nil {
		return false, err
	}
	for _, h := range result.Heads {
		f.since[h.Head.Workload.ID] = rules.Observe(f.since[h.Head.Workload.ID], h.Decision.Triggers, f.now)
		f.say(before, h)
		if h.Outcome == cycle.Admit || h.Outcome == cycle.Preempt {
			pinned := h.Decision.Assignment.Pin(h.Head.Workload)
			f.won = append(f.won, won{h.Head.Workload.ID, f.cycles, f.roots[h.Head.Workload.Queue], pinned.Usage()})
		}
		if err := f.requeue(h); err != nil {
			return false, err
		}
	}
	left, err := f.leave()
	if err != nil || left || result.Again {
		return true, err
	}
	return f.wait()
}

// leastOf returns the fewest replicas to start with, by the ID of those that may start with fewer.
func leastOf(list []answers.Waiting) map[string][]preemption.Replicas {
	least := map[string][]preemption.Replicas{}
	for i := range list {
		if w := &list[i]; len(w.Request.MinCounts) > 0 {
			least[w.Workload.ID] = w.Request.MinCounts
		}
	}
	return least
}

// forgetReplaced forgets the workloads that hold no quota any more, or were told to stop: nothing comes in
// their place.
func (f *forecast) forgetReplaced() {
	for id, old := range f.replaces {
		if w, holds := f.snapshot.Find(old); !holds || w.Evicted {
			delete(f.replaces, id)
		}
	}
}

// request is that of a workload by itself, now.
func (f *forecast) request(w *workload.Workload) preemption.Request {
	return preemption.Request{Workload: *w, Now: f.now, MinCounts: f.least[w.ID], Replaces: f.replaces[w.ID], TriggersSince: f.since[w.ID], History: f.history}
}

// requeue admits a head, or returns it to its queue.
func (f *forecast) requeue(h cycle.HeadResult) (err error) {
	if f.pending, err = h.Return(f.pending, f.now); err != nil {
		return err
	}
	if h.Outcome == cycle.Admit && h.Decision.Replaced != "" { // it may have held more
		f.pending = f.pending.Release(h.Head.Workload.Queue)
	}
	if h.Outcome == cycle.Preempt {
		for _, v := range h.Decision.Victims {
			f.victims[v.Workload] = v
		}
	}
	return nil
}

// leave lets all that was told to stop leave; whole workloads wait again.
func (f *forecast) leave() (left bool, err error) {
	gone := f.snapshot.Terminating()
	edits := f.snapshot.Removals()
	if len(edits) == 0 {
		return false, nil
	}
	var freed []string
	var back []workload.Workload
	for _, id := range gone {
		ran, _ := f.snapshot.Find(id)
		freed = append(freed, ran.Queue)
		w, known := f.submitted[id]
		if !known {
			w = asSubmitted(ran)
		}
		if v, preempted := f.victims[id]; preempted && len(v.Replicas) == 0 {
			if w, err = v.Requeued(w, f.now); err != nil {
				return false, err
			}
		}
		if _, _, waits := f.pending.Find(id); !waits {
			back = append(back, w)
		}
	}
	for _, v := range f.victims {
		freed = append(freed, v.Queue)
	}
	slices.Sort(freed)
	if f.snapshot, err = f.snapshot.With(edits...); err != nil {
		return false, err
	}
	f.pending = f.pending.Release(slices.Compact(freed)...)
	for _, w := range back {
		if f.pending, err = f.pending.Add(w); err != nil {
			return false, answers.Faults(err)
		}
		f.submitted[w.ID] = w
	}
	return true, nil
}

// asSubmitted returns a workload that runs as it waited, as far as that is known: without the
// flavors that were assigned to it.
func asSubmitted(w workload.Workload) workload.Workload {
	w.ReservedAt, w.Evicted = time.Time{}, false
	for i := range w.PodSets {
		s := &w.PodSets[i]
		s.Terminating = 0
		var merged []quota.Amount
		for _, r := range s.Requests {
			r.Flavor = ""
			if j := slices.IndexFunc(merged, func(m quota.Amount) bool { return m.Resource == r.Resource }); j >= 0 {
				merged[j].Amount = quota.Add(merged[j].Amount, r.Amount)
			} else {
				merged = append(merged, r)
			}
		}
		s.Requests = merged
	}
	return w
}

// wait goes on to the next instant at which time changes something.
func (f *forecast) wait() (more bool, err error) {
	at, ok := f.pending.NextAt()
	if first, waits := f.later.Next(); waits && (!ok || first.Before(at)) {
		at, ok = first, true
	}
	if !ok {
		return false, nil
	}
	if at.After(f.now) {
		f.now = at
	}
	f.pending = f.pending.Advance(f.now)
	for e, rest, due := f.later.Due(f.now); due; e, rest, due = f.later.Due(f.now) {
		if f.later = rest; err == nil {
			f.pending, err = f.pending.Add(e.What)
		}
		f.submitted[e.Key] = e.What
	}
	if err != nil {
		return false, answers.Faults(err)
	}
	return true, nil
}

// withLeaving adds to the victims that a cycle tells to stop those that are leaving already: a cycle
// counts on their room and does not name them. It does so if the workload alone has the same victims.
func (f *forecast) withLeaving(before *preemption.Snapshot, w *workload.Workload, victims []preemption.Victim) []preemption.Victim {
	alone, err := f.preemptor.Decide(before, f.request(w))
	if err != nil {
		return victims
	}
	told := slices.DeleteFunc(slices.Clone(alone.Victims), func(v preemption.Victim) bool { return v.Leaving })
	if !slices.Equal(answers.VictimNames(told), answers.VictimNames(victims)) {
		return victims
	}
	return alone.Victims
}

// whoTook lists who got room since a cycle of what a decision about a workload asks for, in its tree.
func (f *forecast) whoTook(w *workload.Workload, d *preemption.Decision, since int) (names []string) {
	pinned, root := d.Assignment.Pin(*w), f.roots[w.Queue]
	asked := pinned.Usage()
	for _, other := range f.won {
		shares := slices.ContainsFunc(other.usage, func(u quota.Amount) bool {
			return u.Amount > 0 && slices.ContainsFunc(asked, func(a quota.Amount) bool {
				return a.Amount > 0 && a.Resource == u.Resource && (a.Flavor == "" || a.Flavor == u.Flavor)
			})
		})
		if other.cycle >= since && other.root == root && other.id != w.ID && shares && !slices.Contains(names, other.id) {
			names = append(names, other.id)
		}
	}
	return names
}

// firstOf names two, or the first and how many more.
func firstOf(names []string) string {
	if len(names) <= 2 {
		return strings.Join(names, " and ")
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// fitAtFirst reports whether a workload would have fit, or preempted, before all cycles.
func (f *forecast) fitAtFirst(w *workload.Workload) bool {
	d, looked, err := f.preemptor.DecideCounting(f.first, f.request(w))
	f.looked += looked
	return err == nil && d.Outcome.Succeeds()
}

// say adds what a cycle does about a head, if that was not said last.
func (f *forecast) say(before *preemption.Snapshot, h cycle.HeadResult) {
	w, d := &h.Head.Workload, &h.Decision
	s := step{Cycle: f.cycles, At: f.now, Workload: w.ID, Queue: w.Queue, Outcome: h.Outcome, RetryAt: d.RetryAt}
	switch h.Outcome {
	case cycle.Admit:
		s.Words = "admitted" + explain.Partial(d, w)
	case cycle.Preempt, cycle.Gated:
		victims := f.withLeaving(before, w, d.Victims)
		s.Victims, s.Leaving = answers.VictimNames(victims), answers.LeavingNames(victims)
		s.Words = "preempts " + answers.Who(victims) + explain.Partial(d, w)
		if h.Outcome == cycle.Gated {
			s.Words = "gated: would preempt " + answers.Who(victims)
		}
	case cycle.Wait:
		switch h.Reason {
		case queue.PendingPreemption:
			s.Words = "waits: a victim has not left"
		case queue.FailedAfterNomination:
			s.Took = f.whoTook(w, d, f.cycles)
			s.Words = "waits: " + cmp.Or(firstOf(s.Took), "others") + " took the room"
		default:
			s.Words = "waits " + duration.HumanDuration(d.RetryAt.Sub(f.now)) + ": no workload may yield before"
		}
	default:
		why, _ := answers.WhyNot(d, &preemption.Request{Workload: *w, Replaces: f.replaces[w.ID]})
		s.Words = "stays: " + why
		if took := f.whoTook(w, d, 1); len(took) > 0 && f.fitAtFirst(w) {
			s.Took = took
			s.Words += "; " + firstOf(took) + " took room"
		}
	}
	said := fmt.Sprint(s.Outcome, s.Victims, s.RetryAt)
	if f.said[w.ID] != said {
		f.steps = append(f.steps, s)
	}
	f.said[w.ID] = said
}
