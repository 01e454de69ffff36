// Package history makes, of what was kept of a cluster of Kueue or kube-scheduler over time, the cluster at any instant and a list of
// who was preempted for whom.
//
// It reads versions of Workloads as they came: what kubectl get --watch prints, the lines of an audit log of the API server,
// lists that were kept now and then; and Events about them. Conditions say when something happened: the order of the file
// does not count, and a version twice is one. What the versions leave open is said, and never filled in: between the last
// sign that a workload held quota and the first that it did not, it may have held it.
//
// Of kube-scheduler it reads Pods, Nodes and what else [read.Kubernetes] does ([Pods]). Who preempted whom only Events say.
//
// [read.Kubernetes]: https://pkg.go.dev/github.com/cedesched/cede/examples/internal/read#Kubernetes
package history
