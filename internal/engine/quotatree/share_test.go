package quotatree

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/quota"
)

// What a node uses more of raises no share but its own and those above it, and lowers
// none.
func sharesRiseWithUsage(t *rapid.T) {
	list, u := drawTree(t)
	node, l := rapid.IntRange(0, len(list)-1).Draw(t, "node"), loads(t)
	more, err := u.Add(node, l)
	if err != nil {
		t.Skip(err)
	}
	above := map[int]bool{}
	for n := node; n >= 0; n = u.Tree().Parent(n) {
		above[n] = true
	}
	for n := range list {
		before, after := u.Share(n), more.Share(n)
		if before.Compare(after.Share) > 0 || before.Ratio > after.Ratio || before.Borrows && !after.Borrows {
			t.Fatalf("node %d: %+v falls to %+v", n, before, after)
		}
		if !above[n] && before != after {
			t.Fatalf("node %d: %+v changes to %+v, but node %d uses more", n, before, after, node)
		}
	}
}

func TestSharesRiseWithUsage(t *testing.T) { rapid.Check(t, sharesRiseWithUsage) }

// Borrowed over lendable, for each thousand, over the weight; of two resources the
// larger, of equal ones the first; over all flavors of a resource.
func TestShare(t *testing.T) {
	const cpu, memory, spot = 0, 1, 2 // spot is cpu of another flavor
	tree, err := NewTree([]Node{
		{Parent: -1, Quotas: []Entry{{Column: cpu, Nominal: 8}, {Column: memory, Nominal: 20}, {Column: spot, Nominal: 2}}},
		{Parent: 0, Quotas: []Entry{{Column: cpu}, {Column: memory}, {Column: spot}}, Weight: quota.WeightOf(2)},
		{Parent: 0, Quotas: []Entry{{Column: cpu}}, Weight: quota.WeightOf(0)},
		{Parent: 0},
	}, []int{0, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what     string
		node     int
		usage    []Load
		want     Share
		weighted float64
	}{
		{"nothing", 1, nil, Share{quota.Share{Ratio: 0, Weight: 2, Borrows: false}, -1}, 0},
		{"2 of 10 cpus, over two flavors", 1, []Load{{cpu, 1}, {spot, 1}}, Share{quota.Share{Ratio: 200, Weight: 2, Borrows: true}, 0}, 100},
		{"3 of 20 memory is less than 2 of 10", 1, []Load{{cpu, 2}, {memory, 3}}, Share{quota.Share{Ratio: 200, Weight: 2, Borrows: true}, 0}, 100},
		{"6 of 20 is more", 1, []Load{{cpu, 2}, {memory, 6}}, Share{quota.Share{Ratio: 300, Weight: 2, Borrows: true}, 1}, 150},
		{"of equal ones the first", 1, []Load{{cpu, 2}, {memory, 4}}, Share{quota.Share{Ratio: 200, Weight: 2, Borrows: true}, 0}, 100},
		{"weight zero", 2, []Load{{cpu, 1}}, Share{quota.Share{Ratio: 100, Weight: 0, Borrows: true}, 0}, math.Inf(1)},
		{"weight zero, nothing borrowed", 2, nil, Share{quota.Share{Ratio: 0, Weight: 0, Borrows: false}, -1}, 0},
		{"no quota entry, no share", 3, []Load{{cpu, 9}}, Share{quota.Share{Ratio: 0, Weight: 1, Borrows: false}, -1}, 0},
		{"a root", 0, []Load{{cpu, 99}}, Share{quota.Share{Ratio: 0, Weight: 1, Borrows: false}, -1}, 0},
	} {
		empty, _ := NewUsage(tree, nil)
		u, err := empty.Add(c.node, c.usage)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Share(c.node); got != c.want || got.Weighted() != c.weighted {
			t.Errorf("%s: %+v, weighted %v, want %+v, %v", c.what, got, got.Weighted(), c.want, c.weighted)
		}
	}
	heavy, light := quota.Share{Ratio: 100, Weight: 0}, quota.Share{Ratio: 200, Weight: 0}
	if heavy.Compare(light) >= 0 || light.Compare(quota.Share{Ratio: 1e9, Weight: 0.001}) <= 0 || heavy.Compare(heavy) != 0 {
		t.Error("the order of shares of weight zero")
	}
}

func TestNewTreeRefusesResources(t *testing.T) {
	entry := []Node{{Parent: -1, Quotas: []Entry{{Column: 1}}}}
	for what, err := range map[string]error{
		"column without resource":  treeError(entry, []int{0}),
		"resource out of range":    treeError(entry, []int{0, 2}),
		"negative weight":          treeError([]Node{{Parent: -1, Weight: quota.WeightOf(-1)}}, nil),
		"weight that is no number": treeError([]Node{{Parent: -1, Weight: quota.WeightOf(math.NaN())}}, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func treeError(nodes []Node, resources []int) error {
	_, err := NewTree(nodes, resources)
	return err
}

// The errors name the node, the column and the amount.
func TestErrorsOfUsage(t *testing.T) {
	tree, err := NewTree([]Node{{Parent: -1}, {Parent: 0}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewUsage(tree, [][]Load{1: {{3, 5}}})
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() (Usage, error){
		"changed by -6,":                  func() (Usage, error) { return u.Remove(1, []Load{{3, 6}}) },
		"changed by 4611686018427387900,": func() (Usage, error) { return u.Add(1, []Load{{3, quota.MaxUsage - 4}}) },
		"changed by 4611686018427387905,": func() (Usage, error) { return u.Add(1, []Load{{3, quota.MaxUsage + 1}}) },
		"changed by -1,":                  func() (Usage, error) { return u.Add(1, []Load{{3, -1}}) },
	} {
		want := "quota: usage of node 1 in column 3, " + what + " is not within 0 and 4611686018427387904"
		if _, err := change(); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, ok := range []func() (Usage, error){
		func() (Usage, error) { return u.Remove(1, []Load{{3, 5}}) },
		func() (Usage, error) { return u.Add(1, []Load{{3, quota.MaxUsage - 5}}) },
		func() (Usage, error) { return u.Add(1, []Load{{2, 0}}) },
		func() (Usage, error) { return NewUsage(tree, [][]Load{1: {{3, quota.MaxUsage}}}) },
	} {
		if _, err := ok(); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewUsage(tree, [][]Load{1: {{3, -1}}}); err == nil {
		t.Error("a negative usage is taken")
	}
}

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
