package records

import (
	"fmt"
	"slices"
)

// oddity is what is wrong with rows, by kind.
type oddity struct {
	kind  string
	text  string // of the first one
	lines []int  // the first ones
	rows  int64
}

// maxLines is how many lines are named of a kind.
const maxLines = 5

// oddities are kinds in the order in which they came.
type oddities []oddity

func (all *oddities) note(kind string, line int, text string) {
	i := slices.IndexFunc(*all, func(o oddity) bool { return o.kind == kind })
	if i < 0 {
		i = len(*all)
		*all = append(*all, oddity{kind: kind, text: text})
	}
	o := &(*all)[i]
	if o.rows++; len(o.lines) < maxLines {
		o.lines = append(o.lines, line)
	}
}

// told says each kind, after what became of its rows.
func (all oddities) told(became string) (notes []string) {
	for _, o := range all {
		text := fmt.Sprintf("%s, odd in %s: %d (line %d: %s", became, o.kind, o.rows, o.lines[0], o.text)
		for _, line := range o.lines[1:] {
			text += fmt.Sprintf("; line %d", line)
		}
		if o.rows > int64(len(o.lines)) {
			text += "; and more"
		}
		notes = append(notes, text+")")
	}
	return notes
}
