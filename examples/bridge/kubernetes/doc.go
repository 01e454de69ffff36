// Package kubernetes turns nodes, pods and what preemption depends on into a state that package
// placement decides on.
//
// It is for whoever holds the objects of the core API and of scheduling.k8s.io (a controller, a
// scheduler, a tool) and wants to ask cede about them. Add objects to an [Objects] and take its
// [Cluster]: State goes to placement.NewSnapshot (or take [Cluster.Snapshot]), Pending are the
// pods and groups to ask about, and [Objects.Filter] is what keeps pods apart besides room.
//
// FIELDS.md has every field that is read: what it becomes, or how the caller is told that it
// changes nothing. What an answer leaves out is a note.
package kubernetes
