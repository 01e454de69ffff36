package preemption

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// SetQueue adds a queue or replaces the one with that name. The whole configuration is
// validated again. It costs O(queues), unlike edits of workloads.
func SetQueue(q queue.Queue) Edit {
	q = q.Clone()
	return Edit{name: q.Name, to: &q}
}

// SetCohort adds a cohort or replaces the one with that name; see [SetQueue].
func SetCohort(c queue.Cohort) Edit {
	c = c.Clone()
	return Edit{name: c.Name, to: &c}
}

// RemoveQueue removes a queue. It fails while workloads are admitted in it.
func RemoveQueue(name string) Edit { return Edit{name: name, to: (*queue.Queue)(nil)} }

// RemoveCohort removes a cohort. It fails while it has members.
func RemoveCohort(name string) Edit { return Edit{name: name, to: (*queue.Cohort)(nil)} }

// SetFlavor adds what is known about a flavor, or replaces it. Consecutive edits of flavors together cost
// O(flavors + queues). It fails with what [queue.ValidateFlavors] refuses.
func SetFlavor(f queue.Flavor) Edit {
	f = f.Clone()
	return Edit{name: f.Name, to: &f}
}

// RemoveFlavor forgets what is known about a flavor. Quotas and workloads may still name it.
// It fails if nothing is known.
func RemoveFlavor(name string) Edit { return Edit{name: name, to: (*queue.Flavor)(nil)} }

// SetRules adds rules or replaces those with the name. It fails if the name is empty or there are too
// many rules or selectors ([rules.ValidateForm]); bad selectors do not make it fail: see
// [Decision.RuleFaults]. Consecutive edits of rules together cost O(rules + queues).
func SetRules(c rules.Config) Edit {
	c = c.Clone()
	return Edit{name: c.Name, to: &c}
}

// RemoveRules removes rules. Queues may still refer to them: then they have none. It fails if
// there are none with the name.
func RemoveRules(name string) Edit { return Edit{name: name, to: (*rules.Config)(nil)} }

// SetUsage says what is in use in a queue in all, as the caller counts it. What is more than its
// workloads use becomes [queue.Queue.Reserved]; in a column that the usage does not name nothing is
// reserved. It fails if there is no such queue, and with a usage that [queue.Validate] refuses as
// reserved. It costs O(columns of the queue) if that leaves the queue as it is, else as much as
// [SetQueue].
func SetUsage(name string, amounts []quota.Amount) Edit {
	return Edit{name: name, to: usage(slices.Clone(amounts))}
}

// usage is what is in use in a queue in all.
type usage []quota.Amount

func (d *draft) setUsage(name string, in usage, path string, faults *fault.List) {
	at, found := d.queues.find(name)
	if !found {
		faults.Add(path, "no queue %q", name)
		return
	}
	if wrong, _ := queue.Validate(nil, []queue.Queue{{Name: name, Reserved: in}}).(fault.List); len(wrong) > 0 {
		for _, f := range wrong {
			faults.Add(path+strings.Replace(f.Path, "queues[0].reserved", ".usage", 1), "%s", strings.Replace(f.Problem, "reserved[", "usage[", 1))
		}
		return
	}
	q := d.queues.list[at]
	if rest := d.reserved(name, in); !slices.Equal(q.Reserved, rest) {
		q.Reserved = rest
		d.queues.edit(name, &q, path, faults)
	}
}

// reserved returns how much more is in use in a queue than its workloads use.
func (d *draft) reserved(queue string, in usage) (rest []quota.Amount) {
	c := d.cluster
	node, known := c.QueueNode(queue) // not known: an edit before this one adds it, and no workload runs there
	for _, a := range in {
		if known {
			column := c.Columns.Number(a.FlavorResource())
			a.Amount -= c.Usage.At(node, column) - quotatree.AmountIn(c.Reserved[node], column)
		}
		if a.Amount > 0 {
			rest = append(rest, a)
		}
	}
	slices.SortFunc(rest, func(a, b quota.Amount) int { return a.FlavorResource().Compare(b.FlavorResource()) })
	return rest
}

// addUnder adds faults of one thing under the path of an edit: prefix is how their paths begin.
func addUnder(faults *fault.List, path, prefix string, err error) {
	found, _ := err.(fault.List)
	for _, f := range found {
		*faults = append(*faults, fault.Fault{Path: path + strings.TrimPrefix(f.Path, prefix), Problem: f.Problem})
	}
}
