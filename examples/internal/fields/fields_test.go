package fields

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const small = `
*	metadata.name	read		its name
*	metadata.labels	harmless		for people
Kind	metadata.labels.*	harmless		for people
Kind	metadata.labels[own/known]	read		known
Kind	metadata.labels[own/*]	doubt		not known
Kind	spec.mode	doubt	Off,Auto	a mode
Kind	spec.on	doubt	true	on by default
Kind	spec.off	doubt of yes	false	off by default
Kind	spec.list[].a	read		read
Kind	spec.list[].b	doubt		not read
Kind	spec.all	harmless		nothing below counts
Kind	spec.shown.a	harmless		shown
Kind	status.conditions[Ready]	read		whether it is
Kind	status.conditions[Odd]	doubt		what it does
Kind/gone	spec	harmless		it is gone
Kind/here	spec.mode	read		read here
`

// What a table says of fields: those that are not known, and those in doubt, with the values that are no doubt.
func TestCheck(t *testing.T) {
	table := MustParse(small)
	for _, c := range []struct{ kind, part, data, want string }{
		{"Kind", "metadata", `{"name":"x","labels":{"a":"b","own/known":"x"}}`, ""},
		{"Kind", "metadata", `{"labels":{"own/other":"x"}}`, "metadata.labels[own/other] doubt"},
		{"Kind", "metadata", `{"labels":{"own/other":""},"other":null}`, ""},
		{"Kind", "metadata", `{"other":1}`, "metadata.other unknown"},
		{"Kind", "spec", `{"mode":"Off","on":true,"off":false}`, ""},
		{"Kind", "spec", `{"mode":"On","on":false,"off":true}`, "spec.mode doubt, spec.on doubt, spec.off doubt of yes"},
		{"Kind", "spec", `{"list":[{"a":1},{"b":[1],"c":0}]}`, "spec.list[1].b doubt, spec.list[1].c unknown"},
		{"Kind", "spec", `{"list":[{"b":[]},{"b":null},{"b":{}}]}`, "spec.list[2].b doubt"},
		{"Kind", "spec", `{"all":{"x":[{"y":1}]},"shown":{"a":1,"b":2}}`, "spec.shown.b unknown"},
		{"Kind", "spec", `{"mode":"Off","mode":"Off"}`, "spec.mode twice"},
		{"Kind", "status", `{"conditions":[{"type":"Ready","status":"True"},{"type":"Odd","status":"True"},{"type":"New","status":"True"},{"type":"Newer","status":"False"}]}`,
			"status.conditions[Odd] doubt, status.conditions[New] unknown"},
		{"Kind", "data", `{}`, "data unknown"},
		{"Kind", "data", `null`, ""},
		{"Kind/gone", "spec", `{"list":[{"c":1}],"other":1}`, ""},
		{"Kind/here", "spec", `{"mode":"On","other":1,"all":2}`, "spec.other unknown"},
		{"Other", "spec", `{"x":1}`, ""},
		{"Kind", "spec", `{"list":`, ""},
	} {
		var got []string
		for _, f := range table.Check(c.kind, c.part, []byte(c.data)) {
			what := "unknown"
			switch {
			case f.Twice:
				what = "twice"
			case f.Row != nil:
				what = f.Row.Verdict.String()
			}
			got = append(got, f.Path+" "+what)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.data, text, c.want)
		}
	}
}

// A table that cannot be read says which line is wrong.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"Kind\tspec.a\tread\t\twhy\nKind\tspec.b\tmaybe\t\twhy\n": "line 2: ",
		"Kind\tspec.a\tread\twhy\n":                               "line 1: ",
		"Kind\tspec.a\tdoubt\t\t\n":                               "line 1: ",
		"Kind\tspec.a\tread\t\tx\nKind\tspec.a\tdoubt\t\ty\n":     "Kind spec.a is there twice",
	} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSteps(t *testing.T) {
	for path, want := range map[string]string{
		"a.b[].c": "a b [] c", "a[x.y/z*].*": "a [x.y/z*] *", "conditions[Ready]": "conditions [Ready]", "a": "a",
	} {
		if got := Steps(path); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// A field in the wrong place, or with the name of a proposal, is told with its place.
func TestMeant(t *testing.T) {
	table := MustParse("Kind\tspec.preemption.config.minAdmitDuration\tread\t\tx\nKind\tspec.a.name\tread\t\tx\nKind\tspec.b.name\tread\t\tx\n")
	for part, want := range map[string]string{
		`{"preemption":{"minAdmitDuration":"1h"}}`: "spec.preemption.config.minAdmitDuration", `{"preemption":{"withinCohort":"x"}}`: "spec.preemption.reclaimWithinCohort",
		`{"name":1}`: "", `{"colour":1}`: "",
	} {
		if got := table.Check("Kind", "spec", []byte(part)); len(got) != 1 || got[0].Meant != want {
			t.Errorf("%s: %+v, want %q", part, got, want)
		}
	}
}

func ExampleTable_Markdown() {
	fmt.Print(MustParse("Kind\tspec.a\tdoubt\tOff\tnot modelled\nKind\tspec.b\tdoubt\tOff\tnot modelled\nKind\tspec.c\tread\t\tits size\n").Markdown())
	// Output:
	//
	// ## Kind
	// | Field | Verdict | Why |
	// |---|---|---|
	// | `spec.a`, `spec.b` | doubt, unless Off | not modelled |
	// | `spec.c` | read | its size |
}
