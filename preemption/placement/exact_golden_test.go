package placement_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

const proofsHead = `# What the exact search proves of drawn requests, and the nodes that it looks at. Fewer are better.
#
# about                                              outcome      victims proven  sum of priorities        bound nodes
`

// The laws hold the answers; how soon they are proven is kept here.
func TestProofsAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(proofsHead)
	line := func(about string, c placement.Config, s *placement.Snapshot, r placement.Request) {
		c.Search, c.Exact.MaxNodes = placement.Exact, 20_000
		d := decide(t, c, s, r)
		if d.Proof != nil { // nil: it fits
			fmt.Fprintf(&b, "%-52s %-12s %7d %-6v %18d %12d %5d\n", about, d.Outcome, len(d.Victims), d.Proof.Optimal, d.Proof.Value.Sum, d.Proof.LowerBound.Sum, d.Proof.Nodes)
		}
	}
	for seed := range 200 {
		r := preemptiontest.PlacementRecords().Example(seed)
		line(fmt.Sprint("record ", seed), preemptiontest.PlacementConfigs().Example(seed), snapshotOf(t, r.State), *r.Request)
	}
	// Hundreds of units, where bounds decide how soon it ends.
	for seed := range uint64(3) {
		for _, m := range []mixed{{300, 1, 1, 0, 1}, {300, 1, 4, 0, 1}, {300, 30, 2, 0, 8}, {100, 10, 2, 4, 3}, {300, 10, 2, 8, 4}} {
			st, r := m.draw(seed)
			line(fmt.Sprint(m, " ", seed), placement.Config{}, snapshotOf(t, st), r)
		}
	}
	keptIn(t, "proofs.golden", b.Bytes())
}
