package slurm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxNodes bounds how many nodes an expression names, maxName how long their names are, maxDigits how long their numbers.
const maxNodes, maxName, maxDigits = 100_000, 255, 10

// piece is a part of a name, or numbers in brackets.
var piece = regexp.MustCompile(`^(?:[\w.-]+|\[([\d,-]+)\])`)

// Expand lists the nodes of an expression of Slurm, as node[01-04,07],gpu-a[1-2], in its order. It fails on what is none, and on one of
// more than 100,000 nodes.
func Expand(text string) (nodes []string, err error) {
	names := []string{""} // of the expression up to the next comma
	for rest := text; rest != ""; {
		found := piece.FindStringSubmatch(rest)
		if found == nil {
			return nil, fmt.Errorf("%.60q: %.20q is no node", text, rest)
		}
		if names, err = longer(names, found[0], found[1]); err != nil {
			return nil, fmt.Errorf("%.60q: %w", text, err)
		}
		if len(names[0]) > maxName {
			return nil, fmt.Errorf("%.60q: a name of more than %d letters", text, maxName)
		}
		if rest = rest[len(found[0]):]; rest == "" || rest[0] == ',' {
			if nodes = append(nodes, names...); len(nodes) > maxNodes || rest == "," {
				return nil, fmt.Errorf("%.60q: %d nodes: want %d at most, each with a name", text, len(nodes), maxNodes)
			}
			names, rest = []string{""}, strings.TrimPrefix(rest, ",")
		}
	}
	return nodes, nil
}

// longer appends a part to names, or each number of some ranges, with as many digits as the first of its range has.
func longer(names []string, part, ranges string) (all []string, err error) {
	if ranges == "" {
		for _, name := range names {
			all = append(all, name+part)
		}
		return all, nil
	}
	for _, name := range names {
		for span := range strings.SplitSeq(ranges, ",") {
			low, high, ranged := strings.Cut(span, "-")
			if !ranged {
				high = low
			}
			from, err := strconv.ParseUint(low, 10, 32)
			to, err2 := strconv.ParseUint(high, 10, 32)
			switch {
			case err != nil || err2 != nil || to < from || len(low) > maxDigits:
				return nil, fmt.Errorf("%q is no range of numbers", span)
			case to-from >= maxNodes-uint64(len(all)):
				return nil, fmt.Errorf("more than %d nodes", maxNodes)
			}
			for n := from; n <= to; n++ {
				all = append(all, fmt.Sprintf("%s%0*d", name, len(low), n))
			}
		}
	}
	return all, nil
}
