package input

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/cedesched/cede/fault"
)

// Part is a list of a state, of which faulty members can be taken out.
type Part struct {
	name   func(i int) string
	remove func(faulty map[int]string)
}

// PartOf is the part of a list; name is how a member is told.
func PartOf[T any](list *[]T, name func(*T) string) Part {
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

// Prune takes the members out of a state in which the library found faults, and returns a
// note for each. ok is false, and nothing is taken out, where a fault is of no member.
func Prune(faults fault.List, parts map[string]Part) (notes []string, ok bool) {
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
			notes = append(notes, oneLine(fmt.Sprintf("%s: %s: left out", parts[list].name(i), out[list][i])))
		}
		parts[list].remove(out[list])
	}
	return notes, len(faults) > 0
}
