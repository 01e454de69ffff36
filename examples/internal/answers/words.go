package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
)

// wordsOfKAI take the place of the words of a cohort tree: KAI has queues, one flavor that nobody names, and all nodes at the top.
var wordsOfKAI = strings.NewReplacer(
	kai.Flavor+"/", "", " of "+kai.Flavor, "",
	`cohort "`+kai.AllQueues+`"`, "the cluster", "cohort "+kai.AllQueues, "the cluster", "cohort ", "queue ",
	" (reclaimWithinCohort Any)", ", by reclaim", " (withinClusterQueue LowerPriority)", ", by lower priority",
	"withinClusterQueue is LowerPriority, and its priority", "in its own queue only lower priority yields, and its priority",
	"as far as the shares permit it", "as far as the fair shares permit it", "the queue may borrow", "by fair shares",
	"fair sharing does not permit", "the fair shares do not permit",
	"more than the queue could use if nothing ran", "more than its limit",
)

// Words says a text in the words of the scheduler of the input.
func (c *Cluster) Words(text string) string {
	if c.ByFairShares() {
		return wordsOfKAI.Replace(text)
	}
	return text
}

// Steps are those of an explanation that are told, in the words of the scheduler. How quotas of Kueue would have to change is no question in
// KAI, where limits and shares decide.
func (c *Cluster) Steps(e *explain.Explanation) []explain.Step {
	if !c.ByFairShares() {
		return e.Steps
	}
	steps := slices.DeleteFunc(slices.Clone(e.Steps), func(s explain.Step) bool { return s.Section == "What would change the answer" })
	for i := range steps {
		s := &steps[i]
		s.Title, s.Lines = c.Words(s.Title), slices.Clone(s.Lines)
		for j := range s.Lines {
			s.Lines[j] = c.Words(s.Lines[j])
		}
	}
	return steps
}

// OverShare says of what a queue would have more than its fair share with a request that is refused, so that it reclaims nothing.
// Empty: of nothing, or a limit or the quota of what is not preemptible refuses it.
func (c *Cluster) OverShare(d *preemption.Decision, r *preemption.Request) string {
	if !c.ByFairShares() || d.Outcome != preemption.Impossible {
		return ""
	}
	pinned := d.Assignment.Pin(r.Workload)
	usage := pinned.Usage()
	for _, s := range d.Shortage {
		asks := slices.ContainsFunc(usage, func(u quota.Amount) bool {
			return u.FlavorResource() == s.FlavorResource && u.Amount > s.PotentialAvailable
		})
		if asks || s.NeverYields {
			return ""
		}
	}
	for _, q := range c.Snapshot.FairShares() {
		if q.Queue != r.Workload.Queue {
			continue
		}
		for _, share := range q.Shares {
			with := share.Usage
			for _, u := range usage {
				if u.Resource == share.Resource {
					with = quota.Add(with, u.Amount)
				}
			}
			if with > share.FairShare {
				return fmt.Sprintf("over its fair share: queue %s would have %s %s of %s", q.Queue,
					units.Amount(share.Resource, with), share.Resource, units.Amount(share.Resource, share.FairShare))
			}
		}
	}
	return ""
}
