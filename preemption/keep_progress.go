package preemption

// progressCandidates is the candidates that exchanges of [KeepProgress] take. On the traces of
// docs/replay.md a thousand gain no more.
const progressCandidates = 100

// KeepProgress returns the configuration with the search and the cost that keep what running
// workloads have done since their last checkpoints, or since their reservations: [Exchange] among
// 100 candidates more, by [CostSinceCheckpoint] without resources. Of two allowed sets with which
// the request fits, the better is the one whose workloads lose the fewest seconds in all, each
// counted alike however much it takes. So few large victims go rather than many small ones: fewer
// workloads wait again, and what a victim frees beyond the request is room for others.
//
// All other settings are as they were. Guards and limits hold. [ExactSearch] settings become zero,
// because they are for another search. It reads [workload.Loss]: LastCheckpoint and Restart, which
// are unset where nothing is known.
func KeepProgress(c Config) Config {
	c = c.clone()
	c.Search, c.Exchange, c.Exact = Exchange, ExchangeSearch{MaxCandidates: progressCandidates}, ExactSearch{}
	c.Cost = CostSinceCheckpoint{}
	return c
}
