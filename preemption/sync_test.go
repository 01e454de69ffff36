package preemption_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Sync leads from any state to any other: to what NewSnapshot makes of it, by edits that do
// the same, or to its faults.
func syncIsNewSnapshot(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	s := snapshotOf(t, record.State)
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		if canAsk(s, record) && rapid.Bool().Draw(t, "decided") {
			s = edit(t, s, decideWith(t, config, s, *record.Request).Edits()...)
		}
		st := changed(t, s.State(), record)
		before := s.State()
		next, edits, err := s.Sync(st)
		noDiff(t, "the receiver is another", before, s.State(), sameDecision)
		whole, wanted := preemption.NewSnapshot(st)
		if fmt.Sprint(err) != fmt.Sprint(wanted) {
			t.Fatalf("error %v, want %v", err, wanted)
		}
		if err != nil {
			if next != s || edits != nil {
				t.Fatalf("with an error: %p and %d edits, want %p and none", next, len(edits), s)
			}
			continue
		}
		for name, got := range map[string]*preemption.Snapshot{"Sync": next, "With": edit(t, s, edits...)} {
			noDiff(t, fmt.Sprintf("state by %s", name), whole.State(), got.State(), sameDecision)
			noDiff(t, fmt.Sprintf("removals by %s", name), whole.Removals(), got.Removals(), sameEdits)
			if !canAsk(whole, record) {
				continue
			}
			noDiff(t, fmt.Sprintf("decision by %s", name), decideWith(t, config, whole, *record.Request), decideWith(t, config, got, *record.Request), sameDecision)
		}
		if _, again, err := next.Sync(st); err != nil || len(again) > 0 {
			t.Fatalf("once more: %d edits, %v", len(again), err)
		}
		s = next
	}
}

// sameEdits compares edits with all that they hold.
var sameEdits = cmp.Exporter(func(t reflect.Type) bool { return t == reflect.TypeFor[preemption.Edit]() })

// canAsk reports whether the request of a record makes sense in another snapshot.
func canAsk(s *preemption.Snapshot, record preemption.Record) bool {
	_, known := s.Queue(record.Request.Workload.Queue)
	_, running := s.Find(record.Request.Workload.ID)
	return known && !running
}

// changed draws a state near another, or far from it, or one that is not valid.
func changed(t *rapid.T, st preemption.State, record preemption.Record) preemption.State {
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		n := len(st.Admitted)
		at := 0
		if n > 0 {
			at = rapid.IntRange(0, n-1).Draw(t, "at")
		}
		kind := rapid.IntRange(0, 18).Draw(t, "kind")
		switch {
		case kind == 0:
			st.Admitted = append(st.Admitted, record.Request.Workload.Clone())
		case kind == 1:
			slices.Reverse(st.Admitted)
		case kind == 2:
			st = preemptiontest.Records().Draw(t, "other").State
		case kind == 3 && len(st.Queues) > 0:
			q := &st.Queues[rapid.IntRange(0, len(st.Queues)-1).Draw(t, "queue")]
			q.Preemption.WithinClusterQueue = queue.LowerPriority
		case kind == 4 && len(st.Queues) > 0:
			st.Queues = st.Queues[1:]
		case kind == 5:
			st.Queues = append(st.Queues, queue.Queue{Name: fmt.Sprint("new", len(st.Queues))})
		case kind == 6:
			st.Flavors = append(st.Flavors, queue.Flavor{Name: fmt.Sprint("new", len(st.Flavors))})
		case kind == 17:
			st.Rules = append(st.Rules, rules.Config{Name: fmt.Sprint("new", rapid.IntRange(0, 9).Draw(t, "rules")), Rules: []rules.Rule{anybody(rules.Always)}})
			for i := range st.Queues {
				st.Queues[i].Rules = st.Rules[0].Name
			}
		case kind == 18 && len(st.Rules) > 0:
			st.Rules = st.Rules[1:]
		case n == 0:
		case kind == 7:
			st.Admitted = slices.Delete(st.Admitted, at, at+1)
		case kind == 8:
			st.Admitted[at].Evicted = !st.Admitted[at].Evicted
		case kind == 9:
			st.Admitted[at].ReservedAt = record.Request.Now.Add(time.Minute)
		case kind == 10 && len(st.Queues) > 0:
			st.Admitted[at].Queue = st.Queues[len(st.Queues)-1].Name
		case kind == 11 && rapid.IntRange(0, 3).Draw(t, "bad") == 0:
			st.Admitted = append(st.Admitted, st.Admitted[at])
		case kind == 12 && rapid.IntRange(0, 3).Draw(t, "bad") == 0:
			st.Admitted[at].Queue = "unknown"
		case kind == 13:
			w := st.Admitted[at].Clone()
			for i := range w.PodSets {
				w.PodSets[i].Count++
			}
			st.Admitted[at] = w
		case kind == 14:
			st.Admitted[at].PriorityBoost++
		case kind == 16 && len(st.Queues) > 0:
			w := st.Admitted[at].Clone()
			for i := range w.PodSets {
				if p := &w.PodSets[i]; p.Count > 0 && !p.Totals {
					p.Terminating = 1
				}
			}
			w.Queue = st.Queues[0].Name
			st.Admitted[at] = w
		case kind == 15:
			st.Admitted[0], st.Admitted[at] = st.Admitted[at], st.Admitted[0]
		}
	}
	return st
}

func TestSyncIsNewSnapshot(t *testing.T) { rapid.Check(t, inEither(syncIsNewSnapshot)) }

// No field of a workload, queue, cohort or flavor is forgotten when Sync compares.
func TestSyncSeesEveryField(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}, {Name: "d"}},
		Queues:  []queue.Queue{{Name: "q", Cohort: "c"}},
		Flavors: []queue.Flavor{{Name: "f"}},
		Rules:   []rules.Config{{Name: "r", Rules: []rules.Rule{anybody(rules.Always)}}},
		Admitted: []workload.Workload{{ID: "w", Queue: "q", Gates: gate.Gates{
			Names: []string{"g", "h"}, States: []gate.State{{Name: "g", Position: gate.Open, Since: now}},
			Blocked: gate.Condition{Active: true, Reason: gate.PreemptionGated, Since: now},
		}, PodSets: []workload.PodSet{{
			Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 1}},
			NodeConstraints: &workload.NodeConstraints{NodeAffinity: []workload.NodeSelectorTerm{{
				MatchExpressions: []workload.LabelRequirement{{Key: "zone", Operator: workload.In, Values: []string{"a"}}},
			}}},
		}}}},
	}
	s := snapshotOf(t, st)
	if _, edits, err := s.Sync(s.State()); err != nil || len(edits) > 0 {
		t.Errorf("%v, and %d edits for the same state", err, len(edits))
	}
	constraints := func(st *preemption.State) *workload.NodeConstraints { return st.Admitted[0].PodSets[0].NodeConstraints }
	for name, at := range map[string]func(*preemption.State) reflect.Value{
		"workload": func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Admitted[0]).Elem() },
		"pod set":  func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Admitted[0].PodSets[0]).Elem() },
		"amount": func(st *preemption.State) reflect.Value {
			return reflect.ValueOf(&st.Admitted[0].PodSets[0].Requests[0]).Elem()
		},
		"affinity": func(st *preemption.State) reflect.Value { return reflect.ValueOf(constraints(st)).Elem() },
		"label": func(st *preemption.State) reflect.Value {
			return reflect.ValueOf(&constraints(st).NodeAffinity[0].MatchExpressions[0]).Elem()
		},
		"queue":  func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Queues[0]).Elem() },
		"cohort": func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Cohorts[0]).Elem() },
		"flavor": func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Flavors[0]).Elem() },
		"rules":  func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Rules[0]).Elem() },
		"rule":   func(st *preemption.State) reflect.Value { return reflect.ValueOf(&st.Rules[0].Rules[0]).Elem() },
	} {
		for i := range at(&st).NumField() {
			other := s.State()
			field := at(&other).Field(i)
			change(field)
			if _, edits, err := s.Sync(other); err == nil && len(edits) == 0 {
				t.Errorf("%s: a change of %s is not seen", name, at(&other).Type().Field(i).Name)
			}
		}
	}
}

// change sets a field to something else.
func change(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(scenario.Now))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "d")
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case v.Kind() == reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case v.Kind() == reflect.Struct && v.NumField() > 0 && v.Field(0).CanSet():
		change(v.Field(0))
	case v.Kind() == reflect.Struct: // opaque: by its JSON form
		for _, text := range []string{"1", `"1h"`} {
			if v.Addr().MethodByName("UnmarshalJSON").IsValid() &&
				v.Addr().MethodByName("UnmarshalJSON").Call([]reflect.Value{reflect.ValueOf([]byte(text))})[0].IsNil() {
				return
			}
		}
	}
}

// The edits come in their documented order.
func TestSyncEditsAreInOrder(t *testing.T) {
	w := func(id, queue string, priority int64) workload.Workload {
		return workload.Workload{ID: id, Queue: queue, Priority: priority}
	}
	s := snapshotOf(t, preemption.State{
		Queues:   []queue.Queue{{Name: "a"}, {Name: "b"}},
		Rules:    []rules.Config{{Name: "old"}},
		Admitted: []workload.Workload{w("1", "a", 0), w("2", "a", 0), w("3", "b", 0), w("4", "b", 0), w("5", "b", 0)},
	})
	next, edits, err := s.Sync(preemption.State{
		Queues:   []queue.Queue{{Name: "b"}, {Name: "c", Cohort: "k"}},
		Cohorts:  []queue.Cohort{{Name: "k"}},
		Flavors:  []queue.Flavor{{Name: "f"}},
		Rules:    []rules.Config{{Name: "new"}},
		Admitted: []workload.Workload{w("6", "c", 0), w("5", "c", 0), w("4", "b", 1), w("3", "b", 0), w("2", "b", 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []preemption.Edit{
		preemption.Remove("1"), preemption.Remove("2"),
		preemption.SetFlavor(queue.Flavor{Name: "f"}),
		preemption.SetRules(rules.Config{Name: "new"}), preemption.RemoveRules("old"),
		preemption.SetCohort(queue.Cohort{Name: "k"}), preemption.SetQueue(queue.Queue{Name: "c", Cohort: "k"}), preemption.RemoveQueue("a"),
		preemption.Admit(w("4", "b", 1)), preemption.Admit(w("5", "c", 0)),
		preemption.Admit(w("2", "b", 0)), preemption.Admit(w("6", "c", 0)),
	}
	if !reflect.DeepEqual(edits, want) {
		t.Errorf("%+v, want %+v", edits, want)
	}
	if n := len(next.State().Admitted); n != 5 {
		t.Errorf("%d workloads", n)
	}
}

// Sync allocates for what changed: nothing for each workload that did not.
func TestSyncAllocatesWhatChanged(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	st := scenario.Worlds[1].State() // 10,000 workloads in 100 queues
	s, _, err := snapshotOf(t, st).Sync(st)
	if err != nil {
		t.Fatal(err)
	}
	for _, changed := range []int{0, 1, 100} {
		next := st
		next.Admitted = slices.Clone(st.Admitted)
		for i := range changed {
			next.Admitted[i*len(next.Admitted)/changed].Priority++
		}
		sync := func() {
			if _, edits, err := s.Sync(next); err != nil || len(edits) != changed {
				t.Fatal(len(edits), err)
			}
		}
		_, before := memory()
		sync()
		_, after := memory()
		if bytes, most := after-before, int64(10_000+5_000*changed); bytes > most {
			t.Errorf("%d changed: %d bytes, want at most %d", changed, bytes, most)
		}
		if n, most := testing.AllocsPerRun(5, sync), float64(20+40*changed); n > most {
			t.Errorf("%d changed: %v allocations, want at most %v", changed, n, most)
		}
	}
}

// BenchmarkSync follows 50,000 workloads of which the given number change: in the order of the last
// Sync, and in another order each time, as a map is walked.
func BenchmarkSync(b *testing.B) {
	st := scenario.Worlds[2].State()
	for _, order := range []string{"same", "other"} {
		for _, n := range []int{0, 1, 500} {
			b.Run(fmt.Sprintf("changed=%d/order=%s/%s", n, order, strings.TrimPrefix(nameOf(scenario.Worlds[2]), "cohort=")), func(b *testing.B) {
				s := snapshotOf(b, st)
				next := st
				next.Admitted = slices.Clone(st.Admitted)
				for i := range n {
					next.Admitted[i*len(next.Admitted)/n].Priority++
				}
				if order == "other" {
					rand.New(rand.NewPCG(1, 1)).Shuffle(len(next.Admitted), func(i, j int) {
						next.Admitted[i], next.Admitted[j] = next.Admitted[j], next.Admitted[i]
					})
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, edits, err := s.Sync(next); err != nil || len(edits) != n {
						b.Fatal(len(edits), err)
					}
				}
			})
		}
	}
}
