package ordered

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type pair struct{ key, value int }

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

func items(s Set[pair]) []pair {
	list := []pair{}
	var c Cursor[pair]
	for c.First(s); ; c.Next() {
		item, ok := c.Item()
		if !ok {
			return list
		}
		list = append(list, item)
	}
}

// shape checks what the comments of the package say of every tree.
func shape(t *rapid.T, n *node[pair], root bool) (depth int) {
	if len(n.items) > most || !root && len(n.items) < least {
		t.Fatalf("a node of %d items", len(n.items))
	}
	for i, k := range n.kids {
		if k.items[0] != n.items[i] {
			t.Fatalf("item %d is %v, the child's first is %v", i, n.items[i], k.items[0])
		}
		d := shape(t, k, false) + 1
		if i > 0 && d != depth {
			t.Fatalf("leaves at depth %d and %d", depth, d)
		}
		depth = d
	}
	return depth
}

// A set does what a sorted slice does, and a set that was edited is what it was.
func likeASlice(t *rapid.T) {
	start := rapid.IntRange(0, 3000).Draw(t, "start")
	var model []pair
	for i := range start {
		model = append(model, pair{2 * i, 0})
	}
	s := Of(byKey, model)
	for step := range rapid.IntRange(0, 200).Draw(t, "steps") {
		before, old := slices.Clone(model), s
		p := pair{rapid.IntRange(-3, 2*start+3).Draw(t, "key"), step + 1}
		at, found := slices.BinarySearchFunc(model, p, byKey)
		run := 1
		if rapid.Bool().Draw(t, "insert") {
			s = s.Insert(p)
			if found {
				model[at] = p
			} else {
				model = slices.Insert(model, at, p)
			}
		} else {
			run = rapid.SampledFrom([]int{1, 1, 40}).Draw(t, "run")
			for range run { // runs of deletions make nodes join
				var deleted bool
				s, deleted = s.Delete(p)
				if deleted != found {
					t.Fatalf("Delete(%v): %v, want %v", p, deleted, found)
				}
				if found {
					model = slices.Delete(model, at, at+1)
				}
				if at == len(model) {
					break
				}
				p, found = model[at], true
			}
		}
		if step%20 == 0 && !slices.Equal(items(old), before) {
			t.Fatal("an edit changed the set it was made on")
		}
	}
	if s.Len() != len(model) || !slices.Equal(items(s), model) {
		t.Fatalf("%d items, want %d", s.Len(), len(model))
	}
	if s.root != nil {
		shape(t, s.root, true)
	}
	for range 20 {
		key := rapid.IntRange(-3, 2*start+3).Draw(t, "probe")
		at, found := slices.BinarySearchFunc(model, pair{key, 0}, byKey)
		got, ok := s.Get(func(p pair) int { return cmp.Compare(p.key, key) })
		if ok != found || ok && got != model[at] {
			t.Fatalf("Get(%d) = %v, %v", key, got, ok)
		}
		last, ok := s.Last(func(p pair) bool { return p.key < key })
		if ok != (at > 0) || ok && last != model[at-1] {
			t.Fatalf("Last(%d) = %v, %v", key, last, ok)
		}
		var c Cursor[pair]
		c.Seek(s, func(p pair) bool { return p.key < key })
		for _, want := range model[at:min(at+40, len(model))] {
			if got, _ := c.Item(); got != want {
				t.Fatalf("Seek(%d): %v, want %v", key, got, want)
			}
			c.Next()
		}
		if _, more := c.Item(); at+40 >= len(model) && more {
			t.Fatalf("Seek(%d) passes the end", key)
		}
	}
}

func TestSetIsLikeASlice(t *testing.T) { rapid.Check(t, likeASlice) }
func FuzzSetIsLikeASlice(f *testing.F) { f.Fuzz(rapid.MakeFuzz(likeASlice)) }

// Cursors walk without allocating.
func TestCursorAllocatesNothing(t *testing.T) {
	var list []pair
	for i := range 5000 {
		list = append(list, pair{i, i})
	}
	s := Of(byKey, list)
	var c Cursor[pair]
	if n := testing.AllocsPerRun(10, func() {
		for c.First(s); ; c.Next() {
			if _, ok := c.Item(); !ok {
				return
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
