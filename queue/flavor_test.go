package queue_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

func TestValidateFlavors(t *testing.T) {
	err := queue.ValidateFlavors([]queue.Flavor{
		{Name: "spot", NodeTaints: []workload.Taint{{Key: "k", Effect: workload.NoSchedule}, {}, {Key: "k", Effect: 9}}},
		{Name: "spot", NodeLabels: map[string]string{"": "x"}, Tolerations: []workload.Toleration{{Operator: 5}}},
		{NodeTaints: make([]workload.Taint, workload.MaxNodeConstraints+1)},
	})
	faults, _ := err.(fault.List)
	for _, want := range []string{
		"flavors[0].nodeTaints[1].key: is empty", "flavors[0].nodeTaints[1].effect: is not set", "flavors[0].nodeTaints[2].effect: TaintEffect(9)",
		`flavors[1].name: "spot" is also the name of flavors[0]`, "flavors[1].nodeLabels: has an empty key", "flavors[1].tolerations[0].operator: Toleration",
		"flavors[2].name: is empty", "flavors[2].nodeTaints: 257: more than 256",
	} {
		found := false
		for _, f := range faults {
			found = found || strings.HasPrefix(f.Error(), want)
		}
		if !found {
			t.Errorf("no fault %q", want)
		}
	}
	if err := queue.ValidateFlavors(nil); err != nil {
		t.Error(err)
	}
}
