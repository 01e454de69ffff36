package quotatree

import (
	"testing"

	"github.com/cedesched/cede/quota"
)

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
