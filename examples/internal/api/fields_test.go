package api_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	sigsjson "sigs.k8s.io/json"

	"github.com/cedesched/cede/examples/internal/api"
)

var update = flag.Bool("update", false, "rewrite fields.txt")

// more are fields that a bridge reads of an older version.
var more = map[string][]string{"PodSpec": {"workloadRef"}}

// fields.txt has each field of each type.
func TestFieldsAreThoseOfTheAPI(t *testing.T) {
	lines := map[string]string{}
	var add func(name string, t reflect.Type)
	add = func(name string, t reflect.Type) {
		if _, done := lines[name]; done {
			return
		}
		lines[name] = ""
		words := []string{}
		for _, f := range reflect.VisibleFields(t) {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if len(f.Index) > 1 { // promoted: of the object only where the embedded struct has no name in JSON
				name, _, _ := strings.Cut(t.Field(f.Index[0]).Tag.Get("json"), ",")
				if name != "" {
					continue
				}
			}
			if !f.IsExported() || field == "" || field == "-" || field == "kind" && len(f.Index) > 1 || field == "apiVersion" && len(f.Index) > 1 {
				continue
			}
			of := f.Type
			for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
				of = of.Elem()
			}
			unmarshals := reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]())
			if of.Kind() != reflect.Struct || unmarshals || of.NumField() == 0 {
				words = append(words, field)
				continue
			}
			below := of.Name()
			if below == "" || strings.Contains(below, "[") {
				below = name + "." + field
			}
			if of.Name() == "PodGroupSpec" || of.Name() == "resource" {
				below = name + "." + of.Name()
			}
			words = append(words, field+"="+below)
			add(below, of)
		}
		words = append(words, more[name]...)
		slices.Sort(words)
		lines[name] = strings.Join(words, " ")
	}
	for _, kinds := range []map[string]any{kueue, kubernetes, kai} {
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			add(kind, reflect.TypeOf(kinds[kind]))
		}
	}
	var b strings.Builder
	b.WriteString("# Made by: go test ./examples/internal/api -update. A line is a type and its fields, each with its type if that has fields.\n")
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&b, "%s %s\n", name, lines[name])
	}
	if *update {
		if err := os.WriteFile("fields.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("fields.txt"); err != nil || string(got) != b.String() {
		t.Errorf("fields.txt is not what the types say: run with -update (%v)", err)
	}
}

// Unknown fields and those that are there twice are found, where Kubernetes' own strict decoder finds them.
func TestCheckAgreesWithStrictDecoding(t *testing.T) {
	for _, text := range []string{
		`{}`, `null`, `5`, `{"preemption":{"withinClusterQueue":"Any"}}`, `{"preemption":{"minAdmitDuration":"1h"}}`,
		`{"preemption":{"withinCohort":"ReclaimFromAny","withinCohort":"x"},"stopPolicy":"None","stopPolicy":"Hold"}`,
		`{"resourceGroups":[{"flavors":[{"name":"f"},{"nam":"g","resources":[{"nominalquota":1,"name":"a","name":"b"}]}],"covered":[{"a":1,"a":2}]}]}`,
		`{"namespaceSelector":{"matchLabels":{"a":"b","a":"c"},"matchExpression":[]},"x":{"y":[{"z":1,"z":1}]}}`,
	} {
		var spec ClusterQueueSpec
		var want []string
		strict, err := sigsjson.UnmarshalStrict([]byte(text), &spec)
		if err != nil && text != "5" {
			t.Fatal(err)
		}
		for _, e := range strict {
			want = append(want, strings.NewReplacer(`unknown field "`, `unknown "spec.`, `duplicate field "`, `twice "spec.`).Replace(e.Error()))
		}
		var got []string
		for _, f := range api.Check("ClusterQueue", "spec", []byte(text)) {
			kind := "unknown"
			if f.Twice {
				kind = "twice"
			}
			got = append(got, fmt.Sprintf("%s %q", kind, f.Path))
		}
		// Kubernetes stops at an unknown field: what is below is not looked at.
		got = slices.DeleteFunc(got, func(g string) bool { return strings.Contains(g, "spec.x.") || strings.Contains(g, ".covered[") })
		slices.Sort(got)
		slices.Sort(want)
		if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// A field that stands in the wrong place, or has the name of a proposal, is told with its place.
func TestMeant(t *testing.T) {
	for text, want := range map[string]string{
		`{"preemption":{"minAdmitDuration":"1h"}}`:         "spec.preemption.withinClusterQueueConfig.minAdmitDuration",
		`{"preemption":{"withinCohort":"ReclaimFromAny"}}`: "spec.preemption.reclaimWithinCohort",
		`{"nominalQuota":1}`:                               "spec.resourceGroups.flavors.resources.nominalQuota",
		`{"name":"x"}`:                                     "", // of several
		`{"colour":"red"}`:                                 "",
	} {
		if got := api.Check("ClusterQueue", "spec", []byte(text)); len(got) != 1 || got[0].Meant != want {
			t.Errorf("%s: %+v, want %q", text, got, want)
		}
	}
}
