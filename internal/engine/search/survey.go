package search

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
)

// TraceSurvey notes of each workload under the cohorts of the queue which rule keeps it from
// yielding, if any, while nobody has yielded. It asks the same rules as an attempt, in this
// order: use, policy, quota, borrowing, the workload itself, time, guards. An attempt looks at
// some of the workloads only. Surplus replicas may yield whatever the last three say.
func (s *Search) TraceSurvey(t *trace.Recorder) {
	q := s.Request.Queue
	s.noteEntitled()
	t.Add(trace.Step{Kind: trace.SurveyBegins, Node: q, Class: trace.Own})
	s.surveyQueue(t, &Donor{q, -1, Own, s.guaranteeOf(q, -1)}, -1)
	for l := range s.eachLevel {
		t.Add(trace.Step{Kind: trace.SurveyBegins, Node: l.Cohort, Class: traceClass[l.Class]})
		s.surveyUnder(t, &l, l.Cohort, -1)
	}
}

// surveyUnder looks at the queues under a cohort of a level. idle is a cohort on the way that
// borrows nothing; -1: none.
func (s *Search) surveyUnder(t *trace.Recorder, l *Level, cohort, idle int) {
	idleAt := func(node int) int {
		if idle < 0 && s.View.WithinNominalAtFirst(node, s.Needs) {
			return node
		}
		return idle
	}
	for _, child := range s.Cluster.ChildQueues[cohort] {
		if q := int(child); q != l.Except {
			d := s.DonorAt(l, q)
			s.surveyQueue(t, &d, idleAt(q))
		}
	}
	for _, child := range s.Cluster.ChildCohorts[cohort] {
		switch c := int(child); {
		case c == l.Except:
		case s.Request.Fair.Enabled(): // shares decide, whatever the cohort borrows
			s.surveyUnder(t, l, c, idle)
		default:
			s.surveyUnder(t, l, c, idleAt(c))
		}
	}
}

func (s *Search) surveyQueue(t *trace.Recorder, d *Donor, idle int) {
	for w := range s.Cluster.Running(d.Queue).Workloads {
		step := s.judge(d, w, idle)
		step.Kind, step.Node, step.Workload = trace.Judged, d.Queue, w.Facts.ID
		t.Add(step)
	}
}

// judge returns the first rule that keeps a workload from yielding.
func (s *Search) judge(d *Donor, w *cluster.Workload, idle int) (step trace.Step) {
	step.SetBy = -1
	until, timed := d.Protects(w)
	switch {
	case !s.UsesNeeded(w.Loads):
		step.Rule = trace.NotUsed
	case d.Class == Own && !s.ownMayYield(w):
		step.Rule, step.Until = trace.WithinClusterQueue, math.MaxInt64
		if held, ends := s.Request.HeldUntil(w); ends && s.EqualsMayYield() {
			step.Until = held
		}
	case d.Class != Own && !s.Permission(d.Class, false).Permits(w):
		step.Rule = trace.ReclaimWithinCohort
	case d.Class != Own && idle >= 0:
		step.Rule, step.SetBy = trace.WithinNominal, idle
	case d.Class == Priority && !s.Permission(Priority, true).Permits(w):
		step.Rule = trace.BorrowWithinCohort
	case w.Facts.NeverYields && !w.Facts.Evicted:
		step.Rule = trace.NeverYields
	case timed && s.Now <= until:
		step.Rule, step.Until, step.SetBy = trace.MinRuntime, until, d.setByFor(w)
	case s.guarded(w):
		step.Rule, step.Until = trace.Guarded, s.Request.Guard(w)
	case s.refuses(d.Queue, w):
		step.Rule = trace.Unstable
	}
	return step
}
