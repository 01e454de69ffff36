package nodes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/agree"
	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// question is a configuration, a state and a request.
type question struct {
	Config  placement.Config
	State   placement.State
	Request placement.Request
}

// each is the number of questions in a check: the hundred checks of go test ask two hundred in each law.
const each = 2

// ask asks both about drawn questions. It counts how they were answered, and fails if an answer that is expected
// was never given.
func ask(t *testing.T, questions *rapid.Generator[question], expected ...string) {
	answered, known := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			q := questions.Draw(t, "question")
			why, d := compare(t, q)
			known[why]++
			count(answered, d)
		}
	})
	t.Logf("answers %v, known disagreements %v", answered, known)
	for _, e := range expected {
		if answered[e] == 0 && !testing.Short() {
			t.Errorf("no question was answered by %v", e)
		}
	}
}

// count says which rules an answer shows.
func count(answered map[string]int, d placement.Decision) {
	answered[d.Outcome.String()]++
	answered["all"]++
	mark := func(name string, holds bool) {
		if holds {
			answered[name]++
		}
	}
	mark("reason "+d.Reason.String(), d.Reason != 0)
	mark("several victims", len(d.Victims) > 1)
	mark("violations", d.Violations > 0)
	mark("shortage", len(d.Shortage) > 0)
	mark("withdrawn", len(d.Withdrawn) > 0)
	mark("RetryAt", !d.RetryAt.IsZero())
	mark("RetryAt beside nominations", !d.RetryAt.IsZero() && len(d.Nominations) > 0)
	mark("several pods", len(d.Nominations) > 1)
	for _, v := range d.Victims {
		mark("a group yields", v.Group != "")
		mark("a group of several yields", len(v.Pods) > 1)
	}
}

// compare asks both. It fails if they disagree, unless a known disagreement holds, which it names.
func compare(t *rapid.T, q question) (known string, d placement.Decision) {
	snapshot, err := placement.NewSnapshot(q.State)
	if err != nil {
		t.Fatal(err)
	}
	preemptor, err := placement.New(q.Config)
	if err != nil {
		t.Fatal(err)
	}
	decision, err := preemptor.Decide(snapshot, q.Request)
	if err != nil && usesTooMuch(q, err) {
		return "too much for a node", nodes.Decide(q.Config, q.State, q.Request)
	}
	if err != nil {
		t.Fatal(err)
	}
	diff := agree.OnNodes(q.Config, q.State, q.Request, decision)
	if diff == "" {
		return "none", decision
	}
	record, err := json.Marshal(placement.Record{State: q.State, Request: &q.Request})
	if err != nil {
		t.Fatal(err)
	}
	t.Fatalf("%s\n%s\n%s", fmt.Sprintf("%+v", q.Config), record, diff)
	return "", decision
}

// usesTooMuch: Decide fails for "pods of a Basic group which, placed one after the other, would use more than 2^62 of a resource of a
// node together with what runs there". The witness counts on.
func usesTooMuch(q question, err error) bool {
	basic := func(g workload.PodGroup) bool { return g.ID == q.Request.Group && g.Basic }
	return slices.ContainsFunc(q.State.Groups, basic) && strings.Contains(err.Error(), "more than 2^62 of a resource is used of node")
}
