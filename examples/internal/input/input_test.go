package input

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// read lists the objects of texts as "kind/id/amount".
func read(texts ...string) (got, notes []string, err error) {
	var sources []Source
	for i, text := range texts {
		sources = append(sources, Source{Name: fmt.Sprintf("in%d", i), Reader: strings.NewReader(text)})
	}
	notes, err = Read(sources, Options{Keys: []string{"own"}}, func(o *Object) error {
		var spec struct {
			Amount int `json:"amount"`
		}
		if err := o.Read(&spec, nil); err != nil {
			return err
		}
		if o.Kind == "Other" {
			return ErrNotRead
		}
		line := fmt.Sprintf("%s/%s/%d", o.Kind, o.ID(), spec.Amount)
		if o.Kind == "" {
			line = "own" + string(o.Fields["own"])
		}
		if o.Deleted {
			line = "-" + line
		}
		got = append(got, line)
		return nil
	})
	return got, notes, err
}

const (
	a     = `{"apiVersion":"g/v1","kind":"A","metadata":{"name":"a","namespace":"ns"},"spec":{"amount":1}}`
	b     = `{"apiVersion":"g/v1","kind":"B","metadata":{"name":"b"},"spec":{"amount":2}}`
	bare  = `{"metadata":{"name":"a","namespace":"ns"},"spec":{"amount":1}},{"metadata":{"name":"c"}}`
	aYAML = "apiVersion: g/v1\nkind: A\nmetadata:\n  name: a\n  namespace: ns\nspec:\n  amount: 1\n"
	bYAML = "apiVersion: g/v1\nkind: B\nmetadata: {name: b}\nspec: {amount: 2}\n"
)

func listOf(items ...string) string {
	return `{"kind":"List","items":[` + strings.Join(items, ",") + `]}`
}

// indent makes a text an item of a list.
func indent(text, by string) string {
	return by + "- " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by+"  ") + "\n"
}

func encode16(order binary.ByteOrder, text string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		two := make([]byte, 2)
		order.PutUint16(two, u)
		out = append(out, two...)
	}
	return string(out)
}

func zip(text string) string {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return out.String()
}

// spoilt changes the checksum of gzip.
func spoilt(zipped string) string {
	at := len(zipped) - 8
	return zipped[:at] + string([]byte{zipped[at] ^ 1}) + zipped[at+1:]
}

func TestShapes(t *testing.T) {
	both := []string{"A/ns/a/1", "B/b/2"}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"objects":                  {a + b, both},
		"lines":                    {a + "\n" + b + "\n", both},
		"array":                    {"[" + a + "," + b + "]", both},
		"list":                     {listOf(a, b), both},
		"lists in lists":           {listOf(listOf(a), `[[`+b+`]]`, listOf()), both},
		"null items":               {`{"kind":"List","items":null}` + a, both[:1]},
		"list of one kind":         {`{"kind":"AList","apiVersion":"g/v1","items":[` + bare + `]}`, []string{"A/ns/a/1", "A/c/0"}},
		"items before kind":        {`{"items":[` + bare + `],"apiVersion":"g/v1","kind":"AList"}`, []string{"A/ns/a/1", "A/c/0"}},
		"apiVersion after items":   {`{"kind":"AList","items":[` + bare + `],"apiVersion":"g/v1"}`, []string{"A/ns/a/1", "A/c/0"}},
		"items before kind, named": {`{"items":[` + a + `,` + b + `],"kind":"List"}`, both},
		"watch":                    {`{"type":"ADDED","object":` + a + `}` + `{"object":` + b + `,"type":"DELETED"}{"type":"BOOKMARK","object":{"kind":"A","metadata":{}}}`, []string{"A/ns/a/1", "-B/b/2"}},
		"byte-order mark":          {"\ufeff" + a + b, both},
		"UTF-16, little-endian":    {encode16(binary.LittleEndian, "\ufeff"+a+b), both},
		"UTF-16, big-endian":       {encode16(binary.BigEndian, "\ufeff"+a+b), both},
		"UTF-16 of YAML":           {encode16(binary.LittleEndian, "\ufeff"+aYAML+"---\n"+bYAML), both},
		"gzip":                     {zip(a + b), both},
		"gzip with a mark":         {zip("\ufeff" + a + b), both},
		"two of gzip":              {zip(a) + zip(b), both},
		"YAML":                     {aYAML, both[:1]},
		"YAML with a mark":         {"\ufeff" + aYAML, both[:1]},
		"documents of YAML":        {"# made by hand\n---\n" + aYAML + "---\n---\n" + bYAML + "...\n", both},
		"lines end as on Windows":  {strings.ReplaceAll(aYAML+"---\n"+bYAML, "\n", "\r\n"), both},
		"document on the mark":     {"--- {apiVersion: g/v1, kind: A, metadata: {name: a, namespace: ns}, spec: {amount: 1}}\n--- # next\n" + bYAML, both},
		"YAML list":                {"apiVersion: v1\nitems:\n" + indent(aYAML, "") + "# one more\n" + indent(bYAML, "") + "kind: List\nmetadata: {}\n", both},
		"YAML list, indented":      {"kind: List\nitems: # all\n\n" + indent(aYAML, "  ") + "\n" + indent(bYAML, "  "), both},
		"YAML list, dash alone":    {"kind: List\nitems:\n  -\n    " + strings.ReplaceAll(aYAML, "\n", "\n    ") + "\n", both[:1]},
		"YAML list of one kind":    {"items:\n- metadata: {name: a, namespace: ns}\n  spec: {amount: 1}\n- metadata: {name: c}\nkind: AList\napiVersion: g/v1\n", []string{"A/ns/a/1", "A/c/0"}},
		"YAML list on a line":      {"kind: List\nitems: [" + a + ", " + b + "]\n", both},
		"YAML array":               {indent(aYAML, "") + indent(bYAML, ""), both},
		"YAML list, empty":         {"items: []\nkind: List\n---\nitems:\nkind: List\n---\n" + aYAML, both[:1]},
		"text in an item":          {"items:\n- apiVersion: g/v1\n  kind: A\n  metadata:\n    name: a\n    namespace: ns\n    annotations:\n      x: |\n        - a\n        items:\n\n        kind: B\n  spec: {amount: 1}\nkind: List\n", both[:1]},
		"JSON, then YAML":          {a + "\n---\n" + bYAML, both},
		"YAML of JSON":             {"---\n" + a + "\n---\n" + b, both},
		"not Kubernetes":           {`{"own":7}`, []string{"own7"}},
		"flow style":               {"{apiVersion: g/v1, kind: A, metadata: {name: a, namespace: ns}, spec: {amount: 1}}\n---\n" + bYAML, both},
		"an array after a mark":    {"---\n[" + a + ",\n" + b + "]\n", both},
	} {
		got, notes, err := read(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil || len(notes) > 0 {
			t.Errorf("%s: %v %q -want +got:\n%s", name, err, notes, diff)
		}
	}
	if got, _, err := read(a, bYAML); !slices.Equal(got, both) || err != nil {
		t.Errorf("two sources: %q, %v", got, err)
	}
}

// JSON may be followed by a mark of YAML wherever the reader's buffer ends.
func TestMarkAfterJSON(t *testing.T) {
	for n := range 600 {
		padded := strings.Replace(a, `"spec"`, `"x":"`+strings.Repeat("x", n)+`","spec"`, 1)
		if got, notes, err := read(padded + "\n---\n" + b); err != nil || len(notes) > 0 || !slices.Equal(got, []string{"A/ns/a/1", "B/b/2"}) {
			t.Fatalf("%d: %q, %q, %v", n, got, notes, err)
		}
	}
}

// What is left out is told: each object that is odd, and how many are of other kinds.
func TestNotes(t *testing.T) {
	other := func(name string) string {
		return `{"kind":"Other","apiVersion":"v1","metadata":{"name":"` + name + `"}}`
	}
	_, notes, err := read(listOf(other("x"), a, other("y"), `{"kind":"A","metadata":{"name":"b\nc"},"spec":{"amount":"one"}}`, `7`), `{"metadata":{"name":"m"}}`, other("z"))
	want := []string{
		"in0: item 4 (A b c): spec.amount: want an integer, found a string: left out",
		"in0: item 5: want a Kubernetes object, found a number: left out",
		"in1: item 1 (m): no kind: not a Kubernetes object: left out",
		"Other x and 2 more: Other of v1 is not read here",
	}
	if diff := cmp.Diff(want, notes); diff != "" || err != nil {
		t.Errorf("%v -want +got:\n%s", err, diff)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "in0: it is empty",
		" \n\t":                  "in0: it is empty",
		"---\n# nothing\n":       "in0: there are no objects in it",
		"hello":                  "want a Kubernetes object, found a string",
		"7":                      "found a number",
		"a: b\n c: d\n":          "neither JSON nor YAML: yaml: line 2",
		aYAML + "---\na: [":      "not YAML: yaml: line ",
		"items: 5\nkind: List\n": "items: want a list, found a number",
		"items:\n  a: b\n":       "items: want a list, found an object",
		`{"items":{"a":[1]}}`:    "items: want a list, found an object",
		`{"kind":"Other","apiVersion":"v1","metadata":{"name":"x"}}`: `item 1 (Other x): unknown kind Other of "v1"`,
		`{"kind":"A"`:              "JSON ends early, at byte 11",
		`{"kind":"A"}}`:            "not JSON: byte 12",
		`[{"kind":"A" x}]`:         "not JSON: byte 13",
		"---\n" + a + " garbage\n": "YAML: yaml: line ",
		"---\n" + a + "\n" + bYAML: "YAML: yaml: line ",
		"{oops":                    "neither JSON nor YAML: yaml: line 1",
		"PK\x03\x04 and more":      "YAML: yaml: control characters",
		"\x1f\x8bnot gzip":         "the gzip is damaged: gzip: invalid header",
		zip(a)[:5]:                 "the gzip is damaged: unexpected EOF",
		spoilt(zip(a)):             "the gzip is damaged: gzip: invalid checksum",
		zip(a + b)[:60]:            "the gzip is damaged: unexpected EOF",
		"\x00\xff\x7f":             "neither JSON nor YAML",
	} {
		_, _, err := read(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], e.text[e.at:])
		n, e.at = n+m, (e.at+m)%len(e.text)
	}
	return n, nil
}

// Input without end is refused after a bounded part of it.
func TestHostile(t *testing.T) {
	defer func(n, size int) { maxLeftOut, maxObject = n, size }(maxLeftOut, maxObject)
	maxLeftOut, maxObject = 10_000, 2<<20
	const much, many = "more than 2 MiB in one object", "more than 10000 objects"
	for name, c := range map[string]struct{ start, rest, want string }{
		"blanks":        {"", " ", much},
		"zeros":         {"", "\x00", "control characters"},
		"blanks later":  {`{"kind":`, "\n", much},
		"noise":         {"", "\x00\xff\x7f", "neither JSON nor YAML"},
		"brackets":      {"", "[", "depth"},
		"braces":        {"", `{"object":`, "depth"},
		"depth":         {`{"spec":`, "[", "depth"},
		"depth of YAML": {"a: ", "[", "depth"},
		"one string":    {`{"own":"`, "x", much},
		"an item":       {`{"items":[{"spec":"`, "x", much},
		"a name":        {`{"`, "x", much},
		"bare items":    {`{"items":[`, `{"spec":{"a":"` + strings.Repeat("x", 1000) + `"}},`, much},
		"nothing":       {"", "{}", many},
		"one line":      {"a: ", "x", much},
		"one object":    {"", "a: b\n", much},
		"one item":      {"items:\n- a: |\n", "    x\n", much},
		"other kinds":   {"", `{"kind":"Other","apiVersion":"v1","metadata":{"name":"x"}}`, many},
		"once more":     {"", `{"kind":"A","apiVersion":"v1","metadata":{"name":"x"}}`, many},
		"numbers":       {"[", "1,", many},
		"aliases":       {"a: &a \"" + strings.Repeat("x", 300<<10) + "\"\nb: [" + strings.Repeat("*a, ", 100_000) + "]\n", "--- {}\n", "line 1: more than 64 MiB in one document"},
	} {
		counted := &counter{r: io.MultiReader(strings.NewReader(c.start), &endless{text: strings.Repeat(c.rest, 1+4096/len(c.rest))})}
		_, err := Read([]Source{{Name: "in", Reader: counted}}, Options{Keys: []string{"own"}}, func(o *Object) error {
			if o.Kind == "Other" {
				return ErrNotRead
			}
			return ErrAgain
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || counted.n > 8<<20 {
			t.Errorf("%s: %v after %d bytes, want %q", name, err, counted.n, c.want)
		}
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(listOf(a, b)))
	f.Add([]byte("items:\n" + indent(aYAML, "  ") + "kind: List\n---\n" + bYAML))
	f.Add([]byte(`{"type":"ADDED","object":` + a + `}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, notes, err := read(string(data))
		if err != nil {
			notes = append(notes, err.Error())
		}
		for _, n := range notes {
			if strings.Contains(n, "\n") {
				t.Errorf("a message of several lines: %q", n)
			}
		}
	})
}
