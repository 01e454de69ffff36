package fairshare

import (
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/quota"
)

// Of two siblings that ask for a GPU each, b is served first by each rule of the order, where a would be by the next.
func TestServedNext(t *testing.T) {
	holds := func(name, parent string, nominal int64, weight float64, usage, request int64) Queue {
		q := holding(name, parent, nominal, weight, usage)
		q.Claims[0].Request = request
		return q
	}
	first := holds("b", "", 2, 1, 1, 4)
	first.Priority = 5
	limited := holds("a", "", 0, 0, 0, 1)
	limited.Claims[0].Limit = quota.Some(int64(0))
	older := holds("b", "", 2, 1, 1, 2)
	older.CreatedAt = time.Unix(1, 0)
	for what, tree := range map[string]Tree{
		"1: not over its share":                       gpuTree(8, 1, holds("a", "", 2, 0, 4, 4), holds("b", "", 1, 1, 2, 8)),
		"2: within its quota":                         gpuTree(8, 1, holds("a", "", 1, 9, 1, 9), holds("b", "", 4, 1, 3, 9)),
		"3: priority":                                 gpuTree(8, 1, holds("a", "", 2, 1, 0, 4), first),
		"4: it holds nothing that is not allocatable": gpuTree(8, 1, limited, holds("b", "", 2, 1, 5, 9)),
		"5: the smaller part with what is served":     gpuTree(8, 1, holds("a", "", 2, 0, 0, 4), holds("b", "", 4, 0, 0, 4)),
		"5: of an unlimited quota the part of all":    gpuTree(8, 1, holds("a", "", quota.Unlimited, 0, 4, 5), holds("b", "", 4, 0, 1, 4)),
		"7: less is allocatable":                      gpuTree(8, 1, holds("a", "", 4, 0, 3, 4), holds("b", "", 2, 0, 1, 4)),
		"8: the older":                                gpuTree(8, 1, holds("a", "", 2, 1, 1, 2), older),
	} {
		r := reclaim(t, tree)
		if got, err := r.ServedNext([]Reclaimer{asks("a", 1), asks("b", 1)}); got != 1 || err != nil {
			t.Errorf("%s: %d, %v\n%+v", what, got, err, r.Shares())
		}
	}
	r := reclaim(t, gpuTree(8, 1, holds("a", "", 2, 1, 1, 2), holds("b", "", 2, 1, 1, 2)))
	if got, err := r.ServedNext([]Reclaimer{asks("b", 1), asks("a", 2), asks("a", 1)}); got != 0 || err != nil { // a would be over its quota with 2
		t.Errorf("of several of a queue the first: %d, %v", got, err)
	}
	if got, err := r.ServedNext(nil); got != -1 || err != nil {
		t.Errorf("nothing waits: %d, %v", got, err)
	}
	if _, err := r.ServedNext([]Reclaimer{asks("c", 1)}); err == nil || !strings.Contains(err.Error(), `units[0].queue: unknown queue "c"`) {
		t.Errorf("%v", err)
	}
}

// Siblings yield in the reverse order: the larger part without what is gone, and what is next. Above the queues only that counts which is
// gone of the one that is next.
func TestYieldsNext(t *testing.T) {
	r := reclaim(t, gpuTree(20, 1,
		gpuQueue("d", "", gpu(6, 1, 0)), holding("d1", "d", 0, 1, 6), holding("d2", "d", 0, 1, 6),
		gpuQueue("e", "", gpu(6, 1, 0)), holding("e1", "e", 0, 1, 8)))
	of := func(queue string, gpus int64) Unit { return Unit{queue, []Amount{{"gpu", gpus}}} }
	for what, c := range map[string]struct {
		gone, next []Unit
		want       int
	}{
		"the larger part":              {nil, []Unit{of("d1", 6), of("d2", 5), of("e1", 4)}, 1},
		"less is left":                 {nil, []Unit{of("d1", 6), of("d2", 6), of("e1", 1)}, 2},
		"what is gone of d1 counts":    {[]Unit{of("d1", 3)}, []Unit{of("d1", 3), of("e1", 5)}, 0},
		"it counts not above d2":       {[]Unit{of("d1", 6)}, []Unit{of("d2", 5), of("e1", 4)}, 0},
		"what is gone of e1, likewise": {[]Unit{of("e1", 5)}, []Unit{of("d2", 6), of("e1", 3)}, 0},
	} {
		if got, err := r.YieldsNext(c.gone, c.next); got != c.want || err != nil {
			t.Errorf("%s: %d, %v, want %d", what, got, err, c.want)
		}
	}
}
