package main

import (
	"fmt"
	"time"

	svg "github.com/ajstarks/svgo"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// reclaim draws the cluster of the README's example before and after its decision.
func reclaim(string) ([]byte, error) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	gpus := func(id, in string, n int64, ago time.Duration) workload.Workload {
		return workload.Workload{ID: id, Queue: in, ReservedAt: now.Add(-ago), PodSets: []workload.PodSet{
			{Name: "main", Count: n, Requests: []quota.Amount{{Flavor: "h100", Resource: "gpu", Amount: 1}}}}}
	}
	before, err := preemption.NewSnapshot(preemption.State{
		Cohorts: []queue.Cohort{{Name: "research"}},
		Queues: []queue.Queue{
			{Name: "team-a", Cohort: "research", Quotas: []quota.Quota{{Flavor: "h100", Resource: "gpu", Nominal: 8}},
				Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "team-b", Cohort: "research"},
		},
		Admitted: []workload.Workload{gpus("b/train", "team-b", 6, time.Hour), gpus("b/tune", "team-b", 2, time.Minute)},
	})
	if err != nil {
		return nil, err
	}
	asks := gpus("a/serve", "team-a", 2, 0)
	asks.ReservedAt = time.Time{}
	decision, err := new(preemption.Preemptor).Decide(before, preemption.Request{Workload: asks, Now: now})
	if err != nil {
		return nil, err
	}
	victims := map[string]bool{}
	var edits []preemption.Edit
	for _, v := range decision.Victims {
		victims[v.Workload] = true
		edits = append(edits, preemption.Remove(v.Workload))
	}
	asks.ReservedAt = now
	after, err := before.With(append(edits, preemption.Admit(asks))...)
	if err != nil {
		return nil, err
	}
	out := buffer()
	c := svg.New(out)
	c.Start(760, 190, `role="img"`)
	c.Title("Team A reclaims two GPUs from team B")
	c.Roundrect(0, 0, 760, 190, 8, 8, "fill:#ffffff;stroke:#d0d7de")
	half(c, 24, "a/serve asks for 2 GPUs in team-a", before, victims)
	half(c, 396, fmt.Sprintf("%s: %s has yielded", decision.Outcome, decision.Victims[0].Workload), after, nil)
	c.End()
	return out.Bytes(), nil
}

const (
	unit  = 34 // pixels of a GPU
	bar   = 32 // pixels of a queue's height
	first = 74 // the top of the first queue
)

// half draws each queue as a bar: blocks for what runs, a frame for its nominal quota.
func half(c *svg.SVG, x int, title string, s *preemption.Snapshot, victims map[string]bool) {
	c.Text(x, 30, title, style(14, "#1f2328"))
	y := first
	for q := range s.Queues() {
		rows, _ := s.QueueStatus(q.Name)
		note := ""
		for _, r := range rows {
			note = fmt.Sprintf("nominal %d, uses %d", r.Nominal, r.Usage)
			if r.Lent > 0 {
				note += fmt.Sprintf(", lends %d", r.Lent)
			}
			if r.Borrowed > 0 {
				note += fmt.Sprintf(", borrows %d", r.Borrowed)
			}
			c.Rect(x, y, int(r.Nominal)*unit, bar, "fill:#f6f8fa;stroke:#57606a;stroke-dasharray:4 3")
		}
		c.Text(x, y-8, q.Name+"  "+note, style(12, "#57606a"))
		at := x
		for w := range s.Workloads() {
			if w.Queue != q.Name {
				continue
			}
			width := int(w.PodSets[0].Count) * unit
			fill, label := "#54aeff", w.ID
			if victims[w.ID] {
				fill, label = "#ff8182", w.ID+" ✕"
			}
			c.Roundrect(at+1, y+3, width-2, bar-6, 4, 4, "fill:"+fill)
			c.Text(at+6, y+20, label, style(11, "#1f2328"))
			at += width
		}
		y += bar + 34
	}
}
