package answers

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// The head of a queue of StrictFIFO is decided about once, for itself and for all that stand behind it. For cycles nothing is
// decided, unless a doubt may pass from a head to those behind.
func TestHeadsAreDecidedAboutOnce(t *testing.T) {
	c := crowd(t, queue.LowerPriority)
	c.State.Queues[0].Strategy = queue.StrictFIFO
	asked := 0
	c.Config.Guards = []preemption.Guard{counting{&asked}}
	c.Preemptor, c.Snapshot = valid(preemption.New(c.Config))(t), valid(Snapshot(c.State))(t)
	decisions := func(line func([]Waiting), change func([]Waiting)) int {
		list := c.Waiting(nil)
		change(list)
		line(list)
		return len(slices.DeleteFunc(list, func(w Waiting) bool { return w.head == nil }))
	}
	none := func([]Waiting) {}
	if n := decisions(c.Line, none); n != 1 {
		t.Errorf("%d heads were decided about", n)
	}
	if n := decisions(c.LineForCycles, none); n != 0 {
		t.Errorf("for cycles %d heads were decided about", n)
	}
	if n := decisions(c.LineForCycles, func(list []Waiting) { list[len(list)-1].IfPreempts = "that is not known" }); n != 1 {
		t.Errorf("with a doubt %d heads were decided about", n)
	}
	list := c.Waiting(nil)
	c.Line(list)
	asked = 0
	if _, err := c.ShortenAll(context.Background(), list, 0, func(int, *Short) {}); err != nil || asked > 0 {
		t.Errorf("the answers took another decision: %d, %v", asked, err)
	}
}

// counting counts the workloads that decisions ask about.
type counting struct{ asked *int }

func (g counting) Verdict(workload.Workload, preemption.Request) preemption.Verdict {
	*g.asked++
	return preemption.MayYield()
}

// The order in memory is no matter of the answers, nor of the faults.
func TestSnapshot(t *testing.T) {
	c := crowd(t, queue.LowerPriority)
	given := slices.Clone(c.State.Admitted)
	one, two := valid(Snapshot(c.State))(t), valid(preemption.NewSnapshot(c.State))(t)
	if fmt.Sprint(one.State()) != fmt.Sprint(two.State()) || !slices.EqualFunc(given, c.State.Admitted, func(a, b workload.Workload) bool { return a.ID == b.ID }) {
		t.Error("another state")
	}
	c.State.Admitted[7].Queue = "none"
	_, err := Snapshot(c.State)
	if _, want := preemption.NewSnapshot(c.State); err == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}

func valid[T any](what T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return what
	}
}
