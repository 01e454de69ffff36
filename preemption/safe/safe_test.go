package safe_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var now = preemptiontest.Now

// lab is two teams with four GPUs each, of which b uses six: train and eval, and old, which is told to leave.
func lab() preemption.State {
	team := func(name string, within queue.VictimPolicy) queue.Queue {
		return queue.Queue{Name: name, Cohort: "lab", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 4}},
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: within, ReclaimWithinCohort: queue.Any}}
	}
	runs := func(id, q string, priority, gpus int64) workload.Workload {
		return workload.Workload{ID: id, Queue: q, Priority: priority, Queued: now.Add(-time.Hour), ReservedAt: now.Add(-10 * time.Minute), PodSets: []workload.PodSet{
			{Name: "main", Count: gpus, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}}
	}
	return preemption.State{
		Cohorts:  []queue.Cohort{{Name: "lab"}},
		Queues:   []queue.Queue{team("a", queue.Never), team("b", queue.LowerPriority)},
		Admitted: []workload.Workload{runs("a/own", "a", 0, 2), runs("b/eval", "b", 5, 2), runs("b/train", "b", 9, 4)},
	}
}

// told is an answer in a line.
func told(a safe.Answer) string {
	var b strings.Builder
	b.WriteString(a.Outcome.String())
	if !a.At.IsZero() {
		fmt.Fprintf(&b, " %v", a.At.Sub(now))
	}
	if r := a.Request; r != nil {
		fmt.Fprintf(&b, ": %s asks %v with priority %d, %v", r.Queue, r.Asks, r.Priority, r.Reason)
		if !r.Queued.IsZero() {
			fmt.Fprintf(&b, ", queued %v", r.Queued.Sub(now))
		}
	}
	for _, k := range a.Keeps {
		fmt.Fprintf(&b, "; %v by %s", k.Rule, k.By)
		if !k.Until.IsZero() {
			fmt.Fprintf(&b, " until %v", k.Until.Sub(now))
		}
	}
	for _, d := range a.Doubts {
		fmt.Fprintf(&b, ", %v", d)
	}
	return b.String()
}

func until(t *testing.T, st preemption.State, c preemption.Config, o safe.Options, id string) safe.Answer {
	t.Helper()
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	p, err := preemption.New(c)
	if err != nil {
		t.Fatal(err)
	}
	o.Now = now
	asker, err := safe.New(p, s, o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := asker.Until(id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type fixed struct{ until time.Time }

func (g fixed) Verdict(workload.Workload, preemption.Request) preemption.Verdict {
	return preemption.ProtectedUntil(g.until)
}

// within changes who yields in the queue b.
func within(policy queue.VictimPolicy) func(*preemption.State) {
	return func(st *preemption.State) { st.Queues[1].Preemption.WithinClusterQueue = policy }
}

func TestUntil(t *testing.T) {
	const eval, train, own = "b/eval", "b/train", "a/own"
	reclaim := preemption.Config{MinRuntime: minruntime.Defaults{Preempt: quota.Some(25 * time.Minute), Reclaim: quota.Some(30 * time.Minute)}}
	for _, c := range []struct {
		name   string
		change func(*preemption.State)
		config preemption.Config
		o      safe.Options
		id     string
		want   string
	}{
		{"b borrows two, which any priority of a reclaims", nil, preemption.Config{}, safe.Options{}, eval,
			"Now 0s: a asks [{h100 gpu 1}] with priority -2147483648, InCohortReclamation"},
		{"eval yields to a before train does, so that only the own queue is left", nil, preemption.Config{}, safe.Options{}, train,
			"Now 0s: b asks [{h100 gpu 3}] with priority 10, InClusterQueue"},
		{"a is within its own quota, and preempts nobody in its own queue", nil, preemption.Config{}, safe.Options{}, own,
			"Never; WithinClusterQueue by a; WithinNominal by b"},
		{"the minimum runtime against preemption ends first", nil, reclaim, safe.Options{}, eval,
			"Later 15m0.000000001s: b asks [{h100 gpu 1}] with priority 6, InClusterQueue; GuaranteedRuntime by a until 20m0s; GuaranteedRuntime by b until 15m0s"},
		{"it never yields", func(st *preemption.State) { st.Admitted[1].NeverYields = true }, preemption.Config{}, safe.Options{}, eval, "Never; NeverYields by b"},
		{"it was told to leave", func(st *preemption.State) { st.Admitted[1].Evicted = true }, preemption.Config{}, safe.Options{}, eval, "Leaving"},
		{"no priority is above", func(st *preemption.State) {
			st.Admitted[1].Priority, st.Queues[0].Preemption.ReclaimWithinCohort = 1<<31-1, queue.LowerPriority
		}, preemption.Config{}, safe.Options{}, eval, "Never; ReclaimWithinCohort by a; WithinClusterQueue by b"},
		{"an equal that waits for longer", func(st *preemption.State) {
			st.Queues[1].Preemption.WithinClusterQueue, st.Queues[0].Preemption.ReclaimWithinCohort = queue.LowerOrNewerEqualPriority, queue.Never
		}, preemption.Config{}, safe.Options{}, train, "Now 0s: b asks [{h100 gpu 3}] with priority 9, InClusterQueue, queued -1h0m0.000000001s"},
		{"new requests only: its time has to be over", func(st *preemption.State) {
			st.Queues[1].Preemption = queue.PreemptionPolicy{WithinClusterQueue: queue.LowerOrNewerEqualPriority, MinAdmitDuration: quota.Some(30 * time.Minute)}
			st.Queues[0].Preemption.ReclaimWithinCohort, st.Admitted[2].Priority = queue.Never, 1<<31-1
		}, preemption.Config{}, safe.Options{Since: now}, train,
			"Later 20m0.000000001s: b asks [{h100 gpu 3}] with priority 2147483647, InClusterQueueTimeBased; ReclaimWithinCohort by a; WithinClusterQueue by b until 20m0s"},
		{"guards may read the request", nil, preemption.Config{Guards: []preemption.Guard{fixed{now.Add(time.Hour)}}}, safe.Options{}, eval, "Unknown 0s, Guards"},
		{"these do not", nil, preemption.Config{Guards: []preemption.Guard{fixed{now.Add(time.Hour)}}}, safe.Options{GuardsReadWorkloads: true}, eval,
			"Later 1h0m0.000000001s: a asks [{h100 gpu 1}] with priority -2147483648, InCohortReclamation; Guarded by a until 1h0m0s; Guarded by b until 1h0m0s"},
		{"a limit that permits nothing", nil, preemption.Config{Limits: []limits.Limit{{Name: "none", Scope: limits.Global, Window: quota.Some(time.Hour)}}}, safe.Options{}, eval, "Unknown 0s, Limits"},
		{"fair sharing: what is asked for is found, what is not stays open", nil, preemption.Config{Sharing: preemption.Fair}, safe.Options{}, eval,
			"Now 0s: a asks [{h100 gpu 1}] with priority -2147483648, InCohortReclamation"},
		{"steps are used up", nil, preemption.Config{Sharing: preemption.Fair}, safe.Options{MaxDecisions: 1}, train, "Unknown 0s, FairSharing, Decisions"},
		{"for room on nodes whoever has a right may take it", within(queue.Never), preemption.Config{}, safe.Options{OnNodes: []string{"h100"}}, train, "Unknown 0s, Rooms"},
		{"needed for quota or not, but not before the right begins", within(queue.Never), reclaim, safe.Options{OnNodes: []string{"h100"}}, train, "Unknown 20m0.000000001s, Rooms"},
		{"who has no right takes nothing for room either", within(queue.Never), preemption.Config{}, safe.Options{OnNodes: []string{"h100"}}, own,
			"Never; WithinClusterQueue by a; WithinNominal by b"},
		{"other flavors have room", within(queue.Never), preemption.Config{}, safe.Options{OnNodes: []string{"a100"}}, train, "Never"},
		{"of a job on GPUs and CPUs the GPUs are shown", func(st *preemption.State) {
			st.Queues[0].Quotas = append(st.Queues[0].Quotas, quota.Quota{Flavor: "h100", Resource: "cpu"})
			st.Queues[1].Quotas = append(st.Queues[1].Quotas, quota.Quota{Flavor: "h100", Resource: "cpu", Nominal: 2})
			st.Admitted[2].PodSets[0].Requests = append(st.Admitted[2].PodSets[0].Requests, quota.Amount{Flavor: "h100", Resource: "cpu", Amount: 2})
		}, preemption.Config{}, safe.Options{}, train, "Now 0s: b asks [{h100 gpu 3}] with priority 10, InClusterQueue"},
	} {
		st := lab()
		if c.change != nil {
			c.change(&st)
		}
		if got := told(until(t, st, c.config, c.o, c.id)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// States in which the turn does not say it: two that free nothing in their turn are needed together, for an amount between turns; what
// leaves is enough, unless a second resource is short that it does not have; and replicas are put back, but not where the rest is taken.
func TestNeededOnlyTogether(t *testing.T) {
	for _, c := range []struct{ file, id, want string }{
		{"put_back", "ns/w09", "Now 0s: q2 asks [{default cpu 2}] with priority -2147483648, InCohortReclamation"},
		{"replicas", "ns/w11", "Now 0s: q0 asks [{default gpu 2}] with priority 2, InClusterQueue"},
		{"leaving", "ns/w01", "Now 0s: q4 asks [{default gpu 9} {default cpu 3}] with priority 3, InClusterQueue"},
	} {
		data, err := os.ReadFile("testdata/" + c.file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var st preemption.State
		if err := json.Unmarshal(data, &st); err != nil {
			t.Fatal(err)
		}
		if got := told(until(t, st, preemption.Config{}, safe.Options{}, c.id)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.file, got, c.want)
		}
	}
}

func TestBadInput(t *testing.T) {
	s, _ := preemption.NewSnapshot(lab())
	_, err := safe.New(nil, s, safe.Options{MaxDecisions: -1, Since: time.Unix(1<<40, 0)})
	if err == nil || strings.Count(err.Error(), "options.") != 3 {
		t.Errorf("%v: want all three faults", err)
	}
	asker, err := safe.New(nil, s, safe.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := asker.Until("nobody"); err == nil || !strings.Contains(err.Error(), `workload: no workload "nobody" is admitted`) {
		t.Errorf("%v", err)
	}
}
