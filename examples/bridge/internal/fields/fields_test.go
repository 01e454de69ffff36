// Package fields tests the tables that say what becomes of each field of an API object.
//
// A table is a file of Markdown. It has a section for each kind of object, with rows
//
//	| `spec.a`, `spec.b[].c` | state, notes | what it becomes |
//
// The first cell names fields by their path in JSON; one that ends in ".*" stands for all that is
// below. The second says what of the result a change of the field changes, or "nothing".
package fields

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Kind is a section of the table.
type Kind struct {
	Section string
	Type    reflect.Type
	// Base is the object in JSON that the samples change.
	Base string
	// Samples is a value in JSON of each field, by path; of what a row with ".*" stands for, of one
	// field at least.
	Samples map[string]string
}

// Metadata is a sample of each field of the metadata.
var Metadata = map[string]string{
	"metadata.name": `"other"`, "metadata.namespace": `"other"`, "metadata.uid": `"other"`, "metadata.creationTimestamp": `"2026-05-04T07:00:00Z"`,
	"metadata.deletionTimestamp": `"2026-05-04T09:00:00Z"`, "metadata.labels": `{"other":"x"}`, "metadata.annotations": `{"other":"x"}`,
	"metadata.ownerReferences[].kind": `"DaemonSet"`, "metadata.ownerReferences[].controller": `true`,
}

// Samples returns those of the metadata and the given ones: a path, its sample, the next path.
func Samples(of ...string) map[string]string {
	all := maps.Clone(Metadata)
	for i := 0; i < len(of); i += 2 {
		all[of[i]] = of[i+1]
	}
	return all
}

// Check fails unless the table has each field of each kind once, and no others; unless there are
// samples; and unless each sample changes of the result what its row says. result is what is made
// of the objects when the one of the section is the given JSON, in parts with a name.
func Check(t *testing.T, file string, leaves []reflect.Type, kinds []Kind, result func(section string, object []byte) map[string]string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range strings.Split(string(text), "\n## ")[1:] {
		name, body, _ := strings.Cut(s, "\n")
		sections[name] = body
	}
	for _, kind := range kinds {
		t.Run(kind.Section, func(t *testing.T) {
			rows := readRows(sections[kind.Section])
			delete(sections, kind.Section)
			kind.check(t, rows, paths(kind.Type, leaves), func(object []byte) map[string]string { return result(kind.Section, object) })
		})
	}
	delete(sections, notRead) // see CheckAPI
	for name := range sections {
		t.Errorf("section %s is of no kind", name)
	}
}

type row struct {
	paths   []string
	changes string
}

var (
	rowText  = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| ([^|]*) \\| ([^|]+) \\|$")
	pathText = regexp.MustCompile("`([^`]+)`")
)

func readRows(text string) (rows []row) {
	for _, m := range rowText.FindAllStringSubmatch(text, -1) {
		r := row{changes: m[2]}
		for _, p := range pathText.FindAllStringSubmatch(m[1], -1) {
			r.paths = append(r.paths, p[1])
		}
		rows = append(rows, r)
	}
	return rows
}

// covers reports whether a path of the table stands for a field.
func covers(inTable, field string) bool {
	prefix, all := strings.CutSuffix(inTable, "*")
	return inTable == field || all && strings.HasPrefix(field, prefix)
}

func (k *Kind) check(t *testing.T, rows []row, all []string, result func([]byte) map[string]string) {
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, field := range all {
		n := 0
		for _, r := range rows {
			for _, p := range r.paths {
				if covers(p, field) {
					n++
				}
			}
		}
		if n != 1 {
			t.Errorf("%s is in the table %d times", field, n)
		}
	}
	for path := range k.Samples {
		if !slices.Contains(all, path) {
			t.Errorf("%s has a sample and is no field", path)
		}
	}
	before := result([]byte(k.Base))
	for _, r := range rows {
		for _, p := range r.paths {
			samples := 0
			for _, field := range all {
				value, ok := k.Samples[field]
				if !covers(p, field) || !ok {
					continue
				}
				samples++
				if got := changed(before, result(with(t, k.Base, field, value))); got != r.changes {
					t.Errorf("%s: %s changes %s; the table says %s", field, value, got, r.changes)
				}
			}
			if samples == 0 {
				t.Errorf("%s has no sample", p)
			}
		}
	}
}

// changed names the parts that differ.
func changed(a, b map[string]string) string {
	var names []string
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// paths are those of the fields of a type, in JSON, that hold no further ones.
func paths(t reflect.Type, leaves []reflect.Type) (list []string) {
	var walk func(reflect.Type, string)
	walk = func(t reflect.Type, path string) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			if t.Kind() == reflect.Slice {
				path += "[]"
			}
			t = t.Elem()
		}
		unmarshals := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
		if t.Kind() != reflect.Struct || unmarshals || slices.Contains(leaves, t) || t.NumField() == 0 {
			list = append(list, path)
			return
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || !f.IsExported() || len(f.Index) > 1 && !promoted(t, f):
			case f.Anonymous && name == "":
			case name == "":
				walk(f.Type, strings.TrimPrefix(path+"."+f.Name, "."))
			default:
				walk(f.Type, strings.TrimPrefix(path+"."+name, "."))
			}
		}
	}
	walk(t, "")
	return list
}

// promoted reports whether a field of an embedded struct is one of the outer in JSON, too.
func promoted(t reflect.Type, f reflect.StructField) bool {
	outer := t.Field(f.Index[0])
	return outer.Anonymous && outer.Tag.Get("json") == ""
}

// with sets a field of an object in JSON.
func with(t *testing.T, object, path, value string) []byte {
	t.Helper()
	var root, v any
	if err := json.Unmarshal([]byte(object), &root); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("%s: %s: %v", path, value, err)
	}
	out, err := json.Marshal(set(root, strings.Split(strings.ReplaceAll(path, "[]", ".0"), "."), v))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func set(in any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	if path[0] == "0" {
		list, _ := in.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = set(list[0], path[1:], v)
		return list
	}
	object, _ := in.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[path[0]] = set(object[path[0]], path[1:], v)
	return object
}

func text(of any) string {
	data, err := json.Marshal(of)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
