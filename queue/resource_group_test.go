package queue_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Flavors and resources that an entry links are in one group.
func TestResourceGroups(t *testing.T) {
	entry := func(flavor, resource string) quota.Quota { return quota.Quota{Flavor: flavor, Resource: resource} }
	q := queue.Queue{Quotas: []quota.Quota{
		entry("spot", "cpu"), entry("h100", "gpu"), entry("spot", "memory"),
		entry("reserved", "cpu"), entry("reserved", "memory"), entry("a100", "gpu"), entry("net", "ib"),
	}}
	want := []queue.ResourceGroup{
		{[]string{"cpu", "memory"}, []string{"spot", "reserved"}},
		{[]string{"gpu"}, []string{"h100", "a100"}},
		{[]string{"ib"}, []string{"net"}},
	}
	if got := q.ResourceGroups(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	q.Quotas = append(q.Quotas, entry("h100", "cpu")) // joins the first two
	want = []queue.ResourceGroup{
		{[]string{"cpu", "gpu", "memory"}, []string{"spot", "h100", "reserved", "a100"}},
		{[]string{"ib"}, []string{"net"}},
	}
	if got := q.ResourceGroups(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A hundred thousand flavors that an entry each links into one group are no reason to
// take long.
func TestManyFlavors(t *testing.T) {
	var q queue.Queue
	const n = 100_000
	for i := range n {
		q.Quotas = append(q.Quotas, quota.Quota{Flavor: fmt.Sprint(i), Resource: fmt.Sprint(i / 2)},
			quota.Quota{Flavor: fmt.Sprint(n - i - 1), Resource: fmt.Sprint((n - i) / 2)})
	}
	groups := q.ResourceGroups()
	if len(groups) != 1 || len(groups[0].Flavors) != n || len(groups[0].Resources) != n/2+1 {
		t.Errorf("%d groups", len(groups))
	}
}
