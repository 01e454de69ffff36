package jsonform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
)

// maxFaults bounds how many faults are kept.
const maxFaults = 1000

// walker goes over one valid JSON value beside the type that it is read into, and finds what is wrong
// with it. encoding/json merges a field that an object has twice into one value.
type walker struct {
	data   []byte
	at     int
	values bool // look at values, too, not only at the names of fields
	path   []step
	fields map[reflect.Type]map[string]field
	faults fault.List
}

// step is a field or, without a name, an element.
type step struct {
	name  []byte
	index int
}

// field is one of a struct.
type field struct {
	name []byte
	of   reflect.Type
}

// faultsOf returns fields that an object has twice; with values also fields that the type does not
// have, and values that cannot be read.
func faultsOf(data []byte, t reflect.Type, values bool) fault.List {
	w := walker{data: data, values: values, fields: map[reflect.Type]map[string]field{}}
	w.value(t)
	return w.faults
}

func (w *walker) add(problem string, args ...any) {
	if len(w.faults) == maxFaults {
		return
	}
	var b strings.Builder
	for _, s := range w.path {
		if s.name == nil {
			fmt.Fprintf(&b, "[%d]", s.index)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if name := string(s.name); plain(name) {
			b.WriteString(name)
		} else {
			fmt.Fprintf(&b, "%q", short(name))
		}
	}
	w.faults.Add(cmp.Or(b.String(), "the value"), problem, args...)
}

// plain reports whether a name needs no quotes.
func plain(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_/", r))
	})
}

// short cuts a long text.
func short(text string) string {
	if len(text) > 100 {
		return text[:100] + "..."
	}
	return text
}

// blanks skips blanks, and returns the byte after them.
func (w *walker) blanks() byte {
	for ; ; w.at++ {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
}

// text skips a string, and returns it.
func (w *walker) text() []byte {
	from, escaped := w.at, false
	for w.at++; w.data[w.at] != '"'; w.at++ {
		if w.data[w.at] == '\\' {
			w.at, escaped = w.at+1, true
		}
	}
	w.at++
	if !escaped {
		return w.data[from+1 : w.at-1 : w.at-1]
	}
	var s string
	_ = json.Unmarshal(w.data[from:w.at], &s)
	return append([]byte{}, s...)
}

// value looks at a value. The type is nil if nothing is known of it.
func (w *walker) value(t reflect.Type) {
	c, from := w.blanks(), w.at
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	whole := t
	if t != nil && (readsItself(t) || t.Kind() == reflect.Interface) {
		t = nil
	}
	before := len(w.faults)
	switch {
	case c == '{':
		w.object(t)
	case c == '[':
		w.array(t)
	case c == '"':
		w.text()
	default:
		for ; w.at < len(w.data) && !strings.ContainsRune(",]} \t\r\n", rune(w.data[w.at])); w.at++ {
		}
	}
	if !w.values || whole == nil || len(w.faults) > before || (c == '{' || c == '[') && t != nil && holds(t, c) {
		return
	}
	if err := json.Unmarshal(w.data[from:w.at], reflect.New(whole).Interface()); err != nil {
		mismatch, found := (*json.UnmarshalTypeError)(nil), short(string(w.data[from:w.at]))
		switch {
		case whole == reflect.TypeFor[time.Time]():
			w.add("found %s, want a time (as in 2026-11-20T12:00:00Z)", found)
		case !errors.As(err, &mismatch):
			w.add("%s", short(err.Error()))
		case c == '{' || c == '[':
			w.add("found an %s, want %s", mismatch.Value, word(mismatch.Type))
		default:
			w.add("found %s, want %s", found, word(mismatch.Type))
		}
	}
}

// readsItself reports whether values of a type are read by a method.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[interface{ UnmarshalText([]byte) error }]())
}

// holds reports whether a type holds objects, or arrays; what is in them has been looked at.
func holds(t reflect.Type, c byte) bool {
	if c == '{' {
		return t.Kind() == reflect.Struct || t.Kind() == reflect.Map
	}
	return t.Kind() == reflect.Slice || t.Kind() == reflect.Array
}

// word names a type in the words of JSON.
func word(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if readsItself(t) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number (" + t.Kind().String() + ")"
}

func (w *walker) array(t reflect.Type) {
	var of reflect.Type
	if t != nil && holds(t, '[') {
		of = t.Elem()
	}
	w.path = append(w.path, step{})
	for w.at++; w.blanks() != ']'; {
		w.value(of)
		w.path[len(w.path)-1].index++
		if w.blanks() == ',' {
			w.at++
		}
	}
	w.at++
	w.path = w.path[:len(w.path)-1]
}

func (w *walker) object(t reflect.Type) {
	var known map[string]field
	var of reflect.Type
	if t != nil && t.Kind() == reflect.Struct {
		known = w.fieldsOf(t)
	} else if t != nil && t.Kind() == reflect.Map {
		of = t.Elem()
	}
	var seen names
	w.path = append(w.path, step{})
	for w.at++; w.blanks() != '}'; {
		name, of := w.text(), of
		w.path[len(w.path)-1].name = name
		f, ok := known[string(name)]
		if !ok && known != nil {
			f, ok = known[strings.ToLower(string(name))]
		}
		if ok {
			name, of = f.name, f.of
		} else if known != nil && w.values {
			w.add("unknown field %q", short(string(name)))
		}
		if seen.add(name) {
			w.add("is there twice")
		}
		w.blanks() // before the colon
		w.at++
		w.value(of)
		if w.blanks() == ',' {
			w.at++
		}
	}
	w.at++
	w.path = w.path[:len(w.path)-1]
}

// names are those of an object so far.
type names struct {
	few  [][]byte
	many map[string]bool // those after the first few
}

// add reports whether a name was there already.
func (n *names) add(name []byte) bool {
	for _, s := range n.few {
		if bytes.Equal(s, name) {
			return true
		}
	}
	if len(n.few) < 16 {
		n.few = append(n.few, name)
		return false
	}
	if n.many == nil {
		n.many = map[string]bool{}
	}
	was := n.many[string(name)]
	n.many[string(name)] = true
	return was
}

// fieldsOf returns the fields of a struct by their names, and by these in lower case: encoding/json
// finds them so, too.
func (w *walker) fieldsOf(t reflect.Type) map[string]field {
	known := w.fields[t]
	if known != nil {
		return known
	}
	known = map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" {
			name = cmp.Or(name, f.Name)
			found := field{[]byte(name), f.Type}
			known[name], known[strings.ToLower(name)] = found, found
		}
	}
	w.fields[t] = known
	return known
}
