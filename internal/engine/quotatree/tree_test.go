package quotatree

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/quota"
)

// nodes generates a valid tree: node 0 is a root, the parent of any other is one
// before it or none.
func nodes() *rapid.Generator[[]Node] {
	return rapid.Custom(func(t *rapid.T) []Node {
		limit := func(label string) quota.OptionalInt64 {
			if rapid.Bool().Draw(t, label+"?") {
				return quota.AtMost(rapid.SampledFrom([]int64{0, 1, 3, 8, quota.Unlimited}).Draw(t, label))
			}
			return quota.OptionalInt64{}
		}
		list := make([]Node, rapid.IntRange(1, 7).Draw(t, "nodes"))
		for i := range list {
			list[i].Parent = rapid.IntRange(-1, i-1).Draw(t, "parent")
			for column := range 2 {
				if rapid.IntRange(0, 4).Draw(t, "entry?") > 0 {
					list[i].Quotas = append(list[i].Quotas, Entry{
						Column: column, Nominal: rapid.SampledFrom([]int64{0, 1, 2, 5, 9, quota.MaxUsage, quota.Unlimited}).Draw(t, "nominal"),
						BorrowingLimit: limit("borrowing limit"), LendingLimit: limit("lending limit"),
					})
				}
			}
		}
		return list
	})
}

func loads(t *rapid.T) []Load {
	return []Load{
		{0, rapid.SampledFrom([]int64{0, 1, 2, 5}).Draw(t, "amount")},
		{1, rapid.SampledFrom([]int64{0, 1, 3, 1 << 40}).Draw(t, "amount")},
	}
}

func drawTree(t *rapid.T) ([]Node, Usage) {
	list := nodes().Draw(t, "tree")
	tree, err := NewTree(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewUsage(tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(0, 5).Draw(t, "loads") {
		node := rapid.IntRange(0, len(list)-1).Draw(t, "node")
		if u, err = u.Add(node, loads(t)); err != nil {
			t.Fatal(err)
		}
	}
	return list, u
}

func rows(u Usage) [][]Load {
	var list [][]Load
	for _, n := range u.rows.All() {
		list = append(list, n.loads)
	}
	return list
}

// Removal is the exact inverse of adding, and a value that was there before is
// left as it was.
func addThenRemoveIsIdentity(t *rapid.T) {
	list, u := drawTree(t)
	before := rows(u)
	node, l := rapid.IntRange(0, len(list)-1).Draw(t, "node"), loads(t)
	more, err := u.Add(node, l)
	if err != nil {
		t.Fatal(err)
	}
	less, err := more.Remove(node, l)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rows(less), before) || !reflect.DeepEqual(rows(u), before) {
		t.Fatalf("before %v, after %v, the old value %v", before, rows(less), rows(u))
	}
}

func availableNeverGrowsWithUsage(t *rapid.T) {
	list, u := drawTree(t)
	more, err := u.Add(rapid.IntRange(0, len(list)-1).Draw(t, "node"), loads(t))
	if err != nil {
		t.Fatal(err)
	}
	for node := range list {
		for column := range 2 {
			if before, after := u.Available(node, column), more.Available(node, column); after > before {
				t.Fatalf("node %d column %d: available grew from %d to %d", node, column, before, after)
			}
			if a, p := u.Available(node, column), u.tree.PotentialAvailable(node, column); a > p {
				t.Fatalf("node %d column %d: available %d is more than potential %d", node, column, a, p)
			}
		}
	}
}

// Numbering the nodes otherwise, which permutes the children of each, changes no
// number; nor does the order in which usage came.
func orderOfChildrenIsNothing(t *rapid.T) {
	list := nodes().Draw(t, "tree")
	at := rapid.Permutation(ascending(len(list))).Draw(t, "permutation")
	permuted := make([]Node, len(list))
	for i, n := range list {
		if n.Parent >= 0 {
			n.Parent = at[n.Parent]
		}
		permuted[at[i]] = n
	}
	direct, otherDirect := make([][]Load, len(list)), make([][]Load, len(list))
	for i := range list {
		direct[i] = loads(t)
		otherDirect[at[i]] = direct[i]
	}
	u, other := usageOf(t, list, direct), usageOf(t, permuted, otherDirect)
	for i := range list {
		for column := range 2 {
			same := u.At(i, column) == other.At(at[i], column) &&
				u.Available(i, column) == other.Available(at[i], column) &&
				u.tree.Cell(i, column) == other.tree.Cell(at[i], column) &&
				u.Lent(i, column) == other.Lent(at[i], column) &&
				u.tree.Height(i) == other.tree.Height(at[i])
			if !same {
				t.Fatalf("node %d column %d differs", i, column)
			}
		}
	}
}

func ascending(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func usageOf(t *rapid.T, list []Node, direct [][]Load) Usage {
	tree, err := NewTree(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewUsage(tree, direct)
	if err != nil {
		t.Fatal(err)
	}
	one, err := NewUsage(tree, nil)
	for node, l := range direct {
		if err == nil {
			one, err = one.Add(node, l)
		}
	}
	if err != nil || !reflect.DeepEqual(rows(all), rows(one)) {
		t.Fatalf("all at once %v, one by one %v, %v", rows(all), rows(one), err)
	}
	return all
}

func TestAddThenRemoveIsIdentity(t *testing.T)      { rapid.Check(t, addThenRemoveIsIdentity) }
func TestAvailableNeverGrowsWithUsage(t *testing.T) { rapid.Check(t, availableNeverGrowsWithUsage) }
func TestOrderOfChildrenIsNothing(t *testing.T)     { rapid.Check(t, orderOfChildrenIsNothing) }

// A queue of 10 that lends at most 4 keeps 6 to itself: its first 6 do not show in
// the cohort, and the cohort's own 3 and the 4 are all that a sibling can get.
func TestLendingLimitKeepsLocalQuota(t *testing.T) {
	tree, err := NewTree([]Node{
		{Parent: -1, Quotas: []Entry{{Nominal: 3}}},
		{Parent: 0, Quotas: []Entry{{Nominal: 10, LendingLimit: quota.AtMost(4)}}},
		{Parent: 0, Quotas: []Entry{{Nominal: 0, BorrowingLimit: quota.AtMost(5)}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := NewUsage(tree, nil)
	check := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %d, want %d", what, got, want)
		}
	}
	check("subtree quota of the cohort", tree.Cell(0, 0).SubtreeQuota, 7)
	check("potential of the lender", tree.PotentialAvailable(1, 0), 13)
	check("potential of the borrower", tree.PotentialAvailable(2, 0), 5)
	u, _ = u.Add(1, []Load{{0, 6}})
	check("usage of the cohort", u.At(0, 0), 0)
	u, _ = u.Add(2, []Load{{0, 5}})
	check("borrowed", u.Borrowed(2, 0), 5)
	check("available to the borrower, at its limit", u.Available(2, 0), 0)
	check("available to the lender", u.Available(1, 0), 2)
	check("lent: 5 are needed, the cohort has 3", u.Lent(1, 0), 2)
	over, _ := u.Add(1, []Load{{0, 6}})
	check("available, over-admitted", over.Available(1, 0), -4)
}

func TestNewTreeRefuses(t *testing.T) {
	entry := func(e Entry) []Node { return []Node{{Parent: -1, Quotas: []Entry{e}}} }
	for name, c := range map[string]struct {
		nodes []Node
		want  string
	}{
		"parent out of range": {[]Node{{Parent: 1}}, "node 0: parent 1"},
		"parent below none":   {[]Node{{Parent: -2}}, "node 0: parent -2"},
		"bad weight":          {[]Node{{Parent: -1, Weight: quota.WeightOf(-1)}}, "node 0: weight -1"},
		"itself":              {[]Node{{Parent: -1}, {Parent: 1}}, "cycle"},
		"a cycle of two":      {[]Node{{Parent: 1}, {Parent: 0}}, "node 0"},
		"negative nominal":    {entry(Entry{Nominal: -1}), "negative"},
		"negative limit":      {entry(Entry{BorrowingLimit: quota.AtMost(-1)}), "negative"},
		"negative lending":    {entry(Entry{LendingLimit: quota.AtMost(-1)}), "negative"},
		"negative column":     {entry(Entry{Column: -1}), "negative"},
		"two entries":         {[]Node{{Parent: -1, Quotas: []Entry{{}, {}}}}, "two entries"},
	} {
		if _, err := NewTree(c.nodes, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestUsageOutOfBounds(t *testing.T) {
	tree, _ := NewTree([]Node{{Parent: -1}, {Parent: 0}}, nil)
	u, _ := NewUsage(tree, nil)
	u, err := u.Add(1, []Load{{0, quota.MaxUsage}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Add(1, []Load{{0, 1}}); err == nil {
		t.Error("usage passes the bound")
	}
	if _, err := u.Remove(1, []Load{{1, 1}}); err == nil {
		t.Error("removed what was not there")
	}
	if _, err := NewUsage(tree, [][]Load{1: {{0, quota.MaxUsage + 1}}}); err == nil {
		t.Error("usage passes the bound at once")
	}
}
