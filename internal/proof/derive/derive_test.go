package derive

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
)

var update = flag.Bool("update", false, "rewrite the answers in the files")

func rulesPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/designs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// Each file comes out as it is written, and no route gives another answer.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	more, err2 := filepath.Glob("testdata/rules/*.txt")
	files = append(files, more...)
	if err != nil || err2 != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	page := rulesPage(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Run(file, string(data), page)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(strings.Split(string(data), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("not as written (- file, + answer):\n%s", diff)
			}
			if strings.Contains(got, "DISAGREES") {
				t.Error("routes disagree")
			}
		})
	}
}

// Each story of the page about rules has a file of its name, whose rules it reads.
func TestStories(t *testing.T) {
	list, err := stories(rulesPage(t))
	if err != nil || len(list) < 12 {
		t.Fatal(len(list), err)
	}
	for _, c := range list {
		data, err := os.ReadFile(filepath.Join("testdata/rules", c.Name+".txt"))
		if err != nil || !strings.Contains(string(data), "\nrules "+c.Name+"\n") {
			t.Errorf("%s: no file reads its rules (%v)", c.Name, err)
		}
	}
	if files, _ := filepath.Glob("testdata/rules/*"); len(files) != len(list) {
		t.Errorf("%d files for %d stories", len(files), len(list))
	}
}

// A route that gives another answer is printed, with its answer.
func TestDisagreementIsPrinted(t *testing.T) {
	w := &world{}
	for _, text := range []string{"queue a gpu=4 within=LowerPriority", "running low in=a gpu=4 since=1m"} {
		l := parseLine("test:1", text)
		if err := verbs[l.verb](w, l); err != nil {
			t.Fatal(err)
		}
	}
	p, s, r := w.quota(t, "ask in=a priority=1 gpu=4")
	d, err := p.Decide(s, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := disagreements(form(d), w.routes(p, s, r, d)); got != "" {
		t.Fatalf("%s", got)
	}
	// The routes see a world that the answer was not made from.
	w.state.Admitted[0].Priority = 5
	got := disagreements(form(d), w.routes(p, s, r, d))
	for _, want := range []string{"+ {\"outcome\":\"Impossible\"", "DISAGREES, the state the other way round:", "DISAGREES, a snapshot made by edits:", "DISAGREES, shifted time:"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas no %q", got, want)
		}
	}
	if strings.Contains(got, "JSON") {
		t.Errorf("%s: the snapshot went through JSON, which knows the answer", got)
	}
}

func (w *world) quota(t *testing.T, question string) (*preemption.Preemptor, *preemption.Snapshot, preemption.Request) {
	t.Helper()
	p, err := preemption.New(w.config)
	if err != nil {
		t.Fatal(err)
	}
	s, err := preemption.NewSnapshot(w.state)
	if err != nil {
		t.Fatal(err)
	}
	return p, s, parseLine("test:2", question).request()
}

// What cannot be read is named with its line.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"queue a gpu=4":            "f: no question",
		"\nquery a":                `f:2: unknown verb "query": want one of`,
		"queue in=c gpu=4":         "f:1: queue needs a name",
		"check all":                `f:1: check has no name: what is "all"?`,
		"queue a gpu=four":         "f:1: gpu=four is not a whole number",
		"queue a tpu=4":            `f:1: queue does not know "tpu"`,
		"queue a gpu=4 gpu=5":      `f:1: gpu is stated twice`,
		"queue a give.gpu=4":       "f:1: give.gpu is no limit: want borrow.gpu or lend.gpu",
		"queue a within=Sometimes": `f:1: within=Sometimes: "Sometimes" is unknown`,
		"queue a minAdmit=soon":    "f:1: minAdmit=soon is not a duration, as in 90s or 1h30m",
		"queue a in":               "f:1: in needs a value, as in in=...",
		"queue a\nrunning x in=a gpu=1 evicted=yes":  `f:2: running does not know "evicted"`,
		"queue a\nrunning x in=a gpu=1 in=b":         `f:2: running does not know "in", or not twice`,
		"queue a gpu=1\nask in=a needs=energy gpu=1": "f:2: needs=energy is no resource",
		"pod p on=n1 priority=3000000000":            "f:1: priority=3000000000 is out of range",
		"config strategies=Most":                     "f:1: strategies: ",
		"queue a weight=-":                           "f:1: weight: ",
		"rules":                                      "f:1: rules needs a name",
		"rules none":                                 `f:1: the page has no rules "none"`,
		"queue a\nask in=a gpu=1 observed=Always":    "f:2: observed=Always is not TRIGGER:DURATION",
		"queue a\nask in=a gpu=1 domain.r=n":         "f:2: domains without nodes",
	} {
		if _, err := Run("f", text+"\n", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// An answer ends at an empty line, and a second run changes nothing.
func TestRunTwice(t *testing.T) {
	const text = "queue a gpu=4\n> first\nask in=a gpu=3\nask in=a gpu=4\n# a remark\n> second\ncheck\n"
	once, err := Run("f", text, "")
	if err != nil {
		t.Fatal(err)
	}
	want := `queue a gpu=4
> first
ask in=a gpu=3
----
It fits now.
Fits

ask in=a gpu=4
----
It fits now.
Fits

# a remark
> second
check
----
valid
`
	twice, err := Run("f", once, "")
	if diff := cmp.Diff(want, once); err != nil || diff != "" || twice != once {
		t.Errorf("%v\n%s\nthen\n%s", err, diff, twice)
	}
}
