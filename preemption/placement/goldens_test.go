package placement_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
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

const stepsHead = `# What decisions cost: the units put back with a check, the placements started, the nodes on which
# a pod was tried, and the units looked at. Less is better; see CONTRIBUTING.md, What decisions cost.
#
# about                                              outcome      victims checks placements nodes units
`

// "Claims about speed are tests": what a decision costs is the same on every machine, and
// changes only on purpose.
func TestStepsAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(stepsHead)
	cost := func(about string, c placement.Config, s *placement.Snapshot, r placement.Request) {
		t.Helper()
		p, err := placement.New(c)
		if err != nil {
			t.Fatalf("%s: %v", about, err)
		}
		d := decide(t, c, s, r)
		n, err := p.Cost(s, r)
		if err != nil {
			t.Fatalf("%s: %v", about, err)
		}
		fmt.Fprintf(&b, "%-52s %-12s %7d %6d %10d %5d %5d\n", about, d.Outcome, len(d.Victims), n.Checks, n.Opened, n.Tried, n.Looked)
	}
	for _, f := range []fleet{
		{nodes: 50, perNode: 4, levels: 1}, {nodes: 50, perNode: 4, levels: 10, covered: 5}, {nodes: 50, perNode: 4, levels: 10, groupOf: 8},
	} {
		s := snapshotOf(t, f.state())
		for _, c := range []placement.Config{{}, {Mode: placement.ModeInPlace}, {Budgets: placement.Hard}, {Order: placement.BestFit}, {Order: placement.RoundRobin}} {
			for _, pods := range []int{1, 12, 60} { // at most 50 of this size have a place
				about := fmt.Sprint(f, " ", c.Mode, " ", c.Budgets, " ", c.Order, " ", pods)
				cost(about, c, s, gang(pods, 3000, 3))
			}
		}
	}
	for seed := range 600 {
		r := preemptiontest.PlacementRecords().Example(seed)
		cost(fmt.Sprint("record ", seed), preemptiontest.PlacementConfigs().Example(seed), snapshotOf(t, r.State), *r.Request)
	}
	for _, f := range []fleet{
		{nodes: 500, perNode: 10, levels: 10}, {nodes: 500, perNode: 10, levels: 10, covered: 5},
		{nodes: 500, perNode: 10, levels: 10, covered: 5, groupOf: 8}, {nodes: 500, perNode: 10, levels: 10, covered: 10},
	} {
		s := snapshotOf(t, f.state())
		for _, c := range []placement.Config{{}, {Mode: placement.ModeInPlace}, {Budgets: placement.Hard}} {
			for _, sample := range []int{0, 50} {
				r := alone(2000, 2)
				r.MaxDomains = sample
				cost(fmt.Sprint(f, " ", c.Mode, " ", c.Budgets, " alone ", sample), c, s, r)
			}
		}
		cost(fmt.Sprint(f, " alone, never fits"), placement.Config{}, s, alone(11_000, 1))
	}
	keptIn(t, "steps.golden", b.Bytes())
}

const explanationsHead = `# What explanations say of drawn requests: a digest of the text, and the ways out. A line changes only on purpose.
#
# about      outcome      digest   ways
`

// Laws hold an explanation to the decision, and each way to what it promises. The rest of what
// it says (who is counted where, how far each domain came) is kept here.
func TestExplanationsAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(explanationsHead)
	for seed := range 500 {
		r := preemptiontest.PlacementRecords().Example(seed)
		e := explainWith(t, preemptiontest.PlacementConfigs().Example(seed), snapshotOf(t, r.State), *r.Request)
		ways := make([]string, len(e.Ways))
		for i, w := range e.Ways {
			ways[i] = w.Kind.String()
		}
		digest := fnv.New32a()
		digest.Write([]byte(explain.Text(e.Steps)))
		line := fmt.Sprintf("record %-5d %-12s %08x %s", seed, e.Decision.Outcome, digest.Sum32(), strings.Join(ways, ", "))
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	keptIn(t, "explanations.golden", b.Bytes())
}
