package main

import (
	"os"
	"strings"
	"testing"
)

// What is wrong with the command line is said in the words of the program, with what would be right.
func TestWordsAboutTheCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere")
	t.Setenv("HOME", t.TempDir())
	for args, want := range map[string]string{
		"overview -sample":   "-sample needs a value: cluster|trouble|rules|kai",
		"ask -priority high": `-priority "high": want a number`,
		"ask -in 2hours":     `-in "2hours": want a length of time as in 20m or 1h30m`,
		"version":            "did you mean --version?",
		"get workloads":      "did you mean overview?",
		"describe":           "did you mean why?",
		"overview -n vision": "there is no cluster to read by its API: kubectl has none configured",
		"safe -sample cluster recsys/two-tower-xl":                "workload recsys/two-tower-xl does not run, it waits: why recsys/two-tower-xl says why",
		"overview -sample cluster -queue vision/other":            `queue "vision/other" is not in the input`,
		"overview -f testdata/input/held.yaml -queue speech/main": `queue "speech/main" is a LocalQueue, of ClusterQueue speech: -queue speech`,
	} {
		if status, out, said := call(nil, strings.Fields(args)...); status != 2 || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: status %d, want %q:\n%s%s", args, status, want, out, said)
		}
	}
}

// A workload that names no queue is never considered; of one whose LocalQueue is not in the input the others of its namespace are named.
func TestOfWorkloadsWithoutAQueue(t *testing.T) {
	input := string(must(os.ReadFile("testdata/input/held.yaml"))(t))
	ask := func(input string, args ...string) (int, string) {
		status, out, _ := call(strings.NewReader(input), append([]string{"ask", "speech/head", "-at", "2026-11-20T12:00:00Z"}, args...)...)
		return status, out
	}
	none := strings.Replace(input, `creationTimestamp: "2026-11-20T06:00:00Z"}, spec: {queueName: main, `, `creationTimestamp: "2026-11-20T06:00:00Z"}, spec: {`, 1)
	if status, out := ask(none); status != 1 || !strings.Contains(out, "speech/head is held: it names no queue (spec.queueName), and Kueue does not consider it.") {
		t.Errorf("status %d: %s", status, out)
	}
	if status, out := ask(none, "-queue", "speech/main"); status != 1 || !strings.Contains(out, "speech/head does not fit") {
		t.Errorf("status %d: %s", status, out)
	}
	other := strings.Replace(input, `creationTimestamp: "2026-11-20T06:00:00Z"}, spec: {queueName: main, `, `creationTimestamp: "2026-11-20T06:00:00Z"}, spec: {queueName: mian, `, 1)
	if status, out := ask(other); status != 3 || !strings.Contains(out, "Note: of namespace speech the input has LocalQueue main.") {
		t.Errorf("status %d: %s", status, out)
	}
}

// What a table has cut is said to be there whole elsewhere; `/` of the server says where the answers are.
func TestWhereTheRestIs(t *testing.T) {
	for width, want := range map[string]bool{"40": true, "200": false, "0": false} {
		_, out, _ := askHeld("overview -width " + width)
		if has := strings.Contains(out, "-o wide prints whole what … stands for.\n"); has != want {
			t.Errorf("%s columns: %v, want %v:\n%s", width, has, want, out)
		}
	}
	address, _ := served(t)
	if status, body := get(t, address+"/", ""); status != 200 || !strings.Contains(body, "/openapi.json") || !strings.Contains(body, "whatif page") {
		t.Errorf("status %d: %s", status, body)
	}
	if _, out, _ := call(nil, "safe"); !strings.Contains(out, "THEN, PRIORITY and ASKS are the least request that makes it yield from then on") {
		t.Error(out)
	}
}
