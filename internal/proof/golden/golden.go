// Package golden keeps JSON forms: every version reads what earlier versions wrote, and
// writes it again byte by byte.
package golden

import (
	"encoding"
	"encoding/json"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/base/jsonform"
)

// Kept checks the golden files of a type: NAME.json and NAME-*.json. Each must be readable
// without an unknown field, and be written again unchanged, so that a new field is omitted if
// it is not set. Together they must set every field of every struct in the type: a new field
// comes with a new file. Files that exist are never changed. elsewhere lists types with fields that the
// files of another type set.
func Kept[T any](t testing.TB, files fs.FS, name string, elsewhere ...reflect.Type) {
	t.Helper()
	names, err := fs.Glob(files, name+"-*.json")
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, file := range append([]string{name + ".json"}, names...) {
		data, err := fs.ReadFile(files, file)
		if err != nil {
			t.Fatal(err)
		}
		var v T
		if err := jsonform.Read(data, &v); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		again, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if line, was, is := differ(string(data), string(again)+"\n"); line > 0 {
			t.Errorf("%s:%d: written again as %q, not %q", file, line, is, was)
		}
		note(reflect.ValueOf(&v).Elem(), set)
	}
	var unset []string
	seen := map[reflect.Type]bool{}
	for _, other := range elsewhere {
		seen[other] = true
	}
	fields(reflect.TypeFor[T](), seen, func(field string) {
		if !set[field] {
			unset = append(unset, field)
		}
	})
	slices.Sort(unset)
	if len(unset) > 0 {
		t.Errorf("no golden file sets %s: add %s-2.json, or the like, and change no file", strings.Join(unset, ", "), name)
	}
}

// differ returns the number of the first line that differs, from 1, and both lines; 0 if none
// differs.
func differ(a, b string) (line int, inA, inB string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		inA, inB = "", ""
		if i < len(x) {
			inA = x[i]
		}
		if i < len(y) {
			inB = y[i]
		}
		if inA != inB || i >= len(x) || i >= len(y) {
			return i + 1, inA, inB
		}
	}
	return 0, "", ""
}

// whole reports whether a type has a text or JSON form of its own.
func whole(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func nameOf(t reflect.Type, f reflect.StructField) string { return t.String() + "." + f.Name }

// inJSON reports whether a field is written.
func inJSON(f reflect.StructField) bool { return f.IsExported() && f.Tag.Get("json") != "-" }

// note marks the fields in a value that are set.
func note(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			note(v.Elem(), set)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			note(v.Index(i), set)
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			note(i.Value(), set)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); inJSON(f) && !whole(v.Type()) && !v.Field(i).IsZero() {
				set[nameOf(v.Type(), f)] = true
				note(v.Field(i), set)
			}
		}
	}
}

// fields calls visit with each field that a value of the type may have, at any depth.
func fields(t reflect.Type, seen map[reflect.Type]bool, visit func(string)) {
	if seen[t] || whole(t) {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		fields(t.Elem(), seen, visit)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); inJSON(f) {
				visit(nameOf(t, f))
				fields(f.Type, seen, visit)
			}
		}
	}
}
