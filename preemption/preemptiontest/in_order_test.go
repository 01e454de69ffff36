package preemptiontest_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// toy is a scheduler of one queue that shares nothing with the library: it takes whom the policies permit in an order until
// the request fits, and puts back in reverse who is not needed. wrong names the one fault that it has; empty: none.
type toy struct {
	wrong string
	st    preemption.State
	r     preemption.Request
}

func (o toy) has(fault string) bool { return o.wrong == fault }

type candidate struct {
	workload.Workload
	tier int // 0: lower priority; 1: its time is over; 2: newer
}

func amount(w workload.Workload) int64 { return w.Usage()[0].Amount }

// candidates lists who may yield at an instant, in order.
func (o toy) candidates(at time.Time) (list []candidate) {
	policy, ours := o.st.Queues[0].Preemption, o.r.Workload.EffectivePriority()
	least, timed := policy.MinAdmitDuration.Get()
	for _, w := range o.st.Admitted {
		since := w.ReservedAt
		if o.has("time counts from the submission") {
			since = w.Queued
		}
		newer, over := w.Queued.After(o.r.Workload.Queued), timed && !o.has("time never ends") && at.Sub(since) > least
		if o.has("time ends at its last instant") {
			over = timed && at.Sub(since) >= least
		}
		if o.has("who is not newer is newer") {
			newer = true
		}
		theirs := w.EffectivePriority()
		if o.has("a little higher is lower") {
			theirs--
		}
		if o.has("a little lower is equal") && theirs < ours {
			theirs++
		}
		switch equal := theirs == ours && (policy.WithinClusterQueue == queue.LowerOrNewerEqualPriority || o.has("equals yield by any policy")); {
		case theirs < ours:
			list = append(list, candidate{w, 0})
		case equal && over:
			list = append(list, candidate{w, 1})
		case equal && newer:
			list = append(list, candidate{w, 2})
		}
	}
	slices.SortFunc(list, o.compare)
	return list
}

func (o toy) compare(a, b candidate) int {
	age := b.ReservedAt.Compare(a.ReservedAt)
	if a.tier == 1 && b.tier == 1 && !o.has("of whose time is over the shortest running first") {
		age = -age
	}
	priority := cmp.Compare(a.EffectivePriority(), b.EffectivePriority())
	switch o.wrong {
	case "highest priority first":
		priority = -priority
	case "longest running first":
		age = a.ReservedAt.Compare(b.ReservedAt)
	case "newer ones before those whose time is over":
		return cmp.Or(priority, cmp.Compare(b.tier, a.tier), age, cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(priority, cmp.Compare(a.tier, b.tier), age, cmp.Compare(a.ID, b.ID))
}

// victims chooses at an instant; none: they do not suffice.
func (o toy) victims(at time.Time, free int64) (taken []candidate) {
	need := amount(o.r.Workload)
	for _, c := range o.candidates(at) {
		if free >= need {
			break
		}
		taken, free = append(taken, c), free+amount(c.Workload)
	}
	if free < need || o.has("three are too many") && len(taken) > 2 {
		return nil
	}
	for i := len(taken) - 1; i >= 0 && !o.has("nobody is put back"); i-- {
		k := i
		if o.has("the first is put back first") {
			k = len(taken) - 1 - i
		}
		if k < len(taken) && free-amount(taken[k].Workload) >= need {
			free -= amount(taken[k].Workload)
			taken = slices.Delete(taken, k, k+1)
		}
	}
	return taken
}

func (o toy) decide() (d preemption.Decision) {
	free := o.st.Queues[0].Quotas[0].Nominal
	for _, w := range o.st.Admitted {
		free -= amount(w)
	}
	need := amount(o.r.Workload)
	if free >= need && !o.has("what fits preempts") || o.has("one more fits") && free == need-1 {
		w := o.r.Workload
		if w.ReservedAt = o.r.Now; o.has("the reservation has no time") {
			w.ReservedAt = time.Time{}
		}
		d = preemption.Decision{Outcome: preemption.Fits, Admitted: &w}
		if o.has("another is admitted") {
			w.ID += "-2"
		}
		return d
	}
	taken := o.victims(o.r.Now, free)
	if o.has("what fits preempts") && free >= need && len(o.st.Admitted) > 0 {
		taken = []candidate{{o.st.Admitted[0], 0}}
	}
	if len(taken) == 0 {
		return o.refusal(free)
	}
	d.Outcome = preemption.Preempt
	for i, c := range taken {
		d.Victims = append(d.Victims, o.victim(i, c))
	}
	switch o.wrong {
	case "one victim is forgotten":
		if d.Victims = d.Victims[1:]; len(d.Victims) == 0 {
			d.Outcome = preemption.Impossible
		}
	case "a victim yields twice":
		d.Victims = append(d.Victims, d.Victims[0])
	case "a victim runs nowhere":
		d.Victims[0].Workload += "-2"
	case "all that may yield do":
		d.Victims = nil
		for i, c := range o.candidates(o.r.Now) {
			d.Victims = append(d.Victims, o.victim(i, c))
		}
	case "it borrows":
		d.BorrowHeight = 1
	}
	slices.SortFunc(d.Victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return d
}

func (o toy) victim(i int, c candidate) preemption.Victim {
	v := preemption.Victim{Workload: c.ID, Queue: c.Queue, Reason: preemption.InClusterQueue, Order: i + 1}
	byTime := c.tier == 1 && !c.Queued.After(o.r.Workload.Queued)
	if byTime && !o.has("time is no reason") || c.tier == 2 && o.has("who is newer yields by time") {
		v.Reason = preemption.InClusterQueueTimeBased
		if !o.has("the preemptor's time is missing") {
			v.PreemptorQueued = o.r.Workload.Queued
		}
	}
	switch o.wrong {
	case "it is called a reclaim":
		v.Reason = preemption.InCohortReclamation
	case "the victim's queue is missing":
		v.Queue = ""
	case "victims are numbered from the end":
		v.Order = 9 - i
	}
	return v
}

// refusal says when to ask again.
func (o toy) refusal(free int64) preemption.Decision {
	if o.has("the answer is always that it will never be") {
		return preemption.Decision{Outcome: preemption.Impossible}
	}
	var instants []time.Time
	if least, timed := o.st.Queues[0].Preemption.MinAdmitDuration.Get(); timed {
		for _, w := range o.st.Admitted {
			if at := w.ReservedAt.Add(least + 1); at.After(o.r.Now) {
				instants = append(instants, at)
			}
		}
	}
	slices.SortFunc(instants, time.Time.Compare)
	if o.has("the last time counts") {
		slices.Reverse(instants)
	}
	for _, at := range instants {
		if len(o.victims(at, free)) > 0 {
			switch o.wrong {
			case "it asks an instant too early":
				at = at.Add(-1)
			case "it asks an instant too late":
				at = at.Add(1)
			case "it waits without a time":
				at = time.Time{}
			}
			return preemption.Decision{Outcome: preemption.Wait, RetryAt: at}
		}
	}
	if o.has("it waits in vain") && len(instants) > 0 {
		return preemption.Decision{Outcome: preemption.Wait, RetryAt: instants[0]}
	}
	return preemption.Decision{Outcome: preemption.Impossible}
}

// oneQueue is the toy as a scheduler under test.
func oneQueue(wrong string) preemptiontest.Decider {
	return func(st preemption.State, r preemption.Request) (preemption.Decision, error) {
		return toy{wrong, st, r}.decide(), nil
	}
}

func snapshot(st preemption.State) *preemption.Snapshot {
	s, _ := preemption.NewSnapshot(st)
	return s
}

// A scheduler of one queue passes. With one fault it fails, whatever the fault is: in who may yield, in who does, in the
// reason, the order, the outcome or the time.
func TestOneQueueDecider(t *testing.T) {
	for _, wrong := range []string{
		"", "a little higher is lower", "a little lower is equal", "equals yield by any policy", "who is not newer is newer",
		"time ends at its last instant", "time counts from the submission", "time never ends",
		"one victim is forgotten", "a victim yields twice", "a victim runs nowhere", "all that may yield do", "nobody is put back",
		"the first is put back first", "three are too many",
		"time is no reason", "who is newer yields by time", "the preemptor's time is missing", "it is called a reclaim", "the victim's queue is missing",
		"highest priority first", "longest running first", "of whose time is over the shortest running first",
		"newer ones before those whose time is over", "victims are numbered from the end",
		"what fits preempts", "one more fits", "the reservation has no time", "another is admitted", "it borrows",
		"the answer is always that it will never be", "the last time counts", "it asks an instant too early", "it asks an instant too late",
		"it waits without a time", "it waits in vain",
	} {
		began := time.Now()
		err := preemptiontest.TestOneQueueDecider(preemption.Config{}, oneQueue(wrong), 500)
		if (err == nil) != (wrong == "") {
			t.Errorf("%q: %v", wrong, err)
		}
		t.Logf("%q: %v", wrong, time.Since(began))
	}
	if err := preemptiontest.TestOneQueueDecider(preemption.Config{}, decide, 500); err != nil {
		t.Error(err)
	}
}

// The preemptor of the library keeps the order in all configurations. Asked about a state in which priorities, or times, are
// turned round, it has the victims of the wrong order, all of them permitted.
func TestDeciderInOrder(t *testing.T) {
	for seed := range 40 {
		config := preemptiontest.Configs().Example(seed)
		p, err := preemption.New(config)
		if err != nil {
			t.Fatal(err)
		}
		right := func(st preemption.State, r preemption.Request) (preemption.Decision, error) {
			return p.Decide(snapshot(st), r)
		}
		if err := preemptiontest.TestDeciderInOrder(config, right, 100); err != nil {
			t.Errorf("config %d: %v", seed, err)
		}
	}
	config := preemption.Config{}
	p, _ := preemption.New(config)
	for wrong, turn := range map[string]func(w *workload.Workload, r *preemption.Request){
		"longest running first": func(w *workload.Workload, r *preemption.Request) {
			if !w.ReservedAt.IsZero() {
				w.ReservedAt = r.Now.Add(-1000 * time.Hour).Add(r.Now.Sub(w.ReservedAt))
			}
		},
		"highest priority first": func(w *workload.Workload, r *preemption.Request) {
			if ours := r.Workload.EffectivePriority(); w.EffectivePriority() < ours {
				w.Priority, w.PriorityBoost = -w.EffectivePriority()+2*min(ours, 1<<40)-1<<41, 0
			}
		},
	} {
		turned := func(st preemption.State, r preemption.Request) (preemption.Decision, error) {
			d, err := p.Decide(snapshot(st), r)
			if err != nil || d.Outcome != preemption.Preempt {
				return d, err
			}
			st.Admitted = slices.Clone(st.Admitted)
			for i := range st.Admitted {
				turn(&st.Admitted[i], &r)
			}
			other, err := p.Decide(snapshot(st), r)
			if err != nil || other.Outcome != preemption.Preempt {
				return d, nil
			}
			for i := range other.Victims {
				other.Victims[i].Order = 0
			}
			other.BorrowHeight = d.BorrowHeight
			return other, nil
		}
		if err := preemptiontest.TestDeciderInOrder(config, turned, 300); err == nil || !strings.Contains(err.Error(), "comes before it") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
