package input

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// YAML makes the JSON that kubectl makes of it.
func TestFromYAML(t *testing.T) {
	for _, text := range []string{
		"", "null", "~", "5", "a", "a: 1\nb: [x, 'y', {}]\nc: {}\nd: []\n", "a: &a {x: 1}\nb: *a\nc: [*a, *a]\n", "a: &a {x: 1}\nb:\n  <<: *a\n  z: 2\n",
		"1: a\n1.5: b\n", "a: 0755\nb: 1e3\nc: 1_000\nd: 18446744073709551615\ne: on\nf: 2026-01-01T00:00:00Z\ng: 2026-01-01\nh: 'on'\ni: \"no\"\nj: No\n",
		"a: |\n  text\n  <more>\nb: >\n  one\n  two\n", "a: 1\na: 2\n", "a:\nb: ''\n", "a: !!str 5\nb: !!binary aGk=\n", "a: \"\\u00e9\\x01\"\n", `{"a": [1, 2.50, -0.0]}`, "- a\n- b\n",
	} {
		want, err := yaml.YAMLToJSON([]byte(text))
		if got, _, ours := FromYAML([]byte(text)); string(got) != string(want) || (err == nil) != (ours == nil) {
			t.Errorf("%q: %s, %v; want %s, %v", text, got, ours, want, err)
		}
	}
}

// What aliases stand for is bounded: in bytes, in values and in depth.
func TestAliases(t *testing.T) {
	const much = "more than 64 MiB in one document"
	nested := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		nested += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), c-1)
	}
	many := func(alias string) string { return "[" + strings.Repeat(alias+", ", 100_000) + "]\n" }
	for name, c := range map[string]struct{ text, want string }{
		"text":             {"a: &a \"" + strings.Repeat("x", 300<<10) + "\"\nb: " + many("*a"), much},
		"small values":     {"a: &a []\nb: &b " + many("*a") + "c: [" + strings.Repeat("*b, ", 30) + "]\n", much},
		"nested":           {nested, much},
		"a list as a name": {"? [a]\n: 1\n", "the name of a field is null, a list or an object"},
		"no name":          {"~: 1\n", "the name of a field is null"},
		"itself":           {"a: &a [*a]\n", "to a depth of more than 1000"},
		"two documents":    {"a: 1\n---\nb: 2\n", "more follows"},
	} {
		if got, _, err := FromYAML([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 200 {
			t.Errorf("%s: %d bytes, %.300v, want %q", name, len(got), err, c.want)
		}
	}
}

// An alias stands for the last anchor of its name before it, in its item or in an earlier one of the list.
func TestAnchorsOfEarlierItems(t *testing.T) {
	item := func(name, spec string) string {
		return "- apiVersion: g/v1\n  kind: A\n  metadata: {name: " + name + "}\n  spec: " + spec + "\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"another item's":       {item("a", "&s {amount: 4}") + item("b", "*s"), `a {"amount":4}; b {"amount":4}`},
		"one of one":           {item("a", "{x: &x {amount: 4}}") + item("b", "&y {z: *x}") + item("c", "{v: *y}"), `a {"x":{"amount":4}}; b {"z":{"amount":4}}; c {"v":{"z":{"amount":4}}}`},
		"the last of the name": {item("a", "&s {amount: 4}") + item("b", "&s {amount: 5}") + item("c", "*s"), `a {"amount":4}; b {"amount":5}; c {"amount":5}`},
		"its own":              {item("a", "&s {amount: 4}") + item("b", "{x: &s {amount: 6}, z: *s}"), `a {"amount":4}; b {"x":{"amount":6},"z":{"amount":6}}`},
		"text with an asterisk": {item("a", "{x: '&s *s', z: a*b}") + item("b", "{x: \"*s\"}"),
			`a {"x":"\u0026s *s","z":"a*b"}; b {"x":"*s"}`},
		"no anchor":            {item("a", "{}") + item("b", "*s"), "unknown anchor 's' referenced"},
		"a fault behind":       {item("a", "&s {}") + item("b", "{x: *s, y: [}"), "line 9"},
		"merged, and over it":  {item("a", "&s {w: 2, x: 1}") + item("b", "{<<: *s, x: 3}"), `a {"w":2,"x":1}; b {"w":2,"x":3}`},
		"merged, and twice":    {item("a", "&s {x: 1}") + item("b", "{<<: *s, z: 1, z: 2}"), `a {"x":1}; b {"x":1,"z":2} twice [spec.z]`},
		"a field twice behind": {item("a", "&s {}") + item("b", "{x: *s, z: 1, z: 2}"), `a {}; b {"x":{},"z":2} twice [spec.z]`},
	} {
		var got []string
		_, err := Read([]Source{{Name: "in", Reader: strings.NewReader("apiVersion: v1\nitems:\n" + c.text)}}, Options{}, func(o *Object) error {
			one := o.ID() + " " + string(o.Spec)
			if len(o.Twice) > 0 {
				one += fmt.Sprintf(" twice %v", o.Twice)
			}
			got = append(got, one)
			return nil
		})
		if text := strings.Join(got, "; "); err == nil && text != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s, %v, want %s", name, text, err, c.want)
		}
	}
}
