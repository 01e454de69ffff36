package fairshare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cedesched/cede/quota"
)

// Divide returns the shares of all queues, sorted by the names of the queues. It fails with all
// faults of the tree: a name that is empty or duplicate, a parent or resource that is unknown, a
// queue below itself, a second claim on a resource, a number that is negative, too large or not
// finite.
func Divide(t Tree) ([]QueueShares, error) {
	d, _, err := divide(t)
	if err != nil {
		return nil, err
	}
	return d.result(), nil
}

func divide(t Tree) (*division, names, error) {
	at, err := t.validate()
	if err != nil {
		return nil, at, err
	}
	d := newDivision(t, at)
	d.sumUp()
	for r := range d.resources {
		d.divide(d.resources[r].Total, r, d.roots)
	}
	for _, i := range d.downwards {
		for r := range d.resources {
			d.divide(d.queues[i].shares[r].FairShare, r, d.queues[i].children)
		}
	}
	for i := range d.queues {
		q := &d.queues[i]
		for r := range q.shares {
			q.shares[r].compare(q.claims[r])
		}
	}
	return d, at, nil
}

func (d *division) result() []QueueShares {
	list := make([]QueueShares, len(d.queues))
	for i := range d.queues {
		list[i] = QueueShares{d.queues[i].Name, d.queues[i].shares}
	}
	return list
}

// division is a tree while it is divided.
type division struct {
	resources []Resource
	queues    []queue // by name; the lists below have places in it
	roots     []int
	downwards []int // every queue before its children
	rounds    *rounds
}

// queue is a queue of the tree. It has a claim and a share for each resource, and its children by
// priority from the highest, then by name.
type queue struct {
	*Queue
	claims   []*Claim
	shares   []Share
	parent   int // -1: none
	children []int
}

func newDivision(t Tree, at names) *division {
	n := len(t.Resources)
	d := &division{resources: t.Resources, queues: make([]queue, len(t.Queues)), rounds: newRounds(decimalOf(t.KValue.Or(1)))}
	claims, shares, none := make([]*Claim, n*len(t.Queues)), make([]Share, n*len(t.Queues)), new(Claim)
	for place, q := range byName(t.Queues) {
		from, to := place*n, (place+1)*n
		d.queues[place] = queue{Queue: q, claims: claims[from:to:to], shares: shares[from:to:to], parent: -1}
		at.queues[q.Name] = place
		for r := range n {
			claims[from+r], shares[from+r].Resource = none, t.Resources[r].Name
		}
		for i := range q.Claims {
			claims[from+at.resources[q.Claims[i].Resource]] = &q.Claims[i]
		}
	}
	for i := range d.queues {
		if parent, has := at.queues[d.queues[i].Parent]; has {
			d.queues[i].parent = parent
			d.queues[parent].children = append(d.queues[parent].children, i)
		} else {
			d.roots = append(d.roots, i)
		}
	}
	d.arrange(d.roots)
	for next := 0; next < len(d.downwards); next++ {
		d.arrange(d.queues[d.downwards[next]].children)
	}
	return d
}

func byName(queues []Queue) []*Queue {
	list := make([]*Queue, len(queues))
	for i := range queues {
		list[i] = &queues[i]
	}
	slices.SortFunc(list, func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// arrange sorts siblings by priority, and adds them to the queues downwards.
func (d *division) arrange(siblings []int) {
	slices.SortStableFunc(siblings, func(a, b int) int { return cmp.Compare(d.queues[b].Priority, d.queues[a].Priority) })
	d.downwards = append(d.downwards, siblings...)
}

// sumUp sets what the pods in each queue and below it request and hold.
func (d *division) sumUp() {
	for _, i := range slices.Backward(d.downwards) {
		q := &d.queues[i]
		for r, c := range q.claims {
			s := &q.shares[r]
			s.Request, s.Usage = quota.Add(s.Request, c.Request), quota.Add(s.Usage, c.Usage)
			s.NonPreemptible = quota.Add(s.NonPreemptible, c.NonPreemptible)
			if q.parent >= 0 {
				above := &d.queues[q.parent].shares[r]
				above.Request, above.Usage = quota.Add(above.Request, s.Request), quota.Add(above.Usage, s.Usage)
				above.NonPreemptible = quota.Add(above.NonPreemptible, s.NonPreemptible)
			}
		}
	}
}

// divide divides an amount of a resource among siblings.
func (d *division) divide(amount int64, resource int, siblings []int) {
	left := amount
	for _, i := range siblings {
		c, s := d.queues[i].claims[resource], &d.queues[i].shares[resource]
		s.Deserved = min(c.Quota, s.requestable(c))
		if c.Quota == quota.Unlimited {
			s.Deserved = min(amount, s.requestable(c))
		}
		s.FairShare = s.Deserved
		left = quota.Sub(left, s.Deserved)
	}
	if left <= 0 {
		return
	}
	unit := max(d.resources[resource].Unit, 1)
	d.rounds.start(d, resource, siblings)
	for group := range d.rounds.priorities() {
		left = d.rounds.divide(left, unit, group)
	}
	for group := range d.rounds.priorities() {
		left = giveUnits(left, unit, group)
	}
}

// requestable is what the queue can ask for: its request, and its limit at most.
func (s *Share) requestable(c *Claim) int64 { return min(s.Request, c.Limit.Or(quota.Unlimited)) }

// compare sets what the queue may hold, and how its fair share compares with what it holds.
func (s *Share) compare(c *Claim) {
	s.Allocatable = min(max(c.Quota, s.FairShare), c.Limit.Or(quota.Unlimited))
	s.Starved = max(0, min(s.FairShare, s.requestable(c))-s.Usage)
	s.Over = max(0, s.Usage-s.FairShare)
}
