package quota

import "testing"

// "Lendable: min(SubtreeQuota, lending limit). LocalQuota is the rest, never negative."
// Without a limit all is lent, and nothing is local, be it without bound.
func TestNewCell(t *testing.T) {
	for _, c := range []struct {
		nominal, lent      int64
		borrowing, lending Limit
		want               Cell
	}{
		{0, 0, Limit{}, Limit{}, Cell{0, Unlimited, 0, 0, 0}},
		{5, 3, Limit{}, Limit{}, Cell{5, Unlimited, 8, 8, 0}},
		{5, 3, AtMost(0), AtMost(0), Cell{5, 0, 8, 0, 8}},
		{5, 3, AtMost(2), AtMost(1), Cell{5, 2, 8, 1, 7}},
		{5, 3, AtMost(2), AtMost(8), Cell{5, 2, 8, 8, 0}},
		{5, 3, AtMost(2), AtMost(9), Cell{5, 2, 8, 8, 0}},
		{Unlimited, 3, Limit{}, Limit{}, Cell{Unlimited, Unlimited, Unlimited, Unlimited, 0}},
		{Unlimited, 0, Limit{}, AtMost(4), Cell{Unlimited, Unlimited, Unlimited, 4, Unlimited}},
		{0, Unlimited, Limit{}, AtMost(Unlimited), Cell{0, Unlimited, Unlimited, Unlimited, 0}},
	} {
		if got := newCell(c.nominal, c.lent, c.borrowing, c.lending); got != c.want {
			t.Errorf("nominal %d, lent %d, borrowing %v, lending %v: %+v, want %+v", c.nominal, c.lent, c.borrowing, c.lending, got, c.want)
		}
	}
}

// A node of 8 that lends at most 5 and may borrow 2, at every usage around its edges.
func TestCell(t *testing.T) {
	c := newCell(8, 0, AtMost(2), AtMost(5))
	for _, want := range []struct {
		usage, pastLocal, localAvailable, fromParent, borrowed int64
		within                                                 bool
	}{
		{0, 0, 3, 7, 0, true},
		{2, 0, 1, 7, 0, true},
		{3, 0, 0, 7, 0, true},
		{4, 1, 0, 6, 0, true},
		{8, 5, 0, 2, 0, true},
		{9, 6, 0, 1, 1, false},
		{10, 7, 0, 0, 2, false},
		{12, 9, 0, -2, 4, false},
	} {
		got := want
		got.pastLocal, got.localAvailable, got.fromParent = c.PastLocal(want.usage), c.LocalAvailable(want.usage), c.FromParent(want.usage)
		got.borrowed, got.within = c.Borrowed(want.usage), c.WithinNominal(want.usage)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if none := NoCell; none.FromParent(5) != Unlimited || none.PastLocal(5) != 5 || none.LocalAvailable(5) != 0 || none.WithinNominal(1) || !none.WithinNominal(0) {
		t.Errorf("a node without entry: %+v", none)
	}
}
