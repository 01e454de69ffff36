package rooms_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A server asks about several workloads at once: each gets its own answer.
func TestTooLargeAtOnce(t *testing.T) {
	var nodes rooms.Nodes
	text := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"}}{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"status":{"allocatable":{"gpu":100,"pods":5}}}`
	if _, err := answers.ReadBeside([]objects.Source{{Name: "nodes", Reader: strings.NewReader(text)}}, "", nodes.Add); err != nil {
		t.Fatal(err)
	}
	large := nodes.TooLarge([]queue.Flavor{{Name: "f"}})
	var all sync.WaitGroup
	for part := range int64(8) {
		all.Go(func() {
			for gpus := 1 + part; gpus <= 200; gpus += 8 {
				w := workload.Workload{PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Resource: "gpu", Amount: gpus}}}}}
				if got := large(&w); (len(got) > 0) != (gpus > 100) {
					t.Errorf("%d GPUs: %v", gpus, got)
				}
			}
		})
	}
	all.Wait()
}
