// Package unread finds the fields of a JSON object that a type does not have, and those that are there twice.
package unread

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/fault"
)

// Fields returns the paths of the fields that the type of into does not have, sorted, as
// "rules[0].cooldown". A value that reads itself from JSON has all its fields. Twice lists the fields that an
// object has twice; encoding/json would merge the two values.
func Fields(data []byte, into any) (unknown []string, twice fault.List) {
	w := walker{decoder: json.NewDecoder(bytes.NewReader(data))}
	w.decoder.UseNumber() // of any size
	w.value(reflect.TypeOf(into), "")
	slices.Sort(w.unknown)
	return slices.Compact(w.unknown), w.twice
}

type walker struct {
	decoder *json.Decoder
	unknown []string
	twice   fault.List
}

// value walks over the next value; it stops where the data are no JSON. The type is nil if nothing is known of the value.
func (w *walker) value(t reflect.Type, path string) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil
	}
	token, err := w.decoder.Token()
	if err != nil {
		return
	}
	switch token {
	case json.Delim('['):
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for i := 0; w.decoder.More(); i++ {
			w.value(of, fmt.Sprintf("%s[%d]", path, i))
		}
		_, _ = w.decoder.Token()
	case json.Delim('{'):
		w.object(t, path)
	}
}

func (w *walker) object(t reflect.Type, path string) {
	seen := map[string]bool{}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return
		}
		name := token.(string)
		at := strings.TrimPrefix(path+"."+name, ".")
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Map {
			of = t.Elem()
		}
		if t != nil && t.Kind() == reflect.Struct {
			f, ok := field(t, name)
			if !ok {
				w.unknown = append(w.unknown, at)
			} else {
				name, of = f.Name, f.Type
			}
		}
		if seen[name] {
			w.twice = append(w.twice, fault.Fault{Path: at, Problem: "is there twice"})
		}
		seen[name] = true
		w.value(of, at)
	}
	_, _ = w.decoder.Token()
}

// field returns the field that encoding/json reads from a key.
func field(t reflect.Type, key string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" && strings.EqualFold(cmp.Or(name, f.Name), key) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
