package kai_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
)

// What the queues of KAI do not limit is a note.
func TestRequests(t *testing.T) {
	const requested = `"requests":{"cpu":"1","memory":"1G","nvidia.com/gpu":"16"}`
	for _, c := range []struct {
		requested, want string
		count           int
	}{
		{requested, "", 3},
		{`"requests":{"nvidia.com/gpu":"1","rdma/ib":"1","ephemeral-storage":"1Gi","nvidia.com/mig-1g.5gb":"0"}`,
			"queues of KAI have quota for cpu, memory and GPU alone: its requests of ephemeral-storage, rdma/ib count on nodes only", 1},
		{`"requests":{}`, "", 0},
		{`"limits":{"amd.com/gpu":"2"}`, "", 1},
	} {
		got, err := read.OfKAI(strings.NewReader(strings.Replace(cluster, requested, c.requested, 1)))
		if err != nil {
			t.Fatal(err)
		}
		p := got.Pending[0]
		if notes := strings.Join(bridge.Texts(p.Notes), "\n"); !strings.HasSuffix(notes, c.want) || len(p.Workload.PodSets[0].Requests) != c.count {
			t.Errorf("%s: %v, %q, want %q", c.requested, p.Workload.PodSets, notes, c.want)
		}
	}
}
