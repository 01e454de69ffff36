package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/trace"
)

// survey notes of each workload that a tier accepts now whether something keeps it from yielding, and
// which constraints on quota hold for whom, if the recorder wants that. Those taken before are left
// out.
func (t *Taker) survey(to *trace.Recorder, s *search.Search, i int) {
	if !to.Survey || s.Now != s.Request.Now {
		return
	}
	t.noteGone(s)
	to.Add(trace.Step{Kind: trace.TierBegins, Count: int64(i)})
	for q := range s.Cluster.Queues {
		node := len(s.Cluster.Cohorts) + q
		for w := range s.Cluster.Running(node).Workloads {
			if _, gone := t.gone[w]; !gone {
				t.surveyOne(to, s, i, w, node)
			}
		}
	}
}

func (t *Taker) surveyOne(to *trace.Recorder, s *search.Search, i int, w *cluster.Workload, node int) {
	moment := t.moment(s, i)
	if t.constrained {
		v := victim(s, w, node)
		moment.Quota = t.quotaOf(s, &v, s.Taken)
		to.Add(trace.Step{Kind: trace.TierQuota, Node: node, Workload: w.Facts.ID, Count: int64(moment.Quota)})
	}
	if t.fill(w); !s.Cluster.Queue(node).Inactive && t.tiers[i].rules.Accepts(&t.one, moment) {
		step := kept(s, w, node, t.quotaOnly(s, i))
		step.Kind, step.Node, step.Workload = trace.TierJudged, node, w.Facts.ID
		to.Add(step)
	}
}

// kept returns what keeps a workload from yielding by rules that accept it.
func kept(s *search.Search, w *cluster.Workload, node int, quotaOnly bool) (step trace.Step) {
	step.SetBy = -1
	least := minimumOf(s, node)
	until, protects := least.Until(w.Reserved)
	switch {
	case quotaOnly && !s.UsesNeeded(w.Loads):
		step.Rule = trace.NotUsed
	case w.Facts.Evicted && (s.Request.Guard == nil || s.Now > s.Request.Guard(w)):
	case w.Facts.NeverYields && !w.Facts.Evicted:
		step.Rule = trace.NeverYields
	case protects && s.Now <= until && !w.Facts.Evicted:
		step.Rule, step.Until, step.SetBy = trace.MinRuntime, until, least.SetBy
	case s.Request.Guard != nil && s.Now <= s.Request.Guard(w):
		step.Rule, step.Until = trace.Guarded, s.Request.Guard(w)
	}
	return step
}
