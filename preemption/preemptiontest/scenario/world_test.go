package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
)

func record(t *testing.T, id string) *kueueRecord {
	t.Helper()
	records, err := records()
	if err != nil {
		t.Fatal(err)
	}
	r := records[id]
	if r == nil || len(records) != len(Worlds) {
		t.Fatalf("no record of %s among %d", id, len(records))
	}
	return r
}

func decider(t *testing.T) Decide {
	t.Helper()
	p, err := preemption.New(preemption.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Decide
}

func snapshotOf(t *testing.T, st preemption.State) *preemption.Snapshot {
	t.Helper()
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAsKueueDecides builds each world, checks that it is the one that Kueue was asked
// about, that the requests are those, and compares victims and reasons.
func TestAsKueueDecides(t *testing.T) {
	decide := decider(t)
	for _, w := range Worlds {
		t.Run(w.ID, func(t *testing.T) {
			if testing.Short() && w.Workloads() > 10_000 {
				t.Skip("large")
			}
			r, st := record(t, w.ID), w.State()
			if got := hash(describe(st)); got != r.StateSha256 {
				t.Fatalf("another world: %s, want %s", got, r.StateSha256)
			}
			s := snapshotOf(t, st)
			scenarios := w.Scenarios()
			if len(scenarios) != len(r.Scenarios) {
				t.Errorf("%d scenarios, want %d", len(scenarios), len(r.Scenarios))
			}
			for _, want := range r.Scenarios {
				i := slices.IndexFunc(scenarios, func(s Scenario) bool { return s.Name == want.Name })
				if i < 0 {
					t.Errorf("no scenario %s", want.Name)
					continue
				}
				sc := scenarios[i]
				if got := sc.Request.Workload; got.Queue != want.Queue || got.Priority != want.Priority || sizeOfRequest(sc.Request) != want.Request {
					t.Errorf("%s: %s %d %v, want %v", sc.Name, got.Queue, got.Priority, sizeOfRequest(sc.Request), want)
				}
				if sc.ClassicalOnly != (sc.Kueue[Fair] == nil) || sc.Kueue[Classical] == nil {
					t.Errorf("%s: answers of Kueue: %v", sc.Name, sc.Kueue)
					continue
				}
				d, err := decide(s, sc.Request)
				if err != nil {
					t.Fatal(err)
				}
				if source, err := sc.Check(Classical, s, decide, d); err != nil || source != ByKueue {
					t.Errorf("%s: by %s: %v", sc.Name, source, err)
				}
				reasons := map[string]int{}
				for _, v := range d.Victims {
					reasons[v.Reason.String()]++
				}
				if !maps.Equal(reasons, sc.Kueue[Classical].Reasons) {
					t.Errorf("%s: %v, want %v", sc.Name, reasons, sc.Kueue[Classical].Reasons)
				}
			}
		})
	}
}

// Where a definition says who yields, in whatever mode, Kueue says the same.
func TestDefinitionsAreKueues(t *testing.T) {
	compared := map[Mode]int{}
	for _, w := range Worlds {
		for _, sc := range w.Scenarios() {
			for _, mode := range sc.Defined {
				if a := sc.Kueue[mode]; a != nil {
					compared[mode]++
					if !a.is(sc.Victims) {
						t.Errorf("%s %s %s: %v, Kueue %v", w.ID, sc.Name, mode, few(sc.Victims), few(a.Names))
					}
				}
			}
		}
	}
	if compared[Classical] < 100 || compared[Fair] < 40 {
		t.Errorf("compared only %v", compared)
	}
}

// A larger world of which the first cohort is a smaller one's has its answers.
func TestLargerWorldsHaveAnswersOfKueue(t *testing.T) {
	for _, w := range Large {
		for _, sc := range w.Scenarios() {
			if want := w.ID == "f6-1m-10000-1000" || w.ID == "f7-1m-1000-10"; want != (sc.Kueue[Classical] != nil) {
				t.Errorf("%s %s: %v", w.ID, sc.Name, sc.Kueue)
			}
			for _, a := range sc.Kueue {
				if a.TargetsNs != 0 || a.NominateNs != 0 {
					t.Errorf("%s %s: a time of another world", w.ID, sc.Name)
				}
			}
		}
	}
	smaller := World{Queues: 30, Group: 10, Each: 100}
	sc := smaller.Scenarios()[4]
	s := snapshotOf(t, smaller.State())
	d, err := decider(t)(s, sc.Request)
	if err != nil {
		t.Fatal(err)
	}
	if source, err := sc.Check(Classical, s, decider(t), d); err != nil || source != ByKueue {
		t.Errorf("%s: by %s: %v", sc.Name, source, err)
	}
}

// The formulas hold at other sizes, with many priorities, flavors and protection, too.
func TestOtherWorlds(t *testing.T) {
	decide := decider(t)
	for _, w := range []World{
		{ID: "flat", Queues: 20, Group: 20, Each: 200},
		{ID: "tree", Queues: 200, Group: 10, Each: 100, Leaves: 5},
		{ID: "priorities", Queues: 10, Group: 10, Each: 2000, Levels: 1000},
		{ID: "flavors", Queues: 5, Group: 5, Each: 1000, Flavors: 9},
		{ID: "protected", Queues: 20, Group: 20, Each: 200, Guarantee: Hard[2].Guarantee},
	} {
		s := snapshotOf(t, w.State())
		if n := len(s.State().Admitted); n != w.Workloads() {
			t.Errorf("%s: %d workloads, want %d", w.ID, n, w.Workloads())
		}
		for _, sc := range w.Scenarios() {
			d, err := decide(s, sc.Request)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sc.Check(Classical, s, decide, d); err != nil {
				t.Errorf("%s %s: %v", w.ID, sc.Name, err)
			}
		}
	}
}

// Each of the checks sees a wrong answer.
func TestWrongAnswersAreSeen(t *testing.T) {
	decide := decider(t)
	for _, w := range []World{Worlds[0], {ID: "like no other", Queues: 12, Group: 12, Each: 100}, {ID: "tree", Queues: 100, Group: 5, Each: 104, Leaves: 4}} {
		s := snapshotOf(t, w.State())
		for _, sc := range w.Scenarios() {
			d, err := decide(s, sc.Request)
			if err != nil {
				t.Fatal(err)
			}
			source, err := sc.Check(Classical, s, decide, d)
			if err != nil {
				t.Errorf("%s %s: %v", w.ID, sc.Name, err)
			}
			wrong := []preemption.Decision{{Outcome: preemption.Fits}, {Outcome: preemption.Preempt, Victims: append(slices.Clone(d.Victims), preemption.Victim{Workload: idOf(7)})}}
			if len(d.Victims) > 0 {
				wrong = append(wrong, preemption.Decision{Outcome: preemption.Preempt, Victims: d.Victims[1:]})
			}
			for _, d := range wrong {
				if _, err := sc.Check(Classical, s, decide, d); err == nil {
					t.Errorf("%s %s, by %s: %v with %d victims passes", w.ID, sc.Name, source, d.Outcome, len(d.Victims))
				}
			}
		}
	}
}

func sizeOfRequest(r preemption.Request) Size {
	amounts := r.Workload.PodSets[0].Requests
	return Size{amounts[0].Amount, amounts[1].Amount}
}

// describe is the text of a world whose hash Kueue's run recorded.
func describe(st preemption.State) string {
	var b strings.Builder
	for _, q := range st.Queues {
		fmt.Fprintf(&b, "cq %s %s %d %d\n", q.Name, q.Cohort, q.Quotas[0].Nominal, q.Quotas[1].Nominal)
	}
	for _, w := range st.Admitted {
		r := w.PodSets[0].Requests
		fmt.Fprintf(&b, "wl %s %s %d %d %d %d %d\n", strings.TrimPrefix(w.ID, "bench/"), w.Queue, w.Priority,
			r[0].Amount, r[1].Amount, w.Created.Unix(), w.ReservedAt.Unix())
	}
	return b.String()
}
