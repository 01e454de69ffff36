package judge_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/kueue/judge"
)

// program is whatif, whose reader these tests hold to Kueue.
var program = flag.String("whatif", "", "the `PROGRAM` to hold to Kueue; whatif of this tree if it is not given")

func TestMain(m *testing.M) {
	flag.Parse()
	if *program == "" {
		dir, err := os.MkdirTemp("", "whatif")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		*program = filepath.Join(dir, "whatif")
		build := exec.Command("go", "build", "-o", *program, "./whatif")
		build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v: %s", err, out))
		}
	}
	if status := m.Run(); status != 0 {
		os.Exit(status)
	}
}

// light is the answer of whatif.
type light struct {
	Verdict  struct{ Outcome, Why string }
	Decision struct {
		Victims    []victim
		Counts     []struct{ Count int64 }
		Assignment []struct {
			PodSet, Flavor string
			Resources      []struct{ Resource string }
		}
	}
	Notes []string
	brief bool // without flavors
}

type victim struct {
	Workload string
	Leaving  bool
}

// whatif asks whatif. It fails if the program does.
func whatif(t testing.TB, objects []byte, workload string, at time.Time) (a light, refused string) {
	t.Helper()
	ask := exec.Command(*program, "-f", "-", "-workload", workload, "-at", at.Format(time.RFC3339), "-o", "json")
	var out, said bytes.Buffer
	ask.Stdin, ask.Stdout, ask.Stderr = bytes.NewReader(objects), &out, &said
	var exit *exec.ExitError
	switch err := ask.Run(); {
	case errors.As(err, &exit) && exit.ExitCode() == 2:
		return a, said.String()
	case err != nil && !errors.As(err, &exit):
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("%v: %s%s", err, out.Bytes(), said.Bytes())
	}
	return a, ""
}

// The outcomes of whatif that say the same as a verdict of the judge.
var same = map[judge.Verdict][]string{
	judge.Fits: {"Fits"}, judge.Preempts: {"Preempt"}, judge.Gated: {"Gated"}, judge.No: {"Impossible"}, judge.Held: {"Held"},
	judge.Waits: {"Wait", "Preempt"}, // only if all that it waits for is leaving
}

// heldByCheck reports whether whatif says that a failed admission check holds the workload. It says so first, whatever is missing
// beside; Kueue says what it finds first. Neither is a yes.
func (a *light) heldByCheck() bool {
	return a.Verdict.Outcome == "Held" && strings.Contains(a.Verdict.Why, "admission check")
}

// noAllTheSame reports whether whatif says a no that stands whatever it does not look at, where Kueue holds the workload: because
// of its claims of devices, until the pods of others are ready, or behind a head of which whatif does not know whether it waits.
func (a *light) noAllTheSame(k *judge.Answer) bool {
	behind := func(note string) bool { return strings.Contains(note, "and whether that one waits is unknown") }
	return k.Verdict == judge.Held && a.Verdict.Outcome == "Impossible" &&
		(strings.Contains(k.Message, "ResourceClaim") || strings.Contains(k.Message, "blockAdmission") || slices.ContainsFunc(a.Notes, behind))
}

// differs compares an answer of whatif with Kueue's; empty: it says the same, or that it does not know.
func (a *light) differs(k *judge.Answer) string {
	if a.Verdict.Outcome == "Unknown" || k.Verdict == judge.Unknown {
		return ""
	}
	if !slices.Contains(same[k.Verdict], a.Verdict.Outcome) && (k.Verdict != judge.No || !a.heldByCheck()) && !a.noAllTheSame(k) {
		return "another verdict"
	}
	if a.Verdict.Outcome == "Held" {
		return "" // what is decided besides is what it would be otherwise
	}
	var victims []string
	for _, v := range a.Decision.Victims {
		if !v.Leaving {
			victims = append(victims, v.Workload)
		}
	}
	if slices.Sort(victims); !slices.Equal(victims, k.Victims) {
		return "other victims"
	}
	if a.brief || k.Verdict != judge.Fits && k.Verdict != judge.Preempts {
		return ""
	}
	flavors := map[string]map[string]string{}
	for _, c := range a.Decision.Assignment {
		for _, r := range c.Resources {
			if flavors[c.PodSet] == nil {
				flavors[c.PodSet] = map[string]string{}
			}
			flavors[c.PodSet][r.Resource] = c.Flavor
		}
	}
	if maps.DeleteFunc(k.Flavors, func(_ string, of map[string]string) bool { return len(of) == 0 }); !maps.EqualFunc(flavors, k.Flavors, maps.Equal) {
		return "other flavors"
	}
	return ""
}

func (a *light) String() string {
	if a == nil {
		return "nothing"
	}
	var parts []string
	for _, v := range a.Decision.Victims {
		parts = append(parts, v.Workload)
	}
	for _, c := range a.Decision.Assignment {
		parts = append(parts, c.PodSet+" "+c.Flavor)
	}
	return fmt.Sprintf("%s %s %s", a.Verdict.Outcome, a.Verdict.Why, strings.Join(parts, ", "))
}

// overview asks whatif about all workloads that wait at once: without flavors.
func overview(t testing.TB, objects []byte, at time.Time) (answers map[string]*light, refused string) {
	t.Helper()
	ask := exec.Command(*program, "overview", "-all", "-f", "-", "-at", at.Format(time.RFC3339), "-o", "json")
	var out, said bytes.Buffer
	ask.Stdin, ask.Stdout, ask.Stderr = bytes.NewReader(objects), &out, &said
	var exit *exec.ExitError
	if err := ask.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil && exit.ExitCode() == 2 {
		return nil, said.String()
	}
	var list struct {
		Workloads []struct {
			Workload, Outcome, Words string
			Victims, Leaving         []string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatalf("%v: %s%s", err, out.Bytes(), said.Bytes())
	}
	answers = map[string]*light{}
	for _, w := range list.Workloads {
		a := &light{brief: true}
		a.Verdict.Outcome, a.Verdict.Why = w.Outcome, strings.TrimPrefix(w.Words, "unknown: ")
		for _, v := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.Victims, w.Leaving)))) {
			a.Decision.Victims = append(a.Decision.Victims, victim{v, slices.Contains(w.Leaving, v)})
		}
		answers[w.Workload] = a
	}
	return answers, ""
}

// counted counts answers, in all and by what they were asked for.
type counted struct {
	asked, alike, unknown, undecided, departs int
	by                                        map[string]*[2]int // asked, and unknown to whatif
}

// of asks whatif and Kueue about a workload; by is what it is asked for.
func (c *counted) of(t *testing.T, what, by string, objects []byte, id string) {
	t.Helper()
	a, refused := whatif(t, objects, id, at)
	c.compare(t, what, by, objects, id, &a, refused)
}

// all asks about all workloads that wait.
func (c *counted) all(t *testing.T, what, by string, objects []byte) {
	t.Helper()
	ids, err := judge.Waiting(objects)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	answers, refused := overview(t, objects, at)
	for _, id := range ids {
		a := answers[id]
		if a == nil && refused == "" {
			refused = "it is not among those that wait"
		}
		c.compare(t, what, by, objects, id, a, refused)
	}
}

func (c *counted) compare(t *testing.T, what, by string, objects []byte, id string, a *light, refused string) {
	t.Helper()
	k, err := judge.Ask(t.Context(), objects, id, at)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	c.hold(t, what, by, id, a, refused, &k)
}

// hold holds an answer of whatif to Kueue's.
func (c *counted) hold(t *testing.T, what, by, id string, a *light, refused string, k *judge.Answer) {
	t.Helper()
	if c.by == nil {
		c.by = map[string]*[2]int{}
	}
	if c.by[by] == nil {
		c.by[by] = new([2]int)
	}
	c.asked++
	c.by[by][0]++
	switch {
	case k.Verdict == judge.Unknown:
		c.undecided++
	case refused != "":
		t.Errorf("%s, %s: whatif refuses the question: %s; Kueue %+v", what, id, refused, *k)
	case a.Verdict.Outcome == "Unknown":
		c.unknown++
		c.by[by][1]++
	case a.differs(k) == "":
		c.alike++
	case a.waitsForLeaving():
		c.departs++
	default:
		t.Errorf("%s, %s: %s: whatif %v; Kueue %+v", what, id, a.differs(k), a, *k)
	}
}

// waitsForLeaving: what was told to leave is enough, and nobody else is told (docs/departures.md).
func (a *light) waitsForLeaving() bool {
	for _, v := range a.Decision.Victims {
		if !v.Leaving {
			return false
		}
	}
	return len(a.Decision.Victims) > 0 && (a.Verdict.Outcome == "Wait" || a.Verdict.Outcome == "Preempt")
}

// log prints the counts, and the share of what is unknown to whatif by what was asked for, most frequent first.
func (c *counted) log(t *testing.T) {
	t.Helper()
	t.Logf("%d asked: %d alike, %d unknown to whatif, %d not decided by Kueue either, %d depart", c.asked, c.alike, c.unknown, c.undecided, c.departs)
	for _, by := range slices.SortedFunc(maps.Keys(c.by), func(a, b string) int { return cmp.Or(c.by[b][1]-c.by[a][1], cmp.Compare(a, b)) }) {
		if n := c.by[by]; n[1] > 0 {
			t.Logf("%3d%% of %4d unknown: %s", 100*n[1]/n[0], n[0], by)
		}
	}
}
