package placement

// Guard is the caller's own rule on who may yield: a checkpoint in progress, a pinned job.
// It is asked about units that are of lower priority. Verdicts of several are AND-ed.
//
// The laws, which preemptiontest.CheckPlacementGuard checks: the answer depends on the
// arguments alone, and always comes out the same for them; arguments are left alone, and
// nothing of them is kept.
type Guard interface {
	MayYield(u Unit, r Request) bool
}
