package fields

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
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
	c := checker{decoder: decoderOf(data), path: append(make([]byte, 0, 128), part...)}
	if c.value(below) != nil {
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
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // which reads a buffer in place
}

type checker struct {
	decoder *jsontext.Decoder
	path    []byte // of the value; a text only in a fault
	seen    []string
	faults  []Fault
}

// fault notes a fault of the value at the path.
func (c *checker) fault(f Fault) {
	f.Path = string(c.path)
	c.faults = append(c.faults, f)
}

// value holds the next value against the line at a place, or against those below it.
func (c *checker) value(at place) error {
	row := at.row()
	if at.isLeaf() {
		if row.Verdict != Doubt && row.Verdict != DoubtOfYes {
			return c.decoder.SkipValue()
		}
		value, err := c.decoder.ReadValue()
		if err == nil && row.counts(value) {
			c.fault(Fault{Row: row})
		}
		return err
	}
	switch c.decoder.PeekKind() {
	case '[':
		return c.list(at)
	case '{':
		return c.object(at)
	}
	value, err := c.decoder.ReadValue()
	if err == nil && row != nil && (row.Verdict == Doubt || row.Verdict == DoubtOfYes) && row.counts(value) {
		c.fault(Fault{Row: row})
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

func (c *checker) list(at place) error {
	if _, err := c.decoder.ReadToken(); err != nil {
		return err
	}
	keyed, above := at.keyed(), len(c.path)
	for i := 0; c.decoder.PeekKind() != ']'; i++ {
		var err error
		if keyed {
			err = c.keyedItem(at)
		} else {
			c.path = append(strconv.AppendInt(append(c.path, '['), int64(i), 10), ']')
			err = c.item(at)
		}
		if err != nil {
			return err
		}
		c.path = c.path[:above]
	}
	_, err := c.decoder.ReadToken()
	return err
}

// item holds an item of a list against the line for all.
func (c *checker) item(at place) error {
	if below, known := at.into("[]"); known {
		return c.value(below)
	}
	return c.decoder.SkipValue() // a list where the API has something else: the reader says so
}

// keyedItem holds an item of a list against the line for its type.
func (c *checker) keyedItem(at place) error {
	item, err := c.decoder.ReadValue()
	if err != nil {
		return err
	}
	var typed struct{ Type, Status string }
	_ = json.Unmarshal(item, &typed)
	step := "[" + typed.Type + "]"
	c.path = append(c.path, step...)
	switch below, known := at.into(step); {
	case known:
		one := checker{decoder: decoderOf(item), path: c.path}
		err = one.value(below)
		c.faults = append(c.faults, one.faults...)
	case typed.Status != "False":
		c.fault(Fault{})
	}
	return err
}

func (c *checker) object(at place) error {
	if _, err := c.decoder.ReadToken(); err != nil {
		return err
	}
	keyed, above, first := at.keyed(), len(c.path), len(c.seen)
	for c.decoder.PeekKind() != '}' {
		token, err := c.decoder.ReadToken()
		if err != nil {
			return err
		}
		field := token.String()
		step := field
		if keyed || strings.ContainsAny(field, "./") {
			step = "[" + field + "]"
			c.path = append(c.path, step...)
		} else {
			c.path = append(append(c.path, '.'), field...)
		}
		below, known := at.into(step)
		if slices.Contains(c.seen[first:], field) {
			c.fault(Fault{Twice: true})
		}
		c.seen = append(c.seen, field)
		switch {
		case known:
			err = c.value(below)
		case c.decoder.PeekKind() == 'n':
			err = c.decoder.SkipValue()
		default:
			c.fault(Fault{})
			err = c.decoder.SkipValue()
		}
		if err != nil {
			return err
		}
		c.path = c.path[:above]
	}
	c.seen = c.seen[:first]
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
