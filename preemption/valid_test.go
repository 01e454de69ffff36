package preemption_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// One bad item is left out with all that hangs on it, and nothing else.
func TestValidLeavesOutWhatHangsOnIt(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "bad", Quotas: gpus(-1)}, {Name: "below", Parent: "bad"}, {Name: "good"}},
		Queues:  []queue.Queue{{Name: "a", Cohort: "below"}, {Name: "b", Cohort: "good"}, {Name: "b"}, {Name: "c", Quotas: gpus(-1)}, {Name: "c"}},
		Flavors: []queue.Flavor{{Name: ""}, {Name: "f"}},
		Rules:   []rules.Config{{Name: "r", Rules: []rules.Rule{anybody(rules.Always)}}, {Name: "r"}},
		Admitted: []workload.Workload{job("1", "a", 0, 1, started(1)), job("2", "b", 0, 1, started(1)),
			job("2", "b", 0, 1, started(1)), job("4", "b", 0, -1, started(1)), job("5", "c", 0, 1, started(1))},
	}
	valid, left, err := st.Valid()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range left {
		got = append(got, l[0].Path)
	}
	want := []string{
		"cohorts[0].quotas[0].nominal",
		"cohorts[1].parent",
		"queues[0].cohort",
		"queues[2].name",
		"queues[3].quotas[0].nominal",
		"queues[4].name",
		"flavors[0].name",
		"rules[1].name",
		"admitted[0].queue",
		"admitted[2].id",
		"admitted[3].podSets[0].count",
		"admitted[4].queue",
	}
	if !slices.Equal(got, want) {
		t.Errorf("left out:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := snapshotOf(t, valid); len(s.State().Admitted) != 1 || len(valid.Queues) != 1 || len(valid.Cohorts) != 1 || len(valid.Flavors) != 1 || len(valid.Rules) != 1 {
		t.Errorf("%+v is left", valid)
	}
}

// A sum that is too large is the fault of no single workload.
func TestValidFailsOnASum(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a"}}}
	for i := range 3 {
		st.Admitted = append(st.Admitted, job(fmt.Sprint(i), "a", 0, quota.MaxUsage/2, started(1)))
	}
	if _, _, err := st.Valid(); err == nil || !strings.Contains(err.Error(), "passes") {
		t.Error(err)
	}
}

// The rest is valid, nothing is left out of a valid state, and each item left out has a fault.
func validIsValid(t *rapid.T) {
	record := preemptiontest.Records().Draw(t, "record")
	st := changed(t, record.State, record)
	_, whole := preemption.NewSnapshot(st)
	valid, left, err := st.Valid()
	if err != nil {
		t.Fatal(err)
	}
	snapshotOf(t, valid)
	if (whole == nil) != (len(left) == 0) {
		t.Fatalf("%d left out of a state with the fault %v", len(left), whole)
	}
	if whole == nil {
		for got, want, i := reflect.ValueOf(valid), reflect.ValueOf(st), 0; i < want.NumField(); i++ {
			if !want.Field(i).IsZero() && (want.Field(i).Kind() != reflect.Slice || want.Field(i).Len() > 0) && !reflect.DeepEqual(got.Field(i).Interface(), want.Field(i).Interface()) {
				t.Fatalf("a valid state's %s are changed", want.Type().Field(i).Name)
			}
		}
	}
	if n := items(st); n != len(left)+items(valid) {
		t.Fatalf("%d items of %d left out", len(left), n)
	}
	for _, l := range left {
		if item, _, found := strings.Cut(l[0].Path, "]"); !found || slices.ContainsFunc(l, func(f preemption.Fault) bool { return !strings.HasPrefix(f.Path, item) }) {
			t.Fatalf("%+v", l)
		}
	}
}

// items counts what is in the lists of a state, whatever lists it has.
func items(st preemption.State) (n int) {
	for v, i := reflect.ValueOf(st), 0; i < v.NumField(); i++ {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Slice:
			n += f.Len()
		case !f.IsZero():
			n++
		}
	}
	return n
}

func TestValidIsValid(t *testing.T) { rapid.Check(t, validIsValid) }
