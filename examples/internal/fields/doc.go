// Package fields holds an object against a table that says of every field of an API what a reader does with it.
//
// A table is text, a line a field, with tabs between the columns, and "#" before a comment:
//
//	kind	path	verdict	unless	why
//
// The path names fields as in JSON: "spec.podSets[].count" is one of each item of a list, "spec.nodeLabels.*" one of each
// key of a map, "metadata.annotations[example.com/key]" that of one key, "metadata.annotations[example.com/*]" those with a
// prefix, and "status.conditions[Evicted]" the condition of that type. A line stands for all that is below its field,
// unless other lines go on from it. The verdict is
//
//   - read: what the reader makes of the field is right, whatever its value;
//   - harmless: no answer depends on it, and why;
//   - doubt: an answer can depend on it, how, and it is not modelled. "doubt of yes": it can only make a no of a yes.
//
// unless lists values with which a doubt is none, separated by commas: the default, as a rule. Null, false, 0, the empty
// text and the empty list are none either. Lines of the kind "*" are for every kind. A kind may have stages, as in "Workload/waits": its lines come before those of
// the kind alone. What is in no line is a field that the reader does not know.
package fields

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Verdict is what a reader does with a field. The zero value: it does not know the field.
type Verdict uint8

const (
	Unknown    Verdict = iota
	Read               // what the reader makes of it is right
	Harmless           // no answer depends on it
	Doubt              // an answer can depend on it, and it is not modelled
	DoubtOfYes         // likewise, and it can only make a no of a yes
)

var verdicts = map[string]Verdict{"read": Read, "harmless": Harmless, "doubt": Doubt, "doubt of yes": DoubtOfYes}

// String is the verdict as tables have it.
func (v Verdict) String() string {
	for text, is := range verdicts {
		if is == v {
			return text
		}
	}
	return "unknown"
}

// Row is a line of a table.
type Row struct {
	Kind, Path string
	Verdict    Verdict
	Unless     []string
	Why        string
}

// Table says of the fields of some kinds what a reader does with them. The zero value knows no kind.
type Table struct {
	Rows  []Row
	kinds map[string]*node
}

// node is a place in the tree of paths. Its steps are names, "[]", "*", "[key]" and "[prefix*]".
type node struct {
	row   *Row
	below map[string]*node
	// prefixes are the steps "[prefix*]".
	prefixes []string
	keyed    bool // there are steps "[key]" or "[prefix*]"
}

// Parse reads a table. It fails on a line of another form, and on a path that is there twice.
func Parse(text string) (*Table, error) {
	t := &Table{kinds: map[string]*node{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 5 || verdicts[cells[2]] == Unknown || cells[4] == "" {
			return nil, fmt.Errorf("line %d: %q: want kind, path, verdict, unless and why, with tabs between them", number, line)
		}
		row := Row{Kind: cells[0], Path: cells[1], Verdict: verdicts[cells[2]], Why: cells[4]}
		if cells[3] != "" {
			row.Unless = strings.Split(cells[3], ",")
		}
		t.Rows = append(t.Rows, row)
	}
	for i := range t.Rows {
		if t.Rows[i].Kind == every {
			continue
		}
		if err := t.add(&t.Rows[i]); err != nil {
			return nil, err
		}
	}
	t.addToEvery()
	return t, nil
}

// every is the kind of lines that are for all kinds without a line of that path.
const every = "*"

func (t *Table) addToEvery() {
	for _, kind := range t.Kinds() {
		for i := range t.Rows {
			if row := &t.Rows[i]; row.Kind == every && t.kinds[kind].find(row.Path) == nil {
				_ = (&Table{kinds: map[string]*node{every: t.kinds[kind]}}).add(row) // there is none
			}
		}
	}
}

// find is the node of a path; nil: there is none with a line, nor with lines below it.
func (n *node) find(path string) *node {
	for _, step := range Steps(path) {
		if n = n.below[step]; n == nil {
			return nil
		}
	}
	return n
}

// MustParse is Parse of a table that is part of the program.
func MustParse(text string) *Table {
	t, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return t
}

func (t *Table) add(row *Row) error {
	at := t.kinds[row.Kind]
	if at == nil {
		at = &node{}
		t.kinds[row.Kind] = at
	}
	for _, step := range Steps(row.Path) {
		if at.below == nil {
			at.below = map[string]*node{}
		}
		if at.below[step] == nil {
			at.below[step] = &node{}
			at.keyed = at.keyed || step[0] == '[' && step != "[]"
			if prefix, is := strings.CutSuffix(step, "*]"); is {
				at.prefixes = append(at.prefixes, prefix)
			}
		}
		at = at.below[step]
	}
	if at.row != nil {
		return fmt.Errorf("%s %s is there twice", row.Kind, row.Path)
	}
	at.row = row
	return nil
}

// Steps splits a path: "a.b[].c[x/y.z]" is a, b, [], c, [x/y.z].
func Steps(path string) (steps []string) {
	for path != "" {
		end := strings.IndexAny(path, ".[")
		switch {
		case end < 0:
			return append(steps, path)
		case path[end] == '.' && end == 0:
			path = path[1:]
		case end == 0:
			end = strings.IndexByte(path, ']') + 1
			steps, path = append(steps, path[:end]), path[end:]
		default:
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps
}

// Plain is a path without the numbers of items.
func Plain(path string) string { return numbers.ReplaceAllString(path, "[]") }

var numbers = regexp.MustCompile(`\[[0-9]+\]`)

// Knows reports whether the table has lines of a kind.
func (t *Table) Knows(kind string) bool { return t.kinds[kind] != nil }

// Kinds lists the kinds, without stages, sorted.
func (t *Table) Kinds() (list []string) {
	for name := range t.kinds {
		kind, _, _ := strings.Cut(name, "/")
		list = append(list, kind)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Of returns the line of a field of a kind, by its path without indexes; nil: the reader does not know it. The line
// may be that of a field above it.
func (t *Table) Of(kind, path string) *Row {
	w := t.start(kind)
	for _, step := range Steps(path) {
		switch below, known := w.into(step); {
		case known:
			w = below
		case w.isLeaf():
			return w.row()
		default:
			return nil
		}
	}
	return w.row()
}

// place is a node of a stage, and that of the kind alone. Either may be nil.
type place struct{ staged, plain *node }

func (t *Table) start(kind string) place {
	plain, _, hasStage := strings.Cut(kind, "/")
	p := place{plain: t.kinds[plain]}
	if hasStage {
		p.staged = t.kinds[kind]
	}
	return p
}

// into goes one step down. A line of the stage that ends here hides what the kind alone has below.
func (p place) into(step string) (place, bool) {
	var below place
	if p.staged != nil {
		if below.staged = p.staged.into(step); below.staged == nil && len(p.staged.below) == 0 {
			return place{}, false
		}
	}
	if p.plain != nil {
		below.plain = p.plain.into(step)
	}
	return below, below.staged != nil || below.plain != nil
}

func (n *node) into(step string) *node {
	if at := n.below[step]; at != nil {
		return at
	}
	if strings.HasPrefix(step, "[") && step != "[]" {
		longest := ""
		for _, prefix := range n.prefixes {
			if strings.HasPrefix(step, prefix) && len(prefix) > len(longest) {
				longest = prefix
			}
		}
		if longest != "" {
			return n.below[longest+"*]"]
		}
		if at := n.below["[]"]; at != nil {
			return at
		}
	}
	return n.below["*"]
}

// row is the line at the place.
func (p place) row() *Row {
	if p.staged != nil && p.staged.row != nil {
		return p.staged.row
	}
	if p.plain != nil {
		return p.plain.row
	}
	return nil
}

// isLeaf reports whether the line at the place stands for all that is below.
func (p place) isLeaf() bool {
	if p.staged != nil && len(p.staged.below) == 0 && p.staged.row != nil {
		return true
	}
	return p.row() != nil && (p.staged == nil || len(p.staged.below) == 0) && (p.plain == nil || len(p.plain.below) == 0)
}

// keyed reports whether items of a list here go by their type.
func (p place) keyed() bool {
	return p.staged != nil && p.staged.keyed || p.plain != nil && p.plain.keyed
}

// Sorted lists the lines by kind, then in the order of the text.
func (t *Table) Sorted() []Row {
	rows := slices.Clone(t.Rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Kind, b.Kind) })
	return rows
}

// HasBelow reports whether the table has lines for what is below a field of a kind.
func (t *Table) HasBelow(kind, path string) bool {
	p := t.start(kind)
	for _, step := range Steps(path) {
		below, known := p.into(step)
		if !known {
			return false
		}
		p = below
	}
	return true
}
