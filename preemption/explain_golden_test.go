package preemption_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

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
