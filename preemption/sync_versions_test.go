package preemption_test

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/workload"
)

// versioned is a caller with a version of each workload.
type versioned struct {
	state     preemption.State
	versions  []int // of state.Admitted
	described []string
}

func (v *versioned) sync(s *preemption.Snapshot) (*preemption.Snapshot, []preemption.Edit, error) {
	config := v.state
	config.Admitted = nil
	v.described = nil
	listed := func(yield func(string, int) bool) {
		for i := range v.state.Admitted {
			if !yield(v.state.Admitted[i].ID, v.versions[i]) {
				return
			}
		}
	}
	return preemption.SyncVersions(s, config, listed, func(id string, version int) (workload.Workload, error) {
		v.described = append(v.described, id)
		i := slices.IndexFunc(v.state.Admitted, func(w workload.Workload) bool { return w.ID == id })
		if version != v.versions[i] {
			return workload.Workload{}, errors.New("another version")
		}
		return v.state.Admitted[i], nil
	})
}

// SyncVersions does what Sync of the whole state does, and describes what has another version, or
// none, or was edited since.
func syncVersionsIsSync(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	caller := versioned{state: record.State, versions: make([]int, len(record.State.Admitted))}
	for i := range caller.versions {
		caller.versions[i] = 1
	}
	s, _, err := caller.sync(nil)
	if err != nil || len(caller.described) != len(caller.versions) {
		t.Fatal(err, caller.described)
	}
	known := map[string]workload.Workload{}
	at := map[string]int{} // versions
	note := func(st preemption.State, versions []int) {
		for i, w := range st.Admitted {
			known[w.ID], at[w.ID] = w, versions[i]
		}
	}
	note(caller.state, caller.versions)
	edited := map[string]bool{} // since the last SyncVersions that did not fail
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		if canAsk(s, record) && rapid.Bool().Draw(t, "decided") {
			was := s
			s = edit(t, s, decideWith(t, config, s, *record.Request).Edits()...)
			for id := range known {
				a, _ := was.Find(id)
				b, _ := s.Find(id)
				edited[id] = edited[id] || !cmp.Equal(a, b)
			}
		}
		caller.state = changed(t, s.State(), record)
		caller.versions = make([]int, len(caller.state.Admitted))
		want := map[string]bool{}
		for i, w := range caller.state.Admitted {
			old, ran := known[w.ID]
			_, runs := s.Find(w.ID)
			v := &caller.versions[i]
			switch *v = at[w.ID]; {
			case !ran || !cmp.Equal(old, w):
				*v++
			case rapid.IntRange(0, 9).Draw(t, "version") == 0:
				*v = 0
			}
			if *v == 0 || !runs || edited[w.ID] || *v != at[w.ID] {
				want[w.ID] = true
			}
		}
		next, edits, err := caller.sync(s)
		whole, wanted, wantedErr := s.Sync(caller.state)
		ids := map[string]bool{}
		for _, w := range caller.state.Admitted {
			ids[w.ID] = true
		}
		if err != nil && wantedErr != nil && len(ids) < len(caller.state.Admitted) { // an ID is described in one way
			continue
		}
		if fmt.Sprint(err) != fmt.Sprint(wantedErr) || !cmp.Equal(wanted, edits, sameEdits) {
			t.Fatalf("%v, %v; want %v, %v", edits, err, wanted, wantedErr)
		}
		if err != nil {
			if next != s {
				t.Fatal("another snapshot with an error")
			}
			continue
		}
		noDiff(t, "", whole.State(), next.State(), sameDecision)
		got := slices.Compact(slices.Sorted(slices.Values(caller.described)))
		if len(caller.described) > len(got) { // the state was not valid between two edits: all were described
			return
		}
		noDiff(t, "described", slices.Sorted(maps.Keys(want)), got)
		note(caller.state, caller.versions)
		clear(edited)
		if again, edits, err := caller.sync(next); err != nil || len(edits) > 0 || len(caller.described) != count(caller.versions, 0) ||
			len(caller.described) == 0 && again != next {
			t.Fatal("once more:", len(edits), err, caller.described)
		}
		s = next
	}
}

func count(list []int, of int) (n int) {
	for _, v := range list {
		if v == of {
			n++
		}
	}
	return n
}

func TestSyncVersionsIsSync(t *testing.T) { rapid.Check(t, inEither(syncVersionsIsSync)) }

// What SyncVersions refuses, it names, and the snapshot stays.
func TestSyncVersionsRefuses(t *testing.T) {
	st := scenario.Worlds[0].State()
	s := snapshotOf(t, st)
	ids := func(list ...string) iter.Seq2[string, int] {
		return func(yield func(string, int) bool) {
			for _, id := range list {
				if !yield(id, 1) {
					return
				}
			}
		}
	}
	config := st
	config.Admitted = nil
	same := func(id string, _ int) (workload.Workload, error) { w, _ := s.Find(id); return w, nil }
	id := st.Admitted[0].ID
	for _, c := range []struct {
		name     string
		config   preemption.State
		ids      []string
		describe func(id string, version int) (workload.Workload, error)
		want     string
	}{
		{"workloads in the configuration", st, nil, same, "admitted: "},
		{"an ID twice", config, []string{id, id}, same, `admitted[1].id: "` + id + `" is also the ID of admitted[0]`},
		{"another ID", config, []string{id}, func(string, int) (workload.Workload, error) { return st.Admitted[1], nil }, "is described as"},
		{"an error", config, []string{id}, func(string, int) (workload.Workload, error) { return workload.Workload{}, errors.New("no such object") }, "no such object"},
		{"not valid", config, []string{id}, func(string, int) (workload.Workload, error) {
			w := st.Admitted[0].Clone()
			w.Queue = "x"
			return w, nil
		}, `admitted[0].queue: unknown queue "x"`},
	} {
		next, edits, err := preemption.SyncVersions(s, c.config, ids(c.ids...), c.describe)
		if err == nil || !strings.Contains(err.Error(), c.want) || next != s || edits != nil {
			t.Errorf("%s: %v, %d edits; want %s", c.name, err, len(edits), c.want)
		}
	}
}

// byAddress is a state in which each workload's version is its address, listed in another order than that of the state.
type byAddress struct {
	config preemption.State
	order  []*workload.Workload
}

func byAddressOf(st preemption.State) byAddress {
	v := byAddress{config: st}
	v.config.Admitted = nil
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(st.Admitted)) {
		v.order = append(v.order, &st.Admitted[i])
	}
	return v
}

// change changes so many workloads.
func (v *byAddress) change(n int) {
	for i := range n {
		at := &v.order[i*len(v.order)/n]
		w := (*at).Clone()
		w.Priority++
		*at = &w
	}
}

// renew gives so many workloads other IDs: old ones are gone, and new ones come.
func (v *byAddress) renew(n int) {
	for i := range n {
		at := &v.order[i*len(v.order)/n]
		w := (*at).Clone()
		w.ID += "/new"
		*at = &w
	}
}

func (v *byAddress) sync(s *preemption.Snapshot) (*preemption.Snapshot, []preemption.Edit, error) {
	listed := func(yield func(string, *workload.Workload) bool) {
		for _, w := range v.order {
			if !yield(w.ID, w) {
				return
			}
		}
	}
	return preemption.SyncVersions(s, v.config, listed, func(_ string, w *workload.Workload) (workload.Workload, error) { return *w, nil })
}

// SyncVersions allocates what changed, and what says which workloads were listed: a bit and a part of a page for each.
func TestSyncVersionsAllocatesWhatChanged(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	v := byAddressOf(scenario.Worlds[2].State())
	s, _, err := v.sync(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ changed, renewed int }{{0, 0}, {1, 0}, {100, 0}, {0, 1}, {0, 50}} {
		v.change(c.changed)
		v.renew(c.renewed)
		n := c.changed + 2*c.renewed
		_, before := memory()
		next, edits, err := v.sync(s)
		_, after := memory()
		if most := int64(len(v.order)/2 + 10_000 + 10_000*n); err != nil || len(edits) != n || after-before > most {
			t.Errorf("%+v: %d edits, %d bytes, at most %d wanted, %v", c, len(edits), after-before, most, err)
		}
		if s, edits, err = v.sync(next); s != next || len(edits) > 0 || err != nil {
			t.Errorf("%+v: %d edits again, %v", c, len(edits), err)
		}
	}
}

// BenchmarkSyncVersions follows 50,000 workloads of which the given number change, in the order of a map.
func BenchmarkSyncVersions(b *testing.B) {
	v := byAddressOf(scenario.Worlds[2].State())
	first, _, err := v.sync(nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{0, 1, 500} {
		b.Run(fmt.Sprintf("changed=%d", n), func(b *testing.B) {
			v.change(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, edits, err := v.sync(first); err != nil || len(edits) < n {
					b.Fatal(len(edits), err)
				}
			}
		})
	}
}
