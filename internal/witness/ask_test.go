package witness_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
)

// question is a configuration, a state and a request.
type question struct {
	Config preemption.Config
	Record preemption.Record
}

// questions draws configurations that a function has changed, and records.
func questions(change func(*preemption.Config)) *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		q := question{preemptiontest.Configs().Draw(t, "config"), preemptiontest.Records().Draw(t, "record")}
		change(&q.Config)
		q.Config.MaxBlockers = rapid.SampledFrom([]int{99, 99, -1}).Draw(t, "blockers") // so that none is left out for another
		widen(t, &q.Config, &q.Record)
		return q
	})
}

// each is the number of questions in a check: the hundred checks of go test ask a thousand in each law.
const each = 10

// ask asks both about drawn questions. It counts how they were answered, and fails if some answer was
// never given.
func ask(t *testing.T, questions *rapid.Generator[question]) {
	answered, known := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			q := questions.Draw(t, "question")
			why, outcome := compare(t, q)
			known[why]++
			answered[outcome.String()]++
		}
	})
	t.Logf("answers %v, known disagreements %v", answered, known)
	for o := preemption.Fits; o <= preemption.Impossible; o++ {
		if answered[o.String()] == 0 {
			t.Errorf("no question was answered by %v", o)
		}
	}
}

// compare asks both. It fails if they disagree, unless a known disagreement holds, which it names.
func compare(t *rapid.T, q question) (known string, outcome preemption.Outcome) {
	decision := decide(t, q.Config, q.Record)
	a := answers{q, decision, witness.Decide(q.Config, q.Record.State, *q.Record.Request)}
	diff := cmp.Diff(told(q, a.engine), told(q, a.witness), cmpopts.EquateEmpty())
	if diff == "" {
		return "none", decision.Outcome
	}
	for _, k := range knownDisagreements {
		if k.holds(a) {
			return k.name, decision.Outcome
		}
	}
	differs(t, q, "- engine, + witness:\n%s", diff)
	return "", 0
}

// decide asks the engine.
func decide(t *rapid.T, c preemption.Config, record preemption.Record) preemption.Decision {
	snapshot, err := preemption.NewSnapshot(record.State)
	if err != nil {
		t.Fatal(err)
	}
	preemptor, err := preemption.New(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := preemptor.Decide(snapshot, *record.Request)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func differs(t *rapid.T, q question, format string, args ...any) {
	record, err := json.Marshal(q.Record)
	if err != nil {
		t.Fatal(err)
	}
	t.Fatalf("%+v\n%s\n%s", q.Config, record, fmt.Sprintf(format, args...))
}

// told is what both say of a decision.
func told(q question, d preemption.Decision) preemption.Decision {
	c := preemption.Decision{
		Outcome: d.Outcome, Victims: d.Victims, Leaving: d.Leaving, RetryAt: d.RetryAt,
		Replaced: d.Replaced, Admitted: d.Admitted, Counts: d.Counts, NoRoom: d.NoRoom,
	}
	amounts, flavors := asked(q)
	switch {
	case d.Possible():
		c.BorrowHeight = d.BorrowHeight
	case flavors && q.Config.Limits == nil: // whether limits count in a shortage, the words do not say
		c.Shortage = d.Shortage
	}
	// Which of several columns makes a queue a blocker, the words do not say.
	if !d.Possible() && flavors && amounts == 1 && q.Config.Limits == nil && q.Record.Request.Room == nil {
		c.Blockers = blockers(q, d.Blockers)
	}
	return c
}

// blockers leaves out those of whom the words do not say whether their leaving could make the request fit: in
// other queues, by the shares, where a cohort below another may keep to itself what its queues use.
func blockers(q question, list []preemption.Blocker) []preemption.Blocker {
	nested := func(co queue.Cohort) bool { return co.Parent != "" }
	if q.Config.Sharing == preemption.Classical || !slices.ContainsFunc(q.Record.State.Cohorts, nested) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(b preemption.Blocker) bool {
		return b.Queue != q.Record.Request.Workload.Queue
	})
}

// asked counts the columns of which something is requested, and reports whether all requests have a flavor.
func asked(q question) (amounts int, flavors bool) {
	flavors = true
	for _, a := range q.Record.Request.Workload.Usage() {
		amounts += int(min(1, a.Amount))
		flavors = flavors && a.Flavor != ""
	}
	return amounts, flavors
}
