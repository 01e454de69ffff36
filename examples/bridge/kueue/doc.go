// Package kueue turns the objects of Kueue into a state that cede decides on.
//
// It is for whoever holds Kueue's objects (a controller, a webhook, a tool) and wants to ask
// cede about them: would this workload be admitted, who would yield, why not, from when on? Add
// objects to an [Objects] and take its [bridge.Cluster]: State goes to preemption.NewSnapshot,
// Pending are the workloads to ask about. To follow single objects, as a watch brings them, take
// [ClusterQueue.Queue], [Cohort.Cohort], [ResourceFlavor.Flavor] and [Workload.Admitted], and
// hand their results to the edits of a snapshot (docs/embedding.md).
//
// The API versions are v1beta1 and v1beta2, of cohorts v1alpha1 too. FIELDS.md has every field
// that is read: what it becomes, or how the caller is told that it changes nothing. What Kueue
// ignores is ignored too, with a note; an object that contradicts itself is left out, with a note.
package kueue
