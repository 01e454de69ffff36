// Package kueue turns the objects of Kueue into a state that cede decides on.
//
// It is for programs that hold Kueue's objects (a controller, a webhook, a tool) and ask cede
// about them: is this workload admitted, who yields, why not, and when? Add objects to an
// [Objects] and take its [bridge.Cluster]: State is for preemption.NewSnapshot, Pending are
// the workloads to ask about. To follow single objects, for instance from a watch, use
// [ClusterQueue.Queue], [Cohort.Cohort], [ResourceFlavor.Flavor] and [Workload.Admitted], and
// pass their results to the edits of a snapshot (docs/embedding.md).
//
// The API versions are v1beta1 and v1beta2, for cohorts also v1alpha1. FIELDS.md lists every
// field that is read: what it becomes, or how the caller is told that it changes nothing.
// What Kueue ignores is ignored, too, with a note; an object that contradicts itself is left
// out, with a note.
package kueue
