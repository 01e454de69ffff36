package preemption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// draft is a snapshot in the making: a cluster, and the configuration that edits in a row change.
type draft struct {
	cluster *cluster.Cluster
	cohorts named[queue.Cohort]
	queues  named[queue.Queue]
	flavors named[queue.Flavor]
	rules   named[rules.Config]
	// shares are others than those of before; nil: those. sharesOf are edits of queues after that.
	shares   *fairshare.Tree
	sharesOf []sharesEdit
}

func (s *Snapshot) draft() draft {
	d := draft{
		cluster: s.inside(),
		flavors: named[queue.Flavor]{list: s.flavors(), kind: "flavor", name: flavorName},
		rules:   named[rules.Config]{list: s.evaluator().Configs(), kind: "rules", name: rulesName},
	}
	d.configured(d.cluster)
	return d
}

// configured puts the cohorts and queues of a cluster into the draft.
func (d *draft) configured(c *cluster.Cluster) {
	d.cluster = c
	d.cohorts = named[queue.Cohort]{list: c.Cohorts, kind: "cohort", name: cohortName}
	d.queues = named[queue.Queue]{list: c.Queues, kind: "queue", name: queueName}
}

// sharesAfter returns the shares after all edits. They are divided anew if they are others, or the queues are.
func (d *draft) sharesAfter(s *Snapshot) (*shares, error) {
	var before *shares
	if s != nil {
		before = s.shares
	}
	if d.shares == nil && before != nil && before.shape == d.cluster.Shape {
		if len(d.sharesOf) == 0 {
			return before, nil
		}
		return before.edited(d.cluster, d.sharesOf)
	}
	tree := s.tree()
	if d.shares != nil {
		tree = d.shares.Clone()
	}
	var faults fault.List
	for _, e := range d.sharesOf {
		at := slices.IndexFunc(tree.Queues, func(q fairshare.Queue) bool { return q.Name == e.to.Name && q.Parent == e.to.Parent })
		if at < 0 {
			faults.Add(fmt.Sprintf("edits[%d]", e.n), "no queue %q below %q has a fair share", e.to.Name, e.to.Parent)
			continue
		}
		tree.Queues[at] = *e.to
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return divide(d.cluster, &tree, sharesPath)
}

// configures reports whether an edit is one of the configuration.
func (e *Edit) configures() bool {
	switch e.to.(type) {
	case nil, *workload.Workload, leave:
		return false
	}
	return true
}

// configure applies edits of the configuration, the first being number first, and validates what they make.
// With faults the draft is what it was.
func (d *draft) configure(first int, edits []Edit) error {
	next := *d
	next.flavors.owned, next.rules.owned = false, false // with faults the lists of before stay
	var faults fault.List
	for i := range edits {
		e, path := &edits[i], fmt.Sprintf("edits[%d]", first+i)
		switch to := e.to.(type) {
		case *queue.Cohort:
			next.cohorts.edit(e.name, to, path, &faults)
		case *queue.Queue:
			next.queues.edit(e.name, to, path, &faults)
		case usage:
			next.setUsage(e.name, to, path, &faults)
		case *queue.Flavor:
			if next.flavors.edit(e.name, to, path, &faults) {
				addUnder(&faults, path, "flavors[0]", queue.ValidateFlavors([]queue.Flavor{*to}))
			}
		case *fairshare.Tree:
			next.shares, next.sharesOf = to, nil
		case *fairshare.Queue:
			next.sharesOf = append(slices.Clip(next.sharesOf), sharesEdit{first + i, to})
		case *rules.Config:
			if next.rules.edit(e.name, to, path, &faults) {
				addUnder(&faults, path, "[0]", rules.ValidateForm("", []rules.Config{*to}))
			}
		}
	}
	if next.cohorts.changed || next.queues.changed {
		path := fmt.Sprintf("edits[%d]", first)
		if len(edits) > 1 {
			path = fmt.Sprintf("edits[%d:%d]", first, first+len(edits))
		}
		c, err := d.cluster.Configure(path, next.cohorts.list, next.queues.list)
		if err != nil {
			faults = append(faults, err.(fault.List)...)
		} else {
			next.configured(c)
		}
	}
	if len(faults) == 0 {
		*d = next
	}
	return faults.Err()
}

// named are things by name. An edit changes a copy of the list.
type named[T any] struct {
	list    []T
	kind    string
	name    func(*T) string
	changed bool
	owned   bool // the list is a copy that nobody else reads
}

// edit adds a thing or replaces the one with its name, and returns true; nil: it removes that one.
func (n *named[T]) edit(name string, one *T, path string, faults *fault.List) (set bool) {
	at, found := n.find(name)
	if one == nil && !found {
		faults.Add(path, "no %s %q", n.kind, name)
		return false
	}
	if !n.owned {
		n.list, n.changed, n.owned = slices.Clone(n.list), true, true
	}
	switch {
	case one == nil:
		n.list = slices.Delete(n.list, at, at+1)
	case found:
		n.list[at] = *one
	default:
		n.list = slices.Insert(n.list, at, *one)
	}
	return one != nil
}

func (n *named[T]) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(n.list, name, func(one T, name string) int { return cmp.Compare(n.name(&one), name) })
}

// changedList returns the list; nil if no edit changed it.
func (n *named[T]) changedList() []T {
	if !n.changed {
		return nil
	}
	return n.list // not nil: something was set or removed
}

func cohortName(c *queue.Cohort) string { return c.Name }
func queueName(q *queue.Queue) string   { return q.Name }
func flavorName(f *queue.Flavor) string { return f.Name }
func rulesName(c *rules.Config) string  { return c.Name }

func byName(a, b Edit) int { return cmp.Compare(a.name, b.name) }
