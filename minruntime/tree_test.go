package minruntime_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/minruntime"
)

// "Queues of different roots are siblings under an implied one": what the victim's root
// says holds against all other trees; what is said below it does not.
func TestReclaimAcrossRoots(t *testing.T) {
	for _, otherFirst := range []bool{false, true} {
		nodes := []minruntime.Node{node("root", "", 600), node("mid", "root", 60), node("leaf", "mid", 1)}
		other := []minruntime.Node{node("other", "", unset), node("far", "other", unset)}
		if otherFirst {
			nodes = append(other, nodes...)
		} else {
			nodes = append(nodes, other...)
		}
		for method, want := range map[minruntime.Method]minruntime.Resolution{
			minruntime.LCA:   {MinRuntime: 10 * time.Minute, Node: "root"},
			minruntime.Queue: {MinRuntime: time.Second, Node: "leaf"},
		} {
			tree, err := minruntime.NewTree(nodes, minruntime.Settings{Reclaim: minruntime.For(time.Hour)}, method)
			if err != nil {
				t.Fatal(err)
			}
			for _, preemptor := range []string{"far", "other"} {
				if got, ok := tree.Reclaim(preemptor, "leaf"); !ok || got != want {
					t.Errorf("%v: %s reclaims from leaf: %v, want %v", method, preemptor, got, want)
				}
			}
			if got, ok := tree.Reclaim("leaf", "far"); !ok || got != (minruntime.Resolution{MinRuntime: time.Hour}) {
				t.Errorf("%v: nothing is set above far: %v, want the default", method, got)
			}
			if got, ok := tree.Preempt("far"); !ok || got != (minruntime.Resolution{}) {
				t.Errorf("%v: no default is set: %v", method, got)
			}
			for _, unknown := range [][2]string{{"nobody", "leaf"}, {"leaf", "nobody"}} {
				if _, ok := tree.Reclaim(unknown[0], unknown[1]); ok {
					t.Errorf("%v: an unknown queue has a minimum", unknown)
				}
			}
		}
	}
}

// One step down from the lowest common ancestor, on the victim's side; a victim that is
// above the preemptor is that ancestor itself.
func TestReclaimFromAbove(t *testing.T) {
	tree, err := minruntime.NewTree([]minruntime.Node{node("a", "", 1), node("b", "a", 2), node("c", "b", 3)}, minruntime.Settings{}, minruntime.LCA)
	if err != nil { // as deep as there are nodes: that is no cycle
		t.Fatal(err)
	}
	for victim, seconds := range map[string]time.Duration{"a": 1, "b": 2, "c": 3} {
		for _, preemptor := range []string{"a", "b", "c"} {
			want := minruntime.Resolution{MinRuntime: seconds * time.Second, Node: victim}
			if preemptor == "a" && victim == "c" {
				want = minruntime.Resolution{MinRuntime: 2 * time.Second, Node: "b"}
			}
			if got, ok := tree.Reclaim(preemptor, victim); !ok || got != want {
				t.Errorf("%s reclaims from %s: %v, want %v", preemptor, victim, got, want)
			}
		}
	}
}

// A cycle is found wherever in the list it stands, and beside a tree that is none.
func TestCycles(t *testing.T) {
	for _, parents := range [][3]string{{"a", "", ""}, {"", "b", ""}, {"", "c", "b"}, {"b", "c", "a"}, {"b", "b", ""}} {
		var nodes []minruntime.Node
		for i, name := range []string{"a", "b", "c"} {
			nodes = append(nodes, minruntime.Node{Name: name, Parent: parents[i]})
		}
		var list fault.List
		if _, err := minruntime.NewTree(nodes, minruntime.Settings{}, 0); !errors.As(err, &list) || len(list) != 1 {
			t.Errorf("%v: %v", parents, err)
		}
	}
}

// Inherit against its sentence: the nearest at or above whose setting is set.
func TestInherit(t *testing.T) {
	for _, parents := range [][]int{{-1, 0, 1, 2}, {3, 0, 1, -1}, {1, -1, 1, 0}, {-1, -1, 0, 1}, {-1, 0, 0, 0}} {
		for set := range 1 << len(parents) {
			got := minruntime.Inherit(parents, func(n int) minruntime.Setting {
				if set>>n&1 == 1 {
					return minruntime.For(0)
				}
				return minruntime.Setting{}
			})
			for i := range parents {
				want := i
				for want >= 0 && set>>want&1 == 0 {
					want = parents[want]
				}
				if got[i] != want {
					t.Errorf("parents %v, set %b: node %d inherits from %d, want %d", parents, set, i, got[i], want)
				}
			}
		}
	}
}

// "The surplus over the minimum always, the minimum only when it is not protected."
func TestMayLose(t *testing.T) {
	for _, c := range []struct {
		running, minimum, lost int64
		protected, want        bool
	}{
		{8, 5, 3, true, true},
		{8, 5, 4, true, false},
		{8, 5, 4, false, true},
		{5, 5, 0, true, true},
		{4, 5, 0, true, true}, // it runs below its minimum already, and loses nothing
		{4, 5, 1, true, false},
		{1, 0, 1, true, true},
	} {
		if got := minruntime.MayLose(c.running, c.minimum, c.lost, c.protected); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// "Zero is a value; unset inherits." A set zero is not unset, in text or JSON.
func TestSetting(t *testing.T) {
	for text, s := range map[string]minruntime.Setting{"null": {}, `"0s"`: minruntime.For(0), `"-1s"`: minruntime.For(-time.Second), `"30m0s"`: minruntime.For(30 * time.Minute)} {
		read := minruntime.For(7)
		data, err := json.Marshal(s)
		if err != nil || string(data) != text || json.Unmarshal(data, &read) != nil || !read.Equal(s) || s.IsZero() != (text == "null") {
			t.Errorf("%s: written as %s, %v, read as %v", text, data, err, read)
		}
		if d, ok := s.Get(); ok == s.IsZero() || s.Equal(minruntime.For(7)) || !minruntime.For(d).Equal(s) && ok {
			t.Errorf("%s: %v, %v", text, d, ok)
		}
	}
	if minruntime.For(0).Equal(minruntime.Setting{}) {
		t.Error("a set zero equals unset")
	}
}

// "A workload is protected until its start plus the minimum": a minimum of a nanosecond
// protects, a negative one does not.
func TestProtectedUntilTheEdge(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if until, ok := minruntime.ProtectedUntil(start, 1); !ok || !until.Equal(start.Add(1)) {
		t.Error(until, ok)
	}
	if until, ok := minruntime.ProtectedUntil(start, -1); ok || !until.IsZero() {
		t.Error(until, ok)
	}
}
