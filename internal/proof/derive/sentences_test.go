package derive

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The files of testdata/sentences list the sentences of a design, section by section, in its
// order, and say of each what becomes of it here:
//
//	= HEADING
//	    nothing REASON           no sentence of the section is for a library
//	"SENTENCE"                   word for word; where it ends in "…", it goes on
//	    decided FILE or TEST     a case of testdata/FILE quotes it, or a test shows it
//	    departs WORDS            words of docs/departures.md
//	    nothing REASON           it is not for a library
//
// A sentence may have several such lines.
var designFiles = map[string]string{ // the text of each design
	"kep-83.txt":   "002_bfad158cb24de2cd.txt",
	"kep-8522.txt": "000_72d8b00440e3ffb0.txt",
	"kep-8303.txt": "001_f57f586fac254d49.txt",
	"kep-5710.txt": "004_d15ea2146663607a.txt",
	"kai.txt":      "003_000ff464f66dbdbe.txt",
}

var casesOf = map[string][]string{ // the files with cases of each design
	"kep-83.txt": {"priority.txt"}, "kep-8522.txt": {"time.txt"}, "kep-8303.txt": {"gates.txt"},
	"kep-5710.txt": {"nodes.txt"}, "kai.txt": {"minruntime.txt"},
}

// A listed sentence, or a section as a whole if it has no quote.
type listed struct {
	line    int
	quote   string
	classes [][2]string // class and what follows it
}

type listedSection struct {
	heading string
	whole   listed
	entries []listed
}

func readSentences(t *testing.T, name string) []listedSection {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/sentences", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []listedSection
	for i, line := range strings.Split(string(data), "\n") {
		at := i + 1
		last := len(all) - 1
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "= "):
			all = append(all, listedSection{heading: line[2:], whole: listed{line: at}})
		case last < 0:
			t.Fatalf("%s:%d: no section yet", name, at)
		case len(line) > 2 && line[0] == '"' && strings.HasSuffix(line, `"`):
			all[last].entries = append(all[last].entries, listed{line: at, quote: line[1 : len(line)-1]})
		case strings.HasPrefix(line, "    "):
			class, rest, _ := strings.Cut(line[4:], " ")
			of := &all[last].whole
			if n := len(all[last].entries); n > 0 {
				of = &all[last].entries[n-1]
			}
			of.classes = append(of.classes, [2]string{class, rest})
		default:
			t.Errorf("%s:%d: neither section, sentence nor class", name, at)
		}
	}
	return all
}

// Each sentence of the designs is decided, by a test or a case; departs, by a line of the
// departures; is nothing for a library; or is open, and these become fewer.
func TestSentences(t *testing.T) {
	tests, departures := testNames(t), readDepartures(t)
	for name := range designFiles {
		cases := map[string][]quoted{}
		for _, file := range append([]string{"flavors.txt", "fair.txt"}, casesOf[name]...) {
			cases[file] = quotesOf(t, file)
		}
		check := func(s listed) {
			at := fmt.Sprintf("%s:%d", name, s.line)
			for _, c := range s.classes {
				class, rest := c[0], c[1]
				list, isFile := cases[rest]
				switch {
				case rest == "":
					t.Errorf("%s: %s says no more", at, class)
				case class == "nothing":
				case class == "departs" && strings.Contains(departures, plain(rest)):
				case class == "departs":
					t.Errorf("%s: docs/departures.md does not say %q", at, rest)
				case class != "decided":
					t.Errorf("%s: no class %q", at, class)
				case isFile && !slices.ContainsFunc(list, func(q quoted) bool { return overlap(q.text, s.quote) }):
					t.Errorf("%s: no case of %s quotes %q", at, rest, s.quote)
				case !isFile && !tests[rest]:
					t.Errorf("%s: no test %s", at, rest)
				}
			}
		}
		seen := map[string]bool{}
		for _, s := range readSentences(t, name) {
			if len(s.whole.classes) > 0 && len(s.entries) > 0 || len(s.whole.classes) > 1 {
				t.Errorf("%s:%d: sentences of a section that is nothing as a whole", name, s.whole.line)
			}
			for _, c := range s.whole.classes {
				if c[0] != "nothing" {
					t.Errorf("%s:%d: a whole section can be nothing, not %s", name, s.whole.line, c[0])
				}
			}
			check(s.whole)
			for _, e := range s.entries {
				if len(e.classes) == 0 {
					t.Errorf("%s:%d: no class", name, e.line)
				}
				if key := s.heading + "\n" + e.quote; seen[key] {
					t.Errorf("%s:%d: twice", name, e.line)
				} else {
					seen[key] = true
				}
				check(e)
			}
		}
	}
}

// Each departure from a sentence names the test that asks its predicate.
func TestDeparturesAreAsked(t *testing.T) {
	data, err := os.ReadFile("../../../docs/departures.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## Sentences of the designs")
	tests, rows := testNames(t), 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 4 || strings.HasPrefix(cells[1], " here") || strings.HasPrefix(cells[1], "---") {
			continue
		}
		rows++
		by := strings.Trim(cells[len(cells)-1], " `")
		if _, err := os.Stat(filepath.Join("testdata", by)); err != nil && !tests[by] {
			t.Errorf("%s: no test %q", cells[1], by)
		}
	}
	if rows < 10 {
		t.Errorf("only %d departures", rows)
	}
}

// The lists have all sentences of the designs, in their order and their words. The texts of the
// designs are not part of this module.
func TestSentencesAreAll(t *testing.T) {
	for name, file := range designFiles {
		t.Run(name, func(t *testing.T) {
			design := readDesign(t, file)
			list := readSentences(t, name)
			if len(list) != len(design) {
				t.Fatalf("%d sections, the design has %d", len(list), len(design))
			}
			for i, s := range list {
				want := design[i]
				if s.heading != want.heading {
					t.Fatalf("%s:%d: section %q, in the design %q", name, s.whole.line, s.heading, want.heading)
				}
				if len(s.whole.classes) > 0 {
					continue
				}
				for j := range max(len(s.entries), len(want.sentences)) {
					switch {
					case j >= len(s.entries):
						t.Errorf("%s:%d: %s: not listed: %q", name, s.whole.line, s.heading, want.sentences[j])
					case j >= len(want.sentences) || !says(want.sentences[j], s.entries[j].quote):
						t.Fatalf("%s:%d: not the next sentence of %s: %q", name, s.entries[j].line, s.heading, s.entries[j].quote)
					}
				}
			}
		})
	}
}

// What a case of a design has in quotation marks stands in the design, word for word, in the
// section that follows in parentheses, behind it or behind the next ones.
func TestQuotesAreVerbatim(t *testing.T) {
	for name, file := range designFiles {
		t.Run(name, func(t *testing.T) {
			design := readDesign(t, file)
			for _, cases := range casesOf[name] {
				for _, q := range quotesOf(t, cases) {
					if strings.HasPrefix(q.section, "workload.") {
						continue // the comment of a field
					}
					found, known := false, false
					for _, s := range design {
						if s.heading == q.section {
							known = true
							found = found || quotes(strings.Join(s.sentences, " "), q.text)
						}
					}
					if !known || !found {
						t.Errorf("%s:%d: section %q (there: %v) does not say %q", cases, q.line, q.section, known, q.text)
					}
				}
			}
		})
	}
}

func readDesign(t *testing.T, file string) []section {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../../shared/seeds", file))
	if err != nil {
		t.Skip("the texts of the designs are not here: not compared with them")
	}
	return designSections(string(data))
}

// says reports whether a sentence is the quote, which may be cut at its end.
func says(sentence, quote string) bool {
	start, cut := strings.CutSuffix(quote, " …")
	return sentence == quote || cut && len(strings.Fields(start)) >= 3 && strings.HasPrefix(sentence, start)
}

// quotes reports whether a text has the parts of a quote, one after the other.
func quotes(text, quote string) bool {
	for part := range strings.SplitSeq(quote, "…") {
		_, after, ok := strings.Cut(text, strings.TrimSpace(part))
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// overlap reports whether the quote of a case and a listed sentence have words in common at the
// beginning of one of them.
func overlap(quote, sentence string) bool {
	a := strings.TrimSpace(strings.SplitN(quote, "…", 2)[0])
	b := strings.TrimSpace(strings.SplitN(sentence, "…", 2)[0])
	for _, s := range split(a) {
		if s = strings.TrimSuffix(s, "."); strings.Contains(b, s) {
			return true
		}
	}
	if strings.Contains(a, b) {
		return true
	}
	// The listed sentence may be cut within the words that the case quotes.
	for i := range b {
		if rest := b[i:]; len(strings.Fields(rest)) >= 4 && strings.HasPrefix(a, rest) {
			return true
		}
	}
	return false
}

// quoted is what a case has in quotation marks.
type quoted struct {
	line          int
	text, section string
}

var inQuotes = regexp.MustCompile(`"((?:[^"\\]|\\")*)"(?: \(((?:[^()]|\([^()]*\))*)\))?`)

func quotesOf(t *testing.T, file string) []quoted {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []quoted
	section, block, start := "", "", 0
	for i, line := range strings.Split(string(data)+"\n", "\n") {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			if block == "" {
				start = i + 1
			}
			block += " " + text
			continue
		}
		first := len(all)
		for _, m := range inQuotes.FindAllStringSubmatch(plain(block), -1) {
			all = append(all, quoted{start, m[1], section})
			named := m[2]
			for _, after := range []string{", step", ", Example", "; "} {
				named, _, _ = strings.Cut(named, after)
			}
			if named == "" {
				continue
			}
			if named != "the same" {
				section = named
			}
			for ; first < len(all); first++ {
				all[first].section = section
			}
		}
		block = ""
	}
	return all
}

func readDepartures(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/departures.md")
	if err != nil {
		t.Fatal(err)
	}
	return plain(string(data))
}

var isTest = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testNames are the names of all tests.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, m := range isTest.FindAllSubmatch(data, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
