package main

import (
	"os"
	"strings"
	"testing"
)

// askHeld asks about the input in which workloads wait for reasons beside quota.
func askHeld(args string) (status int, out, said string) {
	return call(nil, append(strings.Fields(args), "-f", "testdata/input/held.yaml", "-at", "2026-11-20T12:00:00Z")...)
}

// wantHeld asks, and wants a status and words.
func wantHeld(t *testing.T, args string, want int, words ...string) {
	t.Helper()
	status, out, said := askHeld(args)
	for _, w := range words {
		if !strings.Contains(out+said, w) {
			t.Errorf("%s: want %q:\n%s%s", args, w, out, said)
		}
	}
	if status != want {
		t.Errorf("%s: status %d, want %d:\n%s%s", args, status, want, out, said)
	}
}

// What would be once a queue admits again is decided as if it did; the flag that says so makes it the question.
func TestOfAStoppedQueue(t *testing.T) {
	const resume = "-policy vision:stopPolicy=None"
	wantHeld(t, "ask vision/small", 1, "vision/small is held: ", "Once it is considered, it fits now.", "Note: to ask as if the queue admitted again: "+resume)
	wantHeld(t, "ask vision/big", 1, "Once it is considered, it does not fit", "reclaimWithinCohort is Never")
	wantHeld(t, "ask vision/small "+resume, 0, "vision/small fits now.\n")
	wantHeld(t, "ask vision/big "+resume, 1, "vision/big does not fit")
	wantHeld(t, "diff "+resume, 1, "vision/small  vision  better  held: ", "-> fits now\n")
	wantHeld(t, "ask vision/small "+resume+" -policy vision:stopPolicy=Hold", 1, "vision/small is held: ClusterQueue vision is stopped (stopPolicy Hold)")
	wantHeld(t, "ask vision/small -policy vision:stopPolicy=HoldAndDrain", 2, `"HoldAndDrain" is unknown: want None or Hold`)
	wantHeld(t, "ask speech/head -policy speech:stopPolicy=Hold", 1, "speech/head is held: ClusterQueue speech is stopped")
}

// No change is advised after which a workload still stands behind another one.
func TestAdviceInAQueueWithAnOrder(t *testing.T) {
	const quota = "speech/behind -quota speech:h100:nvidia.com/gpu=+1"
	wantHeld(t, "ask "+quota, 1, "speech/behind is held: it stands behind speech/head", "Once it is considered, it fits now.")
	status, out, said := askHeld("why speech/behind")
	if status != 1 || strings.Contains(out, "more nominal quota") || !strings.Contains(out, "Raise the priority to 101: it preempts speech/runs\n") {
		t.Errorf("status %d:\n%s%s", status, out, said)
	}
}

// A workload that has quota and waits for an admission check does not run: every verb says so, and for what it waits.
func TestOfAnAdmissionCheck(t *testing.T) {
	const why = "it has quota and waits for its admission check capacity (Pending: Waiting for capacity in europe-west4)"
	wantHeld(t, "overview -n genomics", 1, "1 workload waits", "held: "+why)
	wantHeld(t, "ask genomics/fold", 1, "genomics/fold is held: "+why+".")
	wantHeld(t, "why fold -n genomics", 1, "genomics/fold is held: "+why+".")
	wantHeld(t, "next", 3, "genomics/fold")
	wantHeld(t, "next -n genomics", 3, "0 workloads are admitted, 0 preempt in namespace genomics.\nHeld: genomics/fold. overview says why.\nA")
	wantHeld(t, "safe genomics/fold", 0, "is safe: ", "It does not run yet: "+why+".")
	wantHeld(t, "ask speech/runs", 2, "holds quota in queue speech already")
	for name, words := range map[string][2]string{
		"Ready":       {"state: Pending", "state: Ready"},
		"is admitted": {"conditions: [{type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-11-20T10:22:00Z\"}", "conditions: [{type: QuotaReserved, status: \"True\"}, {type: Admitted, status: \"True\"}"},
		"leaves":      {"conditions: [{type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-11-20T10:22:00Z\"}", "conditions: [{type: QuotaReserved, status: \"True\"}, {type: Evicted, status: \"True\"}"},
	} {
		input := strings.ReplaceAll(string(must(os.ReadFile("testdata/input/held.yaml"))(t)), words[0], words[1])
		if status, out, said := call(strings.NewReader(input), "overview", "-n", "genomics", "-at", "2026-11-20T12:00:00Z"); status != 0 || !strings.Contains(out, "No workload waits") {
			t.Errorf("%s: status %d\n%s%s", name, status, out, said)
		}
	}
	address, _ := served(t, "-f", "testdata/input/held.yaml", "-at", "2026-11-20T12:00:00Z")
	for _, path := range []string{"/v1/workloads?namespace=genomics", "/v1/workloads/genomics/fold/why"} {
		if _, body := get(t, address+path, ""); !strings.Contains(body, why) {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// A namespace of which nothing is in the input is a typo: no verb answers as if nothing waited there.
func TestAnUnknownNamespace(t *testing.T) {
	for _, args := range []string{"overview", "next", "safe", "ask small", "why small", "diff -policy vision:stopPolicy=None", "lint", "settle"} {
		wantHeld(t, args+" -n visoin", 2, `nothing in the input is of namespace "visoin"; the nearest: vision`)
	}
	wantHeld(t, "overview -n vision", 1, "2 workloads wait in namespace vision.")
	wantHeld(t, "safe -pods -n visoin", 2, `no pod of namespace "visoin" runs in the input`)
	address, _ := served(t, "-f", "testdata/input/held.yaml", "-at", "2026-11-20T12:00:00Z")
	if status, body := get(t, address+"/v1/next?namespace=visoin", ""); status != 400 || !strings.Contains(body, "nothing in the input is of namespace") {
		t.Errorf("status %d: %s", status, body)
	}
}

// A change is not blamed for what is over its quota before it, too; and who leaves for another one than today is named.
func TestWhoSuffersFromAChange(t *testing.T) {
	const limited = "nominalQuota: 8}]}]}]\n- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main, namespace: batch}"
	input := string(must(os.ReadFile("testdata/input/held.yaml"))(t))
	over := strings.Replace(input, limited, strings.Replace(limited, "8}", "8, borrowingLimit: 0}", 1), 1)
	ask := func(input, change string) string {
		_, out, said := call(strings.NewReader(input), "diff", "-at", "2026-11-20T12:00:00Z", "-quota", change)
		return out + said
	}
	if out := ask(over, "speech:h100:nvidia.com/gpu=+1"); !strings.Contains(out, "1 that runs is today already over what is allowed; the change makes nobody leave for that") || strings.Contains(out, "To leave") {
		t.Error(out)
	}
	if out := ask(input, "batch:h100:nvidia.com/gpu:borrowingLimit=0"); !strings.Contains(out, "Running work does not leave by itself.") || !strings.Contains(out, "To leave: batch/sweep.") {
		t.Error(out)
	}
	_, out, _ := call(nil, "diff", "-quota", "recsys:h100:nvidia.com/gpu=+8")
	for _, want := range []string{
		"2 that run would be told to leave for another one than today: recsys/ctr-backfill, recsys/ltv-batch.\n",
		"Each is answered as if it were alone: together fewer may be admitted; next with the same change says what becomes of them together.\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
}

// A change of a borrowing limit is advised with its command, and next plays what becomes of all with it.
func TestBorrowingLimitIsRaised(t *testing.T) {
	const input = `
{apiVersion: v1, kind: List, items: [
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100}},
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: vision}, spec: {cohortName: lab, namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: h100, resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 0}]}]}]}},
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: nlp}, spec: {cohortName: lab, namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: h100, resources: [{name: cpu, nominalQuota: 4}]}]}]}},
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main, namespace: vision}, spec: {clusterQueue: vision}},
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: main, namespace: nlp}, spec: {clusterQueue: nlp}},
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: large, namespace: vision, creationTimestamp: "2026-11-20T08:00:00Z"}, spec: {queueName: main, priority: 9, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: main, resources: {requests: {cpu: 6}}}]}}}]}},
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: other, namespace: nlp, creationTimestamp: "2026-11-20T09:00:00Z"}, spec: {queueName: main, priority: 0, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: main, resources: {requests: {cpu: 4}}}]}}}]}}]}`
	run := func(args ...string) string {
		_, out, said := call(strings.NewReader(input), append(args, "-at", "2026-11-20T12:00:00Z")...)
		return out + said
	}
	const change = "vision:h100:cpu:borrowingLimit=+2"
	if out := run("why", "large"); !strings.Contains(out, "borrow 2 h100/cpu more (borrowingLimit): it fits") || !strings.Contains(out, "-quota "+change) {
		t.Error(out)
	}
	if out := run("ask", "large", "-quota", change); !strings.Contains(out, "vision/large fits now") {
		t.Error(out)
	}
	if out := run("diff", "-quota", change); !strings.Contains(out, "next with the same change says what becomes of them together") {
		t.Error(out)
	}
	if out := run("next", "-quota", change); !strings.Contains(out, "waits: nlp/other took the room") {
		t.Error(out)
	}
}

// Of a flavor all that is missing is named.
func TestAllThatIsMissingOfAFlavor(t *testing.T) {
	wantHeld(t, "why batch/wide -quota batch:h100:cpu=150 -quota speech:h100:cpu=60 -quota vision:h100:cpu=50", 1,
		"12 cpu of h100 are missing in cohort research: the queue would borrow, and may not preempt for that; so are 12 nvidia.com/gpu.")
}
