package witness_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/agree"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
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
// never given. Others count, too, what they see.
func ask(t *testing.T, questions *rapid.Generator[question], seen ...func(question, preemption.Decision)) {
	answered, known := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			q := questions.Draw(t, "question")
			why, d := compare(t, q)
			known[why]++
			answered[d.Outcome.String()]++
			for _, count := range seen {
				count(q, d)
			}
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
func compare(t *rapid.T, q question) (known string, decision preemption.Decision) {
	decision = decide(t, q.Config, q.Record)
	known, diff := agree.Diff(q.Config, q.Record.State, *q.Record.Request, decision)
	if diff != "" {
		differs(t, q, "%s", diff)
	}
	return known, decision
}

// fataler is a test, or a check of one.
type fataler interface{ Fatal(args ...any) }

// decide asks the engine.
func decide(t fataler, c preemption.Config, record preemption.Record) preemption.Decision {
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
