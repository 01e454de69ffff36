package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// quotaForms are the forms of -quota.
const quotaForms = " (+QUANTITY: so much more), or a cohort's; with :borrowingLimit or :lendingLimit behind it a limit, or none; of KAI QUEUE:RESOURCE=QUANTITY, with :limit or :overQuotaWeight"

// quotaFlags adds the flags that change what may be used. The forms may be left to another verb.
func quotaFlags(c *cobra.Command, o *options, verb, forms string) {
	c.Flags().StringArrayVar(&o.quotas, "quota", nil, verb+" another quota: a `CHANGE` QUEUE:FLAVOR:RESOURCE=QUANTITY"+forms)
	c.Flags().StringArrayVar(&o.applied, "apply", nil, verb+" the objects of Kueue in `FILE`, new or in place of others")
}

// changeFlags adds the flags that change the cluster before it is asked about.
func changeFlags(c *cobra.Command, o *options, verb string) {
	quotaFlags(c, o, verb, quotaForms)
	policyFlag(c, o, verb)
	c.Flags().StringArrayVar(&o.priorities, "priority", nil, verb+" another priority: a `CHANGE` NAMESPACE/NAME=N")
	c.Flags().StringArrayVar(&o.refers, "rules", nil, verb+" other preemption rules of a queue: a `CHANGE` QUEUE=CONFIG (QUEUE may be *, CONFIG none)")
	c.Flags().StringArrayVar(&o.switched, "rule", nil, verb+" a preemption rule switched: a `CHANGE` CONFIG:RULE=off or =only")
}

func policyFlag(c *cobra.Command, o *options, verb string) {
	c.Flags().StringArrayVar(&o.policies, "policy", nil, verb+" another policy: `CHANGE` QUEUE:POLICY=VALUE")
}

// changed returns the cluster with the changes of the command line, if there are any.
func (c *cluster) changed(o *options, std stdio) (*cluster, error) {
	if !o.changes() {
		return c, nil
	}
	return c.other(o, std)
}

// otherwise returns the cluster with another priority, or other replicas, of the workload that is asked about.
func (c *cluster) otherwise(o *options) (*cluster, error) {
	if o.request != "" || !o.prioritySaid && len(o.replicas) == 0 && !o.openGates {
		return c, nil
	}
	id := o.workload
	switch pending := c.Found.Pending; {
	case id == "" && c.Recorded != nil:
		id = c.Recorded.Workload.ID
	case id == "" && len(pending) == 1:
		id = pending[0].Workload.ID
	}
	after := *c
	after.Found.Pending = slices.Clone(c.Found.Pending)
	if o.openGates {
		if err := after.openGates(id); err != nil {
			return nil, fmt.Errorf("-open-gates: %w", err)
		}
	}
	if o.prioritySaid {
		if err := after.changePriority(fmt.Sprint(id, "=", o.priority)); err != nil {
			return nil, fmt.Errorf("-priority %d: %w", o.priority, err)
		}
	}
	for _, text := range o.replicas {
		if err := after.changeReplicas(id, text); err != nil {
			return nil, fmt.Errorf("-replicas %s: %w", text, err)
		}
	}
	return &after, nil
}

// changeReplicas changes the number of replicas of a pod set of a workload that waits.
func (c *cluster) changeReplicas(id, text string) error {
	set, value, ok := lastCut(text, "=")
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case !ok || err != nil || n < 1:
		return fmt.Errorf("want PODSET=N with at least 1, as in main=2")
	case c.ByFairShares():
		return fmt.Errorf("is for workloads of Kueue: of KAI, give the cluster with another group (-f FILE)")
	}
	return c.changeWaiting(id, func(w *workload.Workload) error {
		at := slices.IndexFunc(w.PodSets, func(p workload.PodSet) bool { return p.Name == set })
		if at < 0 {
			var names []string
			for _, p := range w.PodSets {
				names = append(names, p.Name)
			}
			return fmt.Errorf("%s has no pod set %q; it has: %s", w.ID, set, answers.OrNothing(names))
		}
		if w.PodSets[at].Count == n {
			return nil
		}
		_, r, err := explain.Way{Kind: explain.WayReplicas, PodSet: set, Replicas: n}.Apply(c.Snapshot, preemption.Request{Workload: *w})
		*w = r.Workload
		return err
	})
}

// openGates opens the preemption gates of a workload that waits.
func (c *cluster) openGates(id string) error {
	return c.changeWaiting(id, func(w *workload.Workload) error {
		if !w.Gates.AnyClosed() {
			return fmt.Errorf("%s has no preemption gate that is closed", w.ID)
		}
		_, r, err := explain.Way{Kind: explain.WayGates}.Apply(c.Snapshot, preemption.Request{Workload: *w})
		*w = r.Workload
		return err
	})
}

// changeWaiting changes a workload that waits, or that of a Record.
func (c *cluster) changeWaiting(id string, change func(*workload.Workload) error) error {
	for i := range c.Found.Pending {
		if w := &c.Found.Pending[i].Workload; w.ID == id {
			return change(w)
		}
	}
	if c.Recorded != nil && c.Recorded.Workload.ID == id {
		r := *c.Recorded
		c.Recorded = &r
		return change(&r.Workload)
	}
	return fmt.Errorf("there is no workload %q that waits%s", id, nearest(id, pendingNames(c.Found.Pending)))
}

// changes reports whether the cluster is to be changed.
func (o *options) changes() bool {
	return len(o.quotas)+len(o.policies)+len(o.priorities)+len(o.applied)+len(o.refers)+len(o.switched) > 0
}

// change applies -quota, -policy, -priority, -rules and -rule to copies of what they change.
func (c *cluster) change(o *options) error {
	if c.ByFairShares() {
		for _, flag := range []struct {
			name string
			is   bool
		}{{"-policy", len(o.policies) > 0}, {"-rules", len(o.refers) > 0}, {"-rule", len(o.switched) > 0}} {
			if flag.is {
				return fmt.Errorf("%s is for queues of Kueue: of KAI, give the cluster with other queues (diff -to FILE)", flag.name)
			}
		}
	}
	c.State.Queues = slices.Clone(c.State.Queues)
	c.State.Cohorts = slices.Clone(c.State.Cohorts)
	c.State.Admitted = slices.Clone(c.State.Admitted)
	c.Found.Pending = slices.Clone(c.Found.Pending)
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
	for _, text := range o.refers {
		name, config, ok := lastCut(text, "=")
		if !ok {
			return fmt.Errorf("-rules %s: want QUEUE=CONFIG, as in vision=hero", text)
		}
		if err := answers.SetRules(c.State.Queues, c.State.Rules, name, config); err != nil {
			return fmt.Errorf("-rules %s: %w", text, err)
		}
	}
	for _, text := range o.switched {
		path, to, ok := lastCut(text, "=")
		config, rule, also := lastCut(path, ":")
		if !ok || !also {
			return fmt.Errorf("-rule %s: want CONFIG:RULE=off or CONFIG:RULE=only, as in hero:others-yield=off", text)
		}
		var err error
		if c.State.Rules, err = answers.SwitchRule(c.State.Rules, config, rule, to); err != nil {
			return fmt.Errorf("-rule %s: %w", text, err)
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
	if c.ByFairShares() {
		if !ok || len(parts) < 2 || len(parts) > 3 {
			return fmt.Errorf("of KAI want QUEUE:RESOURCE=QUANTITY, as in vision:gpu=8, or QUEUE:RESOURCE:limit=QUANTITY or :overQuotaWeight=N")
		}
		if _, err := c.quotasOf(parts[0]); err != nil {
			return err
		}
		return answers.SetShare(&c.State, parts[0], parts[1], append(parts, "quota")[2], value)
	}
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return fmt.Errorf("want QUEUE:FLAVOR:RESOURCE=QUANTITY, as in vision:h100:nvidia.com/gpu=64")
	}
	quotas, err := c.quotasOf(parts[0])
	if err != nil {
		return err
	}
	field := "nominal"
	if len(parts) == 4 {
		field = parts[3]
	}
	changed, err := answers.SetQuota(*quotas, parts[0], quota.FlavorResource{Flavor: parts[1], Resource: parts[2]}, field, value)
	*quotas = changed
	return err
}

// quotaHint is a change of a quota as an example has it.
func (c *cluster) quotaHint() string {
	if c.ByFairShares() {
		return "-quota QUEUE:gpu=N"
	}
	return "-quota QUEUE:FLAVOR:RESOURCE=N"
}

// quotasOf returns the quotas of a queue or cohort.
func (c *cluster) quotasOf(name string) (*[]quota.Quota, error) {
	if q := c.findQueue(name); q != nil {
		return &q.Quotas, nil
	}
	names := queueNames(c.State)
	for i := range c.State.Cohorts {
		if c.State.Cohorts[i].Name == name {
			return &c.State.Cohorts[i].Quotas, nil
		}
		names = append(names, c.State.Cohorts[i].Name)
	}
	return nil, fmt.Errorf("there is no queue or cohort %q%s", name, nearest(name, names))
}

func (c *cluster) changePolicy(text string) error {
	path, value, ok := lastCut(text, "=")
	name, field, also := lastCut(path, ":")
	if !ok || !also {
		return fmt.Errorf("want QUEUE:POLICY=VALUE, as in vision:reclaimWithinCohort=Any")
	}
	q := c.findQueue(name)
	if q == nil {
		return fmt.Errorf("there is no queue %q%s", name, nearest(name, queueNames(c.State)))
	}
	was := q.Inactive
	if err := answers.SetPolicy(q, field, value); err != nil {
		return err
	}
	if field == answers.StopPolicy {
		c.changeStopPolicy(q, was)
	}
	return nil
}

func (c *cluster) changePriority(text string) error {
	id, value, ok := lastCut(text, "=")
	if !ok {
		return fmt.Errorf("want NAMESPACE/NAME=N, as in vision/detector-train=900")
	}
	n, err := answers.Priority(value)
	if err != nil {
		return err
	}
	for i := range c.Found.Pending {
		if w := &c.Found.Pending[i].Workload; w.ID == id {
			return c.setPriority(w, n)
		}
	}
	for i := range c.State.Admitted {
		if w := &c.State.Admitted[i]; w.ID == id {
			return c.setPriority(w, n)
		}
	}
	if c.Recorded != nil && c.Recorded.Workload.ID == id {
		r := *c.Recorded
		r.Workload.Priority = n
		c.Recorded = &r
		return nil
	}
	names := pendingNames(c.Found.Pending)
	for i := range c.State.Admitted {
		names = append(names, c.State.Admitted[i].ID)
	}
	return fmt.Errorf("there is no workload %q%s", id, nearest(id, names))
}

// setPriority changes a priority. Of KAI it also decides whether a group yields, unless the group says so itself.
func (c *cluster) setPriority(w *workload.Workload, n int64) error {
	if c.ByFairShares() && kai.Fixed(n) != kai.Fixed(w.Priority) {
		return fmt.Errorf("a group of KAI with a priority of 100 or more may not yield: give the cluster with another priorityClassName (diff -to FILE)")
	}
	w.Priority = n
	return nil
}
