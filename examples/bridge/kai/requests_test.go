package kai_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
)

// What the queues of KAI do not limit is not looked at, with a note; so is a group that does not say
// what it requests.
func TestRequests(t *testing.T) {
	const requested = `"requested":{"nvidia.com/gpu":"16","memory":"1Gi"}`
	for _, c := range []struct {
		requested, want string
		count           int
	}{
		{requested, "which is not looked at", 2},
		{`"requested":{"nvidia.com/gpu":"1","rdma/ib":"1","ephemeral-storage":"1Gi","nvidia.com/mig-1g.5gb":"0"}`,
			"the group's requests of ephemeral-storage, rdma/ib are not looked at: queues of KAI have quota for cpu, memory and nvidia.com/gpu alone", 1},
		{`"requested":{}`, "the group's status does not say what it requests: it asks for nothing here", 0},
		{`"allocated":{}`, "the group's status does not say what it requests: it asks for nothing here", 0},
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
	// A group that holds nothing else runs all the same.
	got, err := read.OfKAI(strings.NewReader(strings.Replace(cluster, `"nvidia.com/gpu":"4","cpu":"8"`, `"ephemeral-storage":"1Gi"`, 1)))
	if err != nil || len(got.State.Admitted) != 1 || len(got.State.Admitted[0].Usage()) != 0 {
		t.Errorf("%v, %+v", err, got.State.Admitted)
	}
}
