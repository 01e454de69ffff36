// Package state holds nodes, pods, groups, disruption budgets and nominations in dense form: what runs where. Names
// are numbers, and persistent containers share what an edit does not change.
//
// [New] makes a [Cluster] of a [State]; an [Edit] changes a copy of it. [Cluster.Compare] finds what differs from
// another state. Nothing here knows a request.
package state
