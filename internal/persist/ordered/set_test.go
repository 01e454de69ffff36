package ordered

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type pair struct{ key, value int }

// byKey orders pairs, and sums up how many of each remainder of the key there are.
var byKey = &Order[pair, remainders]{
	Compare: compareKeys,
	AddItem: func(sum *remainders, p pair) { sum[remainder(p)]++ },
	AddSum: func(sum *remainders, other remainders) {
		for i := range sum {
			sum[i] += other[i]
		}
	},
}

// dropPair is DropItem of some orders: it says now and then that it cannot.
func dropPair(sum *remainders, p pair) bool {
	sum[remainder(p)]--
	return p.key%7 != 0
}

type remainders [3]int

func remainder(p pair) int { return (p.key + 300) / 100 % 3 }

func compareKeys(a, b pair) int { return cmp.Compare(a.key, b.key) }

func sumOf(items []pair) (sum remainders) {
	for _, p := range items {
		sum[remainder(p)]++
	}
	return sum
}

func items(s Set[pair, remainders]) []pair {
	list := []pair{}
	var c Cursor[pair, remainders]
	for c.First(s); ; c.Next() {
		item, ok := c.Item()
		if !ok {
			return list
		}
		list = append(list, item)
	}
}

// shape checks what the comments of the package say of every tree.
func shape(t *rapid.T, o *Order[pair, remainders], n *node[pair, remainders], root bool) (depth int) {
	if len(n.items) > most || !root && len(n.items) < least {
		t.Fatalf("a node of %d items", len(n.items))
	}
	if n.kids == nil && (n.n != len(n.items) || n.sum != sumOf(n.items)) {
		t.Fatalf("a leaf of %d items says %d, and their sum %v", len(n.items), n.n, n.sum)
	}
	for i, k := range n.kids {
		if k.items[0] != n.items[i] {
			t.Fatalf("item %d is %v, the child's first is %v", i, n.items[i], k.items[0])
		}
		d := shape(t, o, k, false) + 1
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
	byKey := *byKey
	if rapid.Bool().Draw(t, "drops") {
		byKey.DropItem = dropPair
	}
	s := Of(&byKey, slices.Clone(model))
	for step := range rapid.IntRange(0, 200).Draw(t, "steps") {
		before, old := slices.Clone(model), s
		p := pair{rapid.IntRange(-3, 2*start+3).Draw(t, "key"), step + 1}
		at, found := slices.BinarySearchFunc(model, p, compareKeys)
		run := 1
		if kind := rapid.IntRange(0, 2).Draw(t, "kind"); kind == 2 && len(model) > 0 {
			from := rapid.IntRange(0, len(model)-1).Draw(t, "from")
			gone := model[from]
			s = s.Replace(gone, p)
			model = slices.Delete(model, from, from+1)
			if at, found := slices.BinarySearchFunc(model, p, compareKeys); found {
				model[at] = p
			} else {
				model = slices.Insert(model, at, p)
			}
		} else if kind > 0 {
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
		shape(t, &byKey, s.root, true)
	}
	for range 20 {
		key := rapid.IntRange(-3, 2*start+3).Draw(t, "probe")
		at, found := slices.BinarySearchFunc(model, pair{key, 0}, compareKeys)
		got, ok := s.Get(func(p pair) int { return cmp.Compare(p.key, key) })
		if ok != found || ok && got != model[at] {
			t.Fatalf("Get(%d) = %v, %v", key, got, ok)
		}
		var sum remainders
		if s.Sum(&sum, func(p pair) bool { return p.key < key }); sum != sumOf(model[:at]) {
			t.Fatalf("Sum(%d) = %v, want %v", key, sum, sumOf(model[:at]))
		}
		last, ok := s.Last(func(p pair) bool { return p.key < key })
		if ok != (at > 0) || ok && last != model[at-1] {
			t.Fatalf("Last(%d) = %v, %v", key, last, ok)
		}
		var c Cursor[pair, remainders]
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
		walkIn(t, s, model[at:], key)
	}
}

// walkIn checks that NextIn misses no wanted item, and passes some of the others over.
func walkIn(t *rapid.T, s Set[pair, remainders], rest []pair, key int) {
	wanted := func(sum remainders) bool { return sum[1] > 0 }
	var c Cursor[pair, remainders]
	for c.Seek(s, func(p pair) bool { return p.key < key }); ; c.NextIn(wanted) {
		p, ok := c.Item()
		if !ok {
			break
		}
		for len(rest) > 0 && rest[0] != p {
			if remainder(rest[0]) == 1 {
				t.Fatalf("NextIn passes %v over", rest[0])
			}
			rest = rest[1:]
		}
		if len(rest) == 0 {
			t.Fatalf("NextIn comes to %v, which is not ahead", p)
		}
		rest = rest[1:]
	}
	if n := sumOf(rest); n[1] > 0 {
		t.Fatalf("NextIn ends before %v", rest)
	}
}

func TestSetIsLikeASlice(t *testing.T) { rapid.Check(t, likeASlice) }

// Cursors walk without allocating.
func TestCursorAllocatesNothing(t *testing.T) {
	var list []pair
	for i := range 5000 {
		list = append(list, pair{i, i})
	}
	s := Of(byKey, list)
	var c Cursor[pair, remainders]
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
