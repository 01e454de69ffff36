// Package api knows the fields of the API objects that the bridges read: every field that the API has,
// whether a bridge reads it or not. It finds fields of an object that the API does not have, and those
// that are there twice.
//
// The fields stand in fields.txt, which a test makes out of the Go types of k8s.io/api.
package api

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

//go:embed fields.txt
var text string

// types are the fields of each type, with the type of those that have further fields.
var types = func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		fields := map[string]string{}
		for _, word := range words[1:] {
			name, of, _ := strings.Cut(word, "=")
			fields[name] = of
		}
		all[words[0]] = fields
	}
	return all
}()

// Has reports whether objects of a kind have a field at the top.
func Has(kind, field string) bool {
	_, has := types[kind][field]
	return has || field == "kind" || field == "apiVersion" || types[kind] == nil
}

// Fault is a field that the API does not have, or that is there twice.
type Fault struct {
	Path  string
	Twice bool
	Meant string // the path of a field of that name elsewhere in the object; empty: there is none, or several
}

// Check compares a part of an object with the API: metadata, spec or status, as JSON. It reports nothing
// about what is no JSON.
func Check(kind, part string, data []byte) []Fault {
	of, known := types[kind][part]
	if !known || len(data) == 0 {
		return nil
	}
	c := checker{decoder: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if c.value(of, part) != nil {
		return nil
	}
	for i := range c.faults {
		if f := &c.faults[i]; !f.Twice {
			f.Meant = meant(kind, f.Path)
		}
	}
	return c.faults
}

type checker struct {
	decoder *jsontext.Decoder
	faults  []Fault
}

// value checks a value of a type; empty: only for fields that are there twice.
func (c *checker) value(of, path string) error {
	token, err := c.decoder.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '[':
		for i := 0; c.decoder.PeekKind() != ']'; i++ {
			if err := c.value(of, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		_, err = c.decoder.ReadToken()
	case '{':
		var seen []string
		for c.decoder.PeekKind() != '}' {
			name, err := c.decoder.ReadToken()
			if err != nil {
				return err
			}
			field := name.String()
			at := path + "." + field
			below, known := types[of][field]
			switch again := slices.Contains(seen, field); {
			case of != "" && !known && !again:
				c.faults = append(c.faults, Fault{Path: at})
			case again && (of == "" || known):
				c.faults = append(c.faults, Fault{Path: at, Twice: true})
			}
			seen = append(seen, field)
			if err := c.value(below, at); err != nil {
				return err
			}
		}
		_, err = c.decoder.ReadToken()
	}
	return err
}

// oldNames are names that proposals had for fields.
var oldNames = map[string]string{"spec.preemption.withinCohort": "spec.preemption.reclaimWithinCohort"}

// meant finds the one field of a kind with the name of another that it does not have.
func meant(kind, path string) string {
	if name, ok := oldNames[path]; ok {
		return name
	}
	name := path[strings.LastIndex(path, ".")+1:]
	found := ""
	for _, p := range Paths(kind) {
		if p[strings.LastIndex(p, ".")+1:] == name && !strings.Contains(p, "template.") {
			if found != "" {
				return ""
			}
			found = p
		}
	}
	return found
}

// Paths lists the fields of a kind that hold no further ones, sorted: "spec.podSets[].count" is without
// brackets here.
func Paths(kind string) (paths []string) {
	var walk func(of, path string, depth int)
	walk = func(of, path string, depth int) {
		for name, below := range types[of] {
			at := strings.TrimPrefix(path+"."+name, ".")
			if below == "" || depth > 20 { // some types hold themselves
				paths = append(paths, at)
			} else {
				walk(below, at, depth+1)
			}
		}
	}
	walk(kind, "", 0)
	slices.Sort(paths)
	return paths
}
