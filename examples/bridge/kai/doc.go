// Package kai turns the objects of KAI into a state that cede decides on.
//
// It is for whoever holds KAI's objects and wants to ask cede about them. Add objects to an
// [Objects] and take its [bridge.Cluster]: State goes to preemption.NewSnapshot, Pending are the
// pod groups to ask about, and NeverYield is for a preemption.Guard.
//
// Leaf queues become queues, those above them cohorts. A leaf's quota is its nominal; limits
// bound what is borrowed. A parent's quota is left out: KAI checks it beside the leaves',
// while a cohort's own would be added to theirs. Every queue may preempt lower priority in
// itself and reclaim from others whatever the priority; groups that are not preemptible
// never yield. What of this departs from KAI in a cluster, a note says. FIELDS.md has every
// field that is read.
package kai
