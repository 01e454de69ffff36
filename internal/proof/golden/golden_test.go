package golden

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

type outer struct {
	Name  string           `json:"name"`
	Inner []inner          `json:"inner,omitempty"`
	By    map[string]inner `json:"by,omitempty"`
	Again *outer           `json:"again,omitempty"`
	Since time.Time        `json:"since,omitzero"`
	Door  func()           `json:"-"`
	kept  int
}

var _ = outer{kept: 1} // not in the JSON form

type inner struct {
	N int `json:"n,omitempty"`
}

// witness collects what a test would say.
type witness struct {
	testing.TB
	said []string
}

func (w *witness) Helper() {}

func (w *witness) Errorf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}

func (w *witness) Fatal(args ...any) {
	w.Errorf("%s", fmt.Sprint(args...))
	panic(w)
}

func TestKept(t *testing.T) {
	const full = `{
  "name": "a",
  "inner": [
    {
      "n": 1
    }
  ],
  "by": {
    "x": {}
  },
  "again": {
    "name": ""
  },
  "since": "2026-01-01T00:00:00Z"
}
`
	for name, c := range map[string]struct {
		files map[string]string
		want  string // empty: all is well
	}{
		"full":                   {map[string]string{"o.json": full}, ""},
		"none":                   {map[string]string{"other.json": full}, "file does not exist"},
		"a field is set nowhere": {map[string]string{"o.json": strings.Replace(full, `"n": 1`, `"n": 0`, 1)}, "golden.inner.N"},
		"a second file sets it":  {map[string]string{"o.json": "{\n  \"name\": \"a\"\n}\n", "o-2.json": full}, ""},
		"unknown field":          {map[string]string{"o.json": full, "o-2.json": `{"names": "a"}`}, `o-2.json: names: unknown field "names"`},
		"zero is written":        {map[string]string{"o.json": full, "o-2.json": "{}\n"}, `o-2.json:1: written again as "{", not "{}"`},
		"other order":            {map[string]string{"o.json": full, "o-2.json": "{\n  \"by\": {},\n  \"name\": \"a\"\n}\n"}, `o-2.json:2`},
		"no newline":             {map[string]string{"o.json": strings.TrimSpace(full)}, "o.json:16"},
		"no JSON":                {map[string]string{"o.json": full, "o-2.json": "{"}, "ends early"},
		"another name":           {map[string]string{"o.json": full, "other.json": "{"}, ""},
	} {
		files := fstest.MapFS{}
		for file, text := range c.files {
			files[file] = &fstest.MapFile{Data: []byte(text)}
		}
		w := &witness{}
		func() {
			defer func() {
				if r := recover(); r != nil && r != w {
					panic(r)
				}
			}()
			Kept[outer](w, files, "o")
		}()
		said := strings.Join(w.said, "\n")
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
}
