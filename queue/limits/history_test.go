package limits

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func drawEvent(t *rapid.T) Event {
	of := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	e := Event{Preemptor: of("preemptor", "p", "q"), Victim: of("victim", "v", "w", "x"), At: noon.Add(time.Duration(rapid.IntRange(-6, 1).Draw(t, "at")) * time.Second)}
	e.PreemptingQueue, e.PreemptedQueue = of("from", "a", "b"), of("to", "a", "b", "c")
	if rapid.Bool().Draw(t, "by rules") {
		e.Config, e.Rules = "config", []string{of("rule", "one", "two")}
	}
	return e
}

// Whatever is added and trimmed, counts are those of a list; what was there before is unchanged.
func historyIsAList(t *rapid.T) {
	var h *History
	var list []Event
	for range rapid.IntRange(0, 12).Draw(t, "edits") {
		before, was := h, slices.Collect(h.All)
		if rapid.IntRange(0, 4).Draw(t, "trim") == 0 {
			until := noon.Add(time.Duration(rapid.IntRange(-6, 0).Draw(t, "until")) * time.Second)
			h = h.Trim(until)
			list = slices.DeleteFunc(list, func(e Event) bool { return !e.At.After(until) })
		} else {
			added := rapid.SliceOfN(rapid.Custom(drawEvent), 0, 4).Draw(t, "events")
			h, _ = h.With(added...)
			for _, e := range added {
				if !slices.ContainsFunc(list, func(o Event) bool { return reflect.DeepEqual(o, e) }) {
					list = append(list, e)
				}
			}
		}
		if got := slices.Collect(before.All); !reflect.DeepEqual(got, was) {
			t.Fatalf("an edit changed %v to %v", was, got)
		}
	}
	if h.Len() != len(list) || len(slices.Collect(h.All)) != len(list) {
		t.Fatalf("%d events, %d in All, want %d", h.Len(), len(slices.Collect(h.All)), len(list))
	}
	togetherIsAList(t, h, list)
}

// togetherIsAList checks what a limit counts together, and when that falls to each number.
func togetherIsAList(t *rapid.T, h *History, list []Event) {
	team := func(label string) *workload.LabelSelector {
		if rapid.Bool().Draw(t, label) {
			return nil
		}
		return &workload.LabelSelector{MatchLabels: map[string]string{"name": "a"}}
	}
	labels := func(queue string) map[string]string { return map[string]string{"name": queue} }
	l := Limit{Scope: rapid.SampledFrom([]Scope{Global, PreemptingClusterQueue, PreemptedClusterQueue, PreemptedWorkload}).Draw(t, "scope"),
		PreemptingQueues: team("preempting"), PreemptedQueues: team("preempted"), Window: quota.Some(time.Duration(rapid.IntRange(1, 5).Draw(t, "window")) * time.Second)}
	if rapid.Bool().Draw(t, "of a config") {
		l.Configs = []string{"config"}
	}
	if rapid.Bool().Draw(t, "of a rule") {
		l.Rules = []string{"one"}
	}
	g := &Together{Limit: &l, PreemptingQueue: "a", PreemptedQueue: rapid.SampledFrom([]string{"b", "c", "d"}).Draw(t, "preempted queue"), Victim: "v", Labels: labels}
	var leave []time.Time
	for _, e := range list {
		at := e.At.Add(l.Window.Or(0))
		if at.After(noon) && l.Covers(&e.Class, labels) && (l.Scope == Global || l.Scope == PreemptingClusterQueue && e.PreemptingQueue == "a" ||
			l.Scope == PreemptedClusterQueue && e.PreemptedQueue == g.PreemptedQueue || l.Scope == PreemptedWorkload && e.Victim == "v") {
			leave = append(leave, at)
		}
	}
	slices.SortFunc(leave, time.Time.Compare)
	if count, _ := h.Counted(g, noon); count != int64(len(leave)) {
		t.Fatalf("%+v: %d together, want %d", g, count, len(leave))
	}
	for n := -1; n <= len(leave)+1; n++ {
		at, ok, _ := h.FallsTo(g, int64(n), noon)
		if ok != (n >= 0 && n < len(leave)) || ok && !at.Equal(leave[len(leave)-n-1]) {
			t.Fatalf("%+v falls to %d at %v, %v, of %v", g, n, at, ok, leave)
		}
	}
}

func TestHistoryIsAList(t *testing.T) { rapid.Check(t, historyIsAList) }

// A wrong event is refused with all faults, and the history stays.
func TestHistoryRefuses(t *testing.T) {
	h, err := NewHistory([]Event{{At: noon}, {Preemptor: "p", Victim: "v", Class: Class{PreemptingQueue: "a", PreemptedQueue: "b"}}})
	const want = "events[0].preemptor: is empty; events[0].victim: is empty; events[0].preemptingQueue: is empty; events[0].preemptedQueue: is empty; events[1].at: is not set"
	if err == nil || err.Error() != want || h.Len() != 0 {
		t.Errorf("%v, want %s", err, want)
	}
}

// Times beyond those that an event may have are before or after all events.
func TestHistoryOfFarTimes(t *testing.T) {
	h, err := NewHistory([]Event{{"p", "v", noon, Class{PreemptingQueue: "a", PreemptedQueue: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	g := &Together{Limit: &Limit{Scope: Global, Window: quota.Some(time.Hour)}}
	for _, c := range []struct {
		at   time.Time
		left int64
	}{{time.Time{}, 1}, {time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC), 1}, {time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), 1}, {time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), 0}, {time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0}} {
		if count, _ := h.Counted(g, c.at); count != c.left || int64(h.Trim(c.at).Len()) != c.left {
			t.Errorf("%v: %d, want %d", c.at, count, c.left)
		}
		if at, ok, _ := h.FallsTo(g, 0, c.at); ok != (c.left == 1) || ok && !at.Equal(noon.Add(time.Hour)) {
			t.Errorf("%v: the next leaves at %v, %v", c.at, at, ok)
		}
	}
}

// All that is wrong with limits is reported, with paths.
func TestLimitsAreValidated(t *testing.T) {
	hour := quota.Some(time.Hour)
	bad := &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "team", Operator: workload.In}}}
	err := Validate("limits", []Limit{
		{Name: "ok", Scope: Global, Window: hour},
		{Name: "ok", Scope: 9, Limit: -1, Window: quota.Some(time.Second - 1), Configs: []string{""}, Rules: []string{"a", ""}},
		{Scope: PreemptedWorkload, PreemptedQueues: bad},
	})
	var paths []string
	for _, f := range err.(fault.List) {
		paths = append(paths, f.Path)
	}
	want := []string{"limits[1].name", "limits[1].scope", "limits[1].configs[0]", "limits[1].rules[1]", "limits[1].limit", "limits[1].window",
		"limits[2].name", "limits[2].preemptedClusterQueueSelector.matchExpressions[0].values", "limits[2].window"}
	if !slices.Equal(paths, want) {
		t.Errorf("%v\n%q, want %q", err, paths, want)
	}
}

// A history is trimmed to the longest window; without limits nothing counts.
func TestLongest(t *testing.T) {
	list := []Limit{{Window: quota.Some(time.Minute)}, {Window: quota.Some(time.Hour)}, {Window: quota.Some(time.Second)}}
	if got := Longest(list); got != time.Hour {
		t.Errorf("%v, want an hour", got)
	}
	if got := Longest(nil); got != 0 {
		t.Errorf("without limits %v", got)
	}
}
