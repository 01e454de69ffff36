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
