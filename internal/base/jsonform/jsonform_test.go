package jsonform

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

type inner struct {
	B int `json:"b"`
}

type outer struct {
	A     int                    `json:"a"`
	Text  string                 `json:"text,omitempty"`
	List  []inner                `json:"list"`
	Of    map[string]int         `json:"of"`
	Wait  quota.OptionalDuration `json:"wait"`
	At    time.Time              `json:"at"`
	Other *inner                 `json:"other"`
	inner
	Embedded
	Hidden int `json:"-"`
}

// Embedded has its fields in the object that it is embedded in.
type Embedded struct {
	C []string `json:"c"`
}

// Whatever is wrong, the error names where and what, all at once; what is right reads.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		` {"a": 3, "list": [{"b": 1}, {"b": 2}, null], "of": {"x": 1, "X": 2}, "c": ["y"], "wait": "1m", "other": null} `: "",
		`{"A": 3, "TEXT": "x"}`: "",
		"null":                  "",
		"":                      "JSON ends early, at offset 0",
		`{"a":`:                 "JSON ends early, at offset 5",
		`{"a": 1} {}`:           "offset 8: text after the JSON value",
		`{"a": 1,}`:             "offset 9: invalid character '}' looking for beginning of object key string",
		"\xef\xbb\xbf{}":        "offset 1: invalid character 'ï' looking for beginning of value",
		`{"list": [{}, {"B": 1, "c": 2}], "d": {"e": 1}, "Hidden": 1}`: `list[1].c: unknown field "c"; d: unknown field "d"; Hidden: unknown field "Hidden"`,
		`{"a": "one", "list": [{"b": 1.5}, 7], "c": {}}`:               `a: found "one", want a number (int); list[0].b: found 1.5, want a number (int); list[1]: found 7, want an object; c: found an object, want an array`,
		`{"wait": "soon", "at": 5, "of": {"x": [1]}}`:                  `wait: "soon" is not a duration (as in 30m or 0s); at: found 5, want a time (as in 2026-11-20T12:00:00Z); of.x: found an array, want a number (int)`,
		`[1]`:                                "the value: found an array, want an object",
		`{"a": 1, "a": 2}`:                   "a: is there twice",
		`{"a": 1, "A": 2}`:                   "A: is there twice",
		`{"a": 1, "\u0061": 2}`:              "a: is there twice",
		`{"list": [{"b": 1}], "list": [{}]}`: "list: is there twice",
		`{"of": {"x": 1, "y": 2, "x": 3}}`:   "of.x: is there twice",
		`{"list": [{"\u001b[2J": 1}]}`:       `list[0]."\x1b[2J": unknown field "\x1b[2J"`,
	} {
		var into outer
		err := Read([]byte(text), &into)
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	var into outer
	if err := Read([]byte(`{"a": 3, "list": [{"b": 4}], "other": {"b": 5}}`), &into); err != nil || into.A != 3 || into.List[0].B != 4 || into.Other.B != 5 {
		t.Errorf("%+v, %v", into, err)
	}
}

// Names that are there many times, or are long, make no error without bounds.
func TestFaultsAreBounded(t *testing.T) {
	var list fault.List
	err := Read([]byte(`{"of":{"x":0`+strings.Repeat(`,"x":0`, 5000)+`}}`), new(outer))
	if !errors.As(err, &list) || len(list) != maxFaults {
		t.Errorf("%d faults", len(list))
	}
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{`{"%s":1}`, `{"a":"%s"}`, `{"wait":"%s"}`} {
		if err := Read(fmt.Appendf(nil, text, long), new(outer)); err == nil || len(err.Error()) > 500 {
			t.Errorf("%s: an error of %d bytes", text, len(fmt.Sprint(err)))
		}
	}
}

// What is there twice is found beside fields that are not known, and values of another type.
func TestTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "x": {"y": 1, "Y": 2}, "text": 5}`:       "<nil>",
		`{"a": 1, "x": {"y": 1, "y": 2}, "A": 1, "x": []}`: "x.y: is there twice; A: is there twice; x: is there twice",
	} {
		if got := fmt.Sprint(faultsOf([]byte(text), reflect.TypeFor[outer](), false).Err()); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Nothing panics; what encoding/json reads into the type, with no field twice, is read.
func FuzzRead(f *testing.F) {
	for _, text := range []string{`{"a": 1, "list": [{"b": 2}], "of": {"x": 1}, "wait": "1m"}`, `{"A": "x", "\u0061": {}, "c": [[null]]}`, ` [1, {}] `, `{"other": null, "at": ""}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into outer
		err := Read(data, &into)
		if err == nil && json.Unmarshal(data, new(outer)) != nil {
			t.Errorf("%q is read", data)
		}
		if json.Valid(data) {
			_ = faultsOf(data, reflect.TypeFor[outer](), false)
		}
	})
}
