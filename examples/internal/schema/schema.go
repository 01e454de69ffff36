// Package schema describes the JSON forms of Go types as JSON Schema (2020-12), as encoding/json writes and reads them.
//
// A struct is an object with a property for each field that has a name in its json tag, or for each exported field if the struct
// has no json tags at all; a field of an interface or function is left out, unless its interface is empty: then it is any JSON. A
// constant with a text is a string, one of the texts that its type writes. A type that reads JSON by itself has the JSON types that
// it accepts.
package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Schemas makes schemas. Make it with [New].
type Schemas struct {
	// Named are the schemas of structs, by their names.
	Named Object
	// Closed refuses properties that a struct does not have.
	Closed bool
	// Required lists the properties that are always written.
	Required bool

	at string
}

// New returns Schemas whose references to named ones begin with a text, as in "#/$defs/".
func New(at string) *Schemas { return &Schemas{Named: Object{}, at: at} }

// Of returns the schema of a type. Those of structs are in Named, and it refers to them.
func (s *Schemas) Of(t reflect.Type) Object {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.Of(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return Object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return Object{}
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return ofText(t)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return ofReader(t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Float64, reflect.Float32:
		return Object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return Object{"type": "array", "items": s.Of(t.Elem())}
	case reflect.Map:
		of := s.Of(t.Elem())
		if t.Elem().Kind() == reflect.Slice && of["type"] != nil {
			of["type"] = []any{of["type"], "null"} // as it is written if it is nil
		}
		return Object{"type": "object", "additionalProperties": of}
	case reflect.Interface:
		return Object{}
	case reflect.Struct:
		if t.Name() == "" {
			return s.object(Object{}, t)
		}
		name := strings.NewReplacer("[", "_", "]", "", "/", "_", "*", "").Replace(t.String())
		if _, known := s.Named[name]; !known {
			s.Named[name] = Object{}
			s.object(s.Named[name].(Object), t)
		}
		return Object{"$ref": s.at + name}
	}
	return Object{"type": "integer", "format": "int64"}
}

// object fills in the schema of a struct.
func (s *Schemas) object(of Object, t reflect.Type) Object {
	of["type"] = "object"
	properties, required := Object{}, []string(nil)
	s.fields(t, properties, &required)
	of["properties"] = properties
	if s.Closed {
		of["additionalProperties"] = false
	}
	if s.Required && len(required) > 0 {
		of["required"] = required
	}
	return of
}

func (s *Schemas) fields(t reflect.Type, properties Object, required *[]string) {
	tagged := slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Tag.Get("json") != "" && f.Tag.Get("json") != "-" })
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && !tagged {
			name = f.Name
		}
		kind := f.Type.Kind()
		if kind == reflect.Slice {
			kind = f.Type.Elem().Kind()
		}
		method := kind == reflect.Func || kind == reflect.Interface && f.Type.String() != "interface {}" && f.Type.String() != "[]interface {}"
		switch {
		case f.Anonymous && f.Tag.Get("json") == "" && f.Type.Kind() == reflect.Struct:
			s.fields(f.Type, properties, required)
		case name != "" && name != "-" && f.IsExported() && !method:
			of := s.Of(f.Type)
			if nilable := slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, f.Type.Kind()); nilable && !strings.Contains(options, "omit") && of["type"] != nil {
				of["type"] = []any{of["type"], "null"} // as it is written if it is nil
			}
			properties[name] = of
			if !strings.Contains(options, "omit") && tagged && f.Type.Kind() != reflect.Slice && f.Type.Kind() != reflect.Map && f.Type.Kind() != reflect.Pointer {
				*required = append(*required, name)
			}
		}
	}
}

// ofText returns the schema of a type with texts: all that it writes, if it is a small number.
func ofText(t reflect.Type) Object {
	out := Object{"type": "string"}
	if t.Kind() != reflect.Uint8 {
		return out
	}
	var texts []string
	for n := range 256 {
		v := reflect.New(t).Elem()
		v.SetUint(uint64(n))
		m, is := v.Interface().(encoding.TextMarshaler)
		if !is {
			return out
		}
		if text, err := m.MarshalText(); err == nil {
			texts = append(texts, string(text))
		}
	}
	if len(texts) > 0 {
		out["enum"] = texts
	}
	return out
}

// ofReader returns the JSON types that a type accepts which reads JSON by itself.
func ofReader(t reflect.Type) Object {
	var types []string
	for _, probe := range []struct{ kind, text string }{
		{"integer", "1"}, {"number", "0.5"}, {"boolean", "true"}, {"string", `"a"`}, {"string", `"1m"`}, {"object", "{}"}, {"array", "[]"}, {"null", "null"},
	} {
		if reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON([]byte(probe.text)) == nil && !slices.Contains(types, probe.kind) {
			types = append(types, probe.kind)
		}
	}
	out := Object{"description": "see " + t.String() + " in the documentation of the library"}
	if len(types) > 0 {
		out["type"] = types
	}
	return out
}
