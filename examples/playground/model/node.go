package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// Node is a queue or cohort with its settings, for editing.
type Node struct {
	Cohort    bool           `json:"cohort"`
	Name      string         `json:"name"`
	Node      string         `json:"node"` // as in [Row]
	Parent    string         `json:"parent,omitempty"`
	Inactive  bool           `json:"inactive,omitempty"`
	Quotas    []NodeQuota    `json:"quotas"`
	Shares    []NodeShare    `json:"shares,omitempty"` // of KAI, in place of quotas and policies
	Policies  []NodePolicy   `json:"policies"`
	Running   int            `json:"running"`
	Workloads []NodeWorkload `json:"workloads"` // the first of those that run
}

// NodeQuota is a quota as text for input fields; an empty limit is none. Used, Over (what is
// used beyond what may be) and Room are to be read.
type NodeQuota struct {
	Flavor         string `json:"flavor"`
	Resource       string `json:"resource"`
	Nominal        string `json:"nominal"`
	BorrowingLimit string `json:"borrowingLimit"`
	LendingLimit   string `json:"lendingLimit"`
	Used           string `json:"used"`
	Over           string `json:"over,omitempty"`
	Room           string `json:"room"`
}

// NodeShare is what a queue of KAI may have of a resource, as text for input fields; an empty quota or limit is unlimited. FairShare, Used and
// Over are to be read.
type NodeShare struct {
	Resource        string `json:"resource"`
	Quota           string `json:"quota"`
	Limit           string `json:"limit"`
	OverQuotaWeight string `json:"overQuotaWeight"`
	FairShare       string `json:"fairShare"`
	Used            string `json:"used"`
	Over            string `json:"over,omitempty"`
}

// NodePolicy is a policy of a queue with its values; without values it is a text.
type NodePolicy struct {
	Field  string   `json:"field"`
	Value  string   `json:"value"`
	Values []string `json:"values,omitempty"`
}

// NodeWorkload is a workload that runs in a queue.
type NodeWorkload struct {
	ID       string `json:"id"`
	Priority int64  `json:"priority"`
	Colour   int    `json:"colour"`
	Holds    string `json:"holds"`
	Runs     string `json:"runs"`
	Victim   bool   `json:"victim,omitempty"` // of the decision about the selected workload
	Leaves   bool   `json:"leaves,omitempty"` // as in [Block]
}

// maxNodeWorkloads is the most workloads that are listed of a queue.
const maxNodeWorkloads = 200

// Node returns a queue or cohort.
func (m *Model) Node(cohort bool, name string) (Node, error) {
	n := Node{Cohort: cohort, Name: name, Node: answers.Node{Cohort: cohort, Name: name}.String(), Quotas: []NodeQuota{}, Policies: []NodePolicy{}, Workloads: []NodeWorkload{}}
	if cohort {
		c, ok := m.now.Snapshot.Cohort(name)
		if !ok {
			return n, fmt.Errorf("there is no cohort %q", name)
		}
		n.Parent = c.Parent
		if n.shares(&m.now.Cluster); n.Shares == nil {
			m.quotas(&n, c.Quotas)
		}
		return n, nil
	}
	q, ok := m.now.Snapshot.Queue(name)
	if !ok {
		return n, fmt.Errorf("there is no queue %q", name)
	}
	n.Parent, n.Inactive = q.Cohort, q.Inactive
	if n.shares(&m.now.Cluster); n.Shares == nil {
		m.quotas(&n, q.Quotas)
		n.policies(&q, m.now.rules)
	}
	running := m.now.runningIn(name, m)
	n.Running = len(running)
	v := m.ensure()
	for _, w := range running[:min(len(running), maxNodeWorkloads)] {
		_, yields := v.victims[w.ID]
		n.Workloads = append(n.Workloads, NodeWorkload{
			ID: w.ID, Priority: w.EffectivePriority(), Colour: m.colourOf(w.EffectivePriority()),
			Holds: asks(w.Usage()), Runs: units.Age(m.at, w.ReservedAt), Victim: yields, Leaves: m.now.settle().leaves[w.ID],
		})
	}
	return n, nil
}

// shares adds what a queue of KAI may have.
func (n *Node) shares(c *answers.Cluster) {
	for _, q := range c.State.FairShares.Queues {
		if q.Name != n.Name {
			continue
		}
		list := c.Snapshot.FairShares()
		of := list[slices.IndexFunc(list, func(of fairshare.QueueShares) bool { return of.Queue == q.Name })].Shares
		for _, claim := range q.Claims {
			is := of[slices.IndexFunc(of, func(s fairshare.Share) bool { return s.Resource == claim.Resource })]
			s := NodeShare{Resource: claim.Resource, Quota: limit(claim.Resource, quota.Some(claim.Quota)), Limit: limit(claim.Resource, claim.Limit),
				OverQuotaWeight: strconv.FormatFloat(claim.OverQuotaWeight, 'g', -1, 64),
				FairShare:       units.Amount(claim.Resource, is.FairShare), Used: units.Amount(claim.Resource, is.Usage)}
			if is.Over > 0 {
				s.Over = units.Amount(claim.Resource, is.Over)
			}
			n.Shares = append(n.Shares, s)
		}
	}
}

func (m *Model) quotas(n *Node, quotas []quota.Quota) {
	for _, q := range quotas {
		st, _ := statusOf(m.now.Snapshot, answers.Node{Cohort: n.Cohort, Name: n.Name}, q.FlavorResource())
		over := ""
		if st.Over > 0 {
			over = units.Amount(q.Resource, st.Over)
		}
		n.Quotas = append(n.Quotas, NodeQuota{
			Flavor: q.Flavor, Resource: q.Resource, Nominal: written(q.Resource, q.Nominal),
			BorrowingLimit: limit(q.Resource, q.BorrowingLimit), LendingLimit: limit(q.Resource, q.LendingLimit),
			Used: units.Amount(q.Resource, st.Usage), Over: over, Room: units.Amount(q.Resource, max(0, st.Available)),
		})
	}
}

func (n *Node) policies(q *queue.Queue, configs []rules.Config) {
	add := func(field string, value fmt.Stringer, values ...fmt.Stringer) {
		p := NodePolicy{Field: field, Value: value.String()}
		for _, v := range values {
			p.Values = append(p.Values, v.String())
		}
		n.Policies = append(n.Policies, p)
	}
	p := &q.Preemption
	add("withinClusterQueue", p.WithinClusterQueue, queue.Never, queue.LowerPriority, queue.LowerOrNewerEqualPriority)
	add("reclaimWithinCohort", p.ReclaimWithinCohort, queue.Never, queue.LowerPriority, queue.Any)
	add("borrowWithinCohort", p.BorrowWithinCohort.Policy, queue.Never, queue.LowerPriority)
	threshold, duration := "", ""
	if most, ok := p.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok {
		threshold = strconv.FormatInt(most, 10)
	}
	if least, ok := p.MinAdmitDuration.Get(); ok {
		duration = least.String()
	}
	n.Policies = append(n.Policies, NodePolicy{Field: "maxPriorityThreshold", Value: threshold}, NodePolicy{Field: "minAdmitDuration", Value: duration})
	if len(configs) == 0 && q.Rules == "" {
		return
	}
	refers := NodePolicy{Field: rulesField, Value: cmp.Or(q.Rules, "none"), Values: []string{"none"}}
	for _, c := range configs {
		refers.Values = append(refers.Values, c.Name)
	}
	if !slices.Contains(refers.Values, refers.Value) {
		refers.Values = append(refers.Values, refers.Value) // they are not there
	}
	n.Policies = append(n.Policies, refers)
}

// written writes an amount for an input field, as people do if that is exact.
func written(resource string, amount int64) string {
	if text := units.Amount(resource, amount); exact(resource, text, amount) {
		return text
	}
	return quantity(resource, amount)
}

// Columns lists what there is quota for, by flavor and resource.
func (m *Model) Columns() []quota.FlavorResource {
	v := m.ensure()
	if v.columns == nil {
		v.columns = columns(m.now.Snapshot)
	}
	return v.columns
}

// isSet reports whether an edit says what holds without it.
func (m *Model) isSet(e Edit) bool {
	switch e.Kind {
	case "quota":
		var quotas []quota.Quota
		if e.Cohort {
			c, _ := m.origin.Snapshot.Cohort(e.Node)
			quotas = c.Quotas
		} else {
			q, _ := m.origin.Snapshot.Queue(e.Node)
			quotas = q.Quotas
		}
		i := slices.IndexFunc(quotas, func(q quota.Quota) bool { return q.Flavor == e.Flavor && q.Resource == e.Resource })
		if i < 0 {
			return false
		}
		was := map[string]string{"nominal": written(e.Resource, quotas[i].Nominal), "borrowingLimit": limit(e.Resource, quotas[i].BorrowingLimit), "lendingLimit": limit(e.Resource, quotas[i].LendingLimit)}
		return was[e.Field] == e.Value
	case "share":
		n := Node{Name: e.Node}
		n.shares(&m.origin.Cluster)
		return slices.ContainsFunc(n.Shares, func(s NodeShare) bool {
			was := map[string]string{"quota": cmp.Or(s.Quota, "none"), "limit": cmp.Or(s.Limit, "none"), "overQuotaWeight": s.OverQuotaWeight}
			return s.Resource == e.Resource && was[e.Field] == e.Value
		})
	case "policy":
		var n Node
		if q, ok := m.origin.Snapshot.Queue(e.Node); ok {
			n.policies(&q, m.doc.State.Rules)
		}
		return slices.ContainsFunc(n.Policies, func(p NodePolicy) bool {
			return p.Field == e.Field && (p.Value == e.Value || p.Value == "" && e.Value == "none")
		})
	case "priority":
		w := m.doc.waiting(e.Node)
		if w == nil {
			return false
		}
		return strconv.FormatInt(w.Priority, 10) == e.Value
	case "replicas":
		w := m.doc.waiting(e.Node)
		if w == nil {
			return false
		}
		for _, p := range w.PodSets {
			if p.Name == e.Field {
				return strconv.FormatInt(p.Count, 10) == e.Value
			}
		}
	case "rules":
		was, ok := m.origin.Snapshot.Rules(e.Node)
		if e.Value == "" {
			return !ok
		}
		text, err := json.MarshalIndent(was, "", "  ")
		return ok && err == nil && string(text) == e.Value
	case "rule":
		return e.Value == "on"
	case "sharing":
		return (e.Value == "fair") == m.doc.Fair
	}
	return false
}
