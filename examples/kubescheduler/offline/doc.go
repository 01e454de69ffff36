// Package offline runs kube-scheduler v1.37.2 over objects in memory, without an API server, until it has answered about
// one pod or pod group. What a field of an object means, and what is its default, kube-scheduler's own code says.
package offline
