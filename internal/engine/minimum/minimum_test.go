package minimum_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
)

// node is a queue or cohort of a test's tree; unset is no minimum.
type node struct {
	name, parent string
	seconds      int
}

const unset = -1

// named is a tree asked by names.
type named struct {
	*minimum.Tree
	names   []string
	parents []int
}

func tree(nodes ...node) named {
	var t named
	for _, n := range nodes {
		t.names = append(t.names, n.name)
	}
	for _, n := range nodes {
		t.parents = append(t.parents, slices.Index(t.names, n.parent))
	}
	t.Tree = minimum.NewTree(t.parents, func(i int) *minruntime.Settings {
		if nodes[i].seconds == unset {
			return &minruntime.Settings{}
		}
		d := quota.Some(time.Duration(nodes[i].seconds) * time.Second)
		return &minruntime.Settings{Preempt: d, Reclaim: d}
	})
	return t
}

func (t named) above(n int) (list []int) {
	for ; n >= 0; n = t.parents[n] {
		list = append(list, n)
	}
	return list
}

func (t named) setBy(r minimum.Runtime) string {
	if r.SetBy < 0 {
		return "default"
	}
	return t.names[r.SetBy]
}

func (t named) reclaim(c minruntime.Defaults, preemptor, victim string) (time.Duration, string) {
	p, v, lca := slices.Index(t.names, preemptor), slices.Index(t.names, victim), -1
	for _, n := range slices.Backward(t.above(p)) {
		if slices.Contains(t.above(v), n) {
			lca = n
		}
	}
	r := t.Reclaim(&c, v, lca)
	return r.For, t.setBy(r)
}

func (t named) preempt(c minruntime.Defaults, victim string) (time.Duration, string) {
	r := t.Preempt(&c, slices.Index(t.names, victim))
	return r.For, t.setBy(r)
}

// The examples of the design, "Resolving the applicable min-runtime".
func TestExamplesOfTheDesign(t *testing.T) {
	tr := tree(node{"A", "", unset}, node{"B", "A", 600}, node{"C", "B", unset}, node{"D", "B", 60},
		node{"leaf1", "C", 0}, node{"leaf2", "C", 180}, node{"leaf3", "D", unset})
	for _, c := range []struct {
		preemptor, victim string
		want              time.Duration
		setBy             string
	}{
		{"leaf1", "leaf3", time.Minute, "D"},
		{"leaf1", "leaf2", 3 * time.Minute, "leaf2"},
		{"leaf3", "leaf1", 10 * time.Minute, "B"},
	} {
		if got, setBy := tr.reclaim(minruntime.Defaults{}, c.preemptor, c.victim); got != c.want || setBy != c.setBy {
			t.Errorf("%s reclaims from %s: %v set by %s, want %v by %s", c.preemptor, c.victim, got, setBy, c.want, c.setBy)
		}
	}
	if got, setBy := tr.preempt(minruntime.Defaults{}, "leaf1"); got != 0 || setBy != "leaf1" {
		t.Errorf("zero is a set value and ends the walk: %v set by %s", got, setBy)
	}
	if got, setBy := tr.preempt(minruntime.Defaults{}, "leaf3"); got != time.Minute || setBy != "D" {
		t.Errorf("leaf3 inherits: %v set by %s", got, setBy)
	}
}

// "Queues of different roots are siblings under an implied one": what the victim's root
// says holds against all other trees; what is said below it does not.
func TestReclaimAcrossRoots(t *testing.T) {
	nodes := []node{{"root", "", 600}, {"mid", "root", 60}, {"leaf", "mid", 1}, {"other", "", unset}, {"far", "other", unset}}
	for range nodes {
		nodes = append(nodes[1:], nodes[0]) // the order in the list says nothing
		tr := tree(nodes...)
		for method, want := range map[minruntime.Method]string{minruntime.LCA: "10m0s root", minruntime.Queue: "1s leaf"} {
			c := minruntime.Defaults{Reclaim: quota.Some(time.Hour), Method: method}
			for _, preemptor := range []string{"far", "other"} {
				if got, setBy := tr.reclaim(c, preemptor, "leaf"); got.String()+" "+setBy != want {
					t.Errorf("%v: %s reclaims from leaf: %v set by %s, want %s", method, preemptor, got, setBy, want)
				}
			}
			if got, setBy := tr.reclaim(c, "leaf", "far"); got != time.Hour || setBy != "default" {
				t.Errorf("%v: nothing is set above far: %v set by %s, want the default", method, got, setBy)
			}
			if got, setBy := tr.preempt(c, "far"); got != 0 || setBy != "default" {
				t.Errorf("%v: no default is set: %v set by %s", method, got, setBy)
			}
		}
	}
}

// One step down from the lowest common ancestor, on the victim's side; a victim that is
// above the preemptor is that ancestor itself.
func TestReclaimFromAbove(t *testing.T) {
	tr := tree(node{"a", "", 1}, node{"b", "a", 2}, node{"c", "b", 3})
	for victim, seconds := range map[string]time.Duration{"a": 1, "b": 2, "c": 3} {
		for _, preemptor := range []string{"a", "b", "c"} {
			want, from := seconds*time.Second, victim
			if preemptor == "a" && victim == "c" {
				want, from = 2*time.Second, "b"
			}
			if got, setBy := tr.reclaim(minruntime.Defaults{}, preemptor, victim); got != want || setBy != from {
				t.Errorf("%s reclaims from %s: %v set by %s, want %v by %s", preemptor, victim, got, setBy, want, from)
			}
		}
	}
}

// Every node against the sentence: the nearest at or above it that sets one.
func TestNearest(t *testing.T) {
	for _, parents := range [][]int{{-1, 0, 1, 2}, {3, 0, 1, -1}, {1, -1, 1, 0}, {-1, -1, 0, 1}, {-1, 0, 0, 0}} {
		for set := range 1 << len(parents) {
			tr := minimum.NewTree(parents, func(n int) *minruntime.Settings {
				if set>>n&1 == 1 {
					return &minruntime.Settings{Preempt: quota.Some(time.Duration(n))}
				}
				return &minruntime.Settings{}
			})
			for i := range parents {
				want := minimum.Runtime{For: 9, SetBy: i}
				for want.SetBy >= 0 && set>>want.SetBy&1 == 0 {
					want.SetBy = parents[want.SetBy]
				}
				if want.SetBy >= 0 {
					want.For = time.Duration(want.SetBy)
				}
				c := minruntime.Defaults{Preempt: quota.Some(time.Duration(9))}
				if got := tr.Preempt(&c, i); got != want {
					t.Errorf("parents %v, set %b: node %d has %v, want %v", parents, set, i, got, want)
				}
			}
		}
	}
}

// A workload is protected until its start plus the minimum, inclusive; a minimum of a
// nanosecond protects, none and a negative one do not.
func TestUntil(t *testing.T) {
	for _, c := range []struct {
		started int64
		minimum time.Duration
		until   int64
		ok      bool
	}{
		{5, time.Hour, 5 + int64(time.Hour), true}, {5, 1, 6, true}, {-7, 7, 0, true},
		{5, 0, 0, false}, {5, -1, 0, false}, {instant.Unset, time.Hour, 0, false},
		{math.MaxInt64 - 2, 2, math.MaxInt64, true}, {math.MaxInt64 - 1, 2, math.MaxInt64, true}, {math.MaxInt64, 1, math.MaxInt64, true},
	} {
		if until, ok := (minimum.Runtime{For: c.minimum}).Until(c.started); until != c.until || ok != c.ok {
			t.Errorf("%v from %d: until %d, %v, want %d, %v", c.minimum, c.started, until, ok, c.until, c.ok)
		}
	}
}
