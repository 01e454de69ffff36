// Package nodes decides who yields on nodes: the dense form of nodes, pods, groups,
// disruption budgets and promises, its edits, and the search for victims in a domain.
//
// A [Cluster] is immutable and shares with its successors what an edit leaves. A [Searcher]
// is the memory of one decision at a time. Requests enter by names ([Request]), are decided
// about by numbers of nodes, members and slots, and leave as a [Result]. The steps of a
// decision are in the comment of package placement.
package nodes
