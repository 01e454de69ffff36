// Package kubernetes turns the objects of Kubernetes into a state that package placement decides
// on.
//
// It is for programs (a controller, a scheduler, a tool) that hold objects of the core API and
// of scheduling.k8s.io and ask cede about them. Add objects to an [Objects] and take its
// [Cluster]: State is for placement.NewSnapshot (or take [Cluster.Snapshot]), Pending are the
// pods and groups to ask about, and [Objects.Filter] is the filter for host ports and
// anti-affinity.
//
// Devices of claims and of extended resources are counted by the driver that their class names. Attributes, partitions and
// shares of devices are not modelled: what depends on them is a doubt.
//
// FIELDS.md, made of fields.tsv, says of every field whether it is read, harmless or in doubt. What depends on a field that is in no
// line is in doubt, too. How kube-scheduler of a version answers, its own code says: see examples/kubescheduler.
package kubernetes
