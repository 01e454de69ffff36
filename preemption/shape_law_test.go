package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// another draws a workload that differs from a waiting one in some fields.
func another(t *rapid.T, w workload.Workload) workload.Workload {
	o := w.Clone()
	o.ID, o.UID = "ns/another", "u-a"
	times := []time.Time{{}, started(0), started(1), started(30), started(90)}
	for range rapid.IntRange(0, 2).Draw(t, "differences") {
		switch rapid.IntRange(0, 10).Draw(t, "difference") {
		case 0:
			o.Queued = rapid.SampledFrom(times).Draw(t, "queued")
		case 1:
			o.Created = rapid.SampledFrom(times).Draw(t, "created")
		case 2:
			o.Labels = map[string]string{"size": rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "size")}
		case 3:
			o.PriorityClass = "another"
		case 4:
			o.LocalQueue = "ns/another"
		case 5:
			o.Priority++
		case 6:
			o.Priority, o.PriorityBoost = o.Priority-1, o.PriorityBoost+1
		case 7:
			o.Gates = gate.Gates{Names: []string{"another"}}
		case 8:
			o.PodSets[0].Count++
		case 9:
			o.NeverPreempts = !o.NeverPreempts
		case 10:
			o.Loss.PerReplica = 7
		}
	}
	return o
}

// sharesOfOneShape: requests of one shape have one decision.
func sharesOfOneShape(t *rapid.T, reached map[string]int) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	if rapid.IntRange(0, 2).Draw(t, "no guards") > 0 {
		config.Guards = nil
	}
	if rapid.IntRange(0, 2).Draw(t, "with rules") == 0 {
		st.Rules = []rules.Config{drawRules(t, &st, &r.Workload)}
	}
	s, p := snapshotOf(t, st), preemptorOf(config)
	other := r
	other.Workload = another(t, r.Workload)
	if len(r.NeedsPreemption) > 0 && rapid.Bool().Draw(t, "all that does not fit") {
		other.NeedsPreemption = nil
	}
	before := r.Workload.Clone()
	shape := p.Shape(s, r)
	noDiff(t, "Shape changed the request", before, r.Workload)
	if shape == "" || shape != p.Shape(s, other) {
		reached["not alike"]++
		return
	}
	one := must(p.Decide(s, r))(t)
	two := must(p.Decide(s, other))(t)
	one.Admitted, two.Admitted = nil, nil
	noDiff(t, fmt.Sprintf("requests of the shape %s", shape), one, two)
	reached[one.Outcome.String()]++
	if len(st.Rules) > 0 {
		reached["with rules"]++
	}
}

// TestSharesOfOneShape draws until each case was met: a rare one may miss a hundred draws, not five thousand.
func TestSharesOfOneShape(t *testing.T) {
	reached := map[string]int{}
	cases := []string{"not alike", "Fits", "Preempt", "Gated", "Wait", "Impossible", "with rules"}
	missed := func() []string {
		return slices.DeleteFunc(slices.Clone(cases), func(what string) bool { return reached[what] > 0 })
	}
	for round := 0; round == 0 || round < 50 && len(missed()) > 0 && !testing.Short() && !t.Failed(); round++ {
		rapid.Check(t, func(t *rapid.T) { sharesOfOneShape(t, reached) })
	}
	if never := missed(); len(never) > 0 && !testing.Short() {
		t.Errorf("never met: %q", never)
	}
}
