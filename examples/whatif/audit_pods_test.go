package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/examples/internal/history/historytest"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// asBuilt decides as package placement does in place, without what kube-scheduler looks at besides.
func asBuilt(list []byte, id string, now time.Time) (d historytest.Decision, err error) {
	var k read.Kubernetes
	if _, err := objects.Read([]objects.Source{{Name: "list", Reader: bytes.NewReader(list)}}, objects.Options{}, k.Add); err != nil {
		return d, err
	}
	c := k.Cluster()
	s, err := c.Snapshot()
	if err != nil {
		return d, err
	}
	p, err := placement.New(placement.Config{Mode: placement.ModeInPlace})
	if err != nil {
		return d, err
	}
	for _, one := range c.Pending {
		if one.ID != id {
			continue
		}
		one.Request.Now = now
		chosen, err := p.Decide(s, one.Request)
		if err != nil || len(chosen.Nominations) == 0 || chosen.Outcome == preemption.Wait {
			return d, err
		}
		d.Node = chosen.Nominations[0].Node
		for _, v := range chosen.Victims {
			for _, pod := range v.Pods {
				if p, _ := s.Find(pod); !p.Terminating {
					d.Victims = append(d.Victims, pod)
				}
			}
		}
		if chosen.Outcome == preemption.Preempt && len(d.Victims) == 0 {
			return historytest.Decision{}, nil // what was chosen leaves already
		}
		return d, nil
	}
	return d, fmt.Errorf("%s does not wait", id)
}

// livePods lets a cluster live, and writes what is left of its lines.
func livePods(t *testing.T, seed uint64, steps int, change func([]string) []string) (l *historytest.Life, file string) {
	t.Helper()
	l = historytest.New(seed, asBuilt)
	for range steps {
		if err := l.Step(); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(change(l.Lines), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return l, file
}

// podTally is how preemptions were judged.
type podTally struct {
	right, accused, found, missed, lost int
	unknown                             map[string]int
}

func (n *podTally) judge(t *testing.T, l *historytest.Life, file, name string) {
	t.Helper()
	status, out, said := call(nil, "audit", "-f", file, "-o", "json")
	if status == 2 {
		t.Fatalf("%s: %s", name, said)
	}
	var a struct {
		Preemptions []struct {
			At                          time.Time
			Preemptor, Verdict, Unknown string
		}
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	if n.unknown == nil {
		n.unknown = map[string]int{}
	}
	for _, p := range a.Preemptions {
		key := p.At.UTC().Format(time.RFC3339) + " " + p.Preemptor
		_, known := l.Preempted[key]
		switch spoilt := l.Spoilt[key]; {
		case p.Verdict == "Unknown":
			words := strings.FieldsFunc(p.Unknown, func(r rune) bool { return r == ' ' })
			n.unknown[strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "/-0123456789") }), " ")]++
		case !known:
			n.lost++
		case spoilt && p.Verdict == "Right":
			n.missed++
		case spoilt:
			n.found++
		case p.Verdict == "Right":
			n.right++
		default:
			n.accused++
			t.Errorf("%s, %s, of %v: %s", name, key, l.Preempted[key], p.Verdict)
		}
	}
}

// podsFile is the versions of pods over ten minutes, in which some preemptions are not right.
const podsFile = "testdata/audit/pods.jsonl.gz"

func TestAuditOfPodsGolden(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		l := historytest.New(5, asBuilt)
		for range 18 {
			if err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		writeZipped(t, podsFile, l.Lines)
	}
	for name, c := range map[string]struct {
		width int
		args  []string
	}{
		"audit-pods-80":    {80, nil},
		"audit-pods-pipe":  {0, []string{"-checkpoint", "1m"}},
		"audit-pods-story": {80, []string{"-story", "team-a/db-83"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, said := callOn(cli.Screen{Width: c.width}, nil, append([]string{"audit", "-f", podsFile}, c.args...)...)
			if status != 1 || said != "" {
				t.Errorf("status %d: %s", status, said)
			}
			golden.Check(t, name, out)
		})
	}
}

// Flags that only histories of Kueue know are refused.
func TestAuditOfPodsRefusesFlags(t *testing.T) {
	for _, args := range [][]string{{"-skew", "1m"}, {"-policy", "q:withinClusterQueue=Never"}} {
		status, _, said := call(nil, append([]string{"audit", "-f", podsFile}, args...)...)
		if status != 2 || !strings.Contains(said, "of histories of Kueue alone") {
			t.Errorf("%v: status %d: %s", args, status, said)
		}
	}
}

// In clusters that live what is preempted is right, and a victim more is found; also where the order of the lines is lost, or some are.
func TestAuditOfPods(t *testing.T) {
	every := func(n int, is func(string) bool) func([]string) []string {
		return func(lines []string) (kept []string) {
			for i, line := range lines {
				if is(line) && i%n == n-1 {
					continue
				}
				kept = append(kept, line)
			}
			return kept
		}
	}
	event := func(line string) bool { return strings.Contains(line, `"kind":"Event"`) }
	for _, c := range []struct {
		name   string
		change func([]string) []string
		least  int // how many of three preemptions are decided
	}{
		{"whole", slices.Clone[[]string], 2},
		{"in any order", func(lines []string) []string {
			lines = slices.Clone(lines)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
			return lines
		}, 2},
		{"each twice", func(lines []string) []string { return slices.Concat(lines, lines) }, 2},
		{"cut off", func(lines []string) []string {
			lines = slices.Clone(lines[:len(lines)*2/3])
			lines[len(lines)-1] = lines[len(lines)-1][:30]
			return lines
		}, 2},
		{"without every twentieth line", every(20, func(string) bool { return true }), 0},
		{"without every third Event", every(3, event), 0},
		{"without Events", every(1, event), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n podTally
			for seed := range uint64(podLives) {
				l, file := livePods(t, seed, 40, c.change)
				n.judge(t, l, file, fmt.Sprint("seed ", seed))
			}
			t.Logf("%+v", n)
		})
	}
}

// podLives is how many clusters live.
var podLives = 3
