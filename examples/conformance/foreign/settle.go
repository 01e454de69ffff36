package foreign

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// settleCase is what YuniKorn's quota preemption did about a queue over its maximum (kinds "amount" and "victims"), or
// Koordinator about a quota over its runtime ("revoke"). Other kinds are stories about timers and parts of the algorithm.
type settleCase struct {
	kind  string
	Input struct {
		Queue   string     `json:"queue"`
		Tree    *yuniQueue `json:"tree"`
		Pods    []yuniPod  `json:"pods"`
		Runtime amounts    `json:"runtime"`
	} `json:"input"`
	Want struct {
		Amount  amounts             `json:"amount"`
		Victims map[string][]string `json:"victims"`
		Revoked []string            `json:"revoked"`
	} `json:"want"`
}

// amounts are amounts by type.
type amounts map[string]int64

// yuniQueue is a queue of YuniKorn: it may use its maximum, and is guaranteed a part of that.
type yuniQueue struct {
	Name        string       `json:"name"`
	Leaf        bool         `json:"leaf"`
	Max         amounts      `json:"max"`
	Guaranteed  amounts      `json:"guaranteed"`
	Allocated   amounts      `json:"allocated"`
	Preempting  amounts      `json:"preempting"`
	Allocations []yuniPod    `json:"allocations"`
	Children    []*yuniQueue `json:"children"`
}

// yuniPod is an allocation, or a pod of Koordinator.
type yuniPod struct {
	Key          string  `json:"key"`
	Name         string  `json:"name"`
	Priority     int64   `json:"priority"`
	HoursAgo     int     `json:"hoursAgo"`
	AgeMinutes   int     `json:"ageMinutes"`
	OptedIn      bool    `json:"optedIn"`
	Originator   bool    `json:"originator"`
	RequiredNode string  `json:"requiredNode"`
	Preempted    bool    `json:"preempted"`
	Released     bool    `json:"released"`
	Resource     amounts `json:"resource"`
	Requests     amounts `json:"requests"`
}

// settleKinds are the kinds of this form.
var settleKinds = []string{
	"amount", "victims", "revoke", "candidates", "order", "shares", "start", "switch", "timer", "monitor", "oversubscribed", "ask",
}

// settledAt is the time of all questions.
var settledAt = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func (f *settleCase) convert(c *recorded.Case) error {
	c.Source = "YuniKorn be3bb487, quota preemption, " + c.ID
	switch f.kind {
	case "amount", "victims":
	case "revoke":
		f.revoke(c)
		return nil
	default:
		c.Story = "a part of the algorithm, or a timer: " + f.kind
		return nil
	}
	b := yuniBuilder{state: preemption.State{Cohorts: []queue.Cohort{{Name: everything}}}}
	b.add(f.Input.Tree, "", everything)
	if b.story != "" {
		c.Story = b.story
		return nil
	}
	for _, t := range slices.Sorted(maps.Keys(b.types)) {
		b.state.Cohorts[0].Quotas = append(b.state.Cohorts[0].Quotas, quota.Quota{Flavor: flavor, Resource: t, Nominal: 1 << 40})
	}
	node, excess := settle.Node{Cohort: f.Input.Queue}, preemption.Excess{Cohort: f.Input.Queue}
	if b.leaves[f.Input.Queue] {
		node, excess = settle.Node{Queue: f.Input.Queue}, preemption.Excess{Queue: f.Input.Queue}
	}
	q := recorded.Settling{State: b.state, Request: settle.Request{Now: settledAt, Nodes: []settle.Node{node}}}
	q.Want.Excess = []preemption.Excess{}
	for _, t := range slices.Sorted(maps.Keys(f.Want.Amount)) {
		if excess.FlavorResource, excess.Amount = (quota.FlavorResource{Flavor: flavor, Resource: t}), f.Want.Amount[t]; excess.Amount > 0 {
			q.Want.Excess = append(q.Want.Excess, excess)
		}
	}
	if f.kind == "victims" {
		q.Want.Victims = []string{}
		for _, in := range slices.Sorted(maps.Keys(f.Want.Victims)) {
			for _, key := range f.Want.Victims[in] {
				q.Want.Victims = append(q.Want.Victims, in+"/"+key)
			}
		}
	}
	c.Settle = []recorded.Settling{q}
	return nil
}

const (
	everything = "(all)" // the cohort above all queues
	flavor     = "default"
)

// yuniBuilder builds the state of a tree of queues.
type yuniBuilder struct {
	state  preemption.State
	types  map[string]bool
	leaves map[string]bool
	story  string
}

// add adds a queue and those below it; it returns what the queue is guaranteed and what it uses.
func (b *yuniBuilder) add(q *yuniQueue, above, cohort string) (guaranteed, used amounts) {
	name := strings.TrimPrefix(above+"."+q.Name, ".")
	guaranteed, used = amounts{}, amounts{}
	for _, child := range q.Children {
		g, u := b.add(child, name, name)
		for t, n := range g {
			guaranteed[t] += n
		}
		for t, n := range u {
			used[t] += n
		}
	}
	if b.leaves == nil {
		b.leaves, b.types = map[string]bool{}, map[string]bool{}
	}
	isLeaf := len(q.Children) == 0
	b.leaves[name] = isLeaf
	for _, p := range q.Allocations {
		w := p.workload(name)
		b.state.Admitted = append(b.state.Admitted, w)
		for t, n := range p.Resource {
			if b.types[t] = true; !w.Evicted {
				used[t] += n
			}
		}
	}
	var reserved []quota.Amount
	for _, t := range slices.Sorted(maps.Keys(q.Allocated)) {
		b.types[t] = true
		rest := q.Allocated[t] - q.Preempting[t] - used[t]
		if rest < 0 {
			b.story = "the parts of a queue use more than the queue"
		}
		if rest > 0 {
			reserved = append(reserved, quota.Amount{Flavor: flavor, Resource: t, Amount: rest})
		}
		used[t] += max(0, rest)
	}
	var quotas []quota.Quota
	of := map[string]bool{}
	for t := range q.Max {
		of[t] = true
	}
	for t := range q.Guaranteed {
		of[t] = true
	}
	for _, t := range slices.Sorted(maps.Keys(of)) {
		b.types[t] = true
		own := max(0, q.Guaranteed[t]-guaranteed[t])
		e := quota.Quota{Flavor: flavor, Resource: t, Nominal: own}
		if most, limited := q.Max[t]; limited {
			if guaranteed[t] > most {
				b.story = "the children are guaranteed more than the maximum"
			}
			e.Nominal = max(0, min(own, most-guaranteed[t]))
			e.BorrowingLimit = quota.AtMost(max(0, most-guaranteed[t]-e.Nominal))
		}
		guaranteed[t] += e.Nominal
		quotas = append(quotas, e)
	}
	if isLeaf {
		b.state.Queues = append(b.state.Queues, queue.Queue{Name: name, Cohort: cohort, Quotas: quotas, Reserved: reserved})
	} else {
		b.state.Cohorts = append(b.state.Cohorts, queue.Cohort{Name: name, Parent: cohort, Quotas: quotas, Reserved: reserved})
	}
	return guaranteed, used
}

// workload is an allocation that runs. One that opted out, or whose node is given, never yields, nor does an originator.
func (p *yuniPod) workload(in string) workload.Workload {
	at := settledAt.Add(-time.Duration(p.HoursAgo)*time.Hour - time.Duration(p.AgeMinutes)*time.Minute)
	w := workload.Workload{
		ID: in + "/" + p.Key, Queue: in, Priority: p.Priority, Created: at, Queued: at, ReservedAt: at,
		NeverYields: !p.OptedIn || p.Originator || p.RequiredNode != "", Evicted: p.Preempted || p.Released,
	}
	w.PodSets = []workload.PodSet{{Name: "main", Count: 1, Requests: requests(p.Resource)}}
	return w
}

func requests(of amounts) (list []quota.Amount) {
	for _, t := range slices.Sorted(maps.Keys(of)) {
		list = append(list, quota.Amount{Flavor: flavor, Resource: t, Amount: of[t]})
	}
	return list
}

// revoke asks about pods of a quota that is over its runtime. A runtime below zero is none.
func (f *settleCase) revoke(c *recorded.Case) {
	c.Source = "Koordinator a7a1b76b, quota overuse revoke, " + c.ID
	of := queue.Queue{Name: "quota"}
	for _, t := range slices.Sorted(maps.Keys(f.Input.Runtime)) {
		of.Quotas = append(of.Quotas, quota.Quota{Flavor: flavor, Resource: t, Nominal: max(0, f.Input.Runtime[t])})
	}
	st := preemption.State{Queues: []queue.Queue{of}}
	for i, p := range f.Input.Pods {
		at := settledAt.Add(time.Duration(i) * time.Second)
		st.Admitted = append(st.Admitted, workload.Workload{
			ID: p.Name, Queue: of.Name, Priority: p.Priority, Created: at, Queued: at, ReservedAt: at,
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: requests(p.Requests)}},
		})
	}
	c.Settle = []recorded.Settling{{State: st, Request: settle.Request{Now: settledAt}, Want: recorded.Settled{Victims: f.Want.Revoked}}}
}
