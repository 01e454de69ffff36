// Package nodes decides who yields on nodes. It holds the dense form of nodes, pods, groups,
// disruption budgets and nominations, its edits, and the search for victims in a domain.
//
// A [Cluster] is immutable; edits return a new one that shares what they do not change. A
// [Searcher] is the working memory of one decision at a time. A request enters with names
// ([Request]), is decided with numbers of nodes, members and slots, and the answer is a
// [Result]. The comment of package placement has the steps of a decision.
package nodes
