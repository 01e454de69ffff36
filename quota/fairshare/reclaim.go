package fairshare

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/enum"
	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/quota"
)

// Reclaimer is what waits in a queue: the pods that have to start together. The zero value is of no
// queue and not valid.
type Reclaimer struct {
	Queue string `json:"queue"`
	// Requests is what all pods request together.
	Requests []Amount `json:"requests,omitempty"`
	// NonPreemptible says that the pods can never be preempted. So they have to be within quotas.
	NonPreemptible bool `json:"nonPreemptible,omitempty"`
}

// Unit is what yields at once: pods of one queue. The zero value is of no queue and not valid.
type Unit struct {
	Queue string `json:"queue"`
	// Usage is what the pods hold together.
	Usage []Amount `json:"usage,omitempty"`
}

// Amount is an amount of a resource. The zero value is of no resource and not valid.
type Amount struct {
	Resource string `json:"resource"`
	Amount   int64  `json:"amount"`
}

// Rule is what refuses a reclaim. The zero value is none.
type Rule uint8

const (
	// FairShare: with the reclaimer its queue would hold more than its fair share.
	FairShare Rule = 1 + iota
	// NonPreemptibleQuota: with the reclaimer more than the quota of the queue could never be preempted.
	NonPreemptibleQuota
	// SameBranch: the unit is in the reclaimer's queue, below it or above it.
	SameBranch
	// NotOver: the queue holds no more than it may keep.
	NotOver
	// Saturation: the reclaimer's queue, or one above it, would hold more than its fair share, and as
	// large a part of it as a sibling that lost something.
	Saturation
)

var ruleNames = enum.Names[Rule]{
	Type: "Rule", First: 1, List: []string{"FairShare", "NonPreemptibleQuota", "SameBranch", "NotOver", "Saturation"},
}

// String returns the name of the rule; "none" for the zero value.
func (r Rule) String() string { return ruleNames.String(r) }

// MarshalText writes the name. It fails on a value that is none of the constants.
func (r Rule) MarshalText() ([]byte, error) { return ruleNames.Marshal(r) }

// UnmarshalText reads a name. It fails on any other text and then leaves r unchanged.
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }

// Refusal says why a reclaim is refused: by which rule, and by what a queue has of which resource.
// The resource is empty where all resources are the reason. The zero value refuses nothing.
type Refusal struct {
	Rule     Rule   `json:"rule,omitzero"`
	Queue    string `json:"queue,omitempty"`
	Resource string `json:"resource,omitempty"`
}

// Reclaim has the rules by which a queue takes back what others hold over their shares. It is
// immutable. The zero value knows no queue.
type Reclaim struct {
	division Division
	queues   *entitled.Queues
}

// NewReclaim divides a tree. It fails with all faults of the tree.
func NewReclaim(t Tree) (*Reclaim, error) {
	d, err := NewDivision(t)
	if err != nil {
		return nil, err
	}
	return &Reclaim{*d, d.entitled()}, nil
}

// entitled returns what the queues are entitled to, in dense form.
func (d *Division) entitled() *entitled.Queues {
	q := &entitled.Queues{Resources: len(d.tree.Resources), Saturation: entitled.Factor(d.tree.Saturation.Or(1))}
	for i := range d.tree.Resources {
		q.Total = append(q.Total, d.tree.Resources[i].Total)
	}
	nodes := make([]*entitled.Node, d.queues.Len())
	for i := range nodes {
		of := d.queue(i)
		q.Parent = append(q.Parent, of.parent)
		nodes[i] = &entitled.Node{Priority: of.Priority, Created: instant.Of(of.CreatedAt)}
		for r, s := range of.shares {
			nodes[i].Amounts = append(nodes[i].Amounts, entitled.Amount{Quota: of.claims[r].Quota, Share: s.FairShare, Allocatable: s.Allocatable})
		}
	}
	q.Nodes = vector.Of(nodes)
	return q
}

// Shares returns what [Divide] returns of the tree.
func (r *Reclaim) Shares() []QueueShares { return r.division.Shares() }

// asked is a question about a reclaimer.
type asked struct {
	entitled.Asked
	*Reclaim
}

// unit is a Unit with the path to its queue.
type unit struct {
	path  []int
	usage []int64
}

// ask reads a question. It fails with all faults.
func (r *Reclaim) ask(in Reclaimer, units []Unit) (*asked, []unit, error) {
	var faults fault.List
	a := &asked{Reclaim: r}
	a.Queues, a.NonPreemptible = r.queues, in.NonPreemptible
	a.Path, a.Requests = r.path(&faults, "reclaimer", in.Queue), r.amounts(&faults, "reclaimer.requests", in.Requests)
	a.Held = r.held
	a.Fixed = func(queue, i int) int64 { return r.division.queue(queue).shares[i].NonPreemptible }
	list := r.units(&faults, "units", units)
	return a, list, faults.Err()
}

// held returns what a queue and all below it hold.
func (r *Reclaim) held(queue, resource int) int64 {
	return r.division.queue(queue).shares[resource].Usage
}

// units reads units.
func (r *Reclaim) units(faults *fault.List, name string, units []Unit) []unit {
	list := make([]unit, len(units))
	for i, u := range units {
		path := fmt.Sprintf("%s[%d]", name, i)
		list[i] = unit{r.path(faults, path, u.Queue), r.amounts(faults, path+".usage", u.Usage)}
	}
	return list
}

// path returns the places of the queues from the root down to a queue.
func (r *Reclaim) path(faults *fault.List, path, queue string) (down []int) {
	i, known := r.division.names.queues[queue]
	if !known {
		faults.Add(path+".queue", "unknown queue %q", queue)
		return nil
	}
	for ; i >= 0; i = r.division.queue(i).parent {
		down = append(down, i)
	}
	slices.Reverse(down)
	return down
}

// amounts returns an amount for each resource of the tree.
func (r *Reclaim) amounts(faults *fault.List, path string, list []Amount) []int64 {
	amounts := make([]int64, len(r.division.tree.Resources))
	for i, a := range list {
		at, known := r.division.names.resources[a.Resource]
		switch {
		case !known:
			faults.Add(fmt.Sprintf("%s[%d].resource", path, i), "unknown resource %q", a.Resource)
		case !amount(a.Amount):
			faults.Add(fmt.Sprintf("%s[%d].amount", path, i), "%d is not within 0 and %d", a.Amount, quota.MaxUsage)
		default:
			amounts[at] = quota.Add(amounts[at], a.Amount)
		}
	}
	return amounts
}

// apart returns the two siblings below which the reclaimer and a queue are, or which they are. ok is
// false if one of them is above the other, or both are the same.
func (a *asked) apart(path []int) (own, other int, ok bool) {
	for i := range min(len(a.Path), len(path)) {
		if a.Path[i] != path[i] {
			return a.Path[i], path[i], true
		}
	}
	return 0, 0, false
}
