package explain

import (
	"fmt"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Reason says by which right a victim is preempted: a sentence without full stop in which it is the
// victim. Empty for an invalid reason.
func Reason(r preemption.VictimReason) string {
	return map[preemption.VictimReason]string{
		preemption.InClusterQueue: "it runs in the same queue, and the queue's withinClusterQueue policy lets it be preempted",
		preemption.InClusterQueueTimeBased: "it runs in the same queue with the same priority, " +
			"for longer than the queue's minAdmitDuration",
		preemption.InCohortReclamation:    "its queue uses more than its nominal quota, which is reclaimed (reclaimWithinCohort)",
		preemption.InCohortFairSharing:    "its side of the cohort borrows the larger share (fair sharing)",
		preemption.ConfigurablePreemption: "a selector of a rule of the preemptor's queue accepts it",
		preemption.InCohortReclaimWhileBorrowing: "its queue uses more than its nominal quota, " +
			"and the preemptor may reclaim though it borrows itself (borrowWithinCohort)",
	}[r]
}

// Blocker says why a queue, cohort or workload may not yield for a request: a sentence without full stop
// in which it is the blocker. The blocker is one of a decision about the request in the snapshot.
func Blocker(s *preemption.Snapshot, r *preemption.Request, b preemption.Blocker) string {
	q, _ := s.Queue(r.Workload.Queue)
	text := blocker(s, r, &q, b)
	switch b.Rule {
	case preemption.RuleWithinClusterQueue, preemption.RuleReclaimWithinCohort, preemption.RuleBorrowWithinCohort:
		if q.Rules != "" {
			text += fmt.Sprintf("; and what the rules of %s accept is not enough", q.Rules)
		}
	}
	return text
}

func blocker(s *preemption.Snapshot, r *preemption.Request, q *queue.Queue, b preemption.Blocker) string {
	p := &q.Preemption
	w, known := s.Find(b.Workload)
	switch b.Rule {
	case preemption.RuleWithinClusterQueue:
		text := fmt.Sprintf("withinClusterQueue is %v", p.WithinClusterQueue)
		if known && p.WithinClusterQueue != queue.Never {
			text += ", and " + notPermitted(p.WithinClusterQueue, &w, &r.Workload, p)
		}
		return text + until(b.Until, r.Now)
	case preemption.RuleReclaimWithinCohort:
		text := fmt.Sprintf("reclaimWithinCohort is %v", p.ReclaimWithinCohort)
		if known && p.ReclaimWithinCohort != queue.Never {
			text += ", and " + notPermitted(p.ReclaimWithinCohort, &w, &r.Workload, p)
		}
		return text
	case preemption.RuleBorrowWithinCohort:
		return "the request would borrow, and " + notWhileBorrowing(&p.BorrowWithinCohort, &w, known, &r.Workload)
	case preemption.RuleWithinNominal:
		return "it borrows nothing of what is short: there is nothing to reclaim"
	case preemption.RuleFairShare:
		if b.Queue == r.Workload.Queue && b.Workload == "" {
			return "with the request it would hold more than its fair share, so it may not reclaim"
		}
		return "fair sharing does not permit enough of it to yield"
	case preemption.RuleQueueInactive:
		return "it is inactive: nothing in it is admitted, and no workload preempts from it"
	case preemption.RuleNeverYields:
		return "it is not preemptible"
	case preemption.RuleMinRuntime:
		against := "reclaims"
		if b.Queue == r.Workload.Queue {
			against = "preemption in its queue"
		}
		return fmt.Sprintf("its minimum runtime against %s, set by %s, is not over%s", against, setBy(b.SetBy), until(b.Until, r.Now))
	case preemption.RuleGuarded:
		return "a guard keeps it" + until(b.Until, r.Now)
	case preemption.RuleLimit:
		return fmt.Sprintf("the limit %s on preemptions is reached", b.SetBy)
	}
	return b.Rule.String()
}

// setBy names what sets a minimum runtime.
func setBy(text string) string {
	switch text {
	case "default", "protection":
		return "the " + text
	}
	return text
}

// notPermitted says why a policy that permits some workloads does not permit this one.
func notPermitted(p queue.VictimPolicy, w, preemptor *workload.Workload, of *queue.PreemptionPolicy) string {
	theirs, ours := w.EffectivePriority(), preemptor.EffectivePriority()
	switch {
	case theirs > ours:
		return fmt.Sprintf("its priority of %d is above %d", theirs, ours)
	case theirs < ours:
		return fmt.Sprintf("its priority of %d is below %d", theirs, ours) // no policy says so
	case p != queue.LowerOrNewerEqualPriority:
		return fmt.Sprintf("its priority of %d is equal, not lower", theirs)
	}
	text := "its priority is equal and it is not newer"
	if d, ok := of.MinAdmitDuration.Get(); ok && preemptor.Queue == w.Queue {
		text = fmt.Sprintf("its priority is equal, it is not newer, and its minAdmitDuration of %v is not over", d)
	}
	return text
}

// threshold is the highest priority that borrowWithinCohort permits to yield, if it limits those that it permits.
func threshold(p *queue.BorrowWithinCohort) (most int64, limited bool) {
	most, limited = p.MaxPriorityThreshold.Get()
	return most, limited && p.Policy != queue.Never
}

// notWhileBorrowing says why borrowWithinCohort does not permit a workload.
func notWhileBorrowing(p *queue.BorrowWithinCohort, w *workload.Workload, known bool, preemptor *workload.Workload) string {
	text := fmt.Sprintf("borrowWithinCohort is %v", p.Policy)
	most, limited := threshold(p)
	switch {
	case p.Policy == queue.Never || !known:
		return text
	case w.EffectivePriority() >= preemptor.EffectivePriority():
		return fmt.Sprintf("%s, and its priority of %d is not below %d", text, w.EffectivePriority(), preemptor.EffectivePriority())
	case limited && w.EffectivePriority() > most:
		return fmt.Sprintf("%s, and its priority of %d is above the maxPriorityThreshold of %d", text, w.EffectivePriority(), most)
	}
	return text
}
