package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
)

var everyField = flag.Int("every-field", 8, "in one good cluster each of so many fields is changed")

// changed is an object of the good cluster whose fields are changed, one at a time.
type changed struct {
	kind string
	is   func(object) bool
	of   reflect.Type
}

// In a good cluster one field is changed, each of the API in its turn: the program says what kube-scheduler says, or that it
// does not know.
func TestEachField(t *testing.T) {
	data, err := os.ReadFile("testdata/fields/dra-claim-toleration-value.json")
	if err != nil {
		t.Fatal(err)
	}
	const asks = "ml-platform/recsys-embedding-refresh-nightly-28934410-x7k2p"
	runs := func(o object) bool {
		spec, _ := o["spec"].(object)
		return spec["nodeName"] != nil && strings.HasPrefix(o["metadata"].(object)["name"].(string), "ablation")
	}
	waits := func(o object) bool {
		return asks == fmt.Sprint(o["metadata"].(object)["namespace"], "/", o["metadata"].(object)["name"])
	}
	all := func(object) bool { return true }
	before := inGoodCluster(t, data, asks)
	var found judged
	answers, moved := 0, 0
	file := filepath.Join(t.TempDir(), "cluster.json")
	for _, c := range []changed{
		{"Pod", waits, reflect.TypeFor[v1.Pod]()}, {"Pod", runs, reflect.TypeFor[v1.Pod]()}, {"Node", all, reflect.TypeFor[v1.Node]()},
		{"PodDisruptionBudget", all, reflect.TypeFor[policy.PodDisruptionBudget]()}, {"ResourceClaim", all, reflect.TypeFor[resourceapi.ResourceClaim]()},
		{"ResourceSlice", all, reflect.TypeFor[resourceapi.ResourceSlice]()}, {"DeviceClass", all, reflect.TypeFor[resourceapi.DeviceClass]()},
		{"Namespace", all, reflect.TypeFor[v1.Namespace]()},
	} {
		for i, path := range leavesOf(c.of, nil, 0) {
			if i%*everyField != 0 {
				continue
			}
			name := c.kind + " " + strings.Join(path, ".")
			text := change(t, data, c, path)
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			status, stdout, stderr := call(nil, "-f", file, "-mode", "in-place", "-o", "json", "-pod", asks)
			if status == 2 { // it does not wait any more, or has another name
				if stderr == "" {
					t.Errorf("%s: status 2", name)
				}
				continue
			}
			var a said
			if err := json.Unmarshal([]byte(stdout), &a); err != nil {
				t.Fatal(name, err)
			}
			if answers++; a.String() != before {
				moved++
			}
			found.judge(t, name, readObjects(t, input.Source{Name: file, Reader: strings.NewReader(string(text))}), offline.Question{Pod: asks}, a)
		}
	}
	t.Logf("%d fields, of which %d change the answer", answers, moved)
	found.log(t)
	if answers < 1000 / *everyField || moved == 0 {
		t.Error("too little is asked")
	}
}

// inGoodCluster is the answer before, with the toleration that the driver's taint needs.
func inGoodCluster(t *testing.T, data []byte, asks string) string {
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	a := sayInPlace(t, file, "-pod", asks)
	return a.String()
}

// leavesOf are the paths of the fields of a type that hold no further ones; "[]" is an item of a list.
func leavesOf(of reflect.Type, path []string, depth int) (list [][]string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case slices.Contains([]reflect.Type{reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[resource.Quantity](),
		reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[metav1.FieldsV1]()}, of), depth > 14:
	case of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8:
		return leavesOf(of.Elem(), append(slices.Clone(path), "[]"), depth+1)
	case of.Kind() == reflect.Map:
		return leavesOf(of.Elem(), append(slices.Clone(path), "example.com/key"), depth+1)
	case of.Kind() == reflect.Struct && of.NumField() > 0:
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Name == "TypeMeta" || name == "-" || name == "managedFields":
			case name == "":
				list = append(list, leavesOf(f.Type, path, depth+1)...)
			default:
				list = append(list, leavesOf(f.Type, append(slices.Clone(path), name), depth+1)...)
			}
		}
		return list
	}
	return [][]string{append(slices.Clone(path), kindOf(of))}
}

// kindOf says what a leaf holds.
func kindOf(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "time"
	case reflect.TypeFor[resource.Quantity]():
		return "quantity"
	case reflect.TypeFor[intstr.IntOrString]():
		return "number"
	}
	switch of.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "number"
	case reflect.String:
		return "text"
	}
	return "nothing"
}

// change changes a field of the first object of a kind.
func change(t *testing.T, data []byte, c changed, path []string) []byte {
	t.Helper()
	var list struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Items      []object `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Items, func(o object) bool { return o["kind"] == c.kind && c.is(o) })
	if i < 0 {
		t.Fatalf("the good cluster has no %s", c.kind)
	}
	list.Items[i] = set(list.Items[i], path).(object)
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// set returns a value with another one at a path, the last step of which says what it holds.
func set(value any, path []string) any {
	step, rest := path[0], path[1:]
	if len(rest) == 0 {
		return other(value, step)
	}
	if step == "[]" {
		list, _ := value.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list = slices.Clone(list)
		list[0] = set(list[0], rest)
		return list
	}
	within, _ := value.(object)
	if within == nil {
		within = object{}
	}
	within[step] = set(within[step], rest)
	return within
}

// other is another value for a leaf.
func other(value any, kind string) any {
	switch kind {
	case "text":
		if text, ok := value.(string); ok {
			return text + "x"
		}
		return "x"
	case "bool":
		return value != true
	case "number":
		if n, ok := value.(float64); ok {
			return n + 1
		}
		return 1
	case "quantity":
		return "5"
	case "time":
		return "2026-11-27T12:00:00Z"
	}
	return object{}
}
