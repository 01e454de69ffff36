package listed_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/persist/listed"
)

// Pages hold what a list holds, and an edit leaves the pages that it was made of as they are.
func TestPagesAreLikeLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, listed.Block - 1, listed.Block, listed.Block + 1, 5 * listed.Block})
		want := make([]int, size.Draw(t, "size"))
		for i := range want {
			want[i] = i
		}
		pages := listed.PagesOf(slices.Clone(want))
		var earlier []listed.Pages[int]
		var wanted [][]int
		for range 4 {
			earlier, wanted = append(earlier, pages), append(wanted, slices.Clone(want))
			n := size.Draw(t, "places")
			next := pages.Edit(n)
			for len(want) < n {
				want = append(want, 0)
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "edits") * min(1, len(want)) {
				at := rapid.IntRange(0, len(want)-1).Draw(t, "at")
				want[at] = -i
				next.Set(&pages, at, -i)
			}
			pages = next
		}
		for i, p := range append(earlier, pages) {
			var got []int
			for place := range p.Len() {
				got = append(got, *p.At(place))
			}
			if want := append(wanted, want)[i]; !slices.Equal(got, want) {
				t.Fatalf("version %d: %v, want %v", i, got, want)
			}
		}
	})
}
