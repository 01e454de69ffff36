package answers

import (
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// Requesting returns the queues once a workload waits in one of them, in place of another form of it; nil: it did not wait. What a queue
// requests is part of what its fair share goes by.
func Requesting(t fairshare.Tree, w, before *workload.Workload) fairshare.Tree {
	t = t.Clone()
	add := func(w *workload.Workload, sign int64) {
		for i := range t.Queues {
			if t.Queues[i].Name != w.Queue {
				continue
			}
			for j := range t.Queues[i].Claims {
				claim := &t.Queues[i].Claims[j]
				for _, u := range w.Usage() {
					if claim.Resource == u.Resource {
						claim.Request = max(0, min(quota.Add(claim.Request, sign*u.Amount), quota.MaxUsage))
					}
				}
			}
		}
	}
	if before != nil {
		add(before, -1)
	}
	add(w, 1)
	return t
}
