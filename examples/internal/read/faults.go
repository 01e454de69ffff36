package read

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/api"
	"github.com/cedesched/cede/examples/internal/fields"
	"github.com/cedesched/cede/examples/internal/input"
)

// ofKubernetes is its table of fields.
var ofKubernetes = fields.MustParse(kubernetes.Fields)

// faultsIn holds an object against a table: fields on which answers may depend and that are not read as they stand.
func faultsIn(t *fields.Table, o *input.Object, kind string) (faults []bridge.FieldFault) {
	for _, path := range o.Twice {
		faults = append(faults, faultOf(t, kind, fields.Fault{Path: path, Twice: true}))
	}
	check := func(part string, data []byte) {
		for _, f := range t.Check(kind, part, data) {
			if !slices.Contains(o.Twice, f.Path) {
				faults = append(faults, faultOf(t, kind, f))
			}
		}
	}
	check("metadata", o.Head)
	check("spec", o.Spec)
	check("status", o.Status)
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		check(name, o.Fields[name])
	}
	return faults
}

func faultOf(t *fields.Table, kind string, f fields.Fault) bridge.FieldFault {
	switch {
	case f.Twice:
		row := t.Of(kind, fields.Plain(f.Path))
		return bridge.FieldFault{Path: f.Path, Text: isTwice, Harmless: row != nil && row.Verdict == fields.Harmless}
	case f.Row != nil:
		return bridge.FieldFault{Path: f.Path, Text: "is not modelled: " + f.Row.Why, OnlyYes: f.Row.Verdict == fields.DoubtOfYes}
	}
	out := bridge.FieldFault{Path: f.Path, Text: "is not a field that is known"}
	if f.Meant != "" {
		out.Text += " (" + f.Meant + " is one)"
	}
	return out
}

// faultsOf compares an object with its API: fields that the API does not have, and those that are
// there twice, in the order of the object's parts.
func faultsOf(o *input.Object, kind string) (faults []bridge.FieldFault) {
	add := func(path string, twice bool, meant string) {
		faults = append(faults, fieldFault(path, twice, meant, !twice && harmless(path)))
	}
	for _, path := range o.Twice {
		add(path, true, "")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		if !api.Has(kind, name) {
			add(name, false, "")
		}
	}
	for _, part := range [...]struct {
		name string
		data []byte
	}{{"metadata", o.Head}, {"spec", o.Spec}, {"status", o.Status}} {
		for _, f := range api.Check(kind, part.name, part.data) {
			if !slices.Contains(o.Twice, f.Path) {
				add(f.Path, f.Twice, f.Meant)
			}
		}
	}
	var spec map[string]json.RawMessage
	if of := unsupported[kind]; of != nil && json.Unmarshal(o.Spec, &spec) == nil {
		for _, name := range of {
			if value := string(spec[name]); value != "" && value != "null" && value != "[]" {
				faults = append(faults, bridge.FieldFault{Path: "spec." + name, Text: "is not supported"})
			}
		}
	}
	return faults
}

const isTwice = "is there twice: the last one counts"

// fieldFault is a field that is there twice, or that the API does not have.
func fieldFault(path string, twice bool, meant string, harmless bool) bridge.FieldFault {
	f := bridge.FieldFault{Path: path, Text: "is not a field of its API, and is not looked at", Harmless: harmless}
	if twice {
		f.Text = isTwice
	}
	if meant != "" {
		f.Text += " (" + meant + " is one)"
	}
	return f
}

// unsupported are fields of the spec that an answer depends on and that are not modelled, by kind.
var unsupported = map[string][]string{"kai.PodGroup": {"minSubGroup", "subGroups"}}

// harmless reports whether no answer depends on a field that is not known: what schedulers decide by is
// in the spec, and in the status what is assigned.
func harmless(path string) bool {
	inStatus := strings.HasPrefix(path, "status.") && !strings.HasPrefix(path, "status.admission.")
	return strings.HasPrefix(path, "metadata.") || inStatus || strings.Contains(path, ".template.metadata.")
}

// lostNote is the note on an object without a name or kind that can be read; ok is false for one of a kind
// that is not read anyway.
func lostNote(o *input.Object, why error, kinds ...string) (n bridge.Note, ok bool) {
	ok = o.Kind == "" || o.Kind == "Status" || slices.Contains(kinds, o.Kind)
	return bridge.Note{Object: o.Kind, Text: why.Error()}, ok
}
