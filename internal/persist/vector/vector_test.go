package vector

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A vector does what a slice does, and one that was set is what it was.
func TestVectorIsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := make([]int, rapid.SampledFrom([]int{1, 2, 7, 8, 9, 63, 64, 65, 5000}).Draw(t, "length"))
		v := Of(model)
		for step := range rapid.IntRange(0, 30).Draw(t, "steps") {
			before, old := slices.Clone(model), v
			at := rapid.SliceOfNDistinct(rapid.IntRange(0, len(model)-1), 1, min(5, len(model)), rapid.ID).Draw(t, "at")
			slices.Sort(at)
			var items []int
			for j, i := range at {
				model[i] = step + j
				items = append(items, step+j)
			}
			if len(at) == 1 {
				v = v.Set(at[0], items[0])
			} else {
				v = v.SetAll(at, items)
			}
			if rapid.Bool().Draw(t, "append") {
				model, v = append(slices.Clip(model), step), v.Append(step)
			}
			if !slices.Equal(old.All(), before) || v.At(at[0]) != items[0] {
				t.Fatalf("SetAll(%v)", at)
			}
		}
		if v.Len() != len(model) || !slices.Equal(v.All(), model) {
			t.Fatalf("%v, want %v", v.All(), model)
		}
	})
	grown := Of[int](nil)
	for i := range 1100 { // over the ends of leaves, twigs and branches
		if grown = grown.Append(i); grown.Len() != i+1 || grown.At(i) != i || grown.At(i/2) != i/2 {
			t.Fatalf("item %d after Append", i)
		}
	}
	if v := Of[int](nil); v.Len() != 0 || len(v.All()) != 0 {
		t.Error("an empty vector has items")
	}
}
