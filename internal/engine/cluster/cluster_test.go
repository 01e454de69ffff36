package cluster

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Doubled IDs are found where nothing else is wrong, and before what comes of them: usage
// that is out of bounds.
func TestDoubledIDs(t *testing.T) {
	queues := []queue.Queue{{Name: "q", Quotas: []quota.Quota{{Flavor: "f", Resource: "cpu", Nominal: 1}}}}
	for _, size := range []int64{1, quota.MaxUsage} {
		var admitted []workload.Workload
		for i := range 1000 {
			admitted = append(admitted, workload.Workload{ID: fmt.Sprint(i % 998), Queue: "q", PodSets: []workload.PodSet{
				{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: size}}},
			}})
		}
		const want = `admitted[998].id: "0" is also the ID of admitted[0]; admitted[999].id: "1" is also the ID of admitted[1]`
		if _, err := New(nil, queues, admitted); err == nil || err.Error() != want {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// Workloads that take the same share a template, also where others differ in the flavor alone and stand between them.
func TestTemplatesAreShared(t *testing.T) {
	flavors := []string{"a100", "b200", "h100", "l4"}
	var quotas []quota.Quota
	for _, f := range flavors {
		quotas = append(quotas, quota.Quota{Flavor: f, Resource: "gpu", Nominal: 1})
	}
	var admitted []workload.Workload
	for i := range 400 {
		admitted = append(admitted, workload.Workload{ID: fmt.Sprint(i), Queue: "q", PodSets: []workload.PodSet{
			{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: flavors[i%len(flavors)], Resource: "gpu", Amount: 8}}},
		}})
	}
	c, err := New(nil, []queue.Queue{{Name: "q", Quotas: quotas}}, admitted)
	if err != nil {
		t.Fatal(err)
	}
	templates := map[*Template]bool{}
	for i := range admitted {
		w, _ := c.Find(admitted[i].ID)
		templates[w.Template] = true
	}
	if len(templates) != len(flavors) {
		t.Errorf("%d templates for %d kinds", len(templates), len(flavors))
	}
}
