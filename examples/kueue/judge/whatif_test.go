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
		Victims []struct {
			Workload string
			Leaving  bool
		}
		Counts     []struct{ Count int64 }
		Assignment []struct {
			PodSet, Flavor string
			Resources      []struct{ Resource string }
		}
	}
	Notes []string
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

// differs compares an answer of whatif with Kueue's; empty: it says the same, or that it does not know.
func (a *light) differs(k *judge.Answer) string {
	if a.Verdict.Outcome == "Unknown" || k.Verdict == judge.Unknown {
		return ""
	}
	if !slices.Contains(same[k.Verdict], a.Verdict.Outcome) {
		return "another verdict"
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
	if k.Verdict != judge.Fits && k.Verdict != judge.Preempts {
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
	for _, of := range k.Flavors {
		maps.DeleteFunc(of, func(resource, _ string) bool { // of a request of 0 nothing is assigned
			return !slices.ContainsFunc(slices.Collect(maps.Values(flavors)), func(f map[string]string) bool { return f[resource] != "" })
		})
	}
	if maps.DeleteFunc(k.Flavors, func(_ string, of map[string]string) bool { return len(of) == 0 }); !maps.EqualFunc(flavors, k.Flavors, maps.Equal) {
		return "other flavors"
	}
	return ""
}

func (a *light) String() string {
	var parts []string
	for _, v := range a.Decision.Victims {
		parts = append(parts, v.Workload)
	}
	for _, c := range a.Decision.Assignment {
		parts = append(parts, c.PodSet+" "+c.Flavor)
	}
	return fmt.Sprintf("%s %s %s", a.Verdict.Outcome, a.Verdict.Why, strings.Join(parts, ", "))
}

// counted counts answers.
type counted struct {
	asked, alike, unknown, undecided, departs int
	why                                       map[string]int // what whatif does not know
	refused                                   map[string]int
}

// compare asks whatif and Kueue about a workload.
func (c *counted) compare(t *testing.T, what string, objects []byte, id string) {
	t.Helper()
	k, err := judge.Ask(t.Context(), objects, id, at)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	a, refused := whatif(t, objects, id, at)
	c.asked++
	switch d := a.differs(&k); {
	case refused != "":
		count(&c.refused, refused)
		if k.Verdict != judge.Unknown {
			t.Errorf("%s, %s: whatif refuses the question: %s; Kueue %+v", what, id, refused, k)
		}
	case k.Verdict == judge.Unknown:
		c.undecided++
	case a.Verdict.Outcome == "Unknown":
		c.unknown++
		count(&c.why, a.Verdict.Why)
	case d == "":
		c.alike++
	case a.waitsForLeaving():
		c.departs++
	default:
		t.Errorf("%s, %s: %s: whatif %v; Kueue %+v", what, id, d, &a, k)
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

func count(in *map[string]int, what string) {
	if *in == nil {
		*in = map[string]int{}
	}
	(*in)[what]++
}

// log prints the counts, and what was unknown by what it was about, most frequent first.
func (c *counted) log(t *testing.T) {
	t.Helper()
	t.Logf("%d asked: %d alike, %d unknown to whatif, %d not decided by Kueue either, %d depart", c.asked, c.alike, c.unknown, c.undecided, c.departs)
	whys := slices.SortedFunc(maps.Keys(c.why), func(a, b string) int { return cmp.Or(c.why[b]-c.why[a], cmp.Compare(a, b)) })
	for _, w := range whys {
		t.Logf("%5d unknown: %s", c.why[w], w)
	}
}
