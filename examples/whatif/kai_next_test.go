package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/recorded"
)

// kaiNext is what next says.
type kaiNext struct {
	Cycles int
	Ends   bool
	Heads  []kaiHead
}

type kaiHead struct {
	Cycle           int
	Workload, Words string
	Outcome         string
	Victims         []string
	VictimPods      []string
	At              time.Time
}

func (k *ofKAI) next(t *testing.T, args ...string) (got kaiNext, status int) {
	t.Helper()
	status, stdout, stderr := call(strings.NewReader(k.text(t)), append([]string{"next", "-f", "-", "-at", kaiNow.Format(time.RFC3339), "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
		t.Fatalf("%v, %q", err, stderr)
	}
	return got, status
}

// names are short names of groups, sorted.
func (k *ofKAI) names(list []string) string {
	short := map[string]string{}
	for name, long := range k.long {
		short[kaiNamespace+"/"+long] = name
	}
	var out []string
	for _, id := range list {
		out = append(out, short[id])
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// One session of the situations: what starts, who preempts, and who yields, as in KAI's own tests. Where KAI takes more than it needs, as it puts
// nothing back, fewer yield here; in none of them are those other groups.
func TestNextOfKAI(t *testing.T) {
	for name, want := range map[string]struct{ starts, preempts, yields string }{
		"1 quick start":              {"train", "", ""},
		"2 two leaves without quota": {"", "e0 e1", "d2 d3"},
		"3 starved":                  {"", "gang", "b6 b7"},
		"4 weights":                  {"", "a0 a1 a2 a3 a4 a5", "b2 b3 b4 b5 b6 b7"},
		"5 remainder":                {"a0 a1 a2 b0 b1 b2 c0 c1", "", ""},
		"6 idle room does not help the non-preemptible": {"train", "", ""},
		"7 within the department":                       {"", "a", "x2"},
		"9 surplus":                                     {"", "gang", "elastic"},
		"10 surplus is not enough":                      {"", "gang", "elastic"},
		"11 a protected one is passed over":             {"", "gang", "b1 b3"},
		"11 by the scheduler's default":                 {"", "gang", "b1 b3"},
		"12 two nodes":                                  {"", "gang", "b0 b1 b2 b3"},
		"13 without quota of CPU":                       {"", "", ""},
		"14 in the own queue":                           {"", "build0", "t1"},
		"15 no limit is none":                           {"", "", ""},
	} {
		at := slices.IndexFunc(kaiSituations, func(s kaiSituation) bool { return s.name == name })
		k := newKAI()
		kaiSituations[at].build(k)
		for _, args := range [][]string{{"-cycles", "1"}, {"-cycles", "1", "-search", "kai"}} {
			got, status := k.next(t, args...)
			var starts, preempts, yields []string
			for _, h := range got.Heads {
				switch h.Outcome {
				case "Admit":
					starts = append(starts, h.Workload)
				case "Preempt":
					preempts, yields = append(preempts, h.Workload), append(yields, h.Victims...)
				}
			}
			if k.names(starts) != want.starts || k.names(preempts) != want.preempts || k.names(yields) != want.yields || (status == 0) != (want.starts+want.preempts != "") {
				t.Errorf("%s %q: status %d, %q start, %q preempt, %q yield", name, args, status, k.names(starts), k.names(preempts), k.names(yields))
			}
		}
	}
}

// What is told to leave waits again in the next session, and what it left room for starts then.
func TestNextSessionsOfKAI(t *testing.T) {
	k := newKAI()
	department(k, 4, kaiQueue{name: "a", gpu: 2, weight: 1}, kaiQueue{name: "b", gpu: 2, weight: 1})
	k.job(kaiJob{name: "elastic", queue: "b", pods: 4, min: 1, node: oneNode, age: 90})
	k.job(kaiJob{name: "gang", queue: "a", pods: 2, min: 2, age: 5})
	k.job(kaiJob{name: "large", queue: "a", pods: 5, min: 5, age: 4})
	got, _ := k.next(t)
	var lines []string
	for _, h := range got.Heads {
		lines = append(lines, fmt.Sprint(h.Cycle, " ", k.names([]string{strings.TrimSuffix(h.Workload, ":more")}), ": ", h.Words))
	}
	want := []string{
		"1 gang: reclaims from " + kaiNamespace + "/" + k.name("elastic") + " (2 pods)",
		"1 large: stays: asks for 5 GPU, the queue can have 4",
		"2 gang: 2 pods started",
		"2 elastic: stays: over its fair share: queue b would have 3 GPU of 2",
	}
	if !slices.Equal(lines, want) || !got.Ends {
		t.Errorf("%q, ends %t", lines, got.Ends)
	}
}

// Where only time helps, the next session is when a minimum runtime or a preemption delay has ended.
func TestNextWaitsForTime(t *testing.T) {
	for name, c := range map[string]struct {
		minimum, delay string
		want           []string
	}{
		"a minimum runtime": {"10m", "", []string{"1 +0s gang: waits 60s: no workload may yield before", "2 +1m0.000000001s gang: reclaims from b1", "3 +1m0.000000001s gang: 1 pod started"}},
		"a delay":           {"", "7m", []string{"1 +0s gang: stays: 1 GPU missing in the cluster", "2 +2m0s gang: reclaims from b1", "3 +2m0s gang: 1 pod started"}},
	} {
		k := newKAI()
		department(k, 2, kaiQueue{name: "a", gpu: 1, weight: 1}, kaiQueue{name: "b", gpu: 1, weight: 1, reclaim: c.minimum})
		k.job(kaiJob{name: "b0", queue: "b", node: oneNode, age: 100, started: 5})
		k.job(kaiJob{name: "b1", queue: "b", node: oneNode, age: 90, started: 9})
		group, _ := k.job(kaiJob{name: "gang", queue: "a", age: 5})
		if c.delay != "" {
			group["spec"].(map[string]any)["preemptionDelay"] = c.delay
		}
		got, _ := k.next(t)
		var lines []string
		for _, h := range got.Heads {
			words := h.Words
			for _, name := range []string{"b0", "b1"} {
				words = strings.ReplaceAll(words, kaiNamespace+"/"+k.name(name), name)
			}
			if k.names([]string{h.Workload}) == "gang" {
				lines = append(lines, fmt.Sprint(h.Cycle, " +", h.At.Sub(kaiNow), " gang: ", words))
			}
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%s: %q, ends %t", name, lines, got.Ends)
		}
	}
}

// Pods that run move so that one that waits has room; what moved waits again in the next session, and starts where it moves to.
func TestNextConsolidates(t *testing.T) {
	k := newKAI()
	department(k, 2, kaiQueue{name: "a", gpu: 2, weight: 1}, kaiQueue{name: "b", gpu: 2, weight: 1})
	k.node("node-2", 2)
	k.job(kaiJob{name: "left", queue: "a", node: oneNode, age: 90})
	k.job(kaiJob{name: "right", queue: "a", node: "node-2", age: 80})
	k.job(kaiJob{name: "large", queue: "b", gpus: 2, age: 5})
	got, _ := k.next(t)
	var lines []string
	for _, h := range got.Heads {
		lines = append(lines, fmt.Sprint(h.Cycle, " ", h.Outcome, " ", k.names([]string{h.Workload}), ": ", strings.ReplaceAll(h.Words, kaiNamespace+"/"+k.name("left"), "left")))
	}
	want := []string{
		"1 Admit large: 1 pod to start once 1 pod has moved: left-worker-0 to node-2",
		"2 Admit large: 1 pod started", "2 Admit left: 1 pod started",
	}
	if !slices.Equal(lines, want) || !got.Ends {
		t.Errorf("%q, ends %t", lines, got.Ends)
	}
}

// Sessions of KAI with all its actions, as its objects: in 235 of 256 the same pods yield, with its own search in 255. The others are
// departures (conformance plays all that are recorded).
func TestNextAsRecorded(t *testing.T) {
	count, equal := 0, [2]int{}
	for _, name := range []string{"reclaim", "preempt"} {
		err := recorded.Lines(name, besideKAI(t, name+".jsonl.gz"), func(_ int, line []byte) error {
			var s kaiSession
			if err := json.Unmarshal(line, &s); err != nil {
				return err
			}
			of := &s.Input.Settings
			if s.OrderDependent || slices.Contains([]string{"usage", "fraction", "saturation", "ties"}, s.Kind) || !strings.Contains(s.Input.Action, "allocate,consolidation,reclaim,preempt") ||
				of.Reclaim != nil || of.Preempt != nil || of.Method != "" && of.Method != "lca" {
				return nil
			}
			k := s.objects()
			var want []string
			for _, v := range slices.Concat(s.Want.Decided.Evicted, s.Want.Decided.Undone) {
				want = append(want, v.Task)
			}
			slices.Sort(want)
			count++
			for i, args := range [][]string{{"-cycles", "1"}, {"-cycles", "1", "-search", "kai"}} {
				got, status := k.next(t, args...)
				if status == 3 {
					t.Errorf("%s: unknown %+v", s.ID, got)
				}
				var yields []string
				for _, h := range got.Heads {
					for _, pod := range h.VictimPods {
						yields = append(yields, strings.TrimPrefix(pod, kaiNamespace+"/"))
					}
				}
				if slices.Sort(yields); slices.Equal(yields, want) {
					equal[i]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if count != 256 || equal != [2]int{235, 255} {
		t.Errorf("%d of %d are equal", equal, count)
	}
}

// A victim of a reclaim that has a place on another node moves there.
func TestNextMovesVictims(t *testing.T) {
	k := newKAI()
	department(k, 2, kaiQueue{name: "a", gpu: 2, weight: 1}, kaiQueue{name: "b", weight: 1})
	k.node("node-2", 1)
	k.job(kaiJob{name: "b0", queue: "b", node: oneNode, age: 90})
	k.job(kaiJob{name: "b1", queue: "b", node: oneNode, age: 80})
	k.job(kaiJob{name: "build", queue: "a", gpus: 2, class: "build", age: 5})
	got, _ := k.next(t, "-cycles", "1")
	if len(got.Heads) == 0 || k.names(got.Heads[0].Victims) != "b1" || !strings.HasSuffix(got.Heads[0].Words, "; 1 pod moves: "+kaiNamespace+"/"+k.name("b0")+"-worker-0 to node-2") {
		t.Errorf("%+v", got.Heads)
	}
}

// Only KAI has a search of its own.
func TestSearchOfKAI(t *testing.T) {
	for wrong, args := range map[string][]string{
		"-search kai: the input is not of KAI": {"next", "-sample", "cluster", "-search", "kai"},
		`-search "cede": want kai`:             {"next", "-sample", "kai", "-search", "cede"},
	} {
		if status, _, stderr := call(nil, args...); status != 2 || !strings.Contains(stderr, wrong) {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
}
