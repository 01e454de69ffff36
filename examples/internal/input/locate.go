package input

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// locate finds the innermost value that cannot be decoded as a type, and why it cannot.
func locate(data json.RawMessage, t reflect.Type, err error) (path string, cause error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := reflect.PointerTo(t); p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return "", err
	}
	inside := func(step string, data json.RawMessage, t reflect.Type) bool {
		failure := json.Unmarshal(data, reflect.New(t).Interface())
		if len(data) == 0 || failure == nil {
			return false
		}
		rest, why := locate(data, t, failure)
		path, cause = step+rest, why
		return true
	}
	switch t.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			return "", err
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" {
				continue // its own fields follow
			}
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			if inside("."+name, fields[name], f.Type) {
				return path, cause
			}
		}
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return "", err
		}
		for i, item := range list {
			if inside(fmt.Sprintf("[%d]", i), item, t.Elem()) {
				return path, cause
			}
		}
	case reflect.Map:
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			return "", err
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if inside("["+name+"]", fields[name], t.Elem()) {
				return path, cause
			}
		}
	}
	return "", err
}

// nullItem finds the first null that is an item of a list. It reports nothing about what is no JSON.
func nullItem(data json.RawMessage) (path string, found bool) {
	if !bytes.Contains(data, []byte("null")) {
		return "", false
	}
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return "", false
		}
		if within, _ := d.StackIndex(d.StackDepth()); token.Kind() == 'n' && within == '[' {
			break
		}
	}
	pointer := d.StackPointer()
	for depth := 1; pointer != ""; depth++ {
		step, rest, _ := strings.Cut(string(pointer)[1:], "/")
		if within, _ := d.StackIndex(depth); within == '[' {
			path += "[" + step + "]"
		} else {
			path += "." + step
		}
		if pointer = ""; rest != "" {
			pointer = jsontext.Pointer("/" + rest)
		}
	}
	return path, true
}

// describeType is a Go type in the words of JSON.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int32:
		return "an integer of 32 bits"
	}
	return "an integer"
}
