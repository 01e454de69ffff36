package input

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
)

// Of an object one of whose values cannot be read the others are read, and what cannot be is not set.
func TestReadEach(t *testing.T) {
	type spec struct {
		Active *bool               `json:"active"`
		Count  int64               `json:"count"`
		Limits bridge.ResourceList `json:"limits"`
		Sets   []struct {
			Name string `json:"name"`
			Size *int64 `json:"size"`
		} `json:"sets"`
	}
	yes, three := true, int64(3)
	want := spec{Active: &yes, Count: 2, Limits: bridge.ResourceList{"cpu": bridge.Units(1)}}
	want.Sets = append(want.Sets, struct {
		Name string `json:"name"`
		Size *int64 `json:"size"`
	}{"a", &three})
	for text, c := range map[string]struct {
		unread []string
		change func(*spec)
	}{
		`{"active":true,"count":2,"limits":{"cpu":"1"},"sets":[{"name":"a","size":3}]}`:           {nil, func(*spec) {}},
		`{"active":5,"count":2,"limits":{"cpu":"1"},"sets":[{"name":"a","size":3}]}`:              {[]string{"spec.active"}, func(s *spec) { s.Active = nil }},
		`{"active":true,"count":"2","limits":{"cpu":"1"},"sets":[{"name":"a","size":3}]}`:         {[]string{"spec.count"}, func(s *spec) { s.Count = 0 }},
		`{"active":true,"count":2,"limits":{"cpu":"1","gpu":"x"},"sets":[{"name":"a","size":3}]}`: {[]string{"spec.limits.gpu"}, func(*spec) {}},
		`{"active":true,"count":2,"limits":7,"sets":[{"name":"a","size":"x"}]}`:                   {[]string{"spec.limits", "spec.sets[0].size"}, func(s *spec) { s.Limits, s.Sets[0].Size = nil, nil }},
		`{"active":true,"count":2,"limits":{"cpu":"1"},"sets":[5,{"name":"a","size":3}],"x":false}`: {[]string{"spec.sets[0]"}, func(s *spec) {
			s.Sets = slices.Insert(s.Sets, 0, struct {
				Name string `json:"name"`
				Size *int64 `json:"size"`
			}{})
		}},
		`{"active":null,"count":2,"limits":{"cpu":"1","gpu":null},"sets":[null,{"name":"a","size":3}]}`: {[]string{"spec.limits.gpu", "spec.sets[0]"}, func(s *spec) {
			s.Active, s.Sets = nil, slices.Insert(s.Sets, 0, struct {
				Name string `json:"name"`
				Size *int64 `json:"size"`
			}{})
		}},
		`[]`: {[]string{"spec"}, func(s *spec) { *s = spec{} }},
	} {
		var got spec
		unread := (&Object{Spec: json.RawMessage(text)}).ReadEach(&got, nil)
		expected := want
		expected.Sets = slices.Clone(want.Sets)
		if c.change(&expected); !slices.Equal(unread, c.unread) || !reflect.DeepEqual(expected, got) {
			t.Errorf("%s: %q, want %q\n%+v, want %+v", text, unread, c.unread, got, expected)
		}
	}
}
