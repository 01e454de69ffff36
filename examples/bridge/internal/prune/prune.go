// Package prune takes faulty members out of a state.
package prune

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
)

// Part is a list of a state, of which faulty members can be taken out.
type Part struct {
	name   func(i int) string
	remove func(faulty map[int]string)
}

// Of is the part of a list; name is how a member is told.
func Of[T any](list *[]T, name func(*T) string) Part {
	return Part{
		func(i int) string { return name(&(*list)[i]) },
		func(faulty map[int]string) {
			var left []T
			for i, one := range *list {
				if _, out := faulty[i]; !out {
					left = append(left, one)
				}
			}
			*list = left
		},
	}
}

var memberPath = regexp.MustCompile(`^(\w+)\[(\d+)\]\.?(.*)$`)

// Out takes the members out of a state in which the library found faults, and returns a
// note for each. ok is false, and nothing is taken out, where a fault is of no member.
func Out(faults preemption.Faults, parts map[string]Part) (notes []bridge.Note, ok bool) {
	out := map[string]map[int]string{}
	for _, f := range faults {
		match := memberPath.FindStringSubmatch(f.Path)
		if match == nil || parts[match[1]].name == nil {
			return nil, false
		}
		i, err := strconv.Atoi(match[2])
		if err != nil {
			return nil, false
		}
		if out[match[1]] == nil {
			out[match[1]] = map[int]string{}
		}
		if _, known := out[match[1]][i]; known {
			continue // the first fault will do
		}
		out[match[1]][i] = f.Problem
		if match[3] != "" {
			out[match[1]][i] = match[3] + ": " + f.Problem
		}
	}
	for _, list := range slices.Sorted(maps.Keys(out)) {
		for _, i := range slices.Sorted(maps.Keys(out[list])) {
			object := parts[list].name(i)
			text := fmt.Sprintf("%s: %s: left out", object, out[list][i])
			notes = append(notes, bridge.Note{Object: object, Text: strings.Join(strings.Fields(text), " ")}) // one line
		}
		parts[list].remove(out[list])
	}
	return notes, len(faults) > 0
}
