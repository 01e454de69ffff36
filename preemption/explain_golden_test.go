package preemption_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

const explanationsHead = `# What explanations say of drawn requests: levels, candidates taken in all attempts, instants, ways
# out, and a digest of the JSON form. A line changes only on purpose.
#
# about               outcome      levels taken instants digest   ways
`

// Laws hold an explanation to the decision, and each way to what it promises. The rest of what
// it says (who is counted where, the sums, what is missing) is kept here.
func TestExplanationsAreThoseOfTheGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(explanationsHead)
	line := func(about string, c preemption.Config, r preemption.Record) {
		e := explainWith(t, c, snapshotOf(t, r.State), *r.Request)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		taken, ways := int64(0), make([]string, len(e.Ways))
		for _, a := range e.Attempts {
			taken += a.TakenCount
		}
		for i, w := range e.Ways {
			ways[i] = w.Kind.String()
		}
		digest := fnv.New32a()
		digest.Write(data)
		line := fmt.Sprintf("%-21s %-12s %6d %5d %8d %08x %s", about, e.Decision.Outcome, len(e.Levels), taken, e.Instants, digest.Sum32(), strings.Join(ways, ", "))
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
