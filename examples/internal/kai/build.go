package kai

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/kueue"
	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
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

type groupSpec struct {
	Queue             string `json:"queue"`
	PriorityClassName string `json:"priorityClassName"`
	Preemptibility    string `json:"preemptibility"`
	MinMember         *int64 `json:"minMember"`
}

type groupStatus struct {
	ResourcesStatus struct {
		Allocated map[string]pods.Quantity `json:"allocated"`
		Requested map[string]pods.Quantity `json:"requested"`
	} `json:"resourcesStatus"`
}

const (
	flavor          = "default"
	gpu             = "nvidia.com/gpu"
	startAnnotation = "kai.scheduler/last-start-timestamp"
)

// builtin is the priorities of the classes that KAI ships.
var builtin = map[string]int64{"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}

const (
	defaultPriority = 50
	nonPreemptible  = 100 // and above, where the group does not say
)

// Cluster resolves references and returns the result. It fails where the queues are no tree
// of the input.
func (b *Builder) Cluster() (kueue.Cluster, error) {
	c := kueue.Cluster{QueueNotes: map[string][]string{}}
	queues := b.queues.All()
	known, hasChildren := map[string]bool{"": true}, map[string]bool{}
	for _, o := range queues {
		known[o.Name], hasChildren[o.spec.ParentQueue] = true, true
	}
	for _, o := range queues {
		spec, name := &o.spec, o.Name
		if !known[spec.ParentQueue] {
			return c, fmt.Errorf("queue %s: its parent %q is not in the input", name, spec.ParentQueue)
		}
		settings := minruntime.Settings{Preempt: spec.PreemptMinRuntime, Reclaim: spec.ReclaimMinRuntime}
		if hasChildren[name] {
			c.Cohorts = append(c.Cohorts, queue.Cohort{Name: name, Parent: spec.ParentQueue, MinRuntime: settings})
			continue
		}
		c.Queues = append(c.Queues, queue.Queue{
			Name: name, Cohort: spec.ParentQueue, MinRuntime: settings, Quotas: spec.quotas(),
			Preemption: queue.Preemption{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any},
		})
	}
	fixed := 0
	for _, o := range b.groups.All() {
		if err := b.addGroup(&c, o, &fixed); err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("PodGroup %s: %v: left out", o.ID(), err))
		}
	}
	if fixed > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d running pod groups are not preemptible in KAI; here the policies alone decide", fixed))
	}
	return c, nil
}

func (s *queueSpec) quotas() []quota.Quota {
	var list []quota.Quota
	for _, r := range [...]struct {
		name string
		queueResource
	}{{"cpu", s.Resources.CPU}, {"memory", s.Resources.Memory}, {gpu, s.Resources.GPU}} {
		q := quota.Quota{Flavor: flavor, Resource: r.name, Nominal: units(r.name, r.Quota)}
		if r.Quota < 0 {
			q.Nominal = quota.Unlimited
		}
		if r.Limit != nil && *r.Limit >= 0 && s.ParentQueue != "" {
			q.BorrowingLimit = quota.AtMost(max(0, quota.Sub(units(r.name, *r.Limit), q.Nominal)))
			if q.Nominal == quota.Unlimited {
				q.BorrowingLimit = quota.AtMost(0)
			}
		}
		list = append(list, q)
	}
	return list
}

func (b *Builder) addGroup(c *kueue.Cluster, o *groupObject, fixed *int) error {
	spec, status, created := &o.spec, &o.status, o.CreationTimestamp
	priority, known := b.priorities[spec.PriorityClassName]
	if !known {
		if priority, known = builtin[spec.PriorityClassName]; !known {
			priority = defaultPriority
		}
	}
	started, err := parseTime("annotation "+startAnnotation, o.Annotations[startAnnotation])
	if err != nil {
		return err
	}
	if allocated := amounts(status.ResourcesStatus.Allocated); len(allocated) > 0 {
		if !slices.ContainsFunc(c.Queues, func(q queue.Queue) bool { return q.Name == spec.Queue }) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("pod group %s runs in queue %s, which is no leaf of the input; left out", o.ID(), spec.Queue))
			return nil
		}
		if spec.Preemptibility == "non-preemptible" || spec.Preemptibility == "" && priority >= nonPreemptible {
			*fixed++
		}
		c.Admitted = append(c.Admitted, workload.Workload{
			ID: o.ID(), UID: o.UID, Queue: spec.Queue, Priority: priority,
			Created: created, Queued: created, ReservedAt: started,
			PodSets: []workload.PodSet{podSet(allocated, int64(len(b.running[o.ID()])), spec.MinMember)},
		})
		return nil
	}
	p := kueue.Pending{ID: o.ID(), UID: o.UID, Queue: spec.Queue, Priority: priority, Created: created, Queued: created}
	set := kueue.PodSet{Name: "main", Count: 1}
	for _, a := range amounts(status.ResourcesStatus.Requested) {
		set.Requests = append(set.Requests, kueue.Request{Resource: a.Resource, Amount: a.Amount})
	}
	p.PodSets = []kueue.PodSet{set}
	c.Pending = append(c.Pending, p)
	return nil
}

// podSet is what a group holds. Where its running pods are in the input, take the same
// each and are more than its minimum (KAI's default is one), it is elastic.
func podSet(allocated []quota.Amount, running int64, minMember *int64) workload.PodSet {
	set := workload.PodSet{Name: "main", Count: 1, Requests: allocated}
	minimum := int64(1)
	if minMember != nil {
		minimum = max(1, *minMember)
	}
	if running <= minimum || running > workload.MaxElasticCount ||
		slices.ContainsFunc(allocated, func(a quota.Amount) bool { return a.Amount%running != 0 }) {
		return set
	}
	set.Count, set.MinCount = running, workload.AtLeast(minimum)
	for i := range set.Requests {
		set.Requests[i].Amount /= running
	}
	return set
}

// amounts lists what is more than nothing, by resource.
func amounts(list map[string]pods.Quantity) []quota.Amount {
	var out []quota.Amount
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if n := pods.Amount(name, list[name].Quantity); n > 0 {
			out = append(out, quota.Amount{Flavor: flavor, Resource: name, Amount: n})
		}
	}
	return out
}

func parseTime(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s: %q is not a time", what, text)
	}
	return t, nil
}
