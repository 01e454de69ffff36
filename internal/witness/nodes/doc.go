// Package nodes decides about preemption on nodes as the designs say it, sentence by sentence. It is slow
// and simple, as the package above it is for quota: it keeps no index, it stops at no bound, and it shares
// no code with the engine. Where both agree, two hands have read the same words in the same way.
//
// Each file is a section of a design, and each function is one of its sentences, quoted above it. Quotes
// without a name are from the comments of packages placement and workload, and from docs/, which settle what
// KEP-5710, workload-aware preemption, leaves open.
//
// It knows no bound of the search for a time: it answers as with MaxRetrySteps without end.
package nodes
