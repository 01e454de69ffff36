package kueue_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/gate"
)

func mustReadMultiKueue(t *testing.T, items ...string) kueue.MultiKueue {
	t.Helper()
	var k read.Kueue
	if notes, err := input.Read([]input.Source{{Name: "in", Reader: strings.NewReader(list(items...))}}, input.Options{}, k.Add); err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	return k.MultiKueue()
}

// A manager has the checks of MultiKueue, their workers, and which of these it reaches.
func TestManagerOfMultiKueue(t *testing.T) {
	condition := func(status string) string {
		return `"status":{"conditions":[{"type":"Active","status":"` + status + `","reason":"Why","message":"so"}]}`
	}
	m := mustReadMultiKueue(t,
		item("AdmissionCheck", "mk", `"spec":{"controllerName":"kueue.x-k8s.io/multikueue","parameters":{"apiGroup":"kueue.x-k8s.io","kind":"MultiKueueConfig","name":"gpu"}}`),
		item("AdmissionCheck", "own", `"spec":{"controllerName":"example.com/own","parameters":{"name":"gpu"}}`),
		item("MultiKueueConfig", "gpu", `"spec":{"clusters":["east","west","north"]}`),
		itemOf("kueue.x-k8s.io/v1beta1", "MultiKueueCluster", "east", condition("True")), item("MultiKueueCluster", "west", condition("False")), item("MultiKueueCluster", "north", ""),
		item("Workload", "a/sent", `"spec":{"priority":7},"status":{"admission":{"clusterQueue":"q"},"nominatedClusterNames":["east"],"clusterName":"west",
			"admissionChecks":[{"name":"mk","state":"Pending"}],"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-05-04T08:01:00Z"}]}`),
		item("Workload", "a/plain", `"spec":{}`))
	at := func(minute int) time.Time { return time.Date(2026, 5, 4, 8, minute, 0, 0, time.UTC) }
	want := kueue.MultiKueue{
		Checks: map[string]string{"mk": "gpu"}, Workers: map[string][]string{"gpu": {"east", "west", "north"}},
		Unreached: map[string]string{"east": "", "west": "Why: so", "north": "its condition Active is not True"}, Unread: map[string]string{},
		Copies: map[string]kueue.Copy{"a/sent": {
			ID: "a/sent", UID: "uid-sent", Queue: "q", Priority: 7, Queued: at(0), Created: at(0),
			Reserved: kueue.Condition{Type: "QuotaReserved", Status: "True", LastTransitionTime: at(1)},
			Checks:   []kueue.AdmissionCheckState{{Name: "mk", State: "Pending"}}, Nominated: []string{"east"}, Cluster: "west",
		}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

// A copy becomes a replica as its cluster left it.
func TestReplicasOfMultiKueue(t *testing.T) {
	const gates = `"spec":{"preemptionGates":[{"name":"kueue.x-k8s.io/multikueue"}]},`
	at := func(minute int) time.Time { return time.Date(2026, 5, 4, 8, minute, 0, 0, time.UTC) }
	reserved := func(status, reason string) string {
		return `{"type":"QuotaReserved","status":"` + status + `","reason":"` + reason + `","lastTransitionTime":"2026-05-04T08:03:00Z"}`
	}
	const signal = `{"type":"BlockedOnPreemptionGates","status":"True","reason":"PreemptionGated","lastTransitionTime":"2026-05-04T08:02:00Z"}`
	named := gate.Gates{Names: []string{gate.MultiKueue}}
	open := named.Opened(gate.MultiKueue, at(4))
	for name, c := range map[string]struct {
		version, rest string
		want          gate.Replica
	}{
		"new":     {"v1beta2", gates + `"status":{}`, gate.Replica{Gates: named}},
		"signals": {"v1beta2", gates + `"status":{"conditions":[` + signal + "," + reserved("False", "AdmissionGated") + `]}`, gate.Replica{Gates: named.Signalled(at(2)), Progress: gate.Pending}},
		"open": {"v1beta2", gates + `"status":{"preemptionGates":[{"name":"kueue.x-k8s.io/multikueue","position":"Open","lastTransitionTime":"2026-05-04T08:04:00Z"}]}`,
			gate.Replica{Gates: open}},
		"preempts": {"v1beta2", gates + `"status":{"conditions":[` + reserved("False", "WaitingForPreemptedWorkloads") + `]}`, gate.Replica{Gates: named, Progress: gate.Preempting, Since: at(3)}},
		"has its quota": {"v1beta2", gates + `"status":{"admission":{"clusterQueue":"q"},"conditions":[` + reserved("True", "QuotaReserved") + `]}`,
			gate.Replica{Gates: named, Progress: gate.Reserved}},
		"was evicted": {"v1beta2", gates + `"status":{"conditions":[` + reserved("False", "Pending") + `,{"type":"Evicted","status":"True","reason":"Preempted","lastTransitionTime":"2026-05-04T08:05:00Z"}]}`,
			gate.Replica{Gates: named, Progress: gate.Pending, Evicted: at(5)}},
		"a state without its gate": {"v1beta2", `"spec":{"preemptionGates":[{"name":"other"}]},"status":{"preemptionGates":[{"name":"kueue.x-k8s.io/multikueue","position":"Open","lastTransitionTime":"2026-05-04T08:04:00Z"}]}`,
			gate.Replica{Gates: gate.Gates{Names: []string{"other"}, States: open.States}}},
		"without gates": {"v1beta1", `"spec":{},"status":{"admissionChecks":[{"name":"c","state":"Pending"}]}`, gate.Replica{}},
	} {
		c.want.Name = "east"
		copied := mustReadMultiKueue(t, itemOf("kueue.x-k8s.io/"+c.version, "Workload", "a/w", c.rest)).Copies["a/w"]
		if diff := cmp.Diff(c.want, copied.Replica("east")); diff != "" || copied.GatesUnknown != (c.version == "v1beta1") {
			t.Errorf("%s: %s", name, diff)
		}
		if _, err := gate.Orchestrate(gate.Config{Rules: gate.Kueue019}, at(9), []gate.Replica{copied.Replica("east")}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
