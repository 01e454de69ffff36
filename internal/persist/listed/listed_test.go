package listed_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/persist/listed"
	"github.com/cedesched/cede/internal/persist/trie"
)

type item struct {
	name    string
	version int
}

func name(i *item) string { return i.name }

// A walk finds each item of the map at a place that it keeps, in any order, and after edits; it
// misses those, and only those, that the caller does not list.
func TestWalksLikeAMap(t *testing.T) { rapid.Check(t, walksLikeAMap) }

func walksLikeAMap(t *rapid.T) {
	have := map[string]*item{}
	m := trie.New(name)
	var items []*item
	for i := range rapid.SampledFrom([]int{0, 1, 3, 70, 500}).Draw(t, "size") {
		items = append(items, &item{name: fmt.Sprint("w", i)})
		have[items[i].name] = items[i]
		m = m.Set(items[i])
	}
	list := listed.Of(name, m, items)
	if rapid.Bool().Draw(t, "from the map") {
		list = listed.FromMap(name, m)
	}
	for round := range 5 {
		before, had := list, maps.Clone(have)
		sets := rapid.IntRange(1, 3).Draw(t, "one of four edits, or three, remove")
		for i := range rapid.SampledFrom([]int{0, 1, 10, 300}).Draw(t, "edits") {
			n := fmt.Sprint("w", rapid.IntRange(0, 600).Draw(t, "name"))
			if rapid.IntRange(0, 3).Draw(t, "set") >= sets {
				have[n] = &item{n, round*1000 + i}
				m = m.Set(have[n])
			} else {
				delete(have, n)
				m, _ = m.Delete(n)
			}
		}
		list = list.Current(m)
		for n, i := range had {
			if p := before.Place(n); p < 0 || before.Item(p) != i {
				t.Fatalf("an edit changed %s in the list before it", n)
			}
		}
		ask := slices.Sorted(maps.Keys(have))
		if rapid.Bool().Draw(t, "shuffled") {
			ask = rapid.Permutation(ask).Draw(t, "order")
		}
		left := ask[rapid.SampledFrom([]int{0, 0, min(1, len(ask)), len(ask) / 2}).Draw(t, "left out"):]
		ask = slices.Clone(left)
		for i := range rapid.IntRange(0, 3).Draw(t, "unknown") {
			ask = slices.Insert(ask, rapid.IntRange(0, len(ask)).Draw(t, "at"), fmt.Sprint("x", i))
		}
		walk := list.Walk(true)
		met := 0
		found := func(n string, i *item, place int) {
			if i != have[n] || (place >= 0) != (i != nil) {
				t.Fatalf("%s: %v at %d, want %v", n, i, place, have[n])
			}
			if i != nil {
				met++
				if p := list.Place(n); p != place {
					t.Fatalf("%s: place %d and %d", n, place, p)
				}
			}
		}
		for i := 0; i < len(ask); {
			if item, place, ok := walk.Next(ask[i]); ok {
				found(ask[i], item, place)
				i++
				continue
			}
			n := min(len(ask)-i, listed.Block)
			var items [listed.Block]*item
			var at [listed.Block]int
			if !walk.Find(ask[i:i+n], &items, &at) {
				t.Fatal("met a name twice")
			}
			for j := range n {
				found(ask[i+j], items[j], at[j])
			}
			i += n
		}
		missed := walk.Missed()
		for _, i := range missed {
			if i != have[i.name] || slices.Contains(left, i.name) {
				t.Fatalf("missed %v", i)
			}
		}
		if met != len(left) || met+len(missed) != len(have) {
			t.Fatalf("%d found and %d missed of %d", met, len(missed), len(have))
		}
		list = walk.InOrder()
		again := list.Walk(true)
		for _, n := range left { // the order of the last walk, so all are in step
			if _, _, ok := again.Next(n); !ok && len(missed) == 0 {
				t.Fatalf("%s is not in step", n)
			}
		}
	}
}

// A walk that meets a name a second time says so, in step or not.
func TestWalkMeetsANameTwice(t *testing.T) {
	m := trie.New(name)
	var items []*item
	for i := range 100 {
		items = append(items, &item{name: fmt.Sprint(i)})
		m = m.Set(items[i])
	}
	list := listed.Of(name, m, items)
	for _, names := range [][]string{{"0", "0"}, {"5", "5"}, {"0", "1", "7", "1"}, {"9", "0", "9"}, {"x", "3", "x", "3"}} {
		walk := list.Walk(true)
		i := 0
		for ; i < len(names); i++ {
			if _, _, ok := walk.Next(names[i]); !ok {
				break
			}
		}
		var found [listed.Block]*item
		var places [listed.Block]int
		if walk.Find(names[i:], &found, &places) {
			t.Errorf("%v: not met twice", names)
		}
	}
}
