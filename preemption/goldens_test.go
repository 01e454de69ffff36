package preemption_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
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

const proofsHead = `# What the best search proves of drawn requests, and the steps that it takes. Fewer are better.
#
# about        sharing    outcome      victims proven    value    bound steps
`

// The laws hold the answers; how soon they are proven is kept here.
func TestProofsAreThoseOfTheGolden(t *testing.T) {
	type question struct {
		record preemption.Record
		config preemption.Config
	}
	draw := func(records *rapid.Generator[preemption.Record]) *rapid.Generator[question] {
		return rapid.Custom(func(t *rapid.T) question {
			q := question{records.Draw(t, "record"), preemptiontest.Configs().Draw(t, "config")}
			q.config.Search, q.config.Cost = preemption.Best, drawCost(t, &q.record.State)
			q.config.Best.FewestFirst = rapid.Bool().Draw(t, "fewest first")
			q.config.Best.Steps = 5_000
			return q
		})
	}
	var b bytes.Buffer
	b.WriteString(proofsHead)
	line := func(about string, q question) {
		d := decideWith(t, q.config, snapshotOf(t, q.record.State), *q.record.Request)
		if d.Proof != nil { // nil: it fits
			fmt.Fprintf(&b, "%-14s %-10s %-12s %7d %-6v %8d %8d %5d\n", about, strings.ToLower(q.config.Sharing.String()),
				d.Outcome, len(d.Victims), d.Proof.Optimal, d.Proof.Value, d.Proof.LowerBound, d.Proof.Steps)
		}
	}
	for _, drawn := range []struct {
		name   string
		number int
		from   *rapid.Generator[question]
	}{
		{"record", 300, draw(preemptiontest.Records())},
		{"crowd", 150, draw(rapid.Custom(func(t *rapid.T) preemption.Record {
			st, r := crowd(t)
			return preemption.Record{State: st, Request: &r}
		}))},
	} {
		for seed := range drawn.number {
			line(fmt.Sprint(drawn.name, " ", seed), drawn.from.Example(seed))
		}
	}
	// Hundreds of candidates, where bounds and limits decide how soon it ends.
	for seed := range uint64(3) {
		for _, columns := range []int{1, 4, 8} {
			for _, cost := range []preemption.Cost{nil, preemption.CostByAge{Resources: []string{"r0"}}} {
				st, r := fullQueue(seed, columns, 400, 16)
				q := question{preemption.Record{State: st, Request: &r}, preemption.Config{Search: preemption.Best, Cost: cost}}
				q.config.Best.Steps = 5_000
				line(fmt.Sprintf("full %d %d %v", seed, columns, cost != nil), q)
			}
		}
	}
	// Workloads that yield as a whole or give replicas.
	for seed := range uint64(3) {
		st, r := gpuQueue(seed, 2, true)
		q := question{preemption.Record{State: st, Request: &r}, preemption.Config{Search: preemption.Best, Cost: preemption.CostByAge{}}}
		line(fmt.Sprintf("elastic %d", seed), q)
	}
	// Limits that leave too few, or few.
	for _, columns := range []int{1, 4} {
		for _, most := range []int64{4, 14} {
			st, r := fullQueue(0, columns, 400, 16)
			q := question{preemption.Record{State: st, Request: &r}, preemption.Config{Search: preemption.Best, Limits: atMost(most)}}
			q.config.Best.Steps = 5_000
			line(fmt.Sprintf("limited %d %d", columns, most), q)
		}
	}
	keptIn(t, "proofs.golden", b.Bytes())
}

const explanationsHead = `# What explanations say of drawn requests: a digest of the text, and the ways out. A line changes only on purpose.
#
# about               outcome      digest   ways
`

// Laws hold an explanation to the decision, and each way to what it promises. The rest of what
// it says (who is counted where, the sums, what is missing) is kept here.
func TestExplanationsAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(explanationsHead)
	line := func(about string, c preemption.Config, r preemption.Record) {
		e := explainWith(t, c, snapshotOf(t, r.State), *r.Request)
		ways := make([]string, len(e.Ways))
		for i, w := range e.Ways {
			ways[i] = w.Kind.String()
		}
		digest := fnv.New32a()
		digest.Write([]byte(explain.Text(e.Steps)))
		line := fmt.Sprintf("%-21s %-12s %08x %s", about, e.Decision.Outcome, digest.Sum32(), strings.Join(ways, ", "))
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	for seed := range 400 {
		line(fmt.Sprint("record ", seed), preemptiontest.Configs().Example(seed), preemptiontest.Records().Example(seed))
	}
	for seed := range 200 {
		line(fmt.Sprint("without flavors ", seed), preemptiontest.Configs().Example(seed), preemptiontest.RecordsWithoutFlavors().Example(seed))
	}
	keptIn(t, "explanations.golden", b.Bytes())
}
