package judge

import (
	"cmp"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// defaultQueue sets what the API server sets in a ClusterQueue; objects that it has stored have it.
func defaultQueue(q *kueue.ClusterQueue) {
	s := &q.Spec
	s.QueueingStrategy = cmp.Or(s.QueueingStrategy, kueue.BestEffortFIFO)
	if s.FlavorFungibility == nil {
		s.FlavorFungibility = &kueue.FlavorFungibility{}
	}
	s.FlavorFungibility.WhenCanBorrow = cmp.Or(s.FlavorFungibility.WhenCanBorrow, kueue.MayStopSearch)
	s.FlavorFungibility.WhenCanPreempt = cmp.Or(s.FlavorFungibility.WhenCanPreempt, kueue.TryNextFlavor)
	if s.Preemption == nil {
		s.Preemption = &kueue.ClusterQueuePreemption{}
	}
	p := s.Preemption
	p.ReclaimWithinCohort = cmp.Or(p.ReclaimWithinCohort, kueue.PreemptionPolicyNever)
	p.WithinClusterQueue = cmp.Or(p.WithinClusterQueue, kueue.PreemptionPolicyNever)
	if p.BorrowWithinCohort == nil {
		p.BorrowWithinCohort = &kueue.BorrowWithinCohort{}
	}
	p.BorrowWithinCohort.Policy = cmp.Or(p.BorrowWithinCohort.Policy, kueue.BorrowWithinCohortPolicyNever)
}

// defaultWorkload sets what the API server sets in a Workload.
func defaultWorkload(w *kueue.Workload) {
	for i := range w.Spec.PodSets {
		w.Spec.PodSets[i].Name = cmp.Or(w.Spec.PodSets[i].Name, kueue.DefaultPodSetName)
	}
	if a := w.Status.Admission; a != nil {
		for i := range a.PodSetAssignments {
			a.PodSetAssignments[i].Name = cmp.Or(a.PodSetAssignments[i].Name, kueue.DefaultPodSetName)
		}
	}
}
