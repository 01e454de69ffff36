package quotatree

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/quota"
)

// byDefinition says, of a tree and its usage, what the comments say, slowly.
type byDefinition struct {
	nodes     []Node
	resources []int
	direct    [][]Load
}

func (d *byDefinition) entry(node, column int) (e Entry) {
	for _, e := range d.nodes[node].Quotas {
		if e.Column == column {
			return e
		}
	}
	return e
}

func (d *byDefinition) children(node int) (list []int) {
	for i, n := range d.nodes {
		if n.Parent == node {
			list = append(list, i)
		}
	}
	return list
}

func (d *byDefinition) depth(node int) int {
	if d.nodes[node].Parent < 0 {
		return 0
	}
	return d.depth(d.nodes[node].Parent) + 1
}

func (d *byDefinition) height(node int) (height int) {
	for _, c := range d.children(node) {
		height = max(height, d.height(c)+1)
	}
	return height
}

// subtree is the nominal quota and what the children lend.
func (d *byDefinition) subtree(node, column int) int64 {
	sum := d.entry(node, column).Nominal
	for _, c := range d.children(node) {
		sum = quota.Add(sum, d.lendable(c, column))
	}
	return sum
}

func (d *byDefinition) lendable(node, column int) int64 {
	if limit, ok := d.entry(node, column).LendingLimit.Get(); ok {
		return min(d.subtree(node, column), limit)
	}
	return d.subtree(node, column)
}

func (d *byDefinition) local(node, column int) int64 {
	if d.lendable(node, column) < d.subtree(node, column) {
		return quota.Sub(d.subtree(node, column), d.lendable(node, column))
	}
	return 0
}

func (d *byDefinition) borrowing(node, column int) int64 {
	if limit, ok := d.entry(node, column).BorrowingLimit.Get(); ok {
		return limit
	}
	return quota.Unlimited
}

func (d *byDefinition) potential(node, column int) int64 {
	if d.nodes[node].Parent < 0 {
		return d.subtree(node, column)
	}
	return min(quota.Add(d.local(node, column), d.potential(d.nodes[node].Parent, column)), quota.Add(d.subtree(node, column), d.borrowing(node, column)))
}

func (d *byDefinition) past(node, column int) int64 {
	return max(0, quota.Sub(d.usage(node, column), d.local(node, column)))
}

func (d *byDefinition) usage(node, column int) int64 {
	sum := int64(0)
	for _, l := range d.direct[node] {
		if l.Column == column {
			sum += l.Amount
		}
	}
	for _, c := range d.children(node) {
		sum += d.past(c, column)
	}
	return sum
}

func (d *byDefinition) available(node, column int) int64 {
	parent, usage := d.nodes[node].Parent, d.usage(node, column)
	if parent < 0 {
		return quota.Sub(d.subtree(node, column), usage)
	}
	through := quota.Add(quota.Sub(d.lendable(node, column), d.past(node, column)), d.borrowing(node, column))
	return quota.Add(max(0, quota.Sub(d.local(node, column), usage)), min(d.available(parent, column), through))
}

// lent is what the parent's usage needs of what the node lends and does not use.
func (d *byDefinition) lent(node, column int) int64 {
	parent := d.nodes[node].Parent
	if parent < 0 {
		return 0
	}
	idle := max(0, quota.Sub(d.lendable(node, column), d.past(node, column)))
	needed := quota.Sub(quota.Sub(d.usage(parent, column), d.past(node, column)), quota.Sub(d.subtree(parent, column), d.lendable(node, column)))
	return min(idle, max(0, needed))
}

// share is the largest, over the resources, of what is borrowed in all flavors, for each
// thousand of what the parent could use of it. What the node has no quota of, nor any
// below it, does not count.
func (d *byDefinition) share(node int) Share {
	s := Share{quota.Share{Weight: d.nodes[node].Weight.Or(1)}, -1}
	parent := d.nodes[node].Parent
	for resource := range d.resources {
		borrowed, lendable := int64(0), int64(0)
		for column, of := range d.resources {
			if of != resource || parent < 0 {
				continue
			}
			lendable = quota.Add(lendable, d.potential(parent, column))
			if slices.Contains(d.columns(node), column) {
				borrowed = quota.Add(borrowed, max(0, quota.Sub(d.usage(node, column), d.subtree(node, column))))
			}
		}
		s.Borrows = s.Borrows || borrowed > 0
		if ratio := float64(borrowed) * 1000 / float64(lendable); borrowed > 0 && lendable > 0 && ratio > s.Ratio {
			s.Ratio, s.Resource = ratio, resource
		}
	}
	return s
}

func (d *byDefinition) columns(node int) (list []int) {
	for column := range d.resources {
		has := slices.ContainsFunc(d.nodes[node].Quotas, func(e Entry) bool { return e.Column == column })
		for _, c := range d.children(node) {
			has = has || slices.Contains(d.columns(c), column)
		}
		if has {
			list = append(list, column)
		}
	}
	return list
}

// Every number of a tree is what its definition says.
func agreesWithDefinitions(t *rapid.T) {
	d := &byDefinition{nodes: nodes().Draw(t, "tree"), resources: rapid.SampledFrom([][]int{{0, 1}, {0, 0}, {1, 0}, {1, 1}}).Draw(t, "resources")}
	for i := range d.nodes {
		if weight := rapid.SampledFrom([]float64{-1, 0, 0.5, 2}).Draw(t, "weight"); weight >= 0 {
			d.nodes[i].Weight = quota.WeightOf(weight)
		}
		d.direct = append(d.direct, loads(t))
	}
	d.check(t)
}

func (d *byDefinition) check(t interface{ Fatalf(string, ...any) }) {
	tree, err := NewTree(d.nodes, d.resources)
	if err != nil {
		t.Fatalf("%v", err)
	}
	u, err := NewUsage(tree, d.direct)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i := range d.nodes {
		if tree.Parent(i) != d.nodes[i].Parent || tree.Depth(i) != d.depth(i) || tree.Height(i) != d.height(i) {
			t.Fatalf("node %d: parent %d, depth %d, height %d", i, tree.Parent(i), tree.Depth(i), tree.Height(i))
		}
		if got := slices.Collect(tree.EachColumn(i)); !slices.Equal(got, d.columns(i)) {
			t.Fatalf("node %d: columns %v, want %v", i, got, d.columns(i))
		}
		for column := range d.resources {
			at := func(what string, got, want int64) {
				if got != want {
					t.Fatalf("node %d, column %d: %s %d, want %d", i, column, what, got, want)
				}
			}
			c := tree.Cell(i, column)
			at("subtree quota", c.SubtreeQuota, d.subtree(i, column))
			at("lendable", c.Lendable, d.lendable(i, column))
			at("local quota", c.LocalQuota, d.local(i, column))
			at("borrowing limit", c.BorrowingLimit, d.borrowing(i, column))
			at("potential", tree.PotentialAvailable(i, column), d.potential(i, column))
			at("usage", u.At(i, column), d.usage(i, column))
			at("available", u.Available(i, column), d.available(i, column))
			at("lent", u.Lent(i, column), d.lent(i, column))
		}
		if got, want := u.Share(i), d.share(i); got != want {
			t.Fatalf("node %d: share %+v, want %+v", i, got, want)
		}
	}
}

func TestAgreesWithDefinitions(t *testing.T) { rapid.Check(t, agreesWithDefinitions) }

// What a cohort in the middle could use, of which the shares below it are parts, with all
// that may bound it, and with a flavor that only the root knows.
func TestLendableInTheMiddle(t *testing.T) {
	limits := []quota.OptionalInt64{{}, quota.AtMost(0), quota.AtMost(1), quota.AtMost(4)}
	for _, nominal := range []int64{0, 1, 5} {
		for _, borrowing := range limits {
			for _, lending := range limits {
				for first := range 2 { // where in the list the root is
					list := []Node{
						{Parent: -1, Quotas: []Entry{{Column: 0, Nominal: 3}, {Column: 1, Nominal: 2}}},
						{Parent: first, Quotas: []Entry{{Column: 0, Nominal: nominal, BorrowingLimit: borrowing, LendingLimit: lending}}},
						{Parent: 1, Quotas: []Entry{{Column: 0}}},
						{Parent: 2, Quotas: []Entry{{Column: 0}}},
					}
					if first == 1 {
						list[0], list[1] = list[1], list[0]
						list[0].Parent, list[2].Parent = 1, 0
					}
					d := &byDefinition{nodes: list, resources: []int{0, 0}, direct: [][]Load{nil, nil, {{0, 1}}, {{0, 3}}}}
					d.check(t)
				}
			}
		}
	}
}

// "The ratio may be zero all the same, where nothing can be lent": it borrows, of nothing.
func TestBorrowsOfNothing(t *testing.T) {
	tree, err := NewTree([]Node{{Parent: -1}, {Parent: 0, Quotas: []Entry{{}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := NewUsage(tree, [][]Load{1: {{0, 5}}})
	if want := (Share{quota.Share{Weight: 1, Borrows: true}, -1}); err != nil || u.Share(1) != want {
		t.Errorf("%+v, %v; want %+v", u.Share(1), err, want)
	}
}

// Shares by weighted ratio; "those of weight 0 with any ratio above all others, among
// themselves by ratio".
func TestCompareShares(t *testing.T) {
	ordered := [][]quota.Share{
		{{}, {Weight: 0}, {Weight: 5}, {Weight: 1, Borrows: true}},
		{{Ratio: 1, Weight: 2}, {Ratio: 2, Weight: 4}},
		{{Ratio: 1, Weight: 1}},
		{{Ratio: 900, Weight: 1}, {Ratio: 450, Weight: 0.5}},
		{{Ratio: 1, Weight: 0}},
		{{Ratio: 2, Weight: 0}, {Ratio: 2, Weight: 0, Borrows: true}},
	}
	for i, level := range ordered {
		for _, x := range level {
			if want := i >= 4; math.IsInf(x.Weighted(), 1) != want {
				t.Errorf("%+v is weighted %v", x, x.Weighted())
			}
			for j, other := range ordered {
				for _, y := range other {
					if got, want := x.Compare(y), min(1, max(-1, i-j)); got != want {
						t.Errorf("%+v against %+v: %d, want %d", x, y, got, want)
					}
				}
			}
		}
	}
}

// A tree with more cells than memory should hold is refused before they are made, and so
// is a usage.
func TestMaxCells(t *testing.T) {
	const deep = 4096
	var list []Node
	for i := range deep {
		list = append(list, Node{Parent: i - 1})
	}
	entries := make([]Entry, MaxCells/deep+1)
	direct := make([]Load, len(entries))
	for i := range entries {
		entries[i].Column, direct[i].Column = i, i
	}
	tree, err := NewTree(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := make([][]Load, deep)
	all[deep-1] = direct
	if _, err := NewUsage(tree, all); err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxCells)) {
		t.Errorf("usage: %v", err)
	}
	list[deep-1].Quotas = entries
	if _, err := NewTree(list, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxCells)) {
		t.Errorf("tree: %v", err)
	}
	// As many, but not deep.
	flat := make([]Node, 1)
	flat[0].Parent, flat[0].Quotas = -1, entries
	if _, err := NewTree(flat, nil); err != nil {
		t.Error(err)
	}
}

// Each fault of the resources is named with its numbers.
func TestResourcesOfColumns(t *testing.T) {
	list := []Node{{Parent: -1, Quotas: []Entry{{Column: 2}, {Column: 0}}}}
	for want, resources := range map[string][]int{
		"column 2 has no resource":                      {0, 0},
		"resource 3 of column 1 is not within 0 and 2":  {0, 3, 0},
		"resource -1 of column 2 is not within 0 and 2": {0, 2, -1},
		"":                          {2, 2, 0},
		"column 2 has no resource ": {},
		"resource 4 of column 0 is not within 0 and 3":    {4, 0, 0, 0},
		"resource -2 of column 3 is not within 0 and 3":   {0, 0, 0, -2},
		"resource 5000 of column 0 is not within 0 and 4": {5000, 0, 0, 0, 0},
	} {
		_, err := NewTree(list, resources)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != "quota: "+strings.TrimSpace(want)) {
			t.Errorf("%v: %v, want %q", resources, err, want)
		}
	}
}

// A cycle is named by a node of it, not by one that stands well.
func TestCycleIsNamed(t *testing.T) {
	_, err := NewTree([]Node{{Parent: -1}, {Parent: 0}, {Parent: 3}, {Parent: 2}, {Parent: 1}}, nil)
	if err == nil || err.Error() != "quota: node 2: its ancestors are a cycle" {
		t.Error(err)
	}
}
