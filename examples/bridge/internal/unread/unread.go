// Package unread finds the fields of a JSON object that a type does not have.
package unread

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Fields returns the paths of the fields that the type of into does not have, in order, as
// "rules[0].cooldown". What reads itself from JSON has all its fields. The field "name" of the object
// itself is none of them; named reports whether it is there.
func Fields(data []byte, into any) (unknown []string, named bool) {
	var all any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // of any size
	if decoder.Decode(&all) != nil {
		return nil, false
	}
	if object, ok := all.(map[string]any); ok {
		_, named = object["name"]
	}
	walk(all, reflect.TypeOf(into), "", &unknown)
	return unknown, named
}

func walk(v any, t reflect.Type, path string, unknown *[]string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			if t.Kind() == reflect.Slice {
				walk(v[i], t.Elem(), fmt.Sprintf("%s[%d]", path, i), unknown)
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			if f, ok := field(t, key); ok {
				walk(v[key], f, at, unknown)
			} else {
				*unknown = append(*unknown, at)
			}
		}
	}
}

// field returns the type of the field that encoding/json reads from a key.
func field(t reflect.Type, key string) (reflect.Type, bool) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" && strings.EqualFold(cmp.Or(name, f.Name), key) {
			return f.Type, true
		}
	}
	return nil, false
}
