package read

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/fields"
	"github.com/cedesched/cede/examples/internal/input"
)

// The tables of fields, by what reads the objects.
var (
	ofKueue      = fields.MustParse(kueue.Fields)
	ofKAI        = fields.MustParse(kai.Fields)
	ofKubernetes = fields.MustParse(kubernetes.Fields)
)

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

const isTwice = "is there twice: the last one counts"

// lostNote is the note on an object without a name or kind that can be read; ok is false for one of a kind
// that is not read anyway.
func lostNote(o *input.Object, why error, kinds ...string) (n bridge.Note, ok bool) {
	ok = o.Kind == "" || o.Kind == "Status" || slices.Contains(kinds, o.Kind)
	return bridge.Note{Object: o.Kind, Text: why.Error()}, ok
}
