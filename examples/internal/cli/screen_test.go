package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/printable"
)

// A file gets lines as wide as needed, no colour and no progress; NO_COLOR and a dumb terminal no colour.
func TestScreenOf(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := ScreenOf(f, f, func(string) string { return "" }); got != (Screen{}) {
		t.Errorf("%+v", got)
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"none": {nil, true}, "xterm": {map[string]string{"TERM": "xterm"}, true}, "NO_COLOR": {map[string]string{"NO_COLOR": "1", "TERM": "xterm"}, false},
		"empty NO_COLOR": {map[string]string{"NO_COLOR": ""}, true}, "dumb": {map[string]string{"TERM": "dumb"}, false},
	} {
		if got := mayColour(func(key string) string { return c.env[key] }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A table is no wider than its screen: names lose their middle, texts their end, or are
// wrapped; columns without text are left out.
func TestTable(t *testing.T) {
	make := func() *Table {
		table := &Table{Columns: []Column{{Name: "name", Least: 8, Cut: true}, {Name: "n", Right: true}, {Name: "empty"}, {Name: "text", Least: 10, Cut: true}, {Name: "more", Least: 10}}}
		table.Row("a-very-long-name-of-a-workload-1", 7, "", "a text of several words", "another text of several words")
		table.Row("短い名前の長い長い長い名前", 12, "", "b", "c\x1b[31m")
		return table
	}
	for width, want := range map[int]string{
		0: "NAME                               N  TEXT                     MORE\n" +
			"a-very-long-name-of-a-workload-1   7  a text of several words  another text of several words\n" +
			"短い名前の長い長い長い名前        12  b                        c\\x1b[31m\n\n",
		50: "",
	} {
		p := &Page{Screen: Screen{Width: width}}
		p.Table(make())
		if got := p.String(); want != "" && got != want || strings.Contains(got, "EMPTY") || strings.ContainsRune(got, '\x1b') {
			t.Errorf("%d:\n%s", width, got)
		}
		for line := range strings.Lines(p.String()) {
			if n := runes.StringWidth(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if fits := p.Fits(make()); fits != (width == 0) {
			t.Errorf("%d: fits %v", width, fits)
		}
	}
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 10, "short"}, {"team/workload-12", 13, "…/workload-12"}, {"team/workload-12", 14, "t…/workload-12"}, {"team/workload-12", 10, "…/work…-12"}, {"two words here", 8, "two wor…"},
		{"  indented-name", 9, "  ind…ame"}, {"  a-long-indented-name (cohort)", 24, "  a-long…d-name (cohort)"},
	} {
		if got := cut(c.text, c.width); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// What is said is wrapped, and coloured line by line.
func TestSay(t *testing.T) {
	p := &Page{Screen: Screen{Width: 20, Colour: true}}
	p.SayIn(printable.Red, "%s and some more words.\n", "a\x1b[32mname")
	p.Say("Short.\n\n")
	want := "\x1b[31ma\\x1b[32mname and\x1b[0m\n\x1b[31msome more words.\x1b[0m\nShort.\n\n"
	if got := p.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var b strings.Builder
	if err := p.Print(&b); err != nil || b.String() != strings.TrimSuffix(want, "\n") {
		t.Errorf("%v, %q", err, b.String())
	}
	p.Screen.Colour = false // a sequence that came in by another way
	b.Reset()
	if err := p.Print(&b); err != nil || strings.ContainsRune(b.String(), '\x1b') {
		t.Errorf("%v, %q", err, b.String())
	}
}

// Progress is shown once something has taken a second, and only on a terminal.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		terminal, slow bool
	}{{true, true}, {true, false}, {false, true}} {
		var b strings.Builder
		s := Screen{}
		if c.terminal {
			s.Progress = &b
		}
		wait := time.Hour
		if c.slow {
			wait = 0
		}
		p := s.startIn("workloads", 10, wait)
		for c.slow && c.terminal && !p.shown() { // no step ends meanwhile
			time.Sleep(time.Millisecond)
		}
		for range 10 {
			p.Add(1)
		}
		p.Done()
		if shown := strings.Contains(b.String(), "workloads"); shown != (c.terminal && c.slow) {
			t.Errorf("%+v: %q", c, b.String())
		}
	}
}

func (p *Progress) shown() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.bar != nil
}

// Texts and names in which characters take two columns, or none, are no wider than the screen
// either; of names that are not, nothing is lost.
func TestWide(t *testing.T) {
	for _, name := range []string{
		strings.Repeat("a", 100), "a" + strings.Repeat("研", 50), strings.Repeat("研a", 40), strings.Repeat("e\u0301", 60) + strings.Repeat("研\u0301", 30), strings.Repeat("…", 90),
	} {
		for width := 40; width < 100; width++ {
			p := &Page{Screen: Screen{Width: width}}
			p.Say("The name %s is long.\n", name)
			if said := strings.Join(strings.Fields(p.String()), ""); runes.StringWidth(name) <= width && said != "Thename"+name+"islong." || !strings.HasSuffix(said, "islong.") {
				t.Errorf("%d: %q is lost in %q", width, name, said)
			}
			table := &Table{Columns: []Column{{Name: "cut", Least: 8, Cut: true}, {Name: "wrapped", Least: 8}, {Name: "n", Right: true}}}
			table.Row(name, name, 1000)
			p.Table(table)
			for line := range strings.Lines(p.String()) {
				if n := runes.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
			for _, text := range []string{name, "x " + name} {
				if n := runes.StringWidth(cut(text, width/3)); n > width/3 {
					t.Errorf("%d columns of %d: %s", n, width/3, cut(text, width/3))
				}
			}
		}
	}
}

// Names that differ in the middle alone are cut where they do not look alike.
func TestNamesThatDifferStayApart(t *testing.T) {
	names := []string{"team-nlp-product-eu-west-4", "team-nlp-research-eu-west-4", "team-vision-research-eu-west-4", "team-vision-research-us-east-1"}
	rows := func(of []string) string {
		table := &Table{Columns: []Column{{Name: "queue", Least: 8, Cut: true}, {Name: "answer"}}}
		for _, name := range of {
			table.Row(name, strings.Repeat("x", 20))
		}
		p := &Page{Screen: Screen{Width: 40}}
		p.Table(table)
		if p.SayCut(); !strings.Contains(p.String(), "-o wide prints whole what … stands for.") {
			t.Error(p.String())
		}
		return p.String()
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(rows(names), "\n")[1:5] {
		seen[strings.Fields(line)[0]] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%v", seen)
	}
	if out := rows(names[:1]); !strings.Contains(out, "team-nlp…-west-4 ") && !strings.Contains(out, "team-nlp-…u-west-4 ") {
		t.Error(out)
	}
	whole := &Page{Screen: Screen{Width: 80}}
	whole.Table(&Table{Columns: []Column{{Name: "queue", Cut: true}}})
	if whole.SayCut(); strings.Contains(whole.String(), "wide") {
		t.Error(whole.String())
	}
}
