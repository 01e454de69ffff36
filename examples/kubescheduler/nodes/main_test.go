package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

func call(piped io.Reader, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(args, piped, &out, &err, cli.Screen{})
	return status, out.String(), err.String()
}

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"sample":           {nil, 0},
		"in-place":         {[]string{"-mode", "in-place"}, 0},
		"rack":             {[]string{"-topology", "rack"}, 0},
		"hard":             {[]string{"-topology", "rack", "-budgets", "hard"}, 1},
		"pod":              {[]string{"-pod", "web/nightly", "-o", "json"}, 0},
		"never":            {[]string{"-pod", "web/polite"}, 1},
		"manifest":         {[]string{"-m", "testdata/pod.yaml"}, 1},
		"apart":            {[]string{"-m", "testdata/apart.yaml", "-count", "4"}, 0},
		"too-many":         {[]string{"-m", "testdata/apart.yaml", "-count", "5"}, 1},
		"minimum-in-place": {[]string{"-mode", "in-place", "-min-runtime", "720h", "-now", "2026-11-20T00:00:00Z"}, 1},
		"minimum":          {[]string{"-min-runtime", "720h", "-now", "2026-11-20T00:00:00Z"}, 1},
		"group":            {[]string{"-m", "testdata/group.json", "-order", "best-fit"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(nil, c.args...)
			if status != c.status || stderr != "" {
				t.Errorf("status %d, want %d; stderr %q", status, c.status, stderr)
			}
			golden.Check(t, name, stdout)
		})
	}
}

// small is a node, a pod that runs there, one that leaves, and one that waits.
const small = `{"kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4","pods":"10"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"runs","namespace":"a"},"spec":{"nodeName":"n","priority":1,"containers":[{"resources":{"requests":{"cpu":"2"}}}]}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"done","namespace":"a"},"spec":{"nodeName":"n","containers":[{"resources":{"requests":{"cpu":"4"}}}]},"status":{"phase":"Succeeded"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"leaves","namespace":"a","deletionTimestamp":"2026-11-20T09:00:00Z"},"spec":{"nodeName":"n","containers":[{"resources":{"requests":{"cpu":"2"}}}]},
 "status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","lastTransitionTime":"2026-11-20T09:00:00Z"}]}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"waits","namespace":"a"},"spec":{"priority":5,"containers":[{"resources":{"requests":{"cpu":"2"}}}]},"status":{"nominatedNodeName":"n"}}]}`

func TestPiped(t *testing.T) {
	status, stdout, stderr := call(strings.NewReader(small)) // the only one that waits asks
	if status != 1 || stderr != "" || !strings.HasPrefix(stdout, "pod a/waits, priority 5\nIt waits until pods that terminate are gone.") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	status, stdout, _ = call(strings.NewReader(small), "-mode", "in-place")
	if status != 1 || !strings.Contains(stdout, "It waits until pods that terminate are gone.") {
		t.Errorf("status %d, %q", status, stdout)
	}
	status, stdout, _ = call(strings.NewReader(strings.ReplaceAll(small, `"cpu":"2"`, `"cpu":"4"`)))
	if status != 0 || !strings.Contains(stdout, "It has a place once a/runs yields.") {
		t.Errorf("status %d, %q", status, stdout)
	}
}

// Copies of a pod in a manifest are a gang.
func TestCount(t *testing.T) {
	status, stdout, _ := call(nil, "-m", "testdata/pod.yaml", "-count", "3")
	if status != 1 || !strings.Contains(stdout, "\ngroup default/probe of 3 pods, priority 100\nIt has no place") {
		t.Errorf("status %d: %s", status, stdout)
	}
}

// Zones keep pods apart across nodes: the one that runs in the zone yields.
func TestZones(t *testing.T) {
	cluster := `{"kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"a1","labels":{"zone":"a"}},"status":{"capacity":{"cpu":"4"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"a2","labels":{"zone":"a"}},"status":{"capacity":{"cpu":"4"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"old","namespace":"x","labels":{"app":"db"}},"spec":{"nodeName":"a1","priority":1,"containers":[{"resources":{"requests":{"cpu":"1"}}}],
 "affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"db"}}}]}}}},
{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"x"},"spec":{"priority":5,"schedulingPolicy":{"gang":{"minCount":1}}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new","namespace":"x","labels":{"app":"db"}},"spec":{"schedulingGroup":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}]}`
	status, stdout, stderr := call(strings.NewReader(cluster))
	if status != 0 || stderr != "" || !strings.Contains(stdout, "It has a place once") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	status, stdout, _ = call(strings.NewReader(strings.Replace(cluster, `{"zone":"a"}},"status":{"capacity":{"cpu":"4"}}},
{"apiVersion":"v1","kind":"Pod"`, `{"zone":"b"}},"status":{"capacity":{"cpu":"4"}}},
{"apiVersion":"v1","kind":"Pod"`, 1)))
	if status != 0 || !strings.Contains(stdout, "It has a place now.") || !strings.Contains(stdout, "a2") {
		t.Errorf("status %d, %q", status, stdout)
	}
}

func TestHelp(t *testing.T) {
	status, stdout, stderr := call(nil, "-h")
	if status != 0 || stderr != "" || !strings.Contains(stdout, "-topology LABEL") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	golden.Help(t, stdout)
}

// What cannot be answered is status 2 and one line.
func TestBad(t *testing.T) {
	item := func(text string) string {
		return strings.Replace(small, `{"kind":"List","items":[`, `{"kind":"List","items":[`+text+",", 1)
	}
	for name, c := range map[string]struct {
		piped string
		args  []string
		want  string
	}{
		"flag":             {"", []string{"-x"}, "usage: nodes"},
		"argument":         {"", []string{"x"}, `unexpected argument "x"`},
		"two who ask":      {"", []string{"-pod", "a", "-group", "b"}, "give one of them"},
		"mode":             {"", []string{"-mode", "x"}, `-mode "x": want design or in-place`},
		"order":            {"", []string{"-order", "x"}, `-order "x"`},
		"budgets":          {"", []string{"-budgets", "x"}, `-budgets "x"`},
		"output":           {"", []string{"-o", "x"}, `-o "x"`},
		"count":            {"", []string{"-m", "testdata/pod.yaml", "-count", "-1"}, "want at least 1"},
		"count too large":  {"", []string{"-m", "testdata/pod.yaml", "-count", "1000000000"}, "want at most"},
		"count of nothing": {"", []string{"-count", "2"}, "it needs -m"},
		"count of a group": {"", []string{"-count", "2", "-m", "testdata/group.json"}, "one pod and no group"},
		"no file":          {"", []string{"-f", "testdata/none"}, "no such file"},
		"no manifest":      {"", []string{"-m", "testdata/none"}, "no such file"},
		"directory":        {"", []string{"-f", "testdata"}, "is a directory"},
		"terminal":         {"", []string{"-f", "-"}, "standard input is"},
		"nobody":           {small, []string{"-pod", "a/x"}, "a/x does not wait in the input (waiting: -pod a/waits)"},
		"who":              {"", []string{"-f", "sample.yaml"}, "give -pod, -group or -m"},
		"no objects":       {"---\n---\n", []string{"-f", "-"}, "there are no objects in it"},
		"not JSON":         {`{"kind":`, nil, "standard input: JSON ends early, at byte 8"},
		"no kind":          {`{}`, nil, "item 1: no kind"},
		"a list":           {`[]`, nil, "give -pod, -group or -m"},
		"empty":            {" ", nil, "standard input: it is empty"},
		"gang":             {item(`{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g","namespace":"a"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"schedulingGroup":{"podGroupName":"g"}}}`), []string{"-group", "a/g"}, "its gang needs 2 more pods, but 1 wait"},
		"no group":         {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"schedulingGroup":{"podGroupName":"g"}}}`), []string{"-group", "a/g"}, "its PodGroup is not in the input"},
		"affinity":         {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In"}]}]}}}}}`), []string{"-pod", "a/p"}, "node affinity"},
	} {
		t.Run(name, func(t *testing.T) {
			var piped io.Reader
			if c.piped != "" {
				piped = strings.NewReader(c.piped)
			}
			status, stdout, stderr := call(piped, c.args...)
			if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("status %d, stdout %q, stderr %q, want %q", status, stdout, stderr, c.want)
			}
		})
	}
}

// An odd object costs only itself: the answer comes with a note that names it. Where the answer depends on
// it, the answer is unknown.
func TestOdd(t *testing.T) {
	item := func(text string) string {
		return strings.Replace(small, `{"kind":"List","items":[`, `{"kind":"List","items":[`+text+",", 1)
	}
	inDoubt := []string{"no name", "class", "quantity", "anti-affinity", "namespaces", "negative", "an operator", "six less six", "bad node"}
	for name, c := range map[string]struct{ piped, want string }{
		"other kind":    {item(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}`), "Deployment d: Deployment of apps/v1 is not read here"},
		"twice":         {item(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`), "Node n: is in the input more than once: the last one counts"},
		"no name":       {item(`{"apiVersion":"v1","kind":"Node"}`), "standard input: item 1 (Node): no metadata.name: left out"},
		"type":          {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"high"}}`), "Pod default/p: spec.priority: want an integer of 32 bits, found a string: left out"},
		"class":         {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","priorityClassName":"x"}}`), `Pod default/p: PriorityClass "x" is not in the input: it is never preempted here`},
		"quantity":      {item(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"m"},"status":{"allocatable":{"cpu":"1e999999"}}}`), "Node m: status.allocatable.cpu: quantity"},
		"mode of group": {item(`{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"disruptionMode":"Half"}}`), `PodGroup default/g: spec.disruptionMode: "Half" is unknown: it is not split here`},
		"anti-affinity": {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchExpressions":[{"key":"k","operator":"In"}]}}]}}}}`), "Pod a/p: anti-affinity term 1 is not looked at: labelSelector.matchExpressions[0].values: is empty"},
		"namespaces": {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"namespaceSelector":{"matchLabels":{"a":"b"}}}]}}}}`),
			"Pod a/p: anti-affinity term 1 is not looked at: it selects namespaces, and there are none in the input"},
		"negative":         {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"nodeName":"n","containers":[{"resources":{"requests":{"cpu":"-1"}}}]}}`), `Pod a/p: spec.containers[0].resources.requests.cpu: "-1" is less than zero: left out`},
		"a namespace":      {item(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","namespace":"a"},"status":{"allocatable":{"cpu":"4"}}}`), "Node n: is in the input more than once: the last one counts"},
		"an operator":      {item(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"a"},"spec":{"selector":{"matchExpressions":[{"key":"k","operator":"Inn","values":["v"]}]}}}`), `PodDisruptionBudget a/b: spec.selector.matchExpressions[0].operator: "Inn" is unknown: want In`},
		"six less six":     {item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"nodeName":"n","containers":[{"resources":{"requests":{"cpu":"6"}}},{"resources":{"requests":{"cpu":"-6"}}}]}}`), `Pod a/p: spec.containers[1].resources.requests.cpu: "-6" is less than zero: left out`},
		"bad node":         {item(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"m"},"status":{"capacity":{"cpu":"-1"}}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"nodeName":"m"}}`), `Node m: status.capacity.cpu: "-1" is less than zero: left out`},
		"scheduling gates": {strings.Replace(small, `"spec":{"priority":5`, `"spec":{"schedulingGates":[{"name":"g/one"},{"name":"two"}],"priority":5`, 1), "pod a/waits is not scheduled before its scheduling gates are removed: g/one, two"},
	} {
		status, stdout, stderr := call(strings.NewReader(c.piped), "-pod", "a/waits")
		want, first := 1, "pod a/waits, priority 5\nIt waits until pods that terminate are gone."
		switch {
		case name == "scheduling gates":
			first = "pod a/waits is held: pod a/waits is not scheduled before"
		case slices.Contains(inDoubt, name):
			want, first = 3, "Whether pod a/waits has room is unknown: "
		}
		if status != want || !strings.HasPrefix(stdout, first) || !strings.Contains(stdout, "Note: "+c.want) || stderr != "" {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
}

// A note on an odd object is in the JSON, too.
func TestNotesInJSON(t *testing.T) {
	text := small + `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}`
	_, stdout, stderr := call(strings.NewReader(text), "-o", "json")
	var answer struct{ Notes []string }
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || stderr != "" || !slices.Equal(answer.Notes, []string{"Deployment d: Deployment of apps/v1 is not read here"}) {
		t.Errorf("%v, %q, %q", err, answer.Notes, stderr)
	}
}

// Where no node could ever take the pod it is said, and why.
func TestNoNode(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a"},"spec":{"nodeSelector":{"gpu":"yes"}}}`
	node := func(rest string) string {
		return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"m"` + rest + `}`
	}
	for text, want := range map[string]string{
		pod:             "Note: there are no nodes in the input.",
		pod + node("}"): "Note: no node takes pod a/p: of 1 in the input, 1 not of its node selector or affinity.",
		pod + node(`,"labels":{"gpu":"yes"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}`): "no node takes pod a/p: of 1 in the input, 1 with a taint that it does not tolerate.",
		pod + node(`,"labels":{"gpu":"yes"}},"spec":{"unschedulable":true}`):                         "no node takes pod a/p: of 1 in the input, 1 unschedulable.",
	} {
		if status, stdout, stderr := call(strings.NewReader(text)); status != 1 || stderr != "" || !strings.Contains(stdout, want) || strings.Contains(stdout, "Note: .") {
			t.Errorf("status %d, %q, %q, want %q", status, stdout, stderr, want)
		}
	}
}

// Namespaces of the input are found by their labels.
func TestNamespaceSelector(t *testing.T) {
	const cluster = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x","labels":{"tier":"db"}}}
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"kubernetes.io/hostname":"n"}},"status":{"capacity":{"cpu":"4"}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"old","namespace":"x","labels":{"app":"db"}},"spec":{"nodeName":"n","priority":1,"containers":[{}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new","namespace":"y"},"spec":{"priority":5,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"db"}},"namespaceSelector":{"matchLabels":{"tier":"db"}}}]}}}}`
	for text, want := range map[string]string{
		cluster: "It has a place once",
		strings.Replace(cluster, `{"tier":"db"}}}`+"\n", `{"tier":"web"}}}`+"\n", 1): "It has a place now.",
	} {
		if status, stdout, stderr := call(strings.NewReader(text)); status != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("status %d, %q, %q, want %q", status, stdout, stderr, want)
		}
	}
}

// A group whose policy says so is not split (KEP-5710).
func TestModeOfPolicy(t *testing.T) {
	const cluster = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}}
{"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"g","namespace":"x"},"spec":{"priority":1,"schedulingPolicy":{"gang":{"minCount":2},"disruptionMode":MODE}}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g-0","namespace":"x"},"spec":{"nodeName":"n","schedulingGroup":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"2"}}}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g-1","namespace":"x"},"spec":{"nodeName":"n","schedulingGroup":{"podGroupName":"g"},"containers":[{"resources":{"requests":{"cpu":"2"}}}]}}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new","namespace":"y"},"spec":{"priority":5,"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}`
	for mode, want := range map[string]string{
		`"PodGroup"`: "1     2  n", `{"all":{}}`: "1     2  n", `"Pod"`: "1     1  n", `{"single":{}}`: "1     1  n", `null`: "1     1  n",
	} {
		if _, stdout, stderr := call(strings.NewReader(strings.Replace(cluster, "MODE", mode, 1))); !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: %q, %q, want %q", mode, stdout, stderr, want)
		}
	}
}

// Names do nothing to a terminal but being shown.
func TestNamesArePrintable(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(small, `"name":"n"`, `"name":"n\u001b[31m\nFAKE\u202e"`), `"nodeName":"n"`, `"nodeName":"n\u001b[31m\nFAKE\u202e"`)
	text = strings.ReplaceAll(strings.ReplaceAll(text, `"cpu":"2"`, `"cpu":"4"`), `"name":"waits"`, `"name":"waits\u001b]0;x\u0007"`)
	for _, args := range [][]string{nil, {"-o", "json"}, {"-pod", "a/nobody"}} {
		_, stdout, stderr := call(strings.NewReader(text+`{"kind":"X\u001b","metadata":{"name":"x\ny"}}`), args...)
		if strings.ContainsFunc(stdout+stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || strings.Contains(stdout+stderr, "\nFAKE") {
			t.Errorf("%v: %q, %q", args, stdout, stderr)
		}
	}
}

// FuzzInput: whatever is piped in, the program answers, or says in one line why not.
func FuzzInput(f *testing.F) {
	f.Add([]byte(small), "a/waits")
	f.Add([]byte("kind: Node\napiVersion: v1\nmetadata: {name: n}\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: p}\n"), "default/p")
	f.Fuzz(func(t *testing.T, data []byte, pod string) {
		status, stdout, stderr := call(bytes.NewReader(data), "-f", "-", "-pod", pod)
		switch {
		case status == 2:
			if stdout != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("stdout %q, stderr %q", stdout, stderr)
			}
		case status > 3, stdout == "":
			t.Errorf("status %d, stdout %q, stderr %q", status, stdout, stderr)
		}
	})
}
