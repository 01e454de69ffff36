package preemption

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Shape returns a text that is equal for two requests about a snapshot only if their decisions are: then one
// decision answers both. Only [Decision.Admitted] differs, which is each request's own workload. The text is
// empty for a request that has to be asked alone: its queue is not known, or the caller's own code decides about
// it, too ([Config.Guards], [Config.Limits], [Request.Room], [Request.History]).
//
// The text encodes the whole request but for the fields that no decision about it reads, so that a field added
// later counts. It is no form to store: it may change with any version.
func (p *Preemptor) Shape(s *Snapshot, r Request) string {
	if p == nil {
		p = &standard
	}
	w := &r.Workload
	q, known := s.Queue(w.Queue)
	if !known || r.Room != nil || r.History != nil || r.HoldsQuota || len(p.config.Guards)+len(p.config.Limits) > 0 {
		return ""
	}
	w.ID, w.UID = "", "" // they break ties among workloads that run
	if !s.HasRules(w.Queue) {
		w.LocalQueue, w.PriorityClass, w.Labels = "", "", nil // only rules read them
		if q.Preemption.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
			w.Queued, w.Created = time.Time{}, time.Time{} // they are compared with those of equals
		}
	}
	w.Loss, w.AdmittedAt = workload.Loss{}, time.Time{} // of no meaning for a workload that waits
	w.NeverYields = w.NeverYields && p.config.Sharing == KAI
	closed := w.Gates.AnyClosed()
	if w.Gates = (gate.Gates{}); closed { // a decision reads only whether all are open
		w.Gates.Names = []string{"closed"}
	}
	r.NeedsPreemption = slices.Clone(r.NeedsPreemption)
	text, err := json.Marshal(&r)
	if err != nil {
		return ""
	}
	return string(text)
}
