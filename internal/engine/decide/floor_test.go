package decide_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// dense is a scenario of a world in dense form.
func dense(c *cluster.Cluster, r preemption.Request) *right.Request {
	w := &r.Workload
	d := &right.Request{
		Priority: w.EffectivePriority(), Queued: instant.Of(w.Queued),
		Now: instant.Of(r.Now), Retry: right.Retry{MaxSteps: 1000},
	}
	d.Queue, _ = c.QueueNode(w.Queue)
	for _, a := range w.PodSets[0].Requests {
		d.Columns = append(d.Columns, c.Columns.Number(a.FlavorResource()))
		d.Amounts, d.Needs = append(d.Amounts, a.Amount), append(d.Needs, true)
	}
	return d
}

func clusterOf(t testing.TB, w scenario.World) *cluster.Cluster {
	t.Helper()
	st := w.State()
	c, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkFloor is what a search cannot be faster than: it is handed the victims,
// takes them, and checks that the request fits ("suffice"), or that none can be spared
// as well ("proven"). "search" is the search for them.
func BenchmarkFloor(b *testing.B) {
	for _, w := range []scenario.World{scenario.Worlds[1], scenario.Worlds[2], scenario.Worlds[4], scenario.Worlds[6]} {
		c := clusterOf(b, w)
		for _, sc := range w.Scenarios() {
			var s decide.Searcher
			r := dense(c, sc.Request)
			victims := slices.Clone(s.Search(c, r, nil, 16).Victims)
			if len(victims) == 0 {
				continue
			}
			name := fmt.Sprintf("%s/world=%s/queues=%d/workloads=%dk/", sc.Name, w.ID, w.Queues, w.Workloads()/1000)
			for _, prove := range []bool{false, true} {
				how := map[bool]string{false: "suffice", true: "proven"}[prove]
				b.Run(name+how, func(b *testing.B) {
					for b.Loop() {
						if !s.Floor(c, r, victims, prove) {
							b.Fatal("not the victims")
						}
					}
				})
			}
			b.Run(name+"search", func(b *testing.B) {
				for b.Loop() {
					if len(s.Search(c, r, nil, 16).Victims) != len(victims) {
						b.Fatal("other victims")
					}
				}
			})
		}
	}
}

// The floor checks: it refuses one victim too few, and one too many.
func TestFloorChecks(t *testing.T) {
	w := scenario.Worlds[0]
	c := clusterOf(t, w)
	checked := 0
	for _, sc := range w.Scenarios() {
		var s decide.Searcher
		r := dense(c, sc.Request)
		victims := slices.Clone(s.Search(c, r, nil, 16).Victims)
		if len(victims) < 2 {
			continue
		}
		checked++
		if !s.Floor(c, r, victims, false) || !s.Floor(c, r, victims, true) {
			t.Errorf("%s: refuses the victims", sc.Name)
		}
		if s.Floor(c, r, victims[1:], false) || s.Floor(c, r, victims[1:], true) {
			t.Errorf("%s: a victim too few passes", sc.Name)
		}
		r.Amounts = []int64{1, 1} // for which they are too many
		if !s.Floor(c, r, victims, false) || s.Floor(c, r, victims, true) {
			t.Errorf("%s: a victim too many passes", sc.Name)
		}
	}
	if checked < 8 {
		t.Errorf("only %d scenarios", checked)
	}
}
