package kueue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

var compareLimits = cmp.AllowUnexported(quota.OptionalInt64{}, quota.OptionalFloat64{})

func TestClusterQueueOfBothVersions(t *testing.T) {
	const rest = `"namespaceSelector":{},"preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any",
		"borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":100}},
		"resourceGroups":[
			{"coveredResources":["nvidia.com/gpu","cpu"],"flavors":[
				{"name":"h100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"16","borrowingLimit":"8","lendingLimit":4},{"name":"cpu","nominalQuota":"1500m"}]},
				{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"0"},{"name":"cpu","nominalQuota":2}]}]},
			{"coveredResources":["memory"],"flavors":[{"name":"ram","resources":[{"name":"memory","nominalQuota":"2Gi"}]}]}],
		"fairSharing":{"weight":"500m"}}`
	want := queue.Queue{
		Name: "team-a", Cohort: "research", FairWeight: quota.WeightOf(0.5),
		Quotas: []quota.Quota{
			{Flavor: "h100", Resource: "nvidia.com/gpu", Nominal: 16, BorrowingLimit: quota.AtMost(8), LendingLimit: quota.AtMost(4)},
			{Flavor: "h100", Resource: "cpu", Nominal: 1500},
			{Flavor: "a100", Resource: "nvidia.com/gpu"},
			{Flavor: "a100", Resource: "cpu", Nominal: 2000},
			{Flavor: "ram", Resource: "memory", Nominal: 2 << 30},
		},
		Preemption: queue.PreemptionPolicy{
			WithinClusterQueue: queue.LowerOrNewerEqualPriority, ReclaimWithinCohort: queue.Any,
			BorrowWithinCohort: queue.BorrowWithinCohort{Policy: queue.LowerPriority, MaxPriorityThreshold: queue.AtMostPriority(100)},
		},
	}
	for version, cohort := range map[string]string{"v1beta1": "cohort", "v1beta2": "cohortName"} {
		c := mustRead(t, list(item("ResourceFlavor", "h100", ""), item("ResourceFlavor", "a100", ""), item("ResourceFlavor", "ram", ""),
			itemOf("kueue.x-k8s.io/"+version, "ClusterQueue", "team-a", `"spec":{"`+cohort+`":"research",`+rest)))
		if diff := cmp.Diff([]queue.Queue{want}, c.State.Queues, compareLimits); diff != "" {
			t.Errorf("%s: -want +got:\n%s", version, diff)
		}
		if diff := cmp.Diff([]queue.Cohort{{Name: "research"}}, c.State.Cohorts); diff != "" {
			t.Errorf("%s: implicit cohort: -want +got:\n%s", version, diff)
		}
		if err := queue.Validate(c.State.Cohorts, c.State.Queues); err != nil || len(c.Warnings) > 0 {
			t.Errorf("%s: %v, warnings %q", version, err, c.Warnings)
		}
	}
}

func TestCohorts(t *testing.T) {
	const gpus = `"resourceGroups":[{"flavors":[{"name":"h100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"8","lendingLimit":"9"}]}]}]`
	c := mustRead(t, list(
		itemOf("kueue.x-k8s.io/v1beta2", "Cohort", "new", `"spec":{"parentName":"org","fairSharing":{"weight":0},`+gpus+`}`),
		itemOf("kueue.x-k8s.io/v1alpha1", "Cohort", "old", `"spec":{"parent":"elsewhere"}`),
		itemOf("kueue.x-k8s.io/v1beta1", "Cohort", "org", `"spec":{`+gpus+`}`),
	))
	want := []queue.Cohort{
		{Name: "new", Parent: "org", FairWeight: quota.WeightOf(0), Quotas: []quota.Quota{
			// A cohort may lend more than its own: its members' quota too.
			{Flavor: "h100", Resource: "nvidia.com/gpu", Nominal: 8, LendingLimit: quota.AtMost(9)},
		}},
		{Name: "old", Parent: "elsewhere"},
		{Name: "org", Quotas: []quota.Quota{{Flavor: "h100", Resource: "nvidia.com/gpu", Nominal: 8}}},
		{Name: "elsewhere"},
	}
	if diff := cmp.Diff(want, c.State.Cohorts, compareLimits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], `Cohort "org"`) {
		t.Errorf("warnings %q, want one about the limits of org", c.Warnings)
	}
}

// What Kueue ignores would be refused by queue.Validate: it is left out, and said.
func TestWhatKueueIgnores(t *testing.T) {
	for _, c := range []struct {
		name, spec, warning string
	}{
		{"limits without cohort", `"resourceGroups":[{"flavors":[{"name":"f","resources":[
			{"name":"cpu","nominalQuota":"1","borrowingLimit":"1","lendingLimit":"1"}]}]}]`, "in no cohort"},
		{"lending more than nominal", `"cohort":"c","resourceGroups":[{"flavors":[{"name":"f","resources":[
			{"name":"cpu","nominalQuota":"1","lendingLimit":"2"}]}]}]`, "more than its nominalQuota"},
		{"borrowing while reclaiming nothing", `"cohort":"c","preemption":{"borrowWithinCohort":{"policy":"LowerPriority"}}`,
			"reclaimWithinCohort is Never"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustRead(t, item("ClusterQueue", "q", `"spec":{`+c.spec+`}`))
			if err := queue.Validate(got.State.Cohorts, got.State.Queues); err != nil {
				t.Errorf("what was read is not valid: %v", err)
			}
			if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], c.warning) {
				t.Errorf("warnings %q, want one with %q", got.Warnings, c.warning)
			}
		})
	}
	lending := mustRead(t, item("ClusterQueue", "q", `"spec":{"cohort":"c","resourceGroups":[{"flavors":[{"name":"f","resources":[
		{"name":"cpu","nominalQuota":"1","lendingLimit":"2"}]}]}]}`)).State.Queues[0].Quotas[0].LendingLimit
	if lending != quota.AtMost(1000) {
		t.Errorf("lending limit %v, want the nominal quota", lending)
	}
}

func TestQueueNotes(t *testing.T) {
	for spec, want := range map[string]string{
		`"stopPolicy":"None"`:         "",
		`"stopPolicy":"HoldAndDrain"`: "is stopped",
	} {
		notes := bridge.Texts(mustRead(t, item("ClusterQueue", "q", `"spec":{`+spec+`}`)).QueueNotes["q"])
		if want == "" && len(notes) > 0 || want != "" && !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("%s: notes %q, want %q", spec, notes, want)
		}
	}
}

// v1beta1 called MayStopSearch Borrow and Preempt.
func TestFlavorFungibility(t *testing.T) {
	for spec, want := range map[string]queue.FlavorFungibility{
		`{}`: {},
		`{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"}`:              {WhenCanBorrow: queue.MayStopSearch, WhenCanPreempt: queue.MayStopSearch},
		`{"whenCanBorrow":"MayStopSearch","whenCanPreempt":"TryNextFlavor"}`: {WhenCanBorrow: queue.MayStopSearch, WhenCanPreempt: queue.TryNextFlavor},
		`{"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor","preference":"PreemptionOverBorrowing"}`: {
			WhenCanBorrow: queue.TryNextFlavor, WhenCanPreempt: queue.TryNextFlavor, Preference: queue.PreemptionOverBorrowing},
	} {
		got := mustRead(t, item("ClusterQueue", "q", `"spec":{"flavorFungibility":`+spec+`}`)).State.Queues[0].FlavorFungibility
		if got != want {
			t.Errorf("%s: %+v, want %+v", spec, got, want)
		}
	}
	for spec, want := range map[string]string{
		`{"whenCanBorrow":"Preempt"}`: `(ClusterQueue q): spec.flavorFungibility.whenCanBorrow: "Preempt" is unknown: want MayStopSearch or TryNextFlavor`,
		`{"preference":"Cheapest"}`:   `(ClusterQueue q): spec.flavorFungibility.preference: "Cheapest" is unknown`,
	} {
		_, err := read.OfKueue(strings.NewReader(item("ClusterQueue", "q", `"spec":{"flavorFungibility":`+spec+`}`)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}

func TestAmountsSaturate(t *testing.T) {
	for _, c := range []struct {
		resource, text string
		want           int64
	}{
		{"cpu", "1500m", 1500},
		{"cpu", "0.1m", 1}, // rounded up, as Kubernetes does
		{"memory", "64Gi", 64 << 30},
		{"nvidia.com/gpu", "8", 8},
		{"memory", "9223372036854775807", quota.Unlimited},
		{"cpu", "9223372036854775807", quota.Unlimited},
		{"memory", "99999999999999999999", quota.Unlimited},
		{"memory", "9e20", quota.Unlimited},
		{"cpu", "100E", quota.Unlimited},
		{"memory", "-9e20", -1 << 63},
		{"memory", "-5", -5},
	} {
		if got, err := amount(c.resource, c.text); got != c.want || err != nil {
			t.Errorf("%s %s: %d, %v; want %d", c.resource, c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "four", "1e1000000000", "1e-999999999", strings.Repeat("1", 100)} {
		if got, err := amount("cpu", text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}
