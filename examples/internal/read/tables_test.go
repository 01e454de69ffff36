package read

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/fields"
	"github.com/cedesched/cede/examples/internal/input"
)

var update = flag.Bool("update", false, "rewrite the pages of fields")

const fieldsHead = `# What becomes of each field of %s's objects

*read*: what the reader makes of it is right, whatever its value. *harmless*: no answer depends on it. *doubt*: an answer can
depend on it, and it is not modelled: the answers that it reaches are unknown and name it, until ` + "`-assume FIELD`" + ` accepts it;
a *doubt of yes* can only make a no of a yes. Null, false, 0, the empty text and the empty list are no doubt. A line stands for
all that is below its field, unless others go on from it. A field that is not here is a doubt. This page is made of
` + "`fields.tsv`" + ` by ` + "`go test ./examples/internal/read -update`" + `.
`

// FIELDS.md is the table.
func TestPagesOfFields(t *testing.T) {
	for name, table := range map[string]*fields.Table{"Kueue": ofKueue, "KAI": ofKAI} {
		file := filepath.Join("../../bridge", strings.ToLower(name), "FIELDS.md")
		want := fmt.Sprintf(fieldsHead, name) + table.Markdown()
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is not what fields.tsv says: run with -update (%v)", file, err)
		}
	}
}

// shared reads a table of fields of an API that stands beside the checkout, as rows by column.
func shared(t *testing.T, name string) (rows []map[string]string) {
	file, err := os.Open(filepath.Join("../../../../shared/fields", name))
	if err != nil {
		t.Skipf("the lists of all fields are not beside this checkout: %v", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var header []string
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if header == nil {
			header = cells
			continue
		}
		row := map[string]string{}
		for i, cell := range cells {
			row[header[i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// Each field of Kueue's and KAI's objects is in the table, in every version that the reader takes, and none that decides is harmless
// without a reason of its own.
func TestTablesHaveEveryField(t *testing.T) {
	known := 0
	for _, r := range shared(t, "kueue.tsv") {
		version := r["api"][strings.LastIndex(r["api"], "/")+1:]
		kind := r["kind"]
		if !ofKueue.Knows(kind) || versions[kind] != nil && !slices.Contains(versions[kind], version) {
			continue
		}
		known += hasRow(t, ofKueue, kind, r["path"], r["class"])
	}
	for _, r := range shared(t, "kueue-config.tsv") {
		if r["api"] != "command line" {
			known += hasRow(t, ofKueue, "Configuration", r["path"], r["class"])
		}
	}
	for _, r := range shared(t, "kueue-gates.tsv") {
		known += hasRow(t, ofKueue, "Configuration", "featureGates."+r["gate"], r["class"])
	}
	for _, r := range shared(t, "kai.tsv") {
		known += hasRow(t, ofKAI, r["kind"], strings.ReplaceAll(r["path"], "{}", ""), r["class"])
	}
	if known < 1500 {
		t.Errorf("only %d fields", known)
	}
}

func hasRow(t *testing.T, table *fields.Table, kind, path, class string) int {
	if path == "apiVersion" || path == "kind" || path == "metadata" || path == "spec" || path == "status" {
		return 1
	}
	path = strings.ReplaceAll(path, "status.conditions[].", "status.conditions[Active].")
	if kind == "Workload" {
		path = strings.ReplaceAll(path, "status.conditions[Active].", "status.conditions[Evicted].")
	}
	row := table.Of(kind, path)
	if row == nil && !table.HasBelow(kind, path) && table.Of(kind+"/holds", path) == nil {
		t.Errorf("no row has %s %s (%s)", kind, path, class)
	}
	return 1
}

// good is a cluster in which every field can be set: one object of each kind.
const good = `{"kind":"List","apiVersion":"v1","items":[
{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n","labels":{"team":"a"}}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},"spec":{"nodeTaints":[{"key":"k","value":"v","effect":"PreferNoSchedule"}],"tolerations":[{"key":"k","operator":"Equal"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"placed"},"spec":{"topologyName":"racks"}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Topology","metadata":{"name":"racks"},"spec":{"levels":[{"nodeLabel":"rack"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"check"},"spec":{"controllerName":"example.com/check"},"status":{"conditions":[{"type":"Active","status":"True"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"AdmissionCheck","metadata":{"name":"workers"},"spec":{"controllerName":"kueue.x-k8s.io/multikueue"},"status":{"conditions":[{"type":"Active","status":"True"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"c"},"spec":{"parentName":"root","resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"2"}]}]}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q","annotations":{"kueue.x-k8s.io/preemption-config":"hero"}},"spec":{"cohortName":"c","cohort":"c","namespaceSelector":{},
 "admissionChecksStrategy":{"admissionChecks":[{"name":"check"}]},
 "preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any","borrowWithinCohort":{"policy":"LowerPriority"}},
 "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"4"}]}]}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue","metadata":{"name":"lq","namespace":"n"},"spec":{"clusterQueue":"q"}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"waits","namespace":"n","creationTimestamp":"2026-05-04T08:00:00Z","ownerReferences":[{"kind":"Job","name":"j"}]},
 "spec":{"queueName":"lq","preemptionGates":[{"name":"g"}],"podSets":[{"name":"main","count":4,"minCount":1,"template":{"spec":{"tolerations":[{"key":"k"}],
  "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"name":"i","resources":{"requests":{"cpu":"2"}}}]}}}]},
 "status":{"admissionChecks":[{"name":"check","state":"Pending"}],"reclaimablePods":[{"name":"main","count":1}],"preemptionGates":[{"name":"g","lastTransitionTime":"2026-05-04T08:10:00Z"}],
  "conditions":[{"type":"Evicted","status":"True","reason":"PodsReadyTimeout","lastTransitionTime":"2026-05-04T08:30:00Z"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"runs","namespace":"n","creationTimestamp":"2026-05-04T08:00:00Z","ownerReferences":[{"kind":"Job","name":"j"}]},
 "spec":{"queueName":"lq","podSets":[{"name":"main","count":4}]},
 "status":{"conditions":[{"type":"QuotaReserved","status":"True","lastTransitionTime":"2026-05-04T08:30:00Z"}],"reclaimablePods":[{"name":"main","count":3}],
  "admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","count":2,"flavors":{"cpu":"f"},"resourceUsage":{"cpu":"2"}}]}}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"ended","namespace":"n"},"spec":{"queueName":"lq","podSets":[{"name":"main","count":4}]},
 "status":{"conditions":[{"type":"Finished","status":"True"}]}},
{"apiVersion":"config.kueue.x-k8s.io/v1beta2","kind":"Configuration","featureGates":{"PriorityBoost":true,"MultiKueueOrchestratedPreemption":true,"ConcurrentAdmission":false},
 "resources":{"transformations":[{"input":"cpu","outputs":{"credits":"1"}}]}},
{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"limits","namespace":"n"},"spec":{"limits":[{"type":"PersistentVolumeClaim"}]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"WorkloadPriorityClass","metadata":{"name":"high"},"value":5},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueCluster","metadata":{"name":"w"},"spec":{}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueConfig","metadata":{"name":"w"},"spec":{"clusters":["w"]}},
{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ProvisioningRequestConfig","metadata":{"name":"w"},"spec":{}}]}`

// goodOf are the objects that stand for the kinds with stages.
var goodOf = map[string]string{"Workload": "waits", "Workload/waits": "waits", "Workload/holds": "runs", "Workload/finished": "ended", "ResourceFlavor": "f", "AdmissionCheck": "check"}

// samples are values of fields that are read, where no general value is one.
var samples = map[string]string{
	"metadata.name": `"other"`, "metadata.namespace": `"other"`, "metadata.creationTimestamp": `"2026-05-04T07:00:00Z"`, "metadata.deletionTimestamp": `"2026-05-04T07:00:00Z"`,
	"spec.resourceGroups[].coveredResources": `["cpu","gpu"]`, "spec.preemption.withinClusterQueue": `"LowerPriority"`, "spec.preemption.reclaimWithinCohort": `"LowerPriority"`,
	"spec.preemption.borrowWithinCohort.policy": `"Never"`, "spec.preemption.withinClusterQueueConfig.minAdmitDuration": `"5m"`,
	"spec.flavorFungibility.whenCanBorrow": `"TryNextFlavor"`, "spec.flavorFungibility.whenCanPreempt": `"MayStopSearch"`, "spec.flavorFungibility.preference": `"PreemptionOverBorrowing"`,
	"spec.stopPolicy": `"Hold"`, "spec.queueingStrategy": `"StrictFIFO"`, "spec.namespaceSelector": `{"matchLabels":{"team":"b"}}`, "spec.admissionChecks": `["other"]`,
	"spec.admissionScope": "", "status.conditions[Active]": `[{"type":"Active","status":"False","reason":"r"}]`,
	"spec.nodeTaints[].effect": `"NoExecute"`, "spec.tolerations[].operator": `"Exists"`, "spec.tolerations[].effect": `"NoSchedule"`, "spec.controllerName": "", "spec.parameters.name": "",
	"spec.admissionChecksStrategy.admissionChecks[].onFlavors": "", "spec.fairSharing.weight": `"2"`, "spec.active": `false`, "status.fairSharing": "",
	"metadata.ownerReferences": `[{"kind":"Workload","name":"p"}]`, "metadata.annotations[kueue.x-k8s.io/priority-boost]": `"7"`, "metadata.labels[kueue.x-k8s.io/job-uid]": "",
	"metadata.annotations[kueue.x-k8s.io/workload-slice-replacement-for]": `"n/runs"`, "spec.podSets[].template.spec.tolerations[].operator": `"Exists"`,
	"spec.podSets[].template.spec.tolerations[].effect": `"NoSchedule"`, "spec.podSets[].template.spec.initContainers[].restartPolicy": `"Always"`,
	"spec.podSets[].template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution": `{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"}]}]}`,
	"status.conditions[QuotaReserved]": `[{"type":"QuotaReserved","status":"False","reason":"OnHold"}]`, "status.conditions[Admitted]": "", "status.conditions[PodsReady]": "",
	"status.conditions[Finished]": `[{"type":"Finished","status":"True"}]`, "status.conditions[Requeued]": `[{"type":"Requeued","status":"False","reason":"Preempted"}]`,
	"status.conditions[Evicted]":                   `[{"type":"Evicted","status":"True","reason":"AdmissionCheck","lastTransitionTime":"2026-05-04T08:40:00Z"}]`,
	"status.conditions[BlockedOnPreemptionGates]":  `[{"type":"BlockedOnPreemptionGates","status":"True","reason":"PreemptionGated"}]`,
	"status.conditions[WaitingForReplacementPods]": `[{"type":"WaitingForReplacementPods","status":"True"}]`,
	"status.admission.clusterQueue":                "", "status.admission.podSetAssignments[].name": "", "status.admission.podSetAssignments[].count": "", "status.admission.podSetAssignments[].flavors": "",
	"status.admission.podSetAssignments[].resourceUsage": "", "status.admission.podSetAssignments[].topologyAssignment": "",
	"status.resourceRequests": `[{"name":"main","resources":{"cpu":"9"}}]`, "status.preemptionGates[].name": "", "status.preemptionGates[].position": `"Open"`, "status.preemptionGates[].state": `"Open"`,
	"status.preemptionGates[].lastTransitionTime": "", "status.requeueState.requeueAt": `"2026-05-04T08:40:00Z"`, "status.admissionChecks[].state": `"Rejected"`, "spec.podSets[].template.spec.containers[].resources.limits": `{"memory":"1Gi"}`,
	"spec.podSets[].template.spec.initContainers[].resources.limits": `{"memory":"1Gi"}`,
	"kind": "", "apiVersion": "", "fairSharing.preemptionStrategies": `["LessThanInitialShare"]`, "admissionFairSharing": "", "resources.excludeResourcePrefixes": `["cp"]`,
	"resources.transformations[].outputs": `{"credits":"2"}`, "resources.transformations[].strategy": `"Replace"`, "resources.transformations[].multiplyBy": `"cpu"`,
	"waitForPodsReady.enable": "", "waitForPodsReady.requeuingStrategy.timestamp": `"Creation"`,
	"featureGates.DisableWaitForPodsReady": "", "featureGates.AdmissionGatedBy": "", "featureGates.PriorityBoost": "", "featureGates.MultiKueueOrchestratedPreemption": `false`,
	"featureGates.ReclaimablePods": `false`, "featureGates.PartialAdmission": `false`, "spec.podSets[].topologyRequest.podSetSliceSize": `4`, "spec.limits": "", "spec": `{"limits":[{"type":"Container"}]}`,
	"spec.parent": "", "spec.cohort": "", "spec.podSets[].template.spec.resources.requests": `{"cpu":"9"}`, "spec.podSets[].template.spec.resources.limits": `{"cpu":"9"}`,
	"spec.podSets[].template.spec.overhead": `{"cpu":"1"}`, "status.requeueState": "",
}

// general are values of every kind.
var general = []string{`"x"`, `7`, `true`, `["x"]`, `{"x":"y"}`, `[{"x":"y"}]`, `"3"`, `{"cpu":"3"}`}

// Each line of Kueue's table is true: a harmless field changes nothing, one in doubt is a doubt that names it, and one that is read changes
// something.
func TestTableOfKueue(t *testing.T) {
	before := readGood(t, good)
	read, harmless, doubts := 0, 0, 0
	for _, row := range ofKueue.Rows {
		kind, _, _ := strings.Cut(row.Kind, "/")
		if row.Kind == "*" || row.Kind+row.Path == "Workload/finishedstatus" || slices.Contains(ignoredByKueue, kind) || strings.HasPrefix(kind, "Preemption") {
			continue
		}
		name := row.Kind + " " + row.Path
		values := general
		sample, special := samples[row.Path]
		switch {
		case special && row.Verdict == fields.Read && sample == "":
			continue // what it changes is a test of its own
		case special && sample != "":
			values = []string{sample}
		}
		path := strings.ReplaceAll(row.Path, "*]", "x]")
		path = strings.TrimSuffix(path, ".*")
		if strings.HasSuffix(row.Path, ".*") {
			values = []string{`{"own":"x"}`}
		}
		took, changed := 0, false
		for _, value := range values {
			text, ok := set(t, row.Kind, path, value)
			if !ok {
				continue
			}
			after, err := tryGood(text)
			if err != nil {
				continue
			}
			took++
			switch row.Verdict {
			case fields.Harmless:
				if after.facts != before.facts {
					t.Errorf("%s: %s is said to be harmless and changes something:\n%s", name, value, difference(before.facts, after.facts))
				}
			case fields.Read:
				changed = changed || after.facts != before.facts
			default:
				if slices.Contains(row.Unless, strings.Trim(value, `"`)) {
					continue
				}
				if !slices.ContainsFunc(after.doubts, func(d bridge.Doubt) bool { return names(d.Path, path) }) {
					t.Errorf("%s: %s is no doubt: %q", name, value, after.doubts)
				}
			}
		}
		switch {
		case took == 0:
			t.Errorf("%s: no value can be set", name)
		case row.Verdict == fields.Read && !changed:
			t.Errorf("%s is said to be read, and no value of it changes anything", name)
		}
		switch row.Verdict {
		case fields.Read:
			read++
		case fields.Harmless:
			harmless++
		default:
			doubts++
		}
	}
	t.Logf("%d lines of fields that are read, %d harmless, %d doubts", read, harmless, doubts)
	if read < 90 || harmless < 150 || doubts < 30 {
		t.Errorf("only %d lines of fields that are read, %d harmless, %d doubts", read, harmless, doubts)
	}
}

var numbers = regexp.MustCompile(`\[[0-9]+\]`)

func names(doubt, path string) bool {
	plain := numbers.ReplaceAllString(doubt, "[]")
	return plain == path || strings.HasPrefix(plain, path+".") || strings.HasPrefix(plain, path+"[")
}

func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("...%.200s\n...%.200s", a[max(0, i-60):], b[max(0, i-60):])
}

// known is what was made of a cluster.
type known struct {
	facts  string
	doubts []bridge.Doubt
}

func readGood(t *testing.T, text string) known {
	k, err := tryGood(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func tryGood(text string) (known, error) {
	var k Kueue
	notes, err := input.Read([]input.Source{{Name: "in", Reader: strings.NewReader(text)}}, input.Options{Nameless: Nameless, Lost: k.Lose}, k.Add)
	if err != nil || len(notes) > 0 {
		return known{}, fmt.Errorf("%v %q", err, notes)
	}
	c := k.Cluster()
	doubts := c.Doubts
	c.Notes = nil
	facts, err := json.Marshal([]any{c, k.MultiKueue()})
	return known{string(facts), doubts}, err
}

// set sets a field of the good object of a kind.
func set(t *testing.T, kind, path, value string) (string, bool) {
	var list map[string]any
	var v any
	if json.Unmarshal([]byte(good), &list) != nil || json.Unmarshal([]byte(value), &v) != nil {
		t.Fatal("not JSON: ", value)
	}
	plain, _, _ := strings.Cut(kind, "/")
	for i, item := range list["items"].([]any) {
		object := item.(map[string]any)
		name, _ := object["metadata"].(map[string]any)
		if object["kind"] != plain || goodOf[kind] != "" && name["name"] != goodOf[kind] {
			continue
		}
		steps := fields.Steps(path)
		if last := steps[len(steps)-1]; strings.HasPrefix(last, "[") && last != "[]" && strings.HasPrefix(path, "status.conditions[") {
			kept, _ := get(object, "status", "conditions").([]any)
			of := strings.Trim(last, "[]")
			conditions, is := v.([]any)
			if !is || get(conditions[0], "type") != of {
				conditions = []any{map[string]any{"type": of, "status": "True", "reason": v}}
			}
			kept = slices.DeleteFunc(kept, func(c any) bool { return get(c, "type") == of })
			v, steps = append(conditions, kept...), []string{"status", "conditions"}
		}
		list["items"].([]any)[i] = put(object, steps, v)
		out, err := json.Marshal(list)
		return string(out), err == nil
	}
	t.Errorf("no object of kind %s", kind)
	return "", false
}

func get(in any, steps ...string) any {
	for _, step := range steps {
		object, _ := in.(map[string]any)
		in = object[step]
	}
	return in
}

func put(in any, steps []string, v any) any {
	if len(steps) == 0 {
		return v
	}
	step := steps[0]
	if step == "[]" {
		list, _ := in.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = put(list[0], steps[1:], v)
		return list
	}
	object, _ := in.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[strings.Trim(step, "[]")] = put(object[strings.Trim(step, "[]")], steps[1:], v)
	return object
}
