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

// Names whose hashes agree in every bit share a list at the bottom.
func TestCollisions(t *testing.T) {
	m := New(nameOf)
	for i := range 3 * most {
		m.root = m.set(m.root, hashed[entry]{7, entry{fmt.Sprint(i), i}}, 0)
	}
	m.root = m.set(m.root, hashed[entry]{7, entry{"0", -1}}, 0)
	if got := collect(m); len(got) != 3*most || m.Len() != 3*most || got["0"] != -1 {
		t.Fatalf("%d items: %v", m.Len(), got)
	}
	for i := range 3*most + 1 {
		root, found := m.delete(m.root, fmt.Sprint(i), 7, 0)
		if found != (i < 3*most) {
			t.Fatalf("delete(%d) = %v", i, found)
		}
		m.root = root
	}
	if m.root != nil {
		t.Errorf("left: %v", collect(m))
	}
}

// Of the items with one name a new map has the first.
func TestDoubles(t *testing.T) {
	for _, n := range []int{1, most, 1000} {
		var list []entry
		want := map[string]int{}
		for i := range 3 * n {
			list = append(list, entry{fmt.Sprint(i % n), i})
			if i < n {
				want[fmt.Sprint(i)] = i
			}
		}
		if m := Of(nameOf, list); m.Len() != n || !maps.Equal(collect(m), want) {
			t.Errorf("%d items of %d names: %v", m.Len(), n, collect(m))
		}
	}
}

// A map from which most items were deleted has no more nodes than items.
func TestDeletedNodesAreJoined(t *testing.T) {
	var list []entry
	for i := range 10_000 {
		list = append(list, entry{fmt.Sprint(i), i})
	}
	m := Of(nameOf, list)
	for _, e := range list[100:] {
		m, _ = m.Delete(e.name)
	}
	if n := nodes(m.root); n > m.Len() {
		t.Errorf("%d nodes, %d items", n, m.Len())
	}
}

func nodes(n *node[entry]) int {
	if n == nil {
		return 0
	}
	count := 1
	if n.kids != nil {
		for _, kid := range n.kids {
			count += nodes(kid)
		}
	}
	return count
}
