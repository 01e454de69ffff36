package answers

import (
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// A chain of 10,000 cohorts costs what it is long.
func TestTreeOfALongChain(t *testing.T) {
	var st preemption.State
	parent := ""
	for i := range 10_000 {
		name := "c" + time.Duration(i).String()
		st.Cohorts = append(st.Cohorts, queue.Cohort{Name: name, Parent: parent})
		parent = name
	}
	slices.Reverse(st.Cohorts)
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range Tree(s) {
		if n.Root != "c0s" || n.Depth != i || !n.Cohort {
			t.Fatalf("%+v at %d", n, i)
		}
	}
}
