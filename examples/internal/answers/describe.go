package answers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Describe makes a workload that waits, of replicas that each take what a text says: "cpu=4,nvidia.com/gpu=8".
func Describe(id, each string, replicas int64, now time.Time) (workload.Workload, error) {
	set := workload.PodSet{Name: "main", Count: replicas}
	for _, item := range strings.Split(each, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok || name == "" {
			return workload.Workload{}, fmt.Errorf("%q: want RESOURCE=QUANTITY,..., as in cpu=4,nvidia.com/gpu=8", each)
		}
		quantity, err := bridge.ParseQuantity(text)
		amount := quantity.Amount(name)
		switch {
		case err != nil:
			return workload.Workload{}, fmt.Errorf("%s: %w", item, err)
		case !quantity.IsWhole() && !bridge.InThousandths(name):
			return workload.Workload{}, fmt.Errorf("%s: want a whole number (of KAI, %s takes parts)", item, bridge.GPU)
		case amount < 0:
			return workload.Workload{}, fmt.Errorf("%s: is negative", item)
		case slices.ContainsFunc(set.Requests, func(r quota.Amount) bool { return r.Resource == name }):
			return workload.Workload{}, fmt.Errorf("%q: %s is listed twice", each, name)
		}
		set.Requests = append(set.Requests, quota.Amount{Resource: name, Amount: amount})
	}
	return workload.Workload{ID: id, Created: now, Queued: now, PodSets: []workload.PodSet{set}}, nil
}
