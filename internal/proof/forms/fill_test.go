package forms

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// filler sets every field of a value to something that is written: numbers and texts that differ, times, the first
// valid value of a constant, one element of each list and map.
type filler struct{ n int64 }

const deepest = 12 // a group may be in a group

var (
	timeType = reflect.TypeFor[time.Time]()
	textType = reflect.TypeFor[encoding.TextMarshaler]()
	jsonType = reflect.TypeFor[json.Marshaler]()
	setType  = reflect.TypeFor[json.Unmarshaler]()
)

func (f *filler) fill(v reflect.Value, depth int) {
	f.n++
	switch t := v.Type(); {
	case t == timeType:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(f.n) * time.Second)))
	case t.Implements(textType) && (v.CanInt() || v.CanUint()):
		f.constant(v)
	case t.Implements(jsonType) && reflect.PointerTo(t).Implements(setType):
		f.optional(v)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if field := t.Field(i); field.IsExported() && field.Tag.Get("json") != "-" && depth < deepest && !again(t, field.Type, depth) {
				f.fill(v.Field(i), depth+1)
			}
		}
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		f.fill(v.Elem(), depth)
	case t.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		f.fill(v.Index(0), depth)
	case t.Kind() == reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth)
		}
	case t.Kind() == reflect.Map:
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		f.fill(key, depth)
		f.fill(value, depth)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, value)
	case t.Kind() == reflect.String:
		v.SetString(fmt.Sprint("text-", f.n))
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(f.n)
	case v.CanUint():
		v.SetUint(uint64(f.n) % 200)
	case v.CanFloat():
		v.SetFloat(float64(f.n) + 0.5)
	}
}

// again reports whether a field is of the type that it is in: one level is enough.
func again(t, field reflect.Type, depth int) bool {
	for field.Kind() == reflect.Slice || field.Kind() == reflect.Pointer || field.Kind() == reflect.Map {
		field = field.Elem()
	}
	return field == t && depth > 2
}

// constant sets the first value above zero that has a text.
func (f *filler) constant(v reflect.Value) {
	for n := range 50 {
		if v.CanUint() {
			v.SetUint(uint64(n + 1))
		} else {
			v.SetInt(int64(n + 1))
		}
		if _, err := v.Interface().(encoding.TextMarshaler).MarshalText(); err == nil {
			return
		}
	}
}

// optional sets a value that has a form of its own: to the first of some that it can be read from.
func (f *filler) optional(v reflect.Value) {
	for _, text := range []string{fmt.Sprint(f.n), fmt.Sprintf("%q", time.Duration(f.n)*time.Second), fmt.Sprintf("%q", fmt.Sprint("text-", f.n))} {
		if v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON([]byte(text)) == nil && !v.IsZero() {
			return
		}
	}
}

// fieldsOf returns the names that a type may have in JSON, with those of what it holds.
func fieldsOf(t reflect.Type, seen []reflect.Type) (names []string) {
	switch {
	case t == timeType || t.Implements(textType) || t.Implements(jsonType) || slices.Contains(seen, t):
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map || t.Kind() == reflect.Array:
		return fieldsOf(t.Elem(), seen)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.IsExported() || name == "-" {
				continue
			}
			if name == "" && !field.Anonymous {
				name = field.Name
			}
			if name != "" {
				names = append(names, name)
			}
			names = append(names, fieldsOf(field.Type, append(seen, t))...)
		}
	}
	return names
}

// namesIn returns the names of all fields in a text.
func namesIn(t *testing.T, text []byte) (names []string) {
	t.Helper()
	var value any
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inside := range v {
				names = append(names, name)
				walk(inside)
			}
		case []any:
			for _, inside := range v {
				walk(inside)
			}
		}
	}
	walk(value)
	return names
}
