package kai

import (
	"fmt"
	"math"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/graph"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// resources holds an amount of each resource that a queue has quota for, in the units of cede.
func (s *QueueSpec) resources() []queueQuota {
	var list []queueQuota
	for _, r := range [...]struct {
		name string
		QueueResource
	}{{"cpu", s.Resources.CPU}, {"memory", s.Resources.Memory}, {gpu, s.Resources.GPU}} {
		q := queueQuota{resource: r.name, quota: units(r.name, r.Quota), limit: 0, fraction: r.name == gpu && r.Quota != math.Trunc(r.Quota)}
		if r.Quota < 0 {
			q.quota = quota.Unlimited
		}
		switch {
		case r.Limit == nil:
		case *r.Limit < 0:
			q.limit = quota.Unlimited
		default:
			q.limit = units(r.name, *r.Limit)
		}
		list = append(list, q)
	}
	return list
}

type queueQuota struct {
	resource     string
	quota, limit int64
	fraction     bool // some amount was a fraction
}

// tree holds the queues by name, and the children of each.
type tree struct {
	queues   []*Queue
	byName   map[string]*Queue
	children map[string][]*Queue
	missing  []string                    // parents that are named but have no object
	sums     map[string]map[string]int64 // results of below
}

func (o *Objects) tree() (t tree, notes []bridge.Note) {
	t = tree{
		queues: o.queues.All(), byName: map[string]*Queue{}, children: map[string][]*Queue{},
		sums: map[string]map[string]int64{},
	}
	for _, q := range t.queues {
		t.byName[q.Metadata.Name] = q
	}
	notes = t.cutCycles()
	for _, q := range t.queues {
		parent := q.Spec.ParentQueue
		if parent != "" && t.byName[parent] == nil && len(t.children[parent]) == 0 {
			t.missing = append(t.missing, parent)
		}
		t.children[parent] = append(t.children[parent], q)
	}
	return t, notes
}

// cutCycles removes the parents of queues that form a cycle.
func (t *tree) cutCycles() (notes []bridge.Note) {
	names, parent := make([]string, len(t.queues)), make(map[string]string, len(t.queues))
	for i, q := range t.queues {
		names[i], parent[q.Metadata.Name] = q.Metadata.Name, q.Spec.ParentQueue
	}
	inCycle := map[string]bool{}
	for _, cycle := range graph.Cycles(names, parent) {
		for _, name := range cycle {
			inCycle[name] = true
		}
		notes = append(notes, note("Queue "+cycle[0], "spec.parentQueue", "Queues %s are a cycle: their parents are left out",
			strings.Join(cycle[:min(len(cycle), 10)], ", ")))
	}
	for i, q := range t.queues {
		if inCycle[q.Metadata.Name] {
			alone := *q
			alone.Spec.ParentQueue = ""
			t.queues[i], t.byName[q.Metadata.Name] = &alone, &alone
		}
	}
	return notes
}

// below returns the sum of the quotas of the leaves below a queue, for each resource.
func (t *tree) below(name string) map[string]int64 {
	if sum, known := t.sums[name]; known {
		return sum
	}
	sum := map[string]int64{}
	for _, child := range t.children[name] {
		if len(t.children[child.Metadata.Name]) > 0 {
			for resource, amount := range t.below(child.Metadata.Name) {
				sum[resource] = quota.Add(sum[resource], amount)
			}
			continue
		}
		for _, r := range child.Spec.resources() {
			sum[r.resource] = quota.Add(sum[r.resource], r.quota)
		}
	}
	t.sums[name] = sum
	return sum
}

// addQueues turns leaves into queues and those above them into cohorts.
func (o *Objects) addQueues(c *bridge.Cluster) tree {
	t, notes := o.tree()
	for _, n := range notes {
		c.Notes, c.Doubts = append(c.Notes, n), append(c.Doubts, bridge.Doubt{Note: n})
	}
	for _, q := range t.queues {
		for _, r := range q.Spec.resources() {
			if r.fraction {
				c.Doubts = append(c.Doubts, bridge.Doubt{Note: note("Queue "+q.Metadata.Name, "spec.resources."+short(r.resource)+".quota",
					"Queue %s: its quota of %s is a fraction, which is not modelled", q.Metadata.Name, r.resource)})
			}
		}
	}
	for _, name := range t.missing {
		c.Notes = append(c.Notes, note("Queue "+name, "", "Queue %s: it is the parent of queues but not in the input: taken as one without settings", name))
		c.State.Cohorts = append(c.State.Cohorts, queue.Cohort{Name: name})
	}
	for _, q := range t.queues {
		settings := minruntime.Settings{Preempt: q.Spec.PreemptMinRuntime, Reclaim: q.Spec.ReclaimMinRuntime}
		if len(t.children[q.Metadata.Name]) > 0 {
			c.State.Cohorts = append(c.State.Cohorts, queue.Cohort{
				Name: q.Metadata.Name, Parent: q.Spec.ParentQueue, MinRuntime: settings, Quotas: t.parentQuotas(q),
			})
			continue
		}
		c.State.Queues = append(c.State.Queues, queue.Queue{
			Name: q.Metadata.Name, Cohort: q.Spec.ParentQueue, MinRuntime: settings, Quotas: leafQuotas(q),
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
		})
	}
	return t
}

// leafQuotas returns the quotas of a leaf: its limit becomes a borrowing limit.
func leafQuotas(o *Queue) []quota.Quota {
	var list []quota.Quota
	for _, r := range o.Spec.resources() {
		q := quota.Quota{Flavor: flavor, Resource: r.resource, Nominal: min(r.quota, r.limit)}
		if r.limit != quota.Unlimited && o.Spec.ParentQueue != "" {
			q.BorrowingLimit = quota.AtMost(max(0, quota.Sub(r.limit, r.quota)))
		}
		list = append(list, q)
	}
	return list
}

// parentQuotas returns the quotas of a cohort: the limit of the parent limits what the queues
// below borrow together.
func (t *tree) parentQuotas(o *Queue) []quota.Quota {
	var list []quota.Quota
	below := t.below(o.Metadata.Name)
	for _, r := range o.Spec.resources() {
		if sum := below[r.resource]; r.limit != quota.Unlimited && r.limit >= sum && o.Spec.ParentQueue != "" {
			list = append(list, quota.Quota{Flavor: flavor, Resource: r.resource, BorrowingLimit: quota.AtMost(quota.Sub(r.limit, sum))})
		}
	}
	return list
}

// short is a resource by its name in a queue.
func short(resource string) string {
	if resource == gpu {
		return "gpu"
	}
	return resource
}

// units turns KAI's numbers into those of cede: cpu is in milli-CPU in both; memory is in
// megabytes in KAI; gpu is in devices, and fractions are rounded up.
func units(resource string, n float64) int64 {
	if resource == "memory" {
		n *= 1e6
	}
	switch n = math.Ceil(n); {
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	}
	return int64(n)
}

// note is a note on a field of an object; the text names the object.
func note(object, path, format string, args ...any) bridge.Note {
	return bridge.Note{Object: object, Path: path, Text: fmt.Sprintf(format, args...)}
}
