package preemption_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

var update = flag.Bool("update", false, "rewrite the golden files of what decisions cost and of explanations")

// keptIn compares a text with a golden file, which -update rewrites.
func keptIn(t *testing.T, name string, text []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile("testdata/"+name, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden.Lines(t, os.DirFS("testdata"), name, string(text))
}

const stepsHead = `# What decisions cost: the workloads looked at, the trials whether the request fits, and the
# nodes of the quota tree copied. Less is better; see CONTRIBUTING.md, What decisions cost.
#
# about                 sharing    outcome      victims workloads trials nodes
`

// shapes are worlds of the shapes that Kueue was timed on, as small as their requests permit:
// flat, a tree, many priorities, other flavors first, half of all protected.
var shapes = []scenario.World{
	{ID: "flat", Queues: 20, Group: 10, Each: 40},
	{ID: "tree", Queues: 40, Group: 5, Each: 40, Leaves: 4},
	{ID: "priorities", Queues: 10, Group: 10, Each: 100, Levels: 50},
	{ID: "flavors", Queues: 10, Group: 10, Each: 40, Flavors: 3},
	{ID: "protected", Queues: 20, Group: 20, Each: 64, Guarantee: time.Hour},
}

// "Claims about speed are tests": what a decision costs is the same on every machine, and
// changes only on purpose.
func TestStepsAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(stepsHead)
	cost := func(about string, c preemption.Config, s *preemption.Snapshot, r preemption.Request) {
		given := c.Strategies
		for _, c.Sharing = range []preemption.Sharing{preemption.Classical, preemption.Fair} {
			if c.Strategies = given; c.Sharing == preemption.Classical {
				c.Strategies = nil
			}
			p := preemptorOf(c)
			d, n, err := p.Work(s, r)
			if err != nil {
				t.Fatalf("%s: %v", about, err)
			}
			fmt.Fprintf(&b, "%-23s %-10s %-12s %7d %9d %6d %5d\n", about, strings.ToLower(c.Sharing.String()), d.Outcome, len(d.Victims), n.Workloads, n.Trials, n.Nodes)
		}
	}
	for _, w := range shapes {
		s := snapshotOf(t, w.State())
		for _, q := range w.Scenarios() {
			cost(w.ID+" "+q.Name, preemption.Config{}, s, q.Request)
			if strings.Contains(q.Name, "-k") {
				cost(w.ID+" "+q.Name+" exchange", preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}, s, q.Request)
			}
		}
	}
	for seed := range 30 {
		r, c := preemptiontest.Records().Example(seed), preemptiontest.Configs().Example(seed)
		c.Cost, c.Search, c.Best.Steps = preemption.CostByAge{}, preemption.Best, -1
		cost(fmt.Sprint("record ", seed, " exchange"), c, snapshotOf(t, r.State), *r.Request)
	}
	crowds := rapid.Custom(func(t *rapid.T) preemption.Record {
		st, r := crowd(t)
		return preemption.Record{State: st, Request: &r}
	})
	for _, generated := range []struct {
		name    string
		number  int
		records *rapid.Generator[preemption.Record]
	}{
		{"record", 300, preemptiontest.Records()},
		{"without flavors", 150, preemptiontest.RecordsWithoutFlavors()},
		{"crowd", 150, crowds},
	} {
		for seed := range generated.number {
			r := generated.records.Example(seed)
			cost(fmt.Sprint(generated.name, " ", seed), preemptiontest.Configs().Example(seed), snapshotOf(t, r.State), *r.Request)
		}
	}
	keptIn(t, "steps.golden", b.Bytes())
}
