package fields

import (
	"fmt"
	"strings"
)

// Markdown is the table as a page for people: a section for each kind, with a row for fields that stand together and have the
// same verdict for the same reason.
func (t *Table) Markdown() string {
	var b strings.Builder
	kind := ""
	rows := t.Sorted()
	for i := 0; i < len(rows); {
		r := &rows[i]
		if r.Kind != kind {
			kind = r.Kind
			fmt.Fprintf(&b, "\n## %s\n| Field | Verdict | Why |\n|---|---|---|\n", heading(kind))
		}
		var paths []string
		for ; i < len(rows) && rows[i].sameAs(r); i++ {
			paths = append(paths, "`"+rows[i].Path+"`")
		}
		verdict := r.Verdict.String()
		if len(r.Unless) > 0 {
			verdict += ", unless " + strings.Join(r.Unless, " or ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(paths, ", "), verdict, r.Why)
	}
	return b.String()
}

func (r *Row) sameAs(other *Row) bool {
	return r.Kind == other.Kind && r.Verdict == other.Verdict && r.Why == other.Why && strings.Join(r.Unless, ",") == strings.Join(other.Unless, ",")
}

// heading is a kind in words.
func heading(kind string) string {
	name, stage, _ := strings.Cut(kind, "/")
	switch {
	case kind == every:
		return "Every kind"
	case stage == "waits":
		return name + " that waits"
	case stage == "holds":
		return name + " that holds quota"
	case stage == "finished":
		return name + " that is finished"
	}
	return name
}
