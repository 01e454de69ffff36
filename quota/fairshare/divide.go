package fairshare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/quota"
)

// Divide returns the shares of all queues, sorted by the names of the queues. It fails with all
// faults of the tree: a name that is empty or duplicate, a parent or resource that is unknown, a
// queue below itself, a second claim on a resource, a number that is negative, too large or not
// finite.
func Divide(t Tree) ([]QueueShares, error) {
	d, err := divide(t)
	if err != nil {
		return nil, err
	}
	return d.result(), nil
}

// Division is a tree with the shares of its queues. It is immutable: [Division.With] makes another one. Make it with [NewDivision]; the
// zero value divides nothing.
type Division struct {
	tree   Tree // without the queues
	names  names
	listed []int                 // the places of the queues, in the order of the tree
	queues vector.Vector[*queue] // by name; the lists have places in it
	roots  []int
}

// queue is a queue of the tree. It has a claim and a share for each resource, and its children by
// priority from the highest, then by name. It is immutable once its division is made.
type queue struct {
	*Queue
	claims   []*Claim
	shares   []Share
	parent   int // -1: none
	children []int
}

// NewDivision divides a tree, which it copies. It fails as [Divide] does.
func NewDivision(t Tree) (*Division, error) { return divide(t.Clone()) }

// divide divides a tree, which it keeps.
func divide(t Tree) (*Division, error) {
	at, err := t.validate()
	if err != nil {
		return nil, err
	}
	d := newDraft(t, at)
	d.sumUp(d.roots)
	for r := range t.Resources {
		d.divideBelow(-1, r, true)
	}
	return &d.Division, nil
}

// Tree returns a copy of the tree.
func (d *Division) Tree() Tree {
	t := d.tree
	for _, at := range d.listed {
		t.Queues = append(t.Queues, *d.queue(at).Queue)
	}
	return t.Clone()
}

// Shares returns what [Divide] returns of the tree.
func (d *Division) Shares() []QueueShares {
	list := d.result()
	for i := range list {
		list[i].Shares = slices.Clone(list[i].Shares)
	}
	return list
}

func (d *Division) result() []QueueShares {
	list := make([]QueueShares, d.queues.Len())
	for i := range list {
		q := d.queue(i)
		list[i] = QueueShares{q.Name, q.shares}
	}
	return list
}

func (d *Division) queue(place int) *queue { return d.queues.At(place) }

// below returns the children of a queue; of -1 those that have no parent.
func (d *Division) below(queue int) []int {
	if queue < 0 {
		return d.roots
	}
	return d.queue(queue).children
}

// newDraft makes a division without sums and shares.
func newDraft(t Tree, at names) *draft {
	n := len(t.Resources)
	d := &draft{Division: Division{tree: t, names: at}}
	d.tree.Queues = nil
	queues := make([]*queue, len(t.Queues))
	own, claims, shares := make([]queue, len(queues)), make([]*Claim, n*len(queues)), make([]Share, n*len(queues))
	for place, q := range byName(t.Queues) {
		from, to := place*n, (place+1)*n
		own[place] = queue{Queue: q, claims: claims[from:to:to], shares: shares[from:to:to], parent: -1}
		queues[place], at.queues[q.Name] = &own[place], place
		at.enter(q, queues[place].claims)
		for r := range n {
			shares[from+r].Resource = t.Resources[r].Name
		}
	}
	for i := range t.Queues {
		d.listed = append(d.listed, at.queues[t.Queues[i].Name])
	}
	for i, q := range queues {
		if parent, has := at.queues[q.Parent]; has {
			q.parent = parent
			queues[parent].children = append(queues[parent].children, i)
		} else {
			d.roots = append(d.roots, i)
		}
	}
	d.queues = vector.Of(queues)
	d.arrange(d.roots)
	for _, q := range queues {
		d.arrange(q.children)
	}
	return d
}

var noClaim Claim

// enter enters the claims of a queue by resource.
func (n names) enter(q *Queue, claims []*Claim) {
	for r := range claims {
		claims[r] = &noClaim
	}
	for i := range q.Claims {
		claims[n.resources[q.Claims[i].Resource]] = &q.Claims[i]
	}
}

func byName(queues []Queue) []*Queue {
	list := make([]*Queue, len(queues))
	for i := range queues {
		list[i] = &queues[i]
	}
	slices.SortFunc(list, func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// arrange sorts siblings by priority, then by name.
func (d *draft) arrange(siblings []int) {
	slices.SortFunc(siblings, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.at(b).Priority, d.at(a).Priority), cmp.Compare(a, b))
	})
}

// divide divides an amount of a resource among siblings. It returns their shares, which hold until the next call.
func (d *draft) divide(amount int64, resource int, siblings []int) []Share {
	d.scratch = slices.Grow(d.scratch[:0], len(siblings))
	left := amount
	for _, i := range siblings {
		q := d.at(i)
		c, s := q.claims[resource], q.shares[resource]
		s.Deserved, s.OverQuota, s.Remainder = min(c.Quota, s.requestable(c)), 0, 0
		if c.Quota == quota.Unlimited {
			s.Deserved = min(amount, s.requestable(c))
		}
		s.FairShare = s.Deserved
		left = quota.Sub(left, s.Deserved)
		d.scratch = append(d.scratch, s)
	}
	if left > 0 {
		unit := max(d.tree.Resources[resource].Unit, 1)
		d.rounds.start(d, resource, siblings)
		for group := range d.rounds.priorities() {
			left = d.rounds.divide(left, unit, group, d.tree.KValue.Or(1))
		}
		for group := range d.rounds.priorities() {
			left = d.rounds.giveUnits(left, unit, group)
		}
	}
	for k, i := range siblings {
		d.scratch[k].compare(d.at(i).claims[resource])
	}
	return d.scratch
}

// requestable is what the queue can ask for: its request, and its limit at most.
func (s *Share) requestable(c *Claim) int64 { return min(s.Request, c.Limit.Or(quota.Unlimited)) }

// compare sets what the queue may hold, and how its fair share compares with what it holds.
func (s *Share) compare(c *Claim) {
	s.Allocatable = min(max(c.Quota, s.FairShare), c.Limit.Or(quota.Unlimited))
	s.Starved = max(0, min(s.FairShare, s.requestable(c))-s.Usage)
	s.Over = max(0, s.Usage-s.FairShare)
}
