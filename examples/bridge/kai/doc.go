// Package kai turns the objects of KAI into a state that cede decides on.
//
// It is for programs that hold KAI's objects and ask cede about them. Add objects to an
// [Objects] and take its [bridge.Cluster]: State is for preemption.NewSnapshot, Pending are the
// pod groups to ask about, and Nodes is where their pods need room. Decide with the sharing
// preemption.KAI.
//
// Queues with children become cohorts, the others queues, and State.FairShares has what each may
// have. Requests are summed up from pods: what runs and what waits, without pods that have a scheduling
// gate or are ending. The total is what nodes that take pods have, less what other schedulers' pods hold there. A
// group that waits asks for as many pods as must fit together; one of which pods run already
// and others wait asks for the next ones under its own name and [More].
//
// Amounts are of one flavor, and resources are cpu, memory and GPU. A pod may take a part of a GPU: [Devices] is the
// rule by which such pods share them on nodes, and [Counts] what they count in their queues. Notes and
// doubts say where KAI may decide otherwise. FIELDS.md lists every field that is read.
package kai
