package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
)

// standings is a cluster in which each workload waits in a way of its own.
const standings = `
apiVersion: v1
kind: List
items:
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: kueue-manager-config, namespace: kueue-system}, data: {controller_manager_config.yaml: "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {MultiKueueOrchestratedPreemption: true}\n"}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: q}, spec: {namespaceSelector: {},
    preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "4"}]}]}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: stopped}, spec: {namespaceSelector: {}, stopPolicy: Hold,
    resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "4"}]}]}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: team}, spec: {clusterQueue: q}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: paused, namespace: team}, spec: {clusterQueue: q, stopPolicy: Hold}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: stopped, namespace: team}, spec: {clusterQueue: stopped}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: nowhere, namespace: team}, spec: {clusterQueue: gone}}
`

// circle are cohorts that are a cycle, and a queue under them.
const circle = `
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: up}, spec: {parentName: down}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: down}, spec: {parentName: up}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: below}, spec: {parentName: down}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cycle}, spec: {namespaceSelector: {}, cohortName: below,
    resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "4"}]}]}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: cycle, namespace: team}, spec: {clusterQueue: cycle}}
`

// flavorless is a queue with quota in a flavor without object, in which something runs.
const flavorless = `
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: flavorless}, spec: {namespaceSelector: {},
    resourceGroups: [{coveredResources: [cpu], flavors: [{name: gone, resources: [{name: cpu, nominalQuota: "4"}]}]}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: flavorless, namespace: team}, spec: {clusterQueue: flavorless}}
`

// checked is a queue with an admission check.
const checked = `
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: prov}, spec: {controllerName: x}, status: {conditions: [{type: Active, status: "True"}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: checked}, spec: {namespaceSelector: {}, admissionChecks: [prov],
    resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: "4"}]}]}]}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: checked, namespace: team}, spec: {clusterQueue: checked}}
`

// waits is a workload of one replica that waits, in YAML.
func waits(name, queue, cpu string, priority int, spec, status string) string {
	return fmt.Sprintf("- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s, namespace: team, creationTimestamp: 2026-11-20T11:00:00Z}, spec: {queueName: %s, priority: %d%s, "+
		"podSets: [{name: main, count: 1, template: {spec: {containers: [{resources: {requests: {cpu: %q}}}]}}}]}, status: {%s}}\n", name, queue, priority, spec, cpu, status)
}

// One verdict about a workload: ask, explain, overview and diff say the same one, and the exit status follows
// from it. It is the first line of ask and explain.
func TestOneVerdict(t *testing.T) {
	const evicted = `conditions: [{type: Requeued, status: "False", reason: Preempted}]`
	cluster := standings +
		`- {apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: runs, namespace: team}, spec: {queueName: lq, priority: 5, podSets: [{name: main, count: 1}]}, status: {conditions: [{type: QuotaReserved, status: "True", lastTransitionTime: 2026-11-20T11:00:00Z}], ` +
		"admission: {clusterQueue: q, podSetAssignments: [{name: main, count: 1, flavors: {cpu: f}, resourceUsage: {cpu: \"2\"}}]}}}\n" +
		waits("fits", "lq", "1", 0, "", "") + waits("preempts", "lq", "3", 9, "", "") + waits("refused", "lq", "3", 0, "", "") +
		waits("gated", "lq", "3", 9, ", preemptionGates: [{name: g}]", "") +
		waits("inactive", "lq", "1", 0, ", active: false", "") + waits("paused", "paused", "1", 0, "", "") + waits("stopped", "stopped", "1", 0, "", "") +
		waits("evicted", "lq", "1", 0, "", evicted) + waits("backing-off", "lq", "1", 0, "", "requeueState: {count: 1, requeueAt: 2026-11-20T12:30:00Z}") +
		waits("back", "lq", "1", 0, "", "requeueState: {count: 1, requeueAt: 2026-11-20T11:30:00Z}") +
		waits("rejected", "checked", "1", 0, "", "admissionChecks: [{name: prov, state: Rejected}]") +
		waits("nowhere", "nowhere", "1", 0, "", "") + waits("lost", "none", "1", 0, "", "") + waits("lost-inactive", "none", "1", 0, ", active: false", "")
	cluster += checked + circle + waits("in-cycle", "cycle", "1", 0, "", "") + flavorless + waits("no-flavor", "flavorless", "1", 0, "", "")
	want := map[string]string{
		"fits": "Fits", "preempts": "Preempt", "refused": "Impossible", "gated": "Gated", "back": "Fits",
		"inactive": "Held", "paused": "Held", "stopped": "Held", "evicted": "Held", "backing-off": "Held", "rejected": "Held", "in-cycle": "Held", "no-flavor": "Unknown",
		"nowhere": "Unknown", "lost": "Unknown", "lost-inactive": "Held",
	}
	statuses := map[string]int{"Fits": 0, "Preempt": 0, "Gated": 1, "Impossible": 1, "Held": 1, "Unknown": 3}
	begins := map[string]string{
		"Fits": "team/%s fits now", "Preempt": "team/%s fits once ", "Gated": "team/%s would fit once ", "Impossible": "team/%s does not fit", "Held": "team/%s is held: ", "Unknown": "Whether team/%s fits is unknown: ",
	}
	status, stdout, stderr := call(strings.NewReader(cluster), "overview", "-o", "json")
	var overview struct {
		Workloads []struct{ Workload, Outcome, Words string }
	}
	if err := json.Unmarshal([]byte(stdout), &overview); err != nil || status != 1 || len(overview.Workloads) != len(want) {
		t.Fatalf("overview: status %d, %v, %s%s", status, err, stdout, stderr)
	}
	for _, row := range overview.Workloads {
		name := strings.TrimPrefix(row.Workload, "team/")
		if row.Outcome != want[name] {
			t.Errorf("overview: %s is %s (%s), want %s", name, row.Outcome, row.Words, want[name])
		}
		for _, verb := range []string{"ask", "explain"} {
			status, stdout, stderr := call(strings.NewReader(cluster), verb, "-workload", row.Workload)
			begin := fmt.Sprintf(begins[want[name]], name)
			if status != statuses[want[name]] || !strings.HasPrefix(stdout, begin) {
				t.Errorf("%s %s: status %d, want %d and %q:\n%s%s", verb, name, status, statuses[want[name]], begin, stdout, stderr)
			}
			_, stdout, _ = call(strings.NewReader(cluster), verb, "-workload", row.Workload, "-o", "json")
			var answer struct{ Verdict struct{ Outcome, Why string } }
			if err := json.Unmarshal([]byte(stdout), &answer); err != nil || answer.Verdict.Outcome != want[name] ||
				answer.Verdict.Why != "" && !strings.Contains(row.Words, answer.Verdict.Why) {
				t.Errorf("%s %s as JSON: %v, %+v; overview says %q", verb, name, err, answer, row.Words)
			}
		}
	}
	status, stdout, _ = call(strings.NewReader(cluster), "next", "-o", "json")
	var next struct {
		Held, Unknown []string
		Heads         []struct{ Workload string }
	}
	if err := json.Unmarshal([]byte(stdout), &next); err != nil || status != 3 {
		t.Fatalf("next: status %d, %v", status, err)
	}
	for _, list := range []struct {
		outcome string
		names   []string
	}{{"Held", next.Held}, {"Unknown", next.Unknown}} {
		for _, id := range list.names {
			if name := strings.TrimPrefix(id, "team/"); want[name] != list.outcome {
				t.Errorf("next: %s is %s, want %s", name, list.outcome, want[name])
			}
		}
	}
	if len(next.Held) != 7 || len(next.Unknown) != 3 { // the one that backs off comes back while the cycles run
		t.Errorf("next: held %q, unknown %q", next.Held, next.Unknown)
	}
}

// A described workload is held by what holds its queue, or its LocalQueue.
func TestVerdictOfDescribedWorkload(t *testing.T) {
	for _, c := range []struct {
		queue  string
		status int
		want   string
	}{
		{"q", 0, "new fits now"}, {"team/lq", 0, "new fits now"},
		{"stopped", 1, "new is held: ClusterQueue stopped is stopped"}, {"team/stopped", 1, "new is held: ClusterQueue stopped is stopped"},
		{"team/paused", 1, "new is held: LocalQueue team/paused is stopped"},
	} {
		status, stdout, stderr := call(strings.NewReader(standings), "-request", "cpu=1", "-queue", c.queue)
		if status != c.status || !strings.HasPrefix(stdout, c.want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s%s", c.queue, status, c.status, c.want, stdout, stderr)
		}
	}
}

// Of several answers one no is a no, whatever is unknown besides; without a no one that is unknown decides.
func TestStatusOfSeveralAnswers(t *testing.T) {
	fits, no, lost := waits("fits", "lq", "1", 0, "", ""), waits("refused", "lq", "9", 0, "", ""), waits("lost", "none", "1", 0, "", "")
	for _, c := range []struct {
		workloads                string
		overview, next, diffSame int
	}{{fits, 0, 0, 0}, {no, 1, 1, 0}, {lost, 3, 3, 3}, {fits + lost, 3, 3, 3}, {no + lost, 1, 3, 3}, {fits + no, 1, 0, 0}} {
		for _, v := range []struct {
			args []string
			want int
		}{{[]string{"overview"}, c.overview}, {[]string{"next"}, c.next}, {[]string{"diff", "-policy", "q:reclaimWithinCohort=Any"}, c.diffSame}} {
			if status, stdout, stderr := call(strings.NewReader(standings+c.workloads), v.args...); status != v.want {
				t.Errorf("%q: status %d, want %d:\n%s%s", v.args, status, v.want, stdout, stderr)
			}
		}
	}
}

// Every verb names the same victims, and says which of them is leaving already.
func TestVictimsThatAreLeavingAlready(t *testing.T) {
	var ask struct {
		Victims []struct {
			Workload string
			Leaving  bool
		}
	}
	type row struct {
		Workload, Words  string
		Victims, Leaving []string
	}
	var overview struct{ Workloads []row }
	var next struct{ Heads []row }
	for verb, into := range map[string]any{"ask": &ask, "overview": &overview, "next": &next} {
		_, stdout, stderr := call(nil, verb, "-o", "json")
		if err := json.Unmarshal([]byte(stdout), into); err != nil {
			t.Fatalf("%s: %v, %s", verb, err, stderr)
		}
	}
	var victims, leaving []string
	for _, v := range ask.Victims {
		if victims = append(victims, v.Workload); v.Leaving {
			leaving = append(leaving, v.Workload)
		}
	}
	if len(victims) != 5 || len(leaving) != 1 {
		t.Errorf("ask: %q, leaving %q", victims, leaving)
	}
	for verb, rows := range map[string][]row{"overview": overview.Workloads, "next": next.Heads} {
		i := slices.IndexFunc(rows, func(r row) bool { return r.Workload == answers.SampleWorkload })
		if r := rows[i]; !slices.Equal(r.Victims, victims) || !slices.Equal(r.Leaving, leaving) || !strings.HasPrefix(r.Words, "preempts 5 (1 leaving already): ") {
			t.Errorf("%s: %q, leaving %q, %s", verb, r.Victims, r.Leaving, r.Words)
		}
	}
}

// A no that stands whatever is in doubt is a no in next, too.
func TestNoThatStands(t *testing.T) {
	asks := strings.Replace(waits("tas", "lq", "1", 0, "", ""), "{name: main,", "{name: main, topologyRequest: {required: rack},", 1)
	status, stdout, _ := call(strings.NewReader(standings+asks), "overview")
	if status != 1 || !strings.Contains(stdout, "1 does not fit") {
		t.Fatalf("overview: status %d, %s", status, stdout)
	}
	status, stdout, _ = call(strings.NewReader(standings+asks), "next")
	if status != 1 || strings.Contains(stdout, "Unknown") || !strings.Contains(stdout, "stays: its pods may run on no flavor of the queue") {
		t.Errorf("next: status %d, %s", status, stdout)
	}
}
