// Package verify judges decisions, of this library or of another scheduler, from the state, the
// request and the configuration alone. It shares no code with what decides: it judges by slow
// models. It is made for tests and audits.
//
//	if err := verify.Decision(state, request, config, decision); err != nil {
//		fmt.Println(err) // every fault: a victim that a rule protects, one that is not needed, a wrong RetryAt, ...
//	}
//
// [Placement] judges decisions about pods on nodes, [Settlement] those about
// usage over what is allowed, [Moves] and [Clear] victims that have room elsewhere. Any answer
// that the rules allow passes: it need not be the one that this library gives. Each function says
// what it judges, and what it does not.
//
// The result is nil, or preemption.Faults: of what is wrong with the answer, or, if the input itself is
// not valid, of that. The zero decision is never right. The models are slow on purpose: give it
// states of some hundred workloads.
//
// The rules are those of the packages that decide; their sources are given there.
package verify
