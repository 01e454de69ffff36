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
	for _, kinds := range []map[string]any{kubernetes} {
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
