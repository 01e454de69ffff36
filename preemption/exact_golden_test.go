package preemption_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

const proofsHead = `# What the exact search proves of drawn requests, and the nodes that it looks at. Fewer are better.
#
# about      sharing    outcome      victims proven    value    bound nodes
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
			q.config.Search, q.config.Cost = preemption.Exact, drawCost(t, &q.record.State)
			q.config.Exact.FewestFirst = rapid.Bool().Draw(t, "fewest first")
			q.config.Exact.MaxNodes = 5_000
			return q
		})
	}
	var b bytes.Buffer
	b.WriteString(proofsHead)
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
			q := drawn.from.Example(seed)
			d := decideWith(t, q.config, snapshotOf(t, q.record.State), *q.record.Request)
			if d.Proof == nil { // it fits
				continue
			}
			fmt.Fprintf(&b, "%-12s %-10s %-12s %7d %-6v %8d %8d %5d\n", fmt.Sprint(drawn.name, " ", seed), strings.ToLower(q.config.Sharing.String()),
				d.Outcome, len(d.Victims), d.Proof.Optimal, d.Proof.Value, d.Proof.LowerBound, d.Proof.Nodes)
		}
	}
	keptIn(t, "proofs.golden", b.Bytes())
}
