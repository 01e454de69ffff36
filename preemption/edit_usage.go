package preemption

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// SetUsage says what is in use in a queue in all, as the caller counts it. What is more than its
// workloads use becomes [queue.Queue.Reserved]; in a column that the usage does not name nothing is
// reserved. It fails if there is no such queue, and with a usage that [queue.Validate] refuses as
// reserved. It costs O(columns of the queue) if that leaves the queue as it is, else as much as
// [SetQueue].
func SetUsage(name string, usage []quota.Amount) Edit {
	return Edit{kind: editSetUsage, name: name, usage: slices.Clone(usage)}
}

// setUsage sets what a queue has reserved, and reports whether that is another amount than before.
func (e *Edit) setUsage(c *cluster.Cluster, q *queue.Queue, path string) (changes bool, faults fault.List) {
	if wrong := queue.Validate(nil, []queue.Queue{{Name: e.name, Reserved: e.usage}}); wrong != nil {
		for _, f := range wrong.(fault.List) {
			faults.Add(path+strings.Replace(f.Path, "queues[0].reserved", ".usage", 1), "%s", strings.Replace(f.Problem, "reserved[", "usage[", 1))
		}
		return false, faults
	}
	node, known := c.QueueNode(e.name) // not known: an edit before this one adds it, and no workload runs there
	var rest []quota.Amount
	for _, a := range e.usage {
		if known {
			column := c.Columns.Number(a.FlavorResource())
			a.Amount -= c.Usage.At(node, column) - quotatree.AmountIn(c.Reserved[node], column)
		}
		if a.Amount > 0 {
			rest = append(rest, a)
		}
	}
	slices.SortFunc(rest, func(a, b quota.Amount) int { return a.FlavorResource().Compare(b.FlavorResource()) })
	if slices.Equal(q.Reserved, rest) {
		return false, nil
	}
	q.Reserved = rest
	return true, nil
}
