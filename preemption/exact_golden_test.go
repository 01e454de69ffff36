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

const proofsHead = `# What the exact search proves of drawn requests, and the steps that it takes. Fewer are better.
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
