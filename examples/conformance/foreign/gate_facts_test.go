package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// gateFact is a fact about gates from Kueue's tests that no recorded question has room for: states that follow the
// names (gate-sync), what the scheduler does with a gated workload (scheduler-gate), how the workload goes back to its
// queue (queue-requeue).
type gateFact struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Now    time.Time       `json:"now"`
	Spec   []string        `json:"spec"`
	Status []positionSince `json:"status"`

	Mode        string         `json:"assignmentMode"`
	EntryStatus string         `json:"entryStatus"`
	Strategy    queue.Strategy `json:"queueingStrategy"`
	Reason      string         `json:"requeueReason"`
	Gates       []struct {
		Name string `json:"name"`
	} `json:"gates"`

	Want struct {
		Status      []positionSince `json:"status"`
		Preemptions *int            `json:"preemptions"`
		Blocked     string          `json:"blocked"`
		Reserved    string          `json:"quotaReserved"`
		EqualsAside bool            `json:"equivalentWorkloadsMovedToInadmissible"`
	} `json:"want"`
}

type positionSince struct {
	Name     string        `json:"name"`
	Position gate.Position `json:"position"`
	Since    time.Time     `json:"lastTransitionTime"`
}

func TestGateFacts(t *testing.T) {
	asked := map[string]int{}
	err := recorded.Lines("gates", table(t, "gates/gates.jsonl.gz"), func(_ int, line []byte) error {
		var fact gateFact
		if err := json.Unmarshal(line, &fact); err != nil {
			return err
		}
		ask := map[string]func(*testing.T, *gateFact){"gate-sync": follows, "scheduler-gate": scheduled, "queue-requeue": requeued}[fact.Kind]
		if ask == nil {
			return nil
		}
		asked[fact.Kind]++
		t.Run(fact.ID, func(t *testing.T) { ask(t, &fact) })
		return nil
	})
	want := map[string]int{"gate-sync": 1, "scheduler-gate": 2, "queue-requeue": 2}
	if diff := cmp.Diff(want, asked); err != nil || diff != "" {
		t.Errorf("%v; - cases, + asked:\n%s", err, diff)
	}
}

// follows asks which states follow the names of the spec.
func follows(t *testing.T, fact *gateFact) {
	g := gate.Gates{Names: fact.Spec}
	for _, s := range fact.Status {
		g.States = append(g.States, gate.State{Name: s.Name, Position: s.Position, Since: s.Since})
	}
	var got, want []string
	for _, s := range g.Synced(fact.Now).States {
		got = append(got, fmt.Sprint(s.Name, s.Position, s.Since))
	}
	for _, s := range fact.Want.Status {
		want = append(want, fmt.Sprint(s.Name, s.Position, s.Since))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// scheduled decides about a gated workload in a queue with room for one: the workload fits, or a workload of lower
// priority runs there.
func scheduled(t *testing.T, fact *gateFact) {
	one := []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: 1}}}}
	st := preemption.State{Queues: []queue.Queue{{
		Name: "cq", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: 1}},
	}}}
	asks := workload.Workload{ID: "w1", Queue: "cq", Priority: 1, PodSets: one}
	switch {
	case fact.Mode == "Fit" && len(fact.Gates) > 0:
		for _, g := range fact.Gates {
			asks.Gates.Names = append(asks.Gates.Names, g.Name)
		}
	case fact.EntryStatus == "preemptionGated": // the case starts after the decision
		asks.Gates.Names = []string{"gate"}
		st.Admitted = []workload.Workload{{ID: "low", Queue: "cq", PodSets: one}}
	default:
		t.Fatalf("mode %q, status %q: of another kind", fact.Mode, fact.EntryStatus)
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	d, err := new(preemption.Preemptor).Decide(s, preemption.Request{Now: someTime, Workload: asks})
	if err != nil {
		t.Fatal(err)
	}
	blocked, reserved := "absent", "False"
	switch d.Outcome {
	case preemption.Fits:
		reserved = "True/QuotaReserved"
	case preemption.Gated:
		signalled := asks.Gates.Signalled(someTime)
		blocked, reserved = "True/"+signalled.Blocked.Reason, "False/AdmissionGated"
	}
	if blocked != fact.Want.Blocked || reserved != fact.Want.Reserved {
		t.Errorf("%v: blocked %s, reserved %s; want %s, %s", d.Outcome, blocked, reserved, fact.Want.Blocked, fact.Want.Reserved)
	}
	if n := fact.Want.Preemptions; n != nil && *n != len(d.Victims) {
		t.Errorf("%d victims, want %d", len(d.Victims), *n)
	}
}

// requeued asks whether an equal workload steps aside with one that goes back to its queue.
func requeued(t *testing.T, fact *gateFact) {
	reason, known := map[string]queue.RequeueReason{"PreemptionNoCandidates": queue.NoCandidates, "PreemptionGated": queue.Gated}[fact.Reason]
	if !known {
		t.Fatalf("reason %q: of another kind", fact.Reason)
	}
	p, err := queue.NewPending(nil, []queue.Queue{{Name: "cq", Strategy: fact.Strategy}})
	for _, id := range []string{"w1", "w2"} {
		if err == nil {
			p, err = p.Add(workload.Workload{ID: id, Queue: "cq"})
		}
	}
	if err == nil {
		p, err = p.Requeue(p.Heads()[0], queue.Requeue{Reason: reason})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, equal, _ := p.Find("w2"); (equal.Activity == queue.Inadmissible) != fact.Want.EqualsAside {
		t.Errorf("the equal is %v, want aside %v", equal.Activity, fact.Want.EqualsAside)
	}
}
