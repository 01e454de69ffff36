package corpus

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
)

// TestReask asks each case of the corpus again by other routes: of the slow twin, of
// a snapshot made from reversed lists, of one made by edits, of one from which a workload was
// removed and admitted again.
func TestReask(t *testing.T) {
	for _, mode := range []string{"classical", "fair"} {
		t.Run(mode, func(t *testing.T) { reask(t, "testdata/random-"+mode+".jsonl.gz") })
	}
}

func reask(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	err = Read(name, f, func(_ int, asked Asker) error {
		c := asked.(*Case)
		config, err := c.Config()
		if err != nil {
			return err
		}
		p, err := preemption.New(config)
		if err != nil {
			return err
		}
		if cases++; testing.Short() && cases%10 != 0 {
			return nil
		}
		st := c.State()
		first := ask(t, p, st, nil, c.Request())
		if slow := reference.Decide(config, st, c.Request()); slow.Outcome != first.Outcome ||
			slow.BorrowHeight != first.BorrowHeight || !cmp.Equal(slow.Victims, first.Victims, cmpopts.EquateEmpty()) {
			t.Errorf("%s: the twin decides %+v, not %+v", c.Name, slow, first)
		}
		backwards := c.State()
		slices.Reverse(backwards.Cohorts)
		slices.Reverse(backwards.Queues)
		slices.Reverse(backwards.Admitted)
		var edits, again []preemption.Edit
		for _, q := range st.Queues {
			edits = append(edits, preemption.SetQueue(q))
		}
		for _, co := range st.Cohorts {
			edits = append(edits, preemption.SetCohort(co))
		}
		for _, w := range st.Admitted {
			edits = append(edits, preemption.Admit(w))
			again = append(again, preemption.Remove(w.ID), preemption.Admit(w))
		}
		for route, other := range map[string]preemption.Decision{
			"in reverse":     ask(t, p, backwards, nil, c.Request()),
			"by edits":       ask(t, p, preemption.State{}, edits, c.Request()),
			"there and back": ask(t, p, st, again, c.Request()),
		} {
			if diff := cmp.Diff(first, other, cmpopts.IgnoreUnexported(preemption.Decision{})); diff != "" {
				t.Errorf("%s, %s: %s", c.Name, route, diff)
			}
		}
		return nil
	})
	if err != nil || cases < 1000 {
		t.Errorf("%d cases, %v", cases, err)
	}
}

func ask(t *testing.T, p *preemption.Preemptor, st preemption.State, edits []preemption.Edit, r preemption.Request) preemption.Decision {
	t.Helper()
	s, err := preemption.NewSnapshot(st)
	if err == nil {
		s, err = s.With(edits...)
	}
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Decide(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
