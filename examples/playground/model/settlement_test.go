package model

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A cluster that is over as it is: the page says who has to leave, why, what stays over and until when. Later the rest may leave.
func TestOver(t *testing.T) {
	f := must(os.Open("testdata/over.json"))(t)
	defer f.Close()
	d := must(Read(f, "over.json", time.Time{}))(t)
	m := must(New(d))(t)
	s := call[*Settlement](t, m, "settlement", `{}`)
	if s == nil || s.Words != `To leave: lab/old; still over: 2 h100/nvidia.com/gpu of queue "lab".` || s.Before != "" || len(s.Nodes) != 2 {
		t.Fatalf("%+v", s)
	}
	if n := s.Nodes[0]; n.Cohort || n.Name != "lab" || n.Title != `queue "lab": 4 h100/nvidia.com/gpu over` ||
		!strings.Contains(strings.Join(n.Lines, "\n"), "lab/old leaves: it runs in the queue, which uses more than it may") {
		t.Errorf("%+v", n)
	}
	if want := d.Now.Add(30*time.Minute + 1); !s.RetryAt.Equal(want) {
		t.Errorf("more at %v, want %v", s.RetryAt, want)
	}
	if leaves := leaving(m, 0); leaves != "lab/old" {
		t.Errorf("marked: %s", leaves)
	}
	if marks := call[Times](t, m, "times", `{}`).Marks; len(marks) != 1 || !marks[0].At.Equal(s.RetryAt) {
		t.Errorf("%+v", marks)
	}
	m.MoveTo(s.RetryAt)
	if s := m.Settlement(); s.Words != "To leave: lab/young." || !s.RetryAt.IsZero() {
		t.Errorf("%+v", s)
	}
}

// A quota is pulled below what is used, and the change is taken back.
func TestOverByEdit(t *testing.T) {
	m := sample(t)
	if s := call[*Settlement](t, m, "settlement", `{}`); s != nil || leaving(m, 5) != "" {
		t.Fatalf("%+v", s)
	}
	edit := Edit{Kind: "quota", Node: "recsys", Flavor: "h100", Resource: "nvidia.com/gpu", Field: "nominal", Value: "4"}
	if err := m.Set(edit); err != nil {
		t.Fatal(err)
	}
	s := m.Settlement()
	if s == nil || s.Words != "To leave: recsys/ctr-backfill, recsys/ltv-batch." || s.Before != "All usage is within what is allowed." || len(s.Nodes) != 2 {
		t.Fatalf("%+v", s)
	}
	// What is leaving already does not count, and what leaves for the queue counts for its cohort.
	if n := s.Nodes[1]; !n.Cohort || n.Title != `cohort "acme": 4 h100/nvidia.com/gpu over without the victims above` {
		t.Errorf("%+v", n)
	}
	if leaves := leaving(m, 5); leaves != "recsys/ctr-backfill recsys/ltv-batch" {
		t.Errorf("marked: %s", leaves)
	}
	if err := m.Unset(edit.Key()); err != nil || m.Settlement() != nil {
		t.Errorf("%v, %+v", err, m.Settlement())
	}
}

// leaving lists the blocks of a column that are marked.
func leaving(m *Model, column int) string {
	var list []string
	for _, r := range m.Rows(m.Columns()[column], false, false, Part{}, 0, 100).Rows {
		for _, b := range r.Blocks {
			if b.Leaves {
				list = append(list, b.ID)
			}
		}
	}
	return strings.Join(list, " ")
}
