package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// place names an object of the source that is read.
func (r *reader) place(o *Object) string {
	place := fmt.Sprintf("item %d", r.items)
	if what := o.what(); what != "" {
		place += " (" + what + ")"
	}
	return r.source + ": " + place
}

// lastItem names the object that was handed out last.
func (r *reader) lastItem() string {
	item := fmt.Sprintf("item %d", r.items)
	if r.last != nil && r.last.what() != "" {
		item += oneLine(", " + r.last.what())
	}
	return item
}

func (r *reader) keepFirst(err error) {
	if r.first == nil {
		r.first = err
	}
}

const maxNotes = 1000

// maxLeftOut bounds the objects that are left out or are there once more. What has more is no dump.
var maxLeftOut = 1 << 19

// leaveOut notes why an object is left out.
func (r *reader) leaveOut(o *Object, err error) error {
	r.keepFirst(errors.New(oneLine(fmt.Sprintf("%s: %v", r.place(o), err))))
	place := o.what()
	if place == "" || o.Metadata.Name == "" || r.many {
		place = r.place(o)
	}
	if len(r.lines) < maxNotes {
		r.lines = append(r.lines, oneLine(fmt.Sprintf("%s: %v: left out", place, err)))
	} else {
		r.more++
	}
	return r.bound()
}

func (r *reader) bound() error {
	if r.out++; r.out > maxLeftOut {
		return fmt.Errorf("more than %d objects of kinds that are not read here, that are odd, or that are in the input more than once", maxLeftOut)
	}
	return nil
}

// group is objects that were left out for the same reason.
type group struct {
	first, reason string
	count         int
}

// count counts an object with the others that were left out for a reason that needs no line for each.
func (r *reader) count(o *Object, reason string) error {
	i := slices.IndexFunc(r.groups, func(g *group) bool { return g.reason == reason })
	if i < 0 && len(r.groups) < maxNotes {
		i, r.groups = len(r.groups), append(r.groups, &group{first: o.what(), reason: reason})
	}
	if i >= 0 {
		r.groups[i].count++
	} else {
		r.more++
	}
	return r.bound()
}

// notes are what there is to be told, in the order of the input, one line each.
func (r *reader) notes() []string {
	notes := r.lines
	if r.more > 0 {
		notes = append(notes, fmt.Sprintf("and %d more objects are left out", r.more))
	}
	for _, g := range r.groups {
		if g.count > 1 {
			g.first = fmt.Sprintf("%s and %d more", g.first, g.count-1)
		}
		notes = append(notes, oneLine(g.first+": "+g.reason))
	}
	return notes
}

// FirstLeftOut is the note on the first object that was left out, as the end of the message
// on a question that cannot be asked: the object may be what is missing.
func FirstLeftOut(notes []string) string {
	first, more := "", 0
	for _, note := range notes {
		switch {
		case !strings.HasSuffix(note, ": left out"):
		case first == "":
			first = "; " + note
		default:
			more++
		}
	}
	if more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}
