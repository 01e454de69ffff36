package fields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Fault is a field on which an answer may depend and that is not read as it stands.
type Fault struct {
	Path  string // with indexes and keys: "spec.podSets[0].count"
	Row   *Row   // nil: the field is not known
	Twice bool   // the field is there twice
	Meant string // of one that is not known: the one field with its name elsewhere in the object; empty: there is none, or several
}

// Check holds a part of an object, as JSON, against the table: metadata, spec, status or another field at the top. It
// reports nothing about what is no JSON, nor about a kind that the table does not have.
func (t *Table) Check(kind, part string, data []byte) []Fault {
	at := t.start(kind)
	if at == (place{}) || len(data) == 0 {
		return nil
	}
	below, known := at.into(part)
	if !known {
		if string(data) == "null" {
			return nil
		}
		return []Fault{{Path: part, Meant: t.meant(kind, part)}}
	}
	c := checker{decoder: decoderOf(data)}
	if c.value(below, part) != nil {
		return nil
	}
	for i := range c.faults {
		if f := &c.faults[i]; f.Row == nil && !f.Twice {
			f.Meant = t.meant(kind, f.Path)
		}
	}
	return c.faults
}

func decoderOf(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

type checker struct {
	decoder *jsontext.Decoder
	faults  []Fault
}

// value holds the next value against the line at a place, or against those below it.
func (c *checker) value(at place, path string) error {
	row := at.row()
	if at.isLeaf() {
		if row.Verdict != Doubt && row.Verdict != DoubtOfYes {
			return c.decoder.SkipValue()
		}
		value, err := c.decoder.ReadValue()
		if err == nil && row.counts(value) {
			c.faults = append(c.faults, Fault{Path: path, Row: row})
		}
		return err
	}
	switch c.decoder.PeekKind() {
	case '[':
		return c.list(at, path)
	case '{':
		return c.object(at, path)
	}
	value, err := c.decoder.ReadValue()
	if err == nil && row != nil && (row.Verdict == Doubt || row.Verdict == DoubtOfYes) && row.counts(value) {
		c.faults = append(c.faults, Fault{Path: path, Row: row})
	}
	return err
}

// counts reports whether a field with this value is a doubt.
func (r *Row) counts(value jsontext.Value) bool {
	text := string(value)
	switch text {
	case "null", "false", "0", `""`, "[]":
		return slices.Contains(r.Unless, "true") && text == "false" // the default is true
	}
	var plain string
	if json.Unmarshal(value, &plain) == nil {
		text = plain
	}
	return !slices.Contains(r.Unless, text)
}

func (c *checker) list(at place, path string) error {
	if _, err := c.decoder.ReadToken(); err != nil {
		return err
	}
	keyed := at.keyed()
	for i := 0; c.decoder.PeekKind() != ']'; i++ {
		step, name := "[]", fmt.Sprintf("%s[%d]", path, i)
		if keyed {
			item, err := c.decoder.ReadValue()
			if err != nil {
				return err
			}
			var typed struct{ Type, Status string }
			_ = json.Unmarshal(item, &typed)
			step, name = "["+typed.Type+"]", path+"["+typed.Type+"]"
			one := checker{decoder: decoderOf(item)}
			below, known := at.into(step)
			switch {
			case known:
				if err := one.value(below, name); err != nil {
					return err
				}
				c.faults = append(c.faults, one.faults...)
			case typed.Status != "False":
				c.faults = append(c.faults, Fault{Path: name})
			}
			continue
		}
		below, known := at.into(step)
		if !known { // a list where the API has something else: the reader says so
			if err := c.decoder.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := c.value(below, name); err != nil {
			return err
		}
	}
	_, err := c.decoder.ReadToken()
	return err
}

func (c *checker) object(at place, path string) error {
	if _, err := c.decoder.ReadToken(); err != nil {
		return err
	}
	var seen []string
	for c.decoder.PeekKind() != '}' {
		token, err := c.decoder.ReadToken()
		if err != nil {
			return err
		}
		field := token.String()
		step, name := field, path+"."+field
		if strings.ContainsAny(field, "./") || at.keyed() {
			step, name = "["+field+"]", path+"["+field+"]"
		}
		below, known := at.into(step)
		if slices.Contains(seen, field) {
			c.faults = append(c.faults, Fault{Path: name, Twice: true})
		}
		seen = append(seen, field)
		switch {
		case known:
			err = c.value(below, name)
		case c.decoder.PeekKind() == 'n':
			err = c.decoder.SkipValue()
		default:
			c.faults = append(c.faults, Fault{Path: name})
			err = c.decoder.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := c.decoder.ReadToken()
	return err
}

// oldNames are names that proposals had for fields.
var oldNames = map[string]string{"spec.preemption.withinCohort": "spec.preemption.reclaimWithinCohort"}

// meant finds the one field of a kind with the name of another that the kind does not have.
func (t *Table) meant(kind, path string) string {
	if name, ok := oldNames[path]; ok {
		return name
	}
	kind, _, _ = strings.Cut(kind, "/")
	last := func(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
	found := ""
	for i := range t.Rows {
		r := &t.Rows[i]
		if of, _, _ := strings.Cut(r.Kind, "/"); of != kind || last(r.Path) != last(path) || strings.Contains(r.Path, "template.") || r.Path == found {
			continue
		}
		if found != "" {
			return ""
		}
		found = r.Path
	}
	return found
}
