package vector

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A vector does what a slice does, and one that was set is what it was.
func TestVectorIsLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		model := make([]int, rapid.SampledFrom([]int{1, 2, 15, 16, 17, 255, 256, 257, 5000}).Draw(t, "length"))
		v := Of(model)
		for step := range rapid.IntRange(0, 30).Draw(t, "steps") {
			before, old := slices.Clone(model), v
			i := rapid.IntRange(0, len(model)-1).Draw(t, "index")
			model[i] = step + 1
			v = v.Set(i, step+1)
			if !slices.Equal(old.All(), before) || v.At(i) != step+1 {
				t.Fatalf("Set(%d)", i)
			}
		}
		if v.Len() != len(model) || !slices.Equal(v.All(), model) {
			t.Fatalf("%v, want %v", v.All(), model)
		}
	})
	if v := Of[int](nil); v.Len() != 0 || len(v.All()) != 0 {
		t.Error("an empty vector has items")
	}
}
