package kai

import (
	"fmt"
	"math"
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
	missing  []string // parents that are named but have no object
}

func (b *Builder) tree() tree {
	t := tree{queues: b.queues.All(), byName: map[string]*queueObject{}, children: map[string][]*queueObject{}}
	for _, q := range t.queues {
		t.byName[q.Name] = q
	}
	for _, q := range t.queues {
		parent := q.spec.ParentQueue
		if parent != "" && t.byName[parent] == nil && len(t.children[parent]) == 0 {
			t.missing = append(t.missing, parent)
		}
		t.children[parent] = append(t.children[parent], q)
	}
	return t
}

// below is the quota of the leaves below a queue, in each resource. A ring of queues is the
// library's to refuse.
func (t *tree) below(name string, depth int) map[string]int64 {
	sum := map[string]int64{}
	for _, child := range t.children[name] {
		add := map[string]int64{}
		if len(t.children[child.Name]) > 0 && depth < len(t.queues) {
			add = t.below(child.Name, depth+1)
		} else {
			for _, r := range child.spec.resources() {
				add[r.resource] = r.quota
			}
		}
		for resource, amount := range add {
			sum[resource] = quota.Add(sum[resource], amount)
		}
	}
	return sum
}

// addQueues turns leaves into queues and those above them into cohorts.
func (b *Builder) addQueues(c *kueue.Cluster) {
	t := b.tree()
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
			Preemption: queue.Preemption{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
		})
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
	below := t.below(o.Name, 0)
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
		note := fmt.Sprintf("Queue %s: its limit of %s is below the quotas of the queues below together, and is not looked at: KAI may refuse what fits here",
			o.Name, strings.Join(tightLimit, ", "))
		for _, leaf := range t.leaves(o.Name, 0) {
			c.QueueNotes[leaf] = append(c.QueueNotes[leaf], note)
		}
	}
	return list
}

// leaves lists the names of the leaves below a queue.
func (t *tree) leaves(name string, depth int) (names []string) {
	for _, child := range t.children[name] {
		if len(t.children[child.Name]) == 0 {
			names = append(names, child.Name)
		} else if depth < len(t.queues) {
			names = append(names, t.leaves(child.Name, depth+1)...)
		}
	}
	return names
}
