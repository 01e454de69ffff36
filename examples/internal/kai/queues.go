package kai

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/kueue"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

type queueSpec struct {
	ParentQueue       string             `json:"parentQueue"`
	PreemptMinRuntime minruntime.Setting `json:"preemptMinRuntime"`
	ReclaimMinRuntime minruntime.Setting `json:"reclaimMinRuntime"`
	Resources         struct {
		CPU    queueResource `json:"cpu"`
		Memory queueResource `json:"memory"`
		GPU    queueResource `json:"gpu"`
	} `json:"resources"`
}

// queueResource: -1 is unlimited, an unset quota zero, an unset limit none.
type queueResource struct {
	Quota float64  `json:"quota"`
	Limit *float64 `json:"limit"`
}

// resources are those that a queue has quota for, in the units of cede.
func (s *queueSpec) resources() []queueQuota {
	var list []queueQuota
	for _, r := range [...]struct {
		name string
		queueResource
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
	fraction     bool // more than we can say
}

// tree is the queues by name, and what stands below each.
type tree struct {
	queues   []*queueObject
	byName   map[string]*queueObject
	children map[string][]*queueObject
	missing  []string                    // parents that are named but have no object
	sums     map[string]map[string]int64 // what below found
	limits   map[string]string           // notes on limits that are not looked at
}

func (b *Builder) tree() (t tree, notes []string) {
	t = tree{
		queues: b.queues.All(), byName: map[string]*queueObject{}, children: map[string][]*queueObject{},
		sums: map[string]map[string]int64{}, limits: map[string]string{},
	}
	for _, q := range t.queues {
		t.byName[q.Name] = q
	}
	notes = t.cutCycles()
	for _, q := range t.queues {
		parent := q.spec.ParentQueue
		if parent != "" && t.byName[parent] == nil && len(t.children[parent]) == 0 {
			t.missing = append(t.missing, parent)
		}
		t.children[parent] = append(t.children[parent], q)
	}
	return t, notes
}

// cutCycles takes the parents of queues that are a cycle away.
func (t *tree) cutCycles() (notes []string) {
	names, parent := make([]string, len(t.queues)), make(map[string]string, len(t.queues))
	for i, q := range t.queues {
		names[i], parent[q.Name] = q.Name, q.spec.ParentQueue
	}
	for _, cycle := range kueue.Cycles(names, parent) {
		for _, name := range cycle {
			t.byName[name].spec.ParentQueue = ""
		}
		notes = append(notes, fmt.Sprintf("Queues %s are a cycle: their parents are left out", strings.Join(cycle[:min(len(cycle), 10)], ", ")))
	}
	return notes
}

// below is the quota of the leaves below a queue, in each resource.
func (t *tree) below(name string) map[string]int64 {
	if sum, known := t.sums[name]; known {
		return sum
	}
	sum := map[string]int64{}
	for _, child := range t.children[name] {
		if len(t.children[child.Name]) > 0 {
			for resource, amount := range t.below(child.Name) {
				sum[resource] = quota.Add(sum[resource], amount)
			}
			continue
		}
		for _, r := range child.spec.resources() {
			sum[r.resource] = quota.Add(sum[r.resource], r.quota)
		}
	}
	t.sums[name] = sum
	return sum
}

// orphans are the queues of which the parent is missing.
func (t *tree) orphans() (list []*queueObject) {
	for _, parent := range t.missing {
		list = append(list, t.children[parent]...)
	}
	return list
}

// addQueues turns leaves into queues and those above them into cohorts.
func (b *Builder) addQueues(c *kueue.Cluster) {
	t, notes := b.tree()
	c.Warnings = append(c.Warnings, notes...)
	for _, name := range t.missing {
		c.Warnings = append(c.Warnings, fmt.Sprintf("Queue %s: it is the parent of queues but not in the input: taken as one without settings", name))
		c.Cohorts = append(c.Cohorts, queue.Cohort{Name: name})
	}
	for _, o := range t.queues {
		settings := minruntime.Settings{Preempt: o.spec.PreemptMinRuntime, Reclaim: o.spec.ReclaimMinRuntime}
		if len(t.children[o.Name]) > 0 {
			c.Cohorts = append(c.Cohorts, queue.Cohort{
				Name: o.Name, Parent: o.spec.ParentQueue, MinRuntime: settings, Quotas: t.parentQuotas(c, o),
			})
			continue
		}
		c.Queues = append(c.Queues, queue.Queue{
			Name: o.Name, Cohort: o.spec.ParentQueue, MinRuntime: settings, Quotas: leafQuotas(c, o),
			Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
		})
	}
	for _, root := range slices.Concat(t.children[""], t.orphans()) {
		t.noteLimits(c, root.Name, nil, 0)
	}
}

// leafQuotas bounds what a leaf borrows by its limit.
func leafQuotas(c *kueue.Cluster, o *queueObject) []quota.Quota {
	var list []quota.Quota
	for _, r := range o.spec.resources() {
		q := quota.Quota{Flavor: flavor, Resource: r.resource, Nominal: r.quota}
		if r.limit != quota.Unlimited && o.spec.ParentQueue != "" {
			q.BorrowingLimit = quota.AtMost(max(0, quota.Sub(r.limit, r.quota)))
		}
		if r.fraction {
			c.Warnings = append(c.Warnings, fmt.Sprintf("Queue %s: its quota of %s is rounded up to whole ones here", o.Name, r.resource))
		}
		if r.limit < r.quota {
			c.Warnings = append(c.Warnings, fmt.Sprintf("Queue %s: its limit of %s is below its quota, and is not looked at", o.Name, r.resource))
		}
		list = append(list, q)
	}
	return list
}

// parentQuotas bounds what the queues below borrow together by the limit of their parent,
// and tells what of the parent cannot be said so.
func (t *tree) parentQuotas(c *kueue.Cluster, o *queueObject) []quota.Quota {
	var list []quota.Quota
	var otherQuota, tightLimit []string
	below := t.below(o.Name)
	for _, r := range o.spec.resources() {
		sum := below[r.resource]
		if r.quota != sum && r.quota != quota.Unlimited {
			otherQuota = append(otherQuota, r.resource)
		}
		switch {
		case r.limit == quota.Unlimited:
		case r.limit < sum:
			tightLimit = append(tightLimit, r.resource)
		case o.spec.ParentQueue != "":
			list = append(list, quota.Quota{Flavor: flavor, Resource: r.resource, BorrowingLimit: quota.AtMost(quota.Sub(r.limit, sum))})
		}
	}
	if len(otherQuota) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("Queue %s: its quota of %s is not that of the queues below together: theirs counts here, its own is not looked at",
			o.Name, strings.Join(otherQuota, ", ")))
	}
	if len(tightLimit) > 0 {
		t.limits[o.Name] = fmt.Sprintf("Queue %s: its limit of %s is below the quotas of the queues below together, and is not looked at: KAI may refuse what fits here",
			o.Name, strings.Join(tightLimit, ", "))
	}
	return list
}

// maxLimits bounds the notes that a leaf has of the limits above it.
const maxLimits = 10

// noteLimits notes at the leaves below a queue which limits above them are not looked at.
func (t *tree) noteLimits(c *kueue.Cluster, name string, above []string, more int) {
	if note := t.limits[name]; note != "" && len(above) < maxLimits {
		above = append(slices.Clone(above), note)
	} else if note != "" {
		more++
	}
	children := t.children[name]
	for _, child := range children {
		t.noteLimits(c, child.Name, above, more)
	}
	if len(children) > 0 || len(above) == 0 {
		return
	}
	if c.QueueNotes[name] = above; more > 0 {
		c.QueueNotes[name] = append(slices.Clone(above), fmt.Sprintf("Queue %s: nor are the limits of %d more queues above it", name, more))
	}
}
