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

// oneQueue is a scheduler of one queue: it takes whom the policies permit in an order until the request fits, and puts
// back in reverse who is not needed. With wrong it has the order that it is named after.
func oneQueue(wrong string) preemptiontest.Decider {
	return func(st preemption.State, r preemption.Request) (d preemption.Decision, err error) {
		q, ours := st.Queues[0], r.Workload.EffectivePriority()
		least, timed := q.Preemption.MinAdmitDuration.Get()
		amount := func(w workload.Workload) int64 { return w.Usage()[0].Amount }
		free := q.Quotas[0].Nominal
		type candidate struct {
			workload.Workload
			tier int
		}
		var list []candidate
		for _, w := range st.Admitted {
			free -= amount(w)
			newer, over := w.Queued.After(r.Workload.Queued), timed && r.Now.Sub(w.ReservedAt) > least
			switch equal := w.EffectivePriority() == ours && q.Preemption.WithinClusterQueue == queue.LowerOrNewerEqualPriority; {
			case w.EffectivePriority() < ours:
				list = append(list, candidate{w, 0})
			case equal && over:
				list = append(list, candidate{w, 1})
			case equal && newer:
				list = append(list, candidate{w, 2})
			}
		}
		need := amount(r.Workload)
		if free >= need {
			w := r.Workload
			w.ReservedAt = r.Now
			return preemption.Decision{Outcome: preemption.Fits, Admitted: &w}, nil
		}
		slices.SortFunc(list, func(a, b candidate) int {
			age := b.ReservedAt.Compare(a.ReservedAt)
			if a.tier == 1 && b.tier == 1 && wrong != "of whose time is over the shortest running first" {
				age = -age
			}
			priority := cmp.Compare(a.EffectivePriority(), b.EffectivePriority())
			switch wrong {
			case "highest priority first":
				priority = -priority
			case "longest running first":
				age = a.ReservedAt.Compare(b.ReservedAt)
			case "newer ones before those whose time is over":
				return cmp.Or(priority, cmp.Compare(b.tier, a.tier), age, cmp.Compare(a.ID, b.ID))
			}
			return cmp.Or(priority, cmp.Compare(a.tier, b.tier), age, cmp.Compare(a.ID, b.ID))
		})
		var taken []candidate
		for _, c := range list {
			if free >= need {
				break
			}
			taken, free = append(taken, c), free+amount(c.Workload)
		}
		if free < need {
			return new(preemption.Preemptor).Decide(snapshot(st), r) // when to ask again is not what is tested
		}
		for i := len(taken) - 1; i >= 0; i-- {
			if free-amount(taken[i].Workload) >= need {
				free -= amount(taken[i].Workload)
				taken = slices.Delete(taken, i, i+1)
			}
		}
		d.Outcome = preemption.Preempt
		for _, c := range taken {
			v := preemption.Victim{Workload: c.ID, Queue: q.Name, Reason: preemption.InClusterQueue}
			if c.tier == 1 && !c.Queued.After(r.Workload.Queued) {
				v.Reason, v.PreemptorQueued = preemption.InClusterQueueTimeBased, r.Workload.Queued
			}
			d.Victims = append(d.Victims, v)
		}
		slices.SortFunc(d.Victims, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
		return d, nil
	}
}

func snapshot(st preemption.State) *preemption.Snapshot {
	s, _ := preemption.NewSnapshot(st)
	return s
}

// A scheduler of one queue passes; with another order it fails, each within a second, and TestDecider's rules alone do not
// see it.
func TestOneQueueDecider(t *testing.T) {
	for _, wrong := range []string{
		"", "highest priority first", "longest running first", "of whose time is over the shortest running first",
		"newer ones before those whose time is over",
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
