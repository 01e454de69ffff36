package preemption

// Compat lets decisions follow a version of Kueue that is not the newest one, or a design that Kueue does not follow
// as built. The zero value follows none.
type Compat struct {
	// Kueue016 applies the strategies of fair sharing also to a preemptor that stays within its nominal
	// quota, as Kueue does up to 0.16, and later without the gate FairSharingPreemptWithinNominal.
	// [Stable] sharing excludes it.
	Kueue016 bool
	// PreemptWithinNominal seeks victims only for a request that, once they are gone, stays within
	// the nominal quota of its queue in what needs preemption. Other resources may borrow. (KEP-83,
	// Detecting Workloads that might benefit from preemption: "Assignments that require preemption
	// implicitly do not borrow quota".) borrowWithinCohort then permits nothing. Without it it is as in
	// Kueue: a queue that preempts in itself may go on borrowing. cycle.KEP83 and
	// cycle.KEP83Lasting imply it.
	PreemptWithinNominal bool
	// RulesAlone makes rules take the place of policies: the policies of a queue that has rules
	// ([queue.Queue.Rules]) permit no victims (KEP-13396, beta). Without it rules come after the
	// policies (alpha). Queues without rules go by their policies either way.
	RulesAlone bool
}
