package rules

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/trace"
)

// survey notes of each workload that a tier accepts now which rule keeps it from yielding, if any, and
// which constraints on quota hold for it, if the recorder wants that. Workloads that were taken before are
// left out.
func (t *Taker) survey(to *trace.Recorder, s *search.Search, i int) {
	if !to.Survey || s.Now != s.Request.Now {
		return
	}
	t.noteGone(s)
	to.Add(trace.Step{Kind: trace.TierBegins, Count: int64(i)})
	for q := range s.Cluster.Queues {
		d := donorAt(s, len(s.Cluster.Cohorts)+q)
		for w := range s.Cluster.Running(d.node).Workloads {
			if _, gone := t.gone[w]; !gone {
				t.surveyOne(to, s, i, w, &d)
			}
		}
	}
}

func (t *Taker) surveyOne(to *trace.Recorder, s *search.Search, i int, w *cluster.Workload, d *donor) {
	moment := t.moment(s, i)
	if t.constrained {
		v := d.victim(w)
		moment.Quota = t.quotaOf(s, &v, s.Taken)
		to.Add(trace.Step{Kind: trace.TierQuota, Node: d.node, Workload: w.Facts.ID, Count: int64(moment.Quota)})
	}
	if t.fill(w); s.Cluster.Queue(d.node).Inactive || !t.tiers[i].rules.Accepts(&t.one, moment) {
		return
	}
	of := s.DonorOfRules(d.node, d.common)
	v := s.VerdictByRules(&of, w)
	if quotaOnly(s, i) && !s.UsesNeeded(w.Loads) {
		v = right.Verdict{Rule: trace.NotUsed, SetBy: -1}
	}
	to.Add(trace.Step{Kind: trace.TierJudged, Verdict: v, Node: d.node, Workload: w.Facts.ID})
}
