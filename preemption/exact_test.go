package preemption_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/cedesched/cede/preemption"
)

// Costs that add up to more than an int64 holds do not decide: the next points of the
// objective do. The law of the best set found this state.
func TestExactCostsThatSaturate(t *testing.T) {
	data, err := os.ReadFile("testdata/exact-saturates.json")
	if err != nil {
		t.Fatal(err)
	}
	record, err := preemption.ParseRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	config := preemption.Config{Search: preemption.Exact, SkipRetryAt: true, ReconsiderLarger: true, Cost: preemption.CostByAge{Resources: []string{"cpu", "gpu"}}}
	d := decideWith(t, config, snapshotOf(t, record.State), *record.Request)
	var got []string
	for _, v := range d.Victims {
		got = append(got, fmt.Sprint(v.Workload, v.Replicas))
	}
	if want := "[ns/w00[] ns/w03[{second 1}]]"; fmt.Sprint(got) != want || !d.Proof.Optimal {
		t.Errorf("%v, proof %+v; want %s", got, d.Proof, want)
	}
}
