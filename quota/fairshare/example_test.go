package fairshare_test

import (
	"fmt"

	"github.com/cedesched/cede/quota/fairshare"
)

// Ten GPUs and two departments, each with two teams. What the quotas leave goes to the departments by their weights, 1 to 2, but
// research wants no more than 4. So production has 6, and its teams divide them.
func ExampleDivide() {
	gpus := func(quota int64, weight float64, request, usage int64) []fairshare.Claim {
		return []fairshare.Claim{{Resource: "gpu", Quota: quota, OverQuotaWeight: weight, Request: request, Usage: usage}}
	}
	shares, err := fairshare.Divide(fairshare.Tree{
		Resources: []fairshare.Resource{{Name: "gpu", Total: 10}},
		Queues: []fairshare.Queue{
			{Name: "production", Claims: gpus(4, 1, 0, 0)},
			{Name: "research", Claims: gpus(2, 2, 0, 0)},
			{Name: "a", Parent: "production", Claims: gpus(2, 1, 5, 0)},
			{Name: "b", Parent: "production", Claims: gpus(2, 2, 6, 6)},
			{Name: "c", Parent: "research", Claims: gpus(0, 1, 3, 3)},
			{Name: "d", Parent: "research", Claims: gpus(2, 1, 1, 1)},
		},
	})
	for _, of := range shares {
		fmt.Println(of.Queue, of.Shares[0])
	}
	fmt.Println(err)
	// Output:
	// a gpu: 3 (2 by quota, 0 by weight, 1 of the remainder); 5 requested, 0 used, starved of 3
	// b gpu: 3 (2 by quota, 1 by weight, 0 of the remainder); 6 requested, 6 used, over by 3
	// c gpu: 3 (0 by quota, 3 by weight, 0 of the remainder); 3 requested, 3 used
	// d gpu: 1 (1 by quota, 0 by weight, 0 of the remainder); 1 requested, 1 used
	// production gpu: 6 (4 by quota, 2 by weight, 0 of the remainder); 11 requested, 6 used
	// research gpu: 4 (2 by quota, 2 by weight, 0 of the remainder); 4 requested, 4 used
	// <nil>
}
