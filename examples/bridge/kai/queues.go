package kai

import (
	"fmt"
	"math"
	"slices"
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
		q := queueQuota{resource: r.name, quota: units(r.name, r.Quota), limit: quota.Unlimited, fraction: r.name == gpu && r.Quota != math.Trunc(r.Quota)}
		if r.Quota < 0 {
			q.quota = quota.Unlimited
		}
		if r.Limit != nil && *r.Limit >= 0 {
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
	limits   map[string]bridge.Note      // notes on limits that are not looked at
}

func (o *Objects) tree() (t tree, notes []bridge.Note) {
	t = tree{
		queues: o.queues.All(), byName: map[string]*Queue{}, children: map[string][]*Queue{},
		sums: map[string]map[string]int64{}, limits: map[string]bridge.Note{},
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

// orphans lists the queues whose parent has no object.
func (t *tree) orphans() (list []*Queue) {
	for _, parent := range t.missing {
		list = append(list, t.children[parent]...)
	}
	return list
}

// addQueues turns leaves into queues and those above them into cohorts.
func (o *Objects) addQueues(c *bridge.Cluster) {
	t, notes := o.tree()
	c.Notes = append(c.Notes, notes...)
	for _, name := range t.missing {
		c.Notes = append(c.Notes, note("Queue "+name, "", "Queue %s: it is the parent of queues but not in the input: taken as one without settings", name))
		c.State.Cohorts = append(c.State.Cohorts, queue.Cohort{Name: name})
	}
	for _, q := range t.queues {
		settings := minruntime.Settings{Preempt: q.Spec.PreemptMinRuntime, Reclaim: q.Spec.ReclaimMinRuntime}
		if len(t.children[q.Metadata.Name]) > 0 {
			c.State.Cohorts = append(c.State.Cohorts, queue.Cohort{
				Name: q.Metadata.Name, Parent: q.Spec.ParentQueue, MinRuntime: settings, Quotas: t.parentQuotas(c, q),
			})
			continue
		}
		c.State.Queues = append(c.State.Queues, queue.Queue{
			Name: q.Metadata.Name, Cohort: q.Spec.ParentQueue, MinRuntime: settings, Quotas: leafQuotas(c, q),
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
		})
	}
	for _, root := range slices.Concat(t.children[""], t.orphans()) {
		t.noteLimits(c, root.Metadata.Name, nil, 0)
	}
}

// leafQuotas returns the quotas of a leaf: its limit becomes a borrowing limit.
func leafQuotas(c *bridge.Cluster, o *Queue) []quota.Quota {
	var list []quota.Quota
	for _, r := range o.Spec.resources() {
		q := quota.Quota{Flavor: flavor, Resource: r.resource, Nominal: r.quota}
		if r.limit != quota.Unlimited && o.Spec.ParentQueue != "" {
			q.BorrowingLimit = quota.AtMost(max(0, quota.Sub(r.limit, r.quota)))
		}
		if r.fraction {
			c.Notes = append(c.Notes, note("Queue "+o.Metadata.Name, "spec.resources.gpu.quota", "Queue %s: its quota of %s is rounded up to whole ones here", o.Metadata.Name, r.resource))
		}
		if r.limit < r.quota {
			c.Notes = append(c.Notes, note("Queue "+o.Metadata.Name, "spec.resources", "Queue %s: its limit of %s is below its quota, and is not looked at", o.Metadata.Name, r.resource))
		}
		list = append(list, q)
	}
	return list
}

// parentQuotas returns the quotas of a cohort: the limit of the parent limits what the queues
// below borrow together. Notes name the fields of the parent that have no equivalent.
func (t *tree) parentQuotas(c *bridge.Cluster, o *Queue) []quota.Quota {
	var list []quota.Quota
	var otherQuota, tightLimit []string
	below := t.below(o.Metadata.Name)
	for _, r := range o.Spec.resources() {
		sum := below[r.resource]
		if r.quota != sum && r.quota != quota.Unlimited {
			otherQuota = append(otherQuota, r.resource)
		}
		switch {
		case r.limit == quota.Unlimited:
		case r.limit < sum:
			tightLimit = append(tightLimit, r.resource)
		case o.Spec.ParentQueue != "":
			list = append(list, quota.Quota{Flavor: flavor, Resource: r.resource, BorrowingLimit: quota.AtMost(quota.Sub(r.limit, sum))})
		}
	}
	if len(otherQuota) > 0 {
		c.Notes = append(c.Notes, note("Queue "+o.Metadata.Name, "spec.resources", "Queue %s: its quota of %s is not that of the queues below together: theirs counts here, its own is not looked at",
			o.Metadata.Name, strings.Join(otherQuota, ", ")))
	}
	if len(tightLimit) > 0 {
		t.limits[o.Metadata.Name] = note("Queue "+o.Metadata.Name, "spec.resources", "Queue %s: its limit of %s is below the quotas of the queues below together, and is not looked at: KAI may refuse what fits here",
			o.Metadata.Name, strings.Join(tightLimit, ", "))
	}
	return list
}

// maxLimits is the most notes that a leaf has on the limits above it.
const maxLimits = 10

// noteLimits notes at the leaves below a queue which limits above them are not looked at.
func (t *tree) noteLimits(c *bridge.Cluster, name string, above []bridge.Note, more int) {
	if limit, ok := t.limits[name]; ok && len(above) < maxLimits {
		above = append(slices.Clone(above), limit)
	} else if ok {
		more++
	}
	children := t.children[name]
	for _, child := range children {
		t.noteLimits(c, child.Metadata.Name, above, more)
	}
	if len(children) > 0 || len(above) == 0 {
		return
	}
	if c.QueueNotes[name] = above; more > 0 {
		c.QueueNotes[name] = append(slices.Clone(above), note("Queue "+name, "spec.resources", "Queue %s: nor are the limits of %d more queues above it", name, more))
	}
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
