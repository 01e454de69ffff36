package quotatree

import (
	"testing"

	"github.com/cedesched/cede/quota"
)

// "Lendable: min(SubtreeQuota, lending limit). LocalQuota is the rest, never negative."
// Without a limit all is lent, and nothing is local, even if the quota is unlimited.
func TestNewCell(t *testing.T) {
	for _, c := range []struct {
		nominal, lent      int64
		borrowing, lending quota.OptionalInt64
		want               Cell
	}{
		{0, 0, quota.OptionalInt64{}, quota.OptionalInt64{}, Cell{0, quota.Unlimited, 0, 0, 0}},
		{5, 3, quota.OptionalInt64{}, quota.OptionalInt64{}, Cell{5, quota.Unlimited, 8, 8, 0}},
		{5, 3, quota.AtMost(0), quota.AtMost(0), Cell{5, 0, 8, 0, 8}},
		{5, 3, quota.AtMost(2), quota.AtMost(1), Cell{5, 2, 8, 1, 7}},
		{5, 3, quota.AtMost(2), quota.AtMost(8), Cell{5, 2, 8, 8, 0}},
		{5, 3, quota.AtMost(2), quota.AtMost(9), Cell{5, 2, 8, 8, 0}},
		{quota.Unlimited, 3, quota.OptionalInt64{}, quota.OptionalInt64{}, Cell{quota.Unlimited, quota.Unlimited, quota.Unlimited, quota.Unlimited, 0}},
		{quota.Unlimited, 0, quota.OptionalInt64{}, quota.AtMost(4), Cell{quota.Unlimited, quota.Unlimited, quota.Unlimited, 4, quota.Unlimited}},
		{0, quota.Unlimited, quota.OptionalInt64{}, quota.AtMost(quota.Unlimited), Cell{0, quota.Unlimited, quota.Unlimited, quota.Unlimited, 0}},
	} {
		if got := newCell(c.nominal, c.lent, c.borrowing, c.lending); got != c.want {
			t.Errorf("nominal %d, lent %d, borrowing %v, lending %v: %+v, want %+v", c.nominal, c.lent, c.borrowing, c.lending, got, c.want)
		}
	}
}

// A node of 8 that lends at most 5 and may borrow 2, at every usage around its edges.
func TestCell(t *testing.T) {
	c := newCell(8, 0, quota.AtMost(2), quota.AtMost(5))
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
	if none := NoCell; none.FromParent(5) != quota.Unlimited || none.PastLocal(5) != 5 || none.LocalAvailable(5) != 0 || none.WithinNominal(1) || !none.WithinNominal(0) {
		t.Errorf("a node without entry: %+v", none)
	}
}
