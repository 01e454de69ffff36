package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// change applies -quota, -policy and -priority to copies of what they change.
func (c *cluster) change(o *options) error {
	c.state.Queues = slices.Clone(c.state.Queues)
	c.state.Cohorts = slices.Clone(c.state.Cohorts)
	c.state.Admitted = slices.Clone(c.state.Admitted)
	c.found.Pending = slices.Clone(c.found.Pending)
	for _, text := range o.quotas {
		if err := c.changeQuota(text); err != nil {
			return fmt.Errorf("-quota %s: %w", text, err)
		}
	}
	for _, text := range o.policies {
		if err := c.changePolicy(text); err != nil {
			return fmt.Errorf("-policy %s: %w", text, err)
		}
	}
	for _, text := range o.priorities {
		if err := c.changePriority(text); err != nil {
			return fmt.Errorf("-priority %s: %w", text, err)
		}
	}
	return nil
}

// lastCut cuts at the last separator: names may hold it, values do not.
func lastCut(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

func (c *cluster) changeQuota(text string) error {
	path, value, ok := lastCut(text, "=")
	parts := strings.Split(path, ":")
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return fmt.Errorf("want QUEUE:FLAVOR:RESOURCE=QUANTITY, as in vision:h100:nvidia.com/gpu=64")
	}
	quotas, err := c.quotasOf(parts[0])
	if err != nil {
		return err
	}
	i := slices.IndexFunc(*quotas, func(e quota.Quota) bool { return e.Flavor == parts[1] && e.Resource == parts[2] })
	if i < 0 {
		var has []string
		for _, e := range *quotas {
			has = append(has, e.Flavor+":"+e.Resource)
		}
		return fmt.Errorf("%s has no quota for %s:%s; it has: %s", parts[0], parts[1], parts[2], orNothing(has))
	}
	*quotas = slices.Clone(*quotas)
	e := &(*quotas)[i]
	field := "nominal"
	if len(parts) == 4 {
		field = parts[3]
	}
	if value == "none" && field != "nominal" {
		value = ""
	}
	limit := optional.Int64{}
	if value != "" {
		quantity, err := bridge.ParseQuantity(value)
		if err != nil {
			return err
		}
		limit = optional.Of(quantity.Amount(e.Resource))
	}
	switch field {
	case "nominal":
		if value == "" {
			return fmt.Errorf("want a quantity")
		}
		e.Nominal = limit.Or(0)
	case "borrowingLimit":
		e.BorrowingLimit = limit
	case "lendingLimit":
		e.LendingLimit = limit
	default:
		return fmt.Errorf("%q is unknown: want borrowingLimit or lendingLimit", field)
	}
	return nil
}

// quotasOf returns the quotas of a queue or cohort.
func (c *cluster) quotasOf(name string) (*[]quota.Quota, error) {
	for i := range c.state.Queues {
		if c.state.Queues[i].Name == name {
			return &c.state.Queues[i].Quotas, nil
		}
	}
	names := queueNames(c.state)
	for i := range c.state.Cohorts {
		if c.state.Cohorts[i].Name == name {
			return &c.state.Cohorts[i].Quotas, nil
		}
		names = append(names, c.state.Cohorts[i].Name)
	}
	return nil, fmt.Errorf("there is no queue or cohort %q%s", name, nearest(name, names))
}

// policyFields set a policy of a queue by name.
var policyFields = map[string]func(*queue.Queue, string) error{
	"withinClusterQueue": func(q *queue.Queue, v string) error {
		return q.Preemption.WithinClusterQueue.UnmarshalText([]byte(v))
	},
	"reclaimWithinCohort": func(q *queue.Queue, v string) error {
		return q.Preemption.ReclaimWithinCohort.UnmarshalText([]byte(v))
	},
	"borrowWithinCohort": func(q *queue.Queue, v string) error {
		return q.Preemption.BorrowWithinCohort.Policy.UnmarshalText([]byte(v))
	},
	"maxPriorityThreshold": func(q *queue.Queue, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		q.Preemption.BorrowWithinCohort.MaxPriorityThreshold = optional.Of(n)
		return err
	},
	"minAdmitDuration": func(q *queue.Queue, v string) error {
		d, err := time.ParseDuration(v)
		q.Preemption.MinAdmitDuration = optional.Of(d)
		return err
	},
	"whenCanBorrow": func(q *queue.Queue, v string) error {
		return q.FlavorFungibility.WhenCanBorrow.UnmarshalText([]byte(v))
	},
	"whenCanPreempt": func(q *queue.Queue, v string) error {
		return q.FlavorFungibility.WhenCanPreempt.UnmarshalText([]byte(v))
	},
}

func (c *cluster) changePolicy(text string) error {
	path, value, ok := lastCut(text, "=")
	name, field, also := lastCut(path, ":")
	if !ok || !also {
		return fmt.Errorf("want QUEUE:POLICY=VALUE, as in vision:reclaimWithinCohort=Any")
	}
	i := slices.IndexFunc(c.state.Queues, func(q queue.Queue) bool { return q.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no queue %q%s", name, nearest(name, queueNames(c.state)))
	}
	set := policyFields[field]
	if set == nil {
		var names []string
		for known := range policyFields {
			names = append(names, known)
		}
		slices.Sort(names)
		return fmt.Errorf("%q is unknown: want one of %s", field, strings.Join(names, ", "))
	}
	return set(&c.state.Queues[i], value)
}

func (c *cluster) changePriority(text string) error {
	id, value, ok := lastCut(text, "=")
	n, err := strconv.ParseInt(value, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("want NAMESPACE/NAME=N, as in vision/detector-train=900")
	}
	for i := range c.found.Pending {
		if w := &c.found.Pending[i].Workload; w.ID == id {
			w.Priority = n
			return nil
		}
	}
	for i := range c.state.Admitted {
		if w := &c.state.Admitted[i]; w.ID == id {
			w.Priority = n
			return nil
		}
	}
	if c.recorded != nil && c.recorded.Workload.ID == id {
		r := *c.recorded
		r.Workload.Priority = n
		c.recorded = &r
		return nil
	}
	names := pendingNames(c.found.Pending)
	for i := range c.state.Admitted {
		names = append(names, c.state.Admitted[i].ID)
	}
	return fmt.Errorf("there is no workload %q%s", id, nearest(id, names))
}
