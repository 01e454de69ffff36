package queue_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// An inactive queue has no head; once it is active again, it has.
func TestInactiveQueueHasNoHead(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 0, 1), waits("b", "best", 0, 1, 1), waits("c", "other", 0, 2, 1))
	heads := func(p *queue.Pending) (ids string) {
		for _, h := range p.Heads() {
			ids += h.Workload.ID
		}
		return ids
	}
	stopped := append([]queue.Queue(nil), queues...)
	stopped[1].Inactive = true
	without := must(p.Configure(cohorts, stopped))(t)
	if got := heads(without); got != "c" {
		t.Errorf("heads %q, want c", got)
	}
	if got := heads(must(without.Configure(cohorts, queues))(t)); got != "ac" {
		t.Errorf("heads %q, want ac", got)
	}
}

func TestFlavorFungibilityJSON(t *testing.T) {
	for text, want := range map[string]queue.FlavorFungibility{
		`{}`:                                {},
		`{"whenCanBorrow":"TryNextFlavor"}`: {WhenCanBorrow: queue.TryNextFlavor},
		`{"whenCanBorrow":"MayStopSearch","whenCanPreempt":"MayStopSearch"}`: {WhenCanBorrow: queue.MayStopSearch, WhenCanPreempt: queue.MayStopSearch},
		`{"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor","preference":"PreemptionOverBorrowing"}`: {
			queue.TryNextFlavor, queue.TryNextFlavor, queue.PreemptionOverBorrowing},
	} {
		var got queue.FlavorFungibility
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
		if data, err := json.Marshal(want); err != nil || string(data) != text {
			t.Errorf("%+v is %s, %v", want, data, err)
		}
	}
	for _, text := range []string{`{"whenCanBorrow":"Borrow"}`, `{"whenCanPreempt":"never"}`, `{"preference":"None"}`, `{"preference":1}`} {
		var got queue.FlavorFungibility
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is %+v, want an error", text, got)
		}
	}
	for _, bad := range []any{queue.FungibilityPolicy(3), queue.FlavorPreference(2)} {
		if data, err := json.Marshal(bad); err == nil {
			t.Errorf("%v is written as %s", bad, data)
		}
	}
}

// The zero value is Kueue's defaults: whenCanBorrow MayStopSearch, whenCanPreempt
// TryNextFlavor, preference BorrowingOverPreemption.
func TestFlavorFungibilityDefaults(t *testing.T) {
	for _, c := range []struct {
		f                     queue.FlavorFungibility
		borrowing, preempting bool
	}{
		{queue.FlavorFungibility{}, true, false},
		{queue.FlavorFungibility{WhenCanBorrow: queue.MayStopSearch, WhenCanPreempt: queue.TryNextFlavor}, true, false},
		{queue.FlavorFungibility{WhenCanBorrow: queue.TryNextFlavor, WhenCanPreempt: queue.MayStopSearch}, false, true},
	} {
		if c.f.MayStopBorrowing() != c.borrowing || c.f.MayStopPreempting() != c.preempting || c.f.Preference != queue.BorrowingOverPreemption {
			t.Errorf("%+v", c.f)
		}
	}
}

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
