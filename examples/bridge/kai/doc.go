// Package kai turns the objects of KAI into a state that cede decides on.
//
// It is for programs that hold KAI's objects and ask cede about them. Add objects to an
// [Objects] and take its [bridge.Cluster]: State is for preemption.NewSnapshot, and Pending
// are the pod groups to ask about.
//
// Leaf queues become queues, queues above them become cohorts. The quota of a leaf is its
// nominal quota; limits limit what is borrowed. The quota of a parent is left out: KAI checks
// it in addition to the leaves', while the own quota of a cohort would be added to theirs.
// Every queue may preempt lower priority in itself, and reclaim any priority from others;
// groups that are not preemptible never yield. Notes say where this departs from KAI in a
// cluster. FIELDS.md lists every field that is read.
package kai
