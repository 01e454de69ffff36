package trie

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

type entry struct {
	name  string
	value int
}

func nameOf(e entry) string { return e.name }

func collect(m Map[entry]) map[string]int {
	all := map[string]int{}
	for e := range m.All {
		all[e.name] = e.value
	}
	return all
}

// A map does what a built-in map does, and one that was edited is what it was.
func likeAMap(t *rapid.T) {
	model := map[string]int{}
	var start []entry
	for i := range rapid.IntRange(0, 2000).Draw(t, "start") {
		start = append(start, entry{fmt.Sprint(i), 0})
		model[fmt.Sprint(i)] = 0
	}
	m := Of(nameOf, start)
	for step := range rapid.IntRange(0, 200).Draw(t, "steps") {
		before, old := maps.Clone(model), m
		name := fmt.Sprint(rapid.IntRange(0, len(start)+20).Draw(t, "name"))
		_, had := model[name]
		if rapid.Bool().Draw(t, "set") {
			m = m.Set(entry{name, step + 1})
			model[name] = step + 1
		} else {
			var found bool
			if m, found = m.Delete(name); found != had {
				t.Fatalf("Delete(%s) = %v", name, found)
			}
			delete(model, name)
		}
		if step%20 == 0 && !maps.Equal(collect(old), before) {
			t.Fatal("an edit changed the map it was made on")
		}
		got, ok := m.Get(name)
		if want, has := model[name]; ok != has || ok && got != (entry{name, want}) {
			t.Fatalf("Get(%s) = %v, %v, want %v, %v", name, got, ok, want, has)
		}
	}
	if m.Len() != len(model) || !maps.Equal(collect(m), model) {
		t.Fatalf("%d items, want %d", m.Len(), len(model))
	}
}

func TestMapIsLikeAMap(t *testing.T) { rapid.Check(t, likeAMap) }
func FuzzMapIsLikeAMap(f *testing.F) { f.Fuzz(rapid.MakeFuzz(likeAMap)) }

// Names whose hashes agree in every bit share a list at the bottom.
func TestCollisions(t *testing.T) {
	m := New(nameOf)
	m.root = build([]hashedItem[entry]{{7, entry{"a", 1}}, {7, entry{"b", 2}}}, 0)
	bottom, _ := m.set(m.root, entry{"c", 3}, "c", 7, 0)
	for _, name := range []string{"b", "x", "a"} {
		var found bool
		if bottom, found = m.delete(bottom, name, 7, 0); found != (name != "x") {
			t.Errorf("delete(%s) = %v", name, found)
		}
	}
	left := collect(Map[entry]{root: bottom})
	if !maps.Equal(left, map[string]int{"c": 3}) || len(bottom.kids) != 0 {
		t.Errorf("left: %v", left)
	}
}
