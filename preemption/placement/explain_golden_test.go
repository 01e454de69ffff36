package placement_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

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
