package loop

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/world"
)

// A quantile is off by less than 0.8 %, and exact below 128 s. Spreads that are merged are the spread of all.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOf(rapid.OneOf(rapid.Int64Range(0, 300), rapid.Int64Range(0, 1<<40)))
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		of := func(list []int64) (s Spread) {
			for _, n := range list {
				s.add(n)
			}
			s.end()
			return s
		}
		all := slices.Concat(a, b)
		s := of(a)
		s.Merge(of(b))
		if want := of(all); s.Sum != want.Sum || s.Most != want.Most || !slices.Equal(s.Counts, want.Counts) || s.N() != int64(len(all)) || s.check() != nil {
			t.Fatalf("%+v, want %+v", s, want)
		}
		slices.Sort(all)
		for _, q := range []int64{0, 50, 95, 99, 100} {
			got, want := s.Quantile(q), int64(0)
			if len(all) > 0 {
				want = all[slices.IndexFunc(all, func(v int64) bool { // so many of 100 are not more
					above := slices.IndexFunc(all, func(w int64) bool { return w > v })
					return above < 0 || int64(above)*100 >= int64(len(all))*q
				})]
			}
			if off := max(got-want, want-got); want < 128 && off > 0 || off*1000 > 8*want {
				t.Fatalf("%d of 100: %d, want %d", q, got, want)
			}
		}
	})
}

// Priorities are groups of their own up to eight; more are bands of about as many jobs each. Sizes are powers of two.
func TestGroups(t *testing.T) {
	names := func(groups []Group) (list []string) {
		for _, g := range groups {
			list = append(list, g.Name)
		}
		return list
	}
	few, many := &world.World{}, &world.World{}
	for i := range int64(100) {
		few.Jobs = append(few.Jobs, world.Job{Priority: i % 3, GPU: i % 4 * 3500, Queue: fmt.Sprint("q", i%25)})
		many.Jobs = append(many.Jobs, world.Job{Priority: i, GPU: gpu})
	}
	var r, of Result
	r.makeGroups(few)
	of.makeGroups(many)
	if got := names(r.Priorities); !slices.Equal(got, []string{"2", "1", "0"}) {
		t.Errorf("%q", got)
	}
	if got := names(of.Priorities); !slices.Equal(got, []string{"80 to 99", "60 to 79", "40 to 59", "20 to 39", "0 to 19"}) {
		t.Errorf("%q", got)
	}
	if got := names(r.Sizes); !slices.Equal(got, []string{"1", "2", "3-4", "5-8", "9-16"}) {
		t.Errorf("%q", got)
	}
	if got := names(r.Queues); len(got) != maxQueues+1 || got[0] != "q0" || got[maxQueues] != "5 others" {
		t.Errorf("%q", got)
	}
	for i, want := range map[int]string{0: "1", 1: "3-4", 2: "5-8", 3: "9-16"} {
		if g := r.groupsOf(&few.Jobs[i]); g[1].Name != fmt.Sprint(i%3) || g[2].Name != want {
			t.Errorf("job %d: %s, %s", i, g[1].Name, g[2].Name)
		}
		if g := of.groupsOf(&many.Jobs[i]); g[1].Name != "0 to 19" {
			t.Errorf("job %d: %s", i, g[1].Name)
		}
	}
}

// Only what happens in the window counts, and of jobs those that are submitted then.
func TestWindow(t *testing.T) {
	jobs := []world.Job{{Work: 3 * hour}, {Work: hour, Submit: 5400, Priority: 10}, {Work: hour, Submit: 20000}, {Work: hour, Submit: 22000, Priority: 10}}
	for name, c := range map[string]struct{ warmup, window, jobs, evictions int64 }{
		"all": {0, 0, 4, 2}, "after the first eviction": {6000, 0, 2, 1}, "before the second": {0, 21000, 3, 1}, "between": {5400, 16000, 2, 1}, "nothing": {90000, 0, 0, 0},
	} {
		s := world.Defaults()
		s.Warmup, s.Window = c.warmup, c.window
		r := replay(t, small(s, slices.Clone(jobs)...), "greedy")
		if r.All.Jobs != c.jobs || r.Evictions != c.evictions || r.Finished != 4 || (r.Lost() > 0) != (c.evictions > 0) || r.Held != r.StartUp+r.Done+r.Redone+r.Restarts+r.Grace {
			t.Errorf("%s: %d jobs, %d evictions, %d finished, %d lost", name, r.All.Jobs, r.Evictions, r.Finished, r.Lost())
		}
	}
}
