// Package witness decides about preemption as the designs say it, sentence by sentence. It is slow
// and simple: it keeps no index, it stops at no bound, and it shares no code with the engine. Where
// both agree, two hands have read the same words in the same way.
//
// Each file is a section of a design, and each function is one of its sentences, quoted above it:
//
//	KEP-83     workload preemption, with hierarchical cohorts as built in Kueue
//	KEP-8522   preemption of equals whose time is over
//	KEP-8303   preemption gates
//	KAI        guaranteed minimum runtimes
//	KEP-9876   protection after the admission
//	KEP-1714   fair sharing, as built in Kueue
//	KEP-13396  configurable preemption: rules, and limits
//
// Quotes without the name of a design are from the comments of package preemption and from docs/, which
// settle what the designs leave open.
//
// Of the search Best it says how good the best of all sets is. It knows neither exchanges alone, limits as
// blockers, nor shortages where no flavor was assigned. Its laws do not ask about these.
package witness
