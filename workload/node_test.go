package workload_test

import (
	"math"
	"testing"

	"github.com/cedesched/cede/workload"
)

// Each fault of a node is one by itself.
func TestNodeValidate(t *testing.T) {
	for want, n := range map[string]workload.Node{
		"":                                      {Name: "n", Capacity: workload.Resources{"cpu": 0}},
		"n.name: is empty":                      {},
		"n.capacity: a resource without a name": {Name: "n", Capacity: workload.Resources{"": 1}},
		"n.capacity.cpu: -1 is negative":        {Name: "n", Capacity: workload.Resources{"cpu": -1}},
		"n.capacity.cpu: 9223372036854775807 is more than 2^62": {Name: "n", Capacity: workload.Resources{"cpu": math.MaxInt64}},
	} {
		got := ""
		if err := n.Validate("n"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A taint has a key and an effect; each fault is named.
func TestTaintValidate(t *testing.T) {
	for _, c := range []struct {
		taint workload.Taint
		want  []string
	}{
		{workload.Taint{Key: "k", Effect: workload.NoSchedule}, nil},
		{workload.Taint{Key: "k", Effect: workload.NoExecute}, nil},
		{workload.Taint{}, []string{"t.key: is empty", "t.effect: is not set"}},
		{workload.Taint{Key: "k", Effect: 99}, []string{"t.effect: "}},
	} {
		check(t, c.taint.Validate("t"), c.want)
	}
}
