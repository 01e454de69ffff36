package input

import (
	"errors"
	"fmt"
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

// leaveOut notes why an object is left out.
func (r *reader) leaveOut(o *Object, err error) error {
	r.keepFirst(errors.New(oneLine(fmt.Sprintf("%s: %v", r.place(o), err))))
	if len(r.lines) == maxNotes {
		r.spare++
		return nil
	}
	place := o.what()
	if place == "" || o.Metadata.Name == "" || r.many {
		place = r.place(o)
	}
	r.lines = append(r.lines, oneLine(fmt.Sprintf("%s: %v: left out", place, err)))
	return nil
}

// count counts an object with the others that were left out for a reason that needs no
// line for each.
func (r *reader) count(err error, o *Object, kind string) error {
	if r.counted++; r.counted > maxSpare {
		return fmt.Errorf("more than %d objects of kinds that are not read here, or that are in the input more than once", maxSpare)
	}
	key := err.Error() + kind
	g := r.groups[key]
	if g == nil {
		g = &group{first: o.what(), reason: err.Error()}
		if kind != "" {
			if g.reason = fmt.Sprintf("%s of %s is not read here", o.Kind, o.APIVersion); o.APIVersion == "" {
				g.reason = fmt.Sprintf("%s without apiVersion is not read here", o.Kind)
			}
		}
		if r.groups == nil {
			r.groups = map[string]*group{}
		}
		if len(r.groups) < maxNotes {
			r.groups[key], r.order = g, append(r.order, g)
		}
	}
	g.count++
	return nil
}

// notes are what there is to be told, in the order of the input, one line each.
func (r *reader) notes() []string {
	notes := r.lines
	if r.spare > 0 {
		notes = append(notes, fmt.Sprintf("and %d more objects are left out", r.spare))
	}
	for _, g := range r.order {
		if g.count == 1 {
			notes = append(notes, oneLine(fmt.Sprintf("%s: %s", g.first, g.reason)))
			continue
		}
		notes = append(notes, oneLine(fmt.Sprintf("%s and %d more: %s", g.first, g.count-1, g.reason)))
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
