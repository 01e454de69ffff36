package judge_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tables are the tables of fields of Kueue's API, which stand beside the repository where the project is made.
const tables = "../../../../shared/fields"

// table reads a table: a row is its columns by name.
func table(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tables, name))
	if err != nil {
		t.Skip("the tables of fields are not there: ", err)
	}
	var columns []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if columns == nil {
			columns = cells
			continue
		}
		row := map[string]string{}
		for i, c := range columns {
			if i < len(cells) {
				row[c] = cells[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// decides reports whether a field bears on an answer.
func decides(row map[string]string) bool { return row["class"] != "none" && row["class"] != "display" }

// good is a cluster in which all is well, as JSON.
type good struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Items      []map[string]any `json:"items"`
}

func readGood(t *testing.T) *good {
	t.Helper()
	text, err := os.ReadFile("../testdata/good.json")
	g := &good{}
	if err == nil {
		err = json.Unmarshal(text, g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// of are the numbers of the objects of a kind.
func (g *good) of(kind string) (list []int) {
	for i, o := range g.Items {
		if o["kind"] == kind {
			list = append(list, i)
		}
	}
	return list
}

// changed is the cluster with one object changed.
func (g *good) changed(i int, change func(object map[string]any)) []byte {
	text, _ := json.Marshal(g.Items[i])
	var object map[string]any
	_ = json.Unmarshal(text, &object)
	change(object)
	other := *g
	other.Items = slices.Clone(g.Items)
	other.Items[i] = object
	out, _ := json.Marshal(other)
	return out
}

// set sets a field by its path: a.b[].c.*; nil removes it. What is on the way is made.
func set(in any, path string, value any) any {
	if path == "" {
		return value
	}
	step, rest := path, ""
	if i := strings.IndexAny(path, ".["); i >= 0 {
		step, rest = path[:i], path[i:]
	}
	switch {
	case strings.HasPrefix(path, "[]"):
		list, _ := in.([]any)
		if rest = strings.TrimPrefix(path[2:], "."); len(list) == 0 {
			list = []any{nil}
		}
		list = slices.Clone(list)
		if list[0] = set(list[0], rest, value); list[0] == nil {
			list = list[1:]
		}
		return list
	case strings.HasPrefix(path, "."):
		return set(in, path[1:], value)
	}
	object, _ := in.(map[string]any)
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	if step == "*" {
		step = "other"
		if keys := slices.Sorted(maps.Keys(object)); len(keys) > 0 {
			step = keys[0]
		}
	}
	if object[step] = set(object[step], rest, value); object[step] == nil {
		delete(object, step)
	}
	return object
}

// values are some of a type, as the tables write it; all of them may be what the API server stores.
func values(of string) []any {
	name, rest, _ := strings.Cut(of, "(")
	switch {
	case rest != "":
		var list []any
		for v := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ",") {
			list = append(list, v)
		}
		return list
	case name == "boolean" || name == "bool":
		return []any{true, false}
	case strings.HasPrefix(name, "int-or-string"):
		return []any{"0", "3", "1000"}
	case strings.HasPrefix(name, "int"):
		return []any{0, 1, 3, 1000}
	case strings.HasSuffix(name, "date-time"):
		return []any{"2026-11-20T00:00:00Z", "2026-11-27T11:59:30Z", "2026-11-27T18:00:00Z"}
	case name == "string":
		return []any{"other"}
	case name == "object":
		return []any{nil, map[string]any{}}
	case name == "array":
		return []any{nil, []any{}}
	}
	return []any{nil}
}

// all: each object and each value, not one of each.
var every = flag.Bool("every", false, "change each field in several objects, with each value")

// refusedByTheAPI are changes that no API server stores: the schema of the object says so.
func refusedByTheAPI(path string, value any) bool {
	list, empty := value.([]any)
	switch path {
	case "spec.resourceGroups[].coveredResources", "spec.resourceGroups[].coveredResources[]", "spec.resourceGroups[].flavors", "metadata.namespace", "metadata.name":
		return value == nil || empty && len(list) == 0 || strings.HasSuffix(path, "[]")
	}
	return false
}

// One input for each field of Kueue's API that bears on an answer, with several values: whatif says what Kueue says, or that it
// does not know. The workloads of the cluster fit, fit in part, preempt in their own queue and in the cohort, or do not fit.
func TestEachFieldIsAnsweredAsByKueue(t *testing.T) {
	g, c, asked := readGood(t), counted{}, 0
	for n, row := range table(t, "kueue.tsv") {
		if row["api"] != "kueue.x-k8s.io/v1beta2" || !decides(row) {
			continue
		}
		objects := g.of(row["kind"])
		if len(objects) == 0 {
			continue
		}
		asked++
		if row["kind"] == "Workload" {
			objects = []int{objects[3], objects[len(objects)-1]} // one runs and borrows, one waits
		}
		objects = slices.Compact([]int{objects[0], objects[len(objects)-1]})
		all := append(values(row["type"]), nil)
		if !*every {
			objects, all = objects[n%len(objects):][:1], all[n%len(all):][:1]
		}
		for _, i := range objects {
			for _, v := range all {
				if refusedByTheAPI(row["path"], v) {
					continue
				}
				input := g.changed(i, func(o map[string]any) { maps.Copy(o, set(o, row["path"], v).(map[string]any)) })
				c.all(t, fmt.Sprintf("%s %s = %v (object %d)", row["kind"], row["path"], v, i), row["kind"]+" "+row["path"], input)
			}
		}
	}
	c.log(t)
	if asked < 150 || c.alike < 200 {
		t.Errorf("%d fields, %d answers are alike", asked, c.alike)
	}
}

// Each gate of Kueue 0.19.2, on and off.
func TestEachGateIsAnsweredAsByKueue(t *testing.T) {
	g, c := readGood(t), counted{}
	for _, row := range table(t, "kueue-gates.tsv") {
		if was := row["v0.19.2"]; was != "-" {
			input := g.changed(0, func(o map[string]any) { o["featureGates"] = map[string]any{row["gate"]: !strings.HasPrefix(was, "on")} })
			c.all(t, "gate "+row["gate"], "gate "+row["gate"], input)
		}
	}
	c.log(t)
	if c.asked-c.undecided < 200 {
		t.Errorf("%d asked, %d not decided by Kueue", c.asked, c.undecided)
	}
}

// Each setting of the Configuration that bears on an answer.
func TestEachSettingIsAnsweredAsByKueue(t *testing.T) {
	g, c := readGood(t), counted{}
	texts := map[string][]any{
		"metav1.Duration": {"10s", "24h"}, "map[corev1.ResourceName]float64": {map[string]any{"nvidia.com/gpu": 2.0}}, "map[string]bool": {map[string]any{"PartialAdmission": false}},
		"[]string": {[]any{"cpu"}, []any{"nvidia.com/"}}, "corev1.ResourceName": {"cpu", "nvidia.com/gpu"}, "corev1.ResourceList": {map[string]any{"example.com/credits": "2"}},
		"ResourceTransformationStrategy": {"Retain", "Replace"}, "RequeuingTimestamp": {"Creation", "Eviction"}, "QuotaCheckStrategy": {"IgnoreUndeclared", "BlockUndeclared"},
		"[]PreemptionStrategy": {[]any{"LessThanOrEqualToFinalShare"}, []any{"LessThanInitialShare"}}, "FairSharing": {map[string]any{}}, "WaitForPodsReady": {map[string]any{"timeout": "5m"}},
		"AdmissionFairSharing": {map[string]any{"usageHalfLifeTime": "24h", "usageSamplingInterval": "5m"}},
	}
	for _, row := range table(t, "kueue-config.tsv") {
		if row["api"] != "config.kueue.x-k8s.io/v1beta2" || row["path"] == "apiVersion" {
			continue
		}
		some := texts[row["type"]]
		if some == nil {
			some = values(row["type"])
		}
		for _, v := range some {
			input := g.changed(0, func(o map[string]any) {
				if strings.HasPrefix(row["path"], "resources.transformations") {
					o["resources"] = map[string]any{"transformations": []any{map[string]any{"input": "cpu", "strategy": "Retain", "outputs": map[string]any{"example.com/credits": "1"}}}}
				}
				maps.Copy(o, set(o, row["path"], v).(map[string]any))
			})
			c.all(t, fmt.Sprintf("setting %s = %v", row["path"], v), "setting "+row["path"], input)
		}
	}
	c.log(t)
	if c.asked-c.undecided < 200 {
		t.Errorf("%d asked, %d not decided by Kueue", c.asked, c.undecided)
	}
}

// Each annotation and label that the tables name, on a workload that waits, one that runs, and templates of pods.
func TestEachLabelIsAnsweredAsByKueue(t *testing.T) {
	g, c := readGood(t), counted{}
	workloads := g.of("Workload")
	for _, row := range table(t, "kueue-labels.tsv") {
		if row["form"] != "annotation" && row["form"] != "label" {
			continue
		}
		for _, i := range []int{workloads[3], workloads[len(workloads)-1], workloads[len(workloads)-2]} {
			for _, v := range []string{"true", "300"} {
				for _, at := range []string{"metadata.", "spec.podSets[].template.metadata."} {
					path := at + row["form"] + "s"
					input := g.changed(i, func(o map[string]any) {
						maps.Copy(o, set(o, path, map[string]any{row["key"]: v}).(map[string]any))
					})
					c.all(t, fmt.Sprintf("%s %s = %s (object %d)", path, row["key"], v, i), row["key"], input)
				}
			}
		}
	}
	c.log(t)
	if c.alike < 200 {
		t.Errorf("%d answers are alike", c.alike)
	}
}

// Each condition with each reason that the tables name, on the first and the last object of its kind, and on those that run.
func TestEachConditionIsAnsweredAsByKueue(t *testing.T) {
	g, c := readGood(t), counted{}
	for _, row := range table(t, "kueue-conditions.tsv") {
		objects := g.of(row["object"])
		if len(objects) == 0 || row["status"] != "True" && row["status"] != "False" {
			continue
		}
		if row["object"] == "Workload" {
			objects = []int{objects[3], objects[len(objects)-1]}
		}
		for _, i := range slices.Compact([]int{objects[0], objects[len(objects)-1]}) {
			condition := map[string]any{"type": row["condition"], "status": row["status"], "reason": row["reason"], "message": "as the table has it", "lastTransitionTime": "2026-11-27T11:50:00Z"}
			input := g.changed(i, func(o map[string]any) {
				status, _ := o["status"].(map[string]any)
				old, _ := status["conditions"].([]any)
				list := []any{condition}
				for _, had := range old {
					if had.(map[string]any)["type"] != row["condition"] {
						list = append(list, had)
					}
				}
				maps.Copy(o, set(o, "status.conditions", list).(map[string]any))
			})
			what := fmt.Sprintf("%s %s %s %s", row["object"], row["condition"], row["status"], row["reason"])
			c.all(t, fmt.Sprintf("%s (object %d)", what, i), what, input)
		}
	}
	c.log(t)
	if c.alike < 200 {
		t.Errorf("%d answers are alike", c.alike)
	}
}
