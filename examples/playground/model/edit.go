package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// Edit is a change that the user made on the page. Edits of the same thing replace each other.
type Edit struct {
	// Kind is quota, share (of a queue of KAI: Field is quota, limit or overQuotaWeight), policy, priority, replicas, flavor, gates, mayPreempt, sharing, rules (Node is the
	// name, Value the JSON form, empty for none), rule (Node is the name of the rules, Field the
	// rule, Value off or on) or workload: a new one that waits (Node is its name, Field its queue, Value
	// what each replica takes).
	Kind string `json:"kind"`
	// Node is the queue or cohort of a quota, the queue of a policy, or the workload.
	Node   string `json:"node,omitempty"`
	Cohort bool   `json:"cohort,omitzero"`
	// Flavor and Resource are the column of a quota. Field is nominal, borrowingLimit or
	// lendingLimit; the name of a policy; a pod set; or the resources, with commas, of a flavor.
	Flavor   string `json:"flavor,omitempty"`
	Resource string `json:"resource,omitempty"`
	Field    string `json:"field,omitempty"`
	// Value is the new value as a person writes it: a quantity, a policy, a number, a flavor.
	Value string `json:"value,omitempty"`
	// Replicas and Priority are those of a new workload.
	Replicas int64 `json:"replicas,omitzero"`
	Priority int64 `json:"priority,omitzero"`
}

// Key is the same for edits of the same thing.
func (e Edit) Key() string {
	if e.Kind == "workload" {
		e.Field = ""
	}
	return fmt.Sprintf("%q", []string{e.Kind, e.Node, strconv.FormatBool(e.Cohort), e.Flavor, e.Resource, e.Field})
}

// Text says what the edit does.
func (e Edit) Text() string {
	switch e.Kind {
	case "quota":
		return fmt.Sprintf("%s: %s of %s/%s is %s", e.Node, e.Field, e.Flavor, e.Resource, e.Value)
	case "share":
		return fmt.Sprintf("%s: %s of %s is %s", e.Node, e.Field, e.Resource, e.Value)
	case "policy":
		return fmt.Sprintf("%s: %s is %s", e.Node, e.Field, e.Value)
	case "priority":
		return fmt.Sprintf("%s: priority %s", e.Node, e.Value)
	case "replicas":
		return fmt.Sprintf("%s: %s replicas of %s", e.Node, e.Value, e.Field)
	case "flavor":
		return fmt.Sprintf("%s: flavor %s for %s", e.Node, e.Value, e.Field)
	case "workload":
		return fmt.Sprintf("%s waits in %s: %d × %s", e.Node, e.Field, e.Replicas, e.Value)
	case "gates":
		return e.Node + ": gates open"
	case "mayPreempt":
		return e.Node + ": may preempt"
	case "sharing":
		return "sharing is " + e.Value
	case "rules":
		if e.Node == "" {
			return "new rules"
		}
		if e.Value == "" {
			return fmt.Sprintf("rules %s: removed", e.Node)
		}
		return fmt.Sprintf("rules %s: changed", e.Node)
	case "rule":
		return fmt.Sprintf("rule %s of %s: %s", e.Field, e.Node, e.Value)
	}
	return e.Kind
}

// rulesField is the rules to which a queue refers, among its policies.
const rulesField = "rules"

// overlay is what edits replace.
type overlay struct {
	origin  *preemption.Snapshot
	queues  map[string]queue.Queue
	cohorts map[string]queue.Cohort
	running map[string]workload.Workload
	waiting []Waiting
	cloned  map[string]bool // waiting workloads that are no longer shared with the document
	index   map[string]int  // of waiting, by ID
	config  preemption.Config
	rules   ruleEdits
	now     time.Time // of the document
	shares  fairshare.Tree
}

// queue returns a queue with the edits so far.
func (o *overlay) queue(name string) (queue.Queue, error) {
	return edited(o.queues, o.origin.Queue, "queue", name)
}

func (o *overlay) cohort(name string) (queue.Cohort, error) {
	return edited(o.cohorts, o.origin.Cohort, "cohort", name)
}

func edited[T any](edits map[string]T, origin func(string) (T, bool), kind, name string) (T, error) {
	one, ok := edits[name]
	if !ok {
		one, ok = origin(name)
	}
	if !ok {
		return one, fmt.Errorf("there is no %s %q", kind, name)
	}
	return one, nil
}

// pending returns a waiting workload that may be changed, or nil.
func (o *overlay) pending(id string) *workload.Workload {
	i, ok := o.index[id]
	if !ok {
		return nil
	}
	r := &o.waiting[i].Request
	if !o.cloned[id] {
		r.Workload = r.Workload.Clone()
		o.cloned[id] = true
	}
	return &r.Workload
}

func (o *overlay) apply(e Edit) error {
	if !o.shares.IsZero() && slices.Contains([]string{"quota", "policy", "rules", "rule", "flavor"}, e.Kind) {
		return fmt.Errorf("a queue of KAI has no %s: it has shares", e.Kind)
	}
	switch e.Kind {
	case "quota":
		return o.quota(e)
	case "share":
		return o.share(e)
	case "policy":
		q, err := o.queue(e.Node)
		if err == nil && e.Field == rulesField {
			one := []queue.Queue{q}
			err = answers.SetRules(one, o.rules.list, q.Name, e.Value)
			o.queues[e.Node] = one[0]
			return err
		}
		if err == nil {
			err = answers.SetPolicy(&q, e.Field, e.Value)
			o.queues[e.Node] = q
		}
		return err
	case "priority":
		return o.priority(e)
	case "sharing":
		return o.sharing(e.Value)
	case "workload":
		return o.add(e)
	case "rules":
		return o.rules.set(e)
	case "rule":
		if e.Value == "off" {
			o.rules.off = append(o.rules.off, e)
		}
		return nil
	}
	w := o.pending(e.Node)
	if w == nil {
		return fmt.Errorf("no workload %q waits", e.Node)
	}
	switch e.Kind {
	case "replicas":
		return o.replicas(w, e)
	case "flavor":
		r := &o.waiting[o.index[e.Node]].Request
		r.NeedsPreemption, r.Continue = nil, nil // they are about the flavors before
		resources := strings.Split(e.Field, ",")
		for i := range w.PodSets {
			for j := range w.PodSets[i].Requests {
				if a := &w.PodSets[i].Requests[j]; slices.Contains(resources, a.Resource) {
					a.Flavor = e.Value
				}
			}
		}
	case "gates":
		w.Gates = gate.Gates{}
	case "mayPreempt":
		w.NeverPreempts = false
	default:
		return fmt.Errorf("%q is no kind of edit", e.Kind)
	}
	return nil
}

func (o *overlay) quota(e Edit) error {
	column := quota.FlavorResource{Flavor: e.Flavor, Resource: e.Resource}
	set := func(quotas []quota.Quota) ([]quota.Quota, error) {
		if e.Field == "nominal" && !slices.ContainsFunc(quotas, func(q quota.Quota) bool { return q.FlavorResource() == column }) {
			quotas = append(slices.Clip(quotas), quota.Quota{Flavor: e.Flavor, Resource: e.Resource})
		}
		return answers.SetQuota(quotas, e.Node, column, e.Field, e.Value)
	}
	if e.Cohort {
		c, err := o.cohort(e.Node)
		if err == nil {
			c.Quotas, err = set(c.Quotas)
			o.cohorts[e.Node] = c
		}
		return err
	}
	q, err := o.queue(e.Node)
	if err == nil {
		q.Quotas, err = set(q.Quotas)
		o.queues[e.Node] = q
	}
	return err
}

// share changes what a queue of KAI, or one with queues below it, may have.
func (o *overlay) share(e Edit) error {
	st := preemption.State{FairShares: o.shares}
	if q, err := o.queue(e.Node); err == nil {
		st.Queues = []queue.Queue{q}
	} else if c, err := o.cohort(e.Node); err == nil {
		st.Cohorts = []queue.Cohort{c}
	}
	if err := answers.SetShare(&st, e.Node, e.Resource, e.Field, e.Value); err != nil {
		return err
	}
	o.shares = st.FairShares
	for _, q := range st.Queues {
		o.queues[q.Name] = q
	}
	for _, c := range st.Cohorts {
		o.cohorts[c.Name] = c
	}
	return nil
}

func (o *overlay) priority(e Edit) error {
	n, err := strconv.ParseInt(e.Value, 10, 64)
	if err != nil {
		return fmt.Errorf("priority %q: want a whole number", e.Value)
	}
	if w := o.pending(e.Node); w != nil {
		w.Priority = n
		return nil
	}
	w, ok := o.running[e.Node]
	if !ok {
		w, ok = o.origin.Find(e.Node)
	}
	if !ok {
		return fmt.Errorf("there is no workload %q", e.Node)
	}
	w.Priority = n
	o.running[e.Node] = w
	return nil
}

func (o *overlay) sharing(value string) error {
	switch value {
	case "fair", "classical":
		if o.config.Sharing == preemption.KAI {
			return errors.New("sharing: KAI decides by fair shares")
		}
	}
	switch value {
	case "fair":
		o.config.Sharing = preemption.Fair
	case "classical":
		o.config.Sharing, o.config.Strategies = preemption.Classical, nil
	default:
		return fmt.Errorf("sharing %q: want fair or classical", value)
	}
	return nil
}

// replicas changes how many replicas of a pod set wait; of KAI the pods with them, and what the queue requests.
func (o *overlay) replicas(w *workload.Workload, e Edit) error {
	before := w.Clone()
	err := setReplicas(w, e)
	of := &o.waiting[o.index[w.ID]]
	if err != nil || len(of.Pods) == 0 {
		return err
	}
	if int64(len(of.Pods)) != before.PodSets[0].Count {
		return fmt.Errorf("the pods of %s differ", w.ID)
	}
	n := w.PodSets[0].Count
	if n < 1 || n > maxReplicas {
		return fmt.Errorf("%d replicas: want 1 to %d", n, maxReplicas)
	}
	of.Pods = slices.Clone(of.Pods[:min(n, int64(len(of.Pods)))])
	for i := int64(len(of.Pods)); i < n; i++ {
		more := of.Pods[0].Clone()
		more.ID = fmt.Sprintf("%s %d", w.ID, i)
		of.Pods = append(of.Pods, more)
	}
	o.shares = answers.Requesting(o.shares, w, &before)
	return nil
}

// maxReplicas limits the replicas whose pods need room on nodes.
const maxReplicas = 100_000

func setReplicas(w *workload.Workload, e Edit) error {
	n, err := strconv.ParseInt(e.Value, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q replicas: want a whole number", e.Value)
	}
	i := slices.IndexFunc(w.PodSets, func(p workload.PodSet) bool { return p.Name == e.Field })
	if i < 0 {
		return fmt.Errorf("%s has no pod set %q", e.Node, e.Field)
	}
	p := &w.PodSets[i]
	if p.Totals {
		return fmt.Errorf("what a replica of %q takes is not known", e.Field)
	}
	p.Count = n
	if least, ok := p.MinCount.Get(); ok && least > n {
		p.MinCount = workload.AtLeast(n)
	}
	return nil
}

// editsOf returns the edits that make a change to a request; none for a change of the time.
func editsOf(way explain.Way, w *workload.Workload, s *preemption.Snapshot) []Edit {
	switch way.Kind {
	case explain.WayPriority:
		return []Edit{{Kind: "priority", Node: w.ID, Value: strconv.FormatInt(way.Priority, 10)}}
	case explain.WayReplicas:
		return []Edit{{Kind: "replicas", Node: w.ID, Field: way.PodSet, Value: strconv.FormatInt(way.Replicas, 10)}}
	case explain.WayFlavor:
		return []Edit{{Kind: "flavor", Node: w.ID, Field: strings.Join(way.Resources, ","), Value: way.Flavor}}
	case explain.WayGates:
		return []Edit{{Kind: "gates", Node: w.ID}}
	case explain.WayMayPreempt:
		return []Edit{{Kind: "mayPreempt", Node: w.ID}}
	case explain.WayPolicy:
		var edits []Edit
		for policy := range strings.SplitSeq(way.Policy, ",") {
			edits = append(edits, Edit{Kind: "policy", Node: way.Queue, Field: policy, Value: way.Value.String()})
		}
		return edits
	case explain.WayNominal, explain.WayBorrowing:
		var edits []Edit
		q, _ := s.Queue(way.Queue)
		for _, a := range append(way.Nominal, way.Borrowing...) {
			field, value := "nominal", a.Amount
			if way.Kind == explain.WayBorrowing {
				field = "borrowingLimit"
			}
			for _, e := range q.Quotas {
				was := e.Nominal
				if way.Kind == explain.WayBorrowing {
					was, _ = e.BorrowingLimit.Get()
				}
				if e.FlavorResource() == a.FlavorResource() {
					value = quota.Add(value, was)
				}
			}
			edits = append(edits, Edit{Kind: "quota", Node: way.Queue, Flavor: a.Flavor, Resource: a.Resource, Field: field, Value: quantity(a.Resource, value)})
		}
		return edits
	}
	return nil
}

// quantity writes an amount so that it is read as the same.
func quantity(resource string, amount int64) string {
	switch {
	case !bridge.InThousandths(resource):
		return strconv.FormatInt(amount, 10)
	case amount%1000 == 0:
		return strconv.FormatInt(amount/1000, 10)
	}
	return strconv.FormatInt(amount, 10) + "m"
}

// limit writes a limit for an input field; empty: there is none.
func limit(resource string, value quota.OptionalInt64) string {
	n, ok := value.Get()
	if !ok || n == quota.Unlimited {
		return ""
	}
	if text := units.Amount(resource, n); exact(resource, text, n) {
		return text
	}
	return quantity(resource, n)
}

// exact reports whether a text is read as the amount.
func exact(resource, text string, amount int64) bool {
	q, err := bridge.ParseQuantity(text)
	return err == nil && q.Amount(resource) == amount
}
