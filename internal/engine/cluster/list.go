package cluster

import "github.com/cedesched/cede/internal/persist/listed"

// List is the workloads of a cluster in the order of the last list that a caller compared.
type List = listed.List[*Workload]

// maxEdits is the number of edits after which a cluster forgets the list: it keeps in memory what
// the edits replace.
const maxEdits = 1 << 12

// Listed returns the workloads in the order of the last list; in no defined order if that is not
// known.
func (c *Cluster) Listed() *List {
	if c.list == nil {
		return listed.FromMap(idOf, c.byID)
	}
	return c.list.Current(c.byID)
}

// Lists reports whether the cluster has the list.
func (c *Cluster) Lists(l *List) bool { return c.list == l }

// Listing returns the cluster with a list, of this cluster or of one that edits led from.
func (c *Cluster) Listing(l *List) *Cluster {
	next := *c
	next.list, next.edits = l, 0
	return &next
}

// edited counts edits, in a cluster that no caller has seen yet.
func (c *Cluster) edited(n int) {
	if c.edits += n; c.edits > maxEdits {
		c.list, c.versions = nil, nil
	}
}
