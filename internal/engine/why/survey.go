// Package why says why a request has no victims: the blockers of a decision, and for an explanation
// what keeps each workload from yielding. Both read the verdicts of package right.
package why

import (
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/source"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Survey notes of each workload under the cohorts of the queue which rule keeps it from
// yielding, if any, while no victim is taken. An attempt looks at some of the workloads only.
func Survey(t *trace.Recorder, s *search.Search) {
	q := s.Request.Queue
	s.EnterShares()
	t.Add(trace.Step{Kind: trace.SurveyBegins, Node: q, Class: trace.Own})
	d, _ := s.OwnDonor()
	surveyQueue(t, s, &d, -1)
	for l := range s.EachLevel {
		t.Add(trace.Step{Kind: trace.SurveyBegins, Node: l.Cohort, Class: source.TraceClass[l.Class]})
		surveyUnder(t, s, &l, l.Cohort, -1)
	}
}

// surveyUnder looks at the queues under a cohort of a level. idle is a cohort on the way that
// borrows nothing; -1: none.
func surveyUnder(t *trace.Recorder, s *search.Search, l *right.Level, cohort, idle int) {
	idleAt := func(node int) int {
		if idle < 0 && !s.GaveAtFirst(node) {
			return node
		}
		return idle
	}
	for _, child := range s.Cluster.ChildQueues[cohort] {
		if q := int(child); q != l.Except {
			d := s.DonorAt(l, q)
			surveyQueue(t, s, &d, idleAt(q))
		}
	}
	for _, child := range s.Cluster.ChildCohorts[cohort] {
		if c := int(child); c != l.Except {
			surveyUnder(t, s, l, c, idleAt(c))
		}
	}
}

func surveyQueue(t *trace.Recorder, s *search.Search, d *right.Donor, idle int) {
	for w := range s.Cluster.Running(d.Queue).Workloads {
		step := trace.Step{Kind: trace.Judged, Verdict: s.VerdictOfAll(d, w, idle), Node: d.Queue, Workload: w.Facts.ID}
		if step.Rule == trace.BorrowWithinCohort {
			step.Within = s.Verdict(d, w)
		}
		t.Add(step)
	}
}
