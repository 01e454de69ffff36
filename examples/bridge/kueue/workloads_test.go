package kueue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// admission is the field of a status: one pod set "main" in queue q.
func admission(assignment string) string {
	return `"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main",` + assignment + `}]}`
}

func gpus(flavor string, n int64) quota.Amount {
	return quota.Amount{Flavor: flavor, Resource: "nvidia.com/gpu", Amount: n}
}

func TestAdmittedUsage(t *testing.T) {
	for _, c := range []struct {
		name, status string
		want         workload.PodSet
	}{
		{"per replica", admission(`"count":3,"flavors":{"nvidia.com/gpu":"h100"},"resourceUsage":{"nvidia.com/gpu":"24"}`),
			workload.PodSet{Name: "main", Count: 3, Requests: []quota.Amount{gpus("h100", 8)}}},
		{"one of three gave its quota back: 16 of 24", admission(`"count":3,"flavors":{"nvidia.com/gpu":"h100"},
			"resourceUsage":{"nvidia.com/gpu":"24"}`) + `,"reclaimablePods":[{"name":"main","count":1}]`,
			workload.PodSet{Name: "main", Count: 2, Requests: []quota.Amount{gpus("h100", 8)}}},
		{"all gave it back", admission(`"count":3,"flavors":{"nvidia.com/gpu":"h100"},
			"resourceUsage":{"nvidia.com/gpu":"24"}`) + `,"reclaimablePods":[{"name":"main","count":3}]`,
			workload.PodSet{Name: "main", Count: 0, Requests: []quota.Amount{gpus("h100", 8)}}},
		{"a total that does not divide stays exact", admission(`"count":3,"flavors":{"nvidia.com/gpu":"h100"},"resourceUsage":{"nvidia.com/gpu":"25"}`),
			workload.PodSet{Name: "main", Count: 3, Totals: true, Requests: []quota.Amount{gpus("h100", 25)}}},
		{"unless some gave quota back: then as Kueue divides", admission(`"count":3,"flavors":{"nvidia.com/gpu":"h100"},
			"resourceUsage":{"nvidia.com/gpu":"25"}`) + `,"reclaimablePods":[{"name":"main","count":1}]`,
			workload.PodSet{Name: "main", Count: 2, Requests: []quota.Amount{gpus("h100", 8)}}},
		{"zero of a flavor is kept, usage without flavor is not", admission(`"count":1,"flavors":{"nvidia.com/gpu":"h100","cpu":"x86"},
			"resourceUsage":{"nvidia.com/gpu":"0","memory":"1Gi"}`),
			workload.PodSet{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "x86", Resource: "cpu"}, gpus("h100", 0)}}},
		{"count of the spec", admission(`"flavors":{"cpu":"x86"},"resourceUsage":{"cpu":"1500m"}`),
			workload.PodSet{Name: "main", Count: 3, Requests: []quota.Amount{{Flavor: "x86", Resource: "cpu", Amount: 500}}}},
		{"admitted in part, what is done was not admitted", admission(`"count":2,"flavors":{"nvidia.com/gpu":"h100"},
			"resourceUsage":{"nvidia.com/gpu":"16"}`) + `,"reclaimablePods":[{"name":"main","count":1}]`,
			workload.PodSet{Name: "main", Count: 2, Requests: []quota.Amount{gpus("h100", 8)}}},
		{"admitted in part, more is done than was not admitted", admission(`"count":2,"flavors":{"nvidia.com/gpu":"h100"},
			"resourceUsage":{"nvidia.com/gpu":"16"}`) + `,"reclaimablePods":[{"name":"main","count":2}]`,
			workload.PodSet{Name: "main", Count: 1, Requests: []quota.Amount{gpus("h100", 8)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, version := range []string{"v1beta1", "v1beta2"} {
				w := itemOf("kueue.x-k8s.io/"+version, "Workload", "team/job",
					`"spec":{"podSets":[{"name":"main","count":3}]},"status":{`+conditions("QuotaReserved x 09:00:00")+`,`+c.status+`}`)
				got := mustRead(t, list(w, gpuQueue("q", 8)))
				if len(got.State.Admitted) != 1 {
					t.Fatalf("admitted %v, pending %v", got.State.Admitted, got.Pending)
				}
				if diff := cmp.Diff([]workload.PodSet{c.want}, got.State.Admitted[0].PodSets); diff != "" {
					t.Errorf("%s: -want +got:\n%s", version, diff)
				}
			}
		})
	}
}

func TestWhatHoldsQuota(t *testing.T) {
	const held = `"admission":{"clusterQueue":"q","podSetAssignments":[]}`
	for _, c := range []struct {
		name, status string
		want         string // admitted, evicted, pending or nothing
	}{
		{"reserved", conditions("QuotaReserved x 09:00:00") + "," + held, "admitted"},
		{"reserved and evicted", conditions("QuotaReserved x 09:00:00", "Evicted Preempted 10:00:00") + "," + held, "evicted"},
		{"finished", conditions("QuotaReserved x 09:00:00", "Finished Succeeded 10:00:00") + "," + held, "nothing"},
		{"evicted and gone", conditions("Evicted Preempted 10:00:00"), "pending"},
		{"reserved without admission", conditions("QuotaReserved x 09:00:00"), "nothing"},
		{"new", `"conditions":null`, "pending"},
	} {
		got := mustRead(t, list(gpuQueue("q", 8), item("Workload", "team/job", `"spec":{},"status":{`+c.status+`}`)))
		is := "nothing"
		switch {
		case len(got.Pending) > 0:
			is = "pending"
		case len(got.State.Admitted) > 0 && got.State.Admitted[0].Evicted:
			is = "evicted"
		case len(got.State.Admitted) > 0:
			is = "admitted"
		}
		if is != c.want {
			t.Errorf("%s: %s, want %s", c.name, is, c.want)
		}
	}
}

func TestFactsOfAdmitted(t *testing.T) {
	w := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"job","namespace":"team","uid":"u1",
		"creationTimestamp":"2026-05-04T08:00:00Z","annotations":{"kueue.x-k8s.io/priority-boost":"-5"}},
		"spec":{"queueName":"lq","priority":50},
		"status":{` + conditions("QuotaReserved x 09:00:00", "Evicted PodsReadyTimeout 10:00:00") + `,
		"admission":{"clusterQueue":"q","podSetAssignments":[]}}}`
	want := []workload.Workload{{
		ID: "team/job", UID: "u1", Queue: "q", LocalQueue: "team/lq", Priority: 50, PriorityBoost: -5, Evicted: true,
		Created: at(t, "08:00:00"), Queued: at(t, "10:00:00"), ReservedAt: at(t, "09:00:00"),
	}}
	if diff := cmp.Diff(want, mustRead(t, list(w, gpuQueue("q", 1), configMapOf("featureGates: {PriorityBoost: true}\n"))).State.Admitted); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPlaceInQueue(t *testing.T) {
	for reason, want := range map[string]string{
		"PodsReadyTimeout": "10:00:00", "AdmissionCheck": "10:00:00", "Preempted": "08:00:00", "Deactivated": "08:00:00",
	} {
		p := mustRead(t, item("Workload", "team/job", `"status":{`+conditions("Evicted "+reason+" 10:00:00")+`}`)).Pending[0]
		if !p.Workload.Queued.Equal(at(t, want)) {
			t.Errorf("evicted for %s: queued at %v, want %s", reason, p.Workload.Queued, want)
		}
	}
}

func TestQueueThatIsNotThere(t *testing.T) {
	var items []string
	for i := range 3 {
		items = append(items, item("Workload", fmt.Sprintf("team/job-%d", i),
			`"status":{`+conditions("QuotaReserved x 09:00:00")+`,"admission":{"clusterQueue":"gone"}}`))
	}
	c := mustRead(t, list(items...))
	if len(c.State.Admitted) > 0 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], `"gone"`) || !strings.Contains(c.Warnings[0], "3") {
		t.Errorf("admitted %v, warnings %q", c.State.Admitted, c.Warnings)
	}
}

func TestPendingRequests(t *testing.T) {
	const template = `"template":{"spec":{"overhead":{"memory":"1Gi"},
		"initContainers":[
			{"name":"pull","resources":{"requests":{"cpu":"3"}}},
			{"name":"sidecar","restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}}],
		"containers":[{"name":"c","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2","nvidia.com/gpu":"4"}}}]}}`
	ofTemplate := []quota.Amount{{Resource: "cpu", Amount: 3000}, {Resource: "memory", Amount: 1 << 30}, {Resource: "nvidia.com/gpu", Amount: 4}}
	for _, c := range []struct {
		name, podSet, status string
		want                 workload.PodSet
	}{
		{"of the template", `"count":2,` + template, "", workload.PodSet{Name: "main", Count: 2, Requests: ofTemplate}},
		{"of another pod set", `"count":1,` + template, `"resourceRequests":[{"name":"other","resources":{"cpu":"7"}}]`,
			workload.PodSet{Name: "main", Count: 1, Requests: ofTemplate}},
		{"less what is reclaimable", `"count":3,` + template, `"reclaimablePods":[{"name":"main","count":1}]`,
			workload.PodSet{Name: "main", Count: 2, Requests: ofTemplate}},
		{"without count", template, "", workload.PodSet{Name: "main", Count: 1, Requests: ofTemplate}},
		{"nothing", `"count":1`, "", workload.PodSet{Name: "main", Count: 1, Requests: []quota.Amount{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustRead(t, item("Workload", "team/job", `"spec":{"podSets":[{"name":"main",`+c.podSet+`}]},"status":{`+c.status+`}`)).Pending[0]
			if diff := cmp.Diff([]workload.PodSet{c.want}, p.Workload.PodSets); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPodsAreCountedWhereQuotaIs(t *testing.T) {
	const spec = `"spec":{"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"pods","nominalQuota":"5"}]}]}]}`
	p := mustRead(t, list(item("ClusterQueue", "q", spec), item("LocalQueue", "team/lq", `"spec":{"clusterQueue":"q"}`),
		item("Workload", "team/job", `"spec":{"queueName":"lq","podSets":[{"name":"main","count":3,"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}]}`))).Pending[0]
	want := workload.PodSet{Name: "main", Count: 3, Requests: []quota.Amount{{Resource: "cpu", Amount: 1000}, {Resource: "pods", Amount: 1}}}
	if diff := cmp.Diff([]workload.PodSet{want}, p.Workload.PodSets); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPendingResolvesAndNotes(t *testing.T) {
	all := []string{
		gpuQueue("q", 8),
		item("LocalQueue", "team/lq", `"spec":{"clusterQueue":"q"}`),
		item("LocalQueue", "team/held", `"spec":{"clusterQueue":"q","stopPolicy":"Hold"}`),
		item("LocalQueue", "team/dangling", `"spec":{"clusterQueue":"gone"}`),
		item("LocalQueue", "other/elsewhere", `"spec":{"clusterQueue":"q"}`),
	}
	for _, c := range []struct {
		spec, status, queue, says string
	}{
		{`"queueName":"lq"`, "", "q", ""},
		{`"queueName":"held"`, "", "q", "is stopped"},
		{`"queueName":"dangling"`, "", "", "ClusterQueue gone"},
		{`"queueName":"elsewhere"`, "", "", "LocalQueue team/elsewhere is not in the input"},
		{`"priority":1`, "", "", "names no queue"},
		{`"queueName":"lq","active":false`, "", "q", "inactive"},
		{`"queueName":"lq","podSets":[{"name":"main","count":4,"minCount":2}]`, "", "q", ""},
	} {
		p := mustRead(t, list(append(slices.Clone(all), item("Workload", "team/job", `"spec":{`+c.spec+`},"status":{`+c.status+`}`))...)).Pending[0]
		says := p.Unresolved + strings.Join(bridge.Texts(slices.Concat(p.Notes, p.LocalNotes)), "; ")
		if p.Workload.Queue != c.queue || (says == "") != (c.says == "") || !strings.Contains(says, c.says) {
			t.Errorf("%s: queue %q, says %q; want %q, %q", c.spec, p.Workload.Queue, says, c.queue, c.says)
		}
	}
}

// A pod set that may start with fewer replicas than wait says so.
func TestMinCounts(t *testing.T) {
	for _, c := range []struct {
		podSet, status string
		want           []preemption.Replicas
	}{
		{`"count":4,"minCount":2`, "", []preemption.Replicas{{PodSet: "main", Count: 2}}},
		{`"count":4,"minCount":-1`, "", []preemption.Replicas{{PodSet: "main"}}},
		{`"count":4,"minCount":4`, "", nil},
		{`"count":4`, "", nil},
		{`"count":4,"minCount":3`, `"reclaimablePods":[{"name":"main","count":1}]`, nil},
		{`"count":2097152,"minCount":2`, "", nil},
	} {
		p := mustRead(t, item("Workload", "team/job", `"spec":{"podSets":[{"name":"main",`+c.podSet+`}]},"status":{`+c.status+`}`)).Pending[0]
		if diff := cmp.Diff(c.want, p.MinCounts); diff != "" {
			t.Errorf("%s, %s: -want +got:\n%s", c.podSet, c.status, diff)
		}
	}
}

func TestGates(t *testing.T) {
	for status, closed := range map[string]bool{
		``: true, `"preemptionGates":[{"name":"g","position":"Closed"}]`: true, `"preemptionGates":[{"name":"other","position":"Open"}]`: true,
		`"preemptionGates":[{"name":"g","position":"Open"}]`:                                             false,
		`"preemptionGates":[{"name":"g","position":"Open","lastTransitionTime":"2026-01-01T00:00:00Z"}]`: false,
	} {
		p := mustRead(t, list(item("Workload", "team/job", `"spec":{"preemptionGates":[{"name":"g"}]},"status":{`+status+`}`))).Pending[0]
		if w := p.Workload; w.Gates.AnyClosed() != closed || !w.Gates.Has("g") {
			t.Errorf("%s: %+v", status, w.Gates)
		}
	}
}

// KEP-8729: the annotation marks workloads that never preempt.
func TestCannotPreempt(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false} {
		text := strings.Replace(item("Workload", "team/job", ""), `"uid":`, `"annotations":{"kueue.x-k8s.io/cannot-preempt":"`+value+`"},"uid":`, 1)
		if got := mustRead(t, text).Pending[0].Workload.NeverPreempts; got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// A slice of an elastic job is asked about without the one that it replaces, in the flavors of that one;
// if that one holds no quota any more, as any workload.
func TestElasticSlices(t *testing.T) {
	slice := func(id, old, count, status string) string {
		w := item("Workload", id, `"spec":{"queueName":"lq","podSets":[{"name":"main","count":`+count+`,"template":{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}}}]}`+status)
		if old != "" {
			w = strings.Replace(w, `"uid"`, `"annotations":{"kueue.x-k8s.io/workload-slice-replacement-for":"`+old+`"},"uid"`, 1)
		}
		return w
	}
	holds := `,"status":{` + conditions("QuotaReserved x 08:00:00") + `,"admission":{"clusterQueue":"a","podSetAssignments":[{"name":"main","flavors":{"nvidia.com/gpu":"h100"},"resourceUsage":{"nvidia.com/gpu":"7"}}]}}`
	for _, c := range []struct {
		name, old, count, status string
		replaces, flavor         string
		outcome                  preemption.Outcome
	}{
		{"one more", "n/old", "8", holds, "n/old", "h100", preemption.Fits},
		{"more than there is", "n/old", "9", holds, "n/old", "h100", preemption.Impossible},
		{"the old one is gone", "n/gone", "8", holds, "", "", preemption.Impossible},
		{"the old one waits", "n/old", "8", "", "", "", preemption.Fits},
		{"no slice", "", "8", holds, "", "", preemption.Impossible},
	} {
		cluster := mustRead(t, list(gpuQueue("a", 8), item("ResourceFlavor", "h100", ""), item("LocalQueue", "n/lq", `"spec":{"clusterQueue":"a"}`), slice("n/old", "", "7", c.status), slice("n/new", c.old, c.count, "")))
		p := cluster.Pending[slices.IndexFunc(cluster.Pending, func(p bridge.Pending) bool { return p.Workload.ID == "n/new" })]
		if p.Replaces != c.replaces || p.Workload.PodSets[0].Requests[0].Flavor != c.flavor {
			t.Errorf("%s: %+v", c.name, p)
		}
		s, err := preemption.NewSnapshot(cluster.State)
		if err != nil {
			t.Fatal(err)
		}
		var preemptor *preemption.Preemptor
		d, err := preemptor.Decide(s, preemption.Request{Workload: p.Workload, Replaces: p.Replaces, Now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)})
		if err != nil || d.Outcome != c.outcome {
			t.Errorf("%s: %v, %v", c.name, d.Outcome, err)
		}
	}
}

// The condition BlockedOnPreemptionGates is the signal by which the orchestrator of gates chooses: of the
// replicas of one workload, as the objects of their clusters say, that of the earliest signal is opened
// ("the earliest QuotaReservationBlocked condition", KEP-8303).
func TestGatesAreOrchestratedFromObjects(t *testing.T) {
	replica := func(condition string) bridge.Pending {
		return mustRead(t, list(item("Workload", "team/job", `"spec":{"preemptionGates":[{"name":"`+gate.MultiKueue+`"}]},"status":{"conditions":[`+condition+`]}`))).Pending[0]
	}
	const blocked = `{"type":"BlockedOnPreemptionGates","status":"STATUS","reason":"PreemptionGated","lastTransitionTime":"2026-05-04T08:MINUTE:00Z"}`
	at := func(status, minute string) string {
		return strings.NewReplacer("STATUS", status, "MINUTE", minute).Replace(blocked)
	}
	now := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct{ east, west, north, want string }{
		{at("True", "30"), at("True", "20"), "", "west"},
		{at("True", "10"), at("True", "20"), "", "east"},
		{at("False", "10"), at("True", "20"), at("True", "40"), "west"},
		{"", at("False", "20"), strings.Replace(at("True", "40"), "PreemptionGated", "Other", 1), ""},
	} {
		var replicas []gate.Replica
		for name, condition := range map[string]string{"east": c.east, "west": c.west, "north": c.north} {
			replicas = append(replicas, gate.Replica{Name: name, Gates: replica(condition).Workload.Gates, Progress: gate.Pending})
		}
		slices.SortFunc(replicas, func(a, b gate.Replica) int { return strings.Compare(a.Name, b.Name) })
		if got, err := gate.Orchestrate(gate.Config{}, now, replicas); err != nil || got.Open != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// "withinClusterQueueConfig" without a duration is inert, and means nothing but with
// LowerOrNewerEqualPriority: then it is told.
func TestEmptyWithinClusterQueueConfig(t *testing.T) {
	for policy, notes := range map[string]int{"Never": 1, "LowerPriority": 1, "LowerOrNewerEqualPriority": 0} {
		c := mustRead(t, item("ClusterQueue", "q", `"spec":{"preemption":{"withinClusterQueue":"`+policy+`","withinClusterQueueConfig":{}}}`))
		if len(c.Notes) != notes || notes > 0 && c.Notes[0].Path != "spec.preemption.withinClusterQueueConfig" {
			t.Errorf("%s: %q", policy, c.Notes)
		}
	}
}
