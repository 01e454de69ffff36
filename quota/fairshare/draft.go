package fairshare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
)

// With returns a division in which queues of the tree are replaced by those of the same names and parents, and the shares that
// changed, with all of what was replaced, sorted by name. It equals [NewDivision] of that tree, but divides anew only where a
// request, a claim, a priority or an age changed, above that, and below a queue whose share changed. It fails, and returns d,
// on a queue that is not in the tree or not below that parent, and on claims as [Divide] does.
func (d *Division) With(queues ...Queue) (*Division, []QueueShares, error) {
	next := draft{Division: *d, own: map[int]*queue{}, touched: map[int]bool{}, changed: make([]bool, len(d.tree.Resources))}
	var faults fault.List
	claimed := make([]int, len(d.tree.Resources))
	for i := range queues {
		q := queues[i].clone()
		q.validate(&faults, i, d.names, claimed)
		at, known := d.names.queues[q.Name]
		switch {
		case !known:
			faults.Add(fmt.Sprintf("queues[%d].name", i), "no queue %q", q.Name)
		case q.Parent != d.queue(at).Parent:
			faults.Add(fmt.Sprintf("queues[%d].parent", i), "%q is not the parent of queue %q", q.Parent, q.Name)
		case len(faults) == 0:
			next.replace(at, &q)
		}
	}
	if err := faults.Err(); err != nil {
		return d, nil, err
	}
	next.sumUp(next.below(-1))
	for r, changed := range next.changed {
		if changed {
			next.divideBelow(-1, r, true)
		}
	}
	places := slices.Sorted(maps.Keys(next.own))
	list, moved := make([]*queue, len(places)), make([]QueueShares, 0, len(places))
	for i, at := range places {
		was, is := d.queue(at), next.own[at]
		if list[i] = is; was.Queue != is.Queue || !slices.Equal(was.shares, is.shares) {
			moved = append(moved, QueueShares{is.Name, slices.Clone(is.shares)})
		}
	}
	next.queues = d.queues.SetAll(places, list)
	return &next.Division, moved, nil
}

// draft is a division in the making.
type draft struct {
	Division
	rounds  rounds
	scratch []Share
	deeper  []deeper
	// own are the queues that belong to this division alone, touched those of which a claim or the sum of requests may have
	// changed, and whether one below them is; nil: all queues.
	own     map[int]*queue
	touched map[int]bool
	changed []bool // by resource: some claim or order changed
}

// deeper is a queue below which something is to be divided. moved: its share changed.
type deeper struct {
	queue int
	moved bool
}

func (d *draft) at(place int) *queue {
	if q := d.own[place]; q != nil {
		return q
	}
	return d.queue(place)
}

// mine returns a queue that may be changed.
func (d *draft) mine(place int) *queue {
	q := d.at(place)
	if d.own != nil && d.own[place] == nil {
		copied := *q
		copied.shares = slices.Clone(q.shares)
		q, d.own[place] = &copied, &copied
	}
	return q
}

// below is [Division.below] of the draft.
func (d *draft) below(queue int) []int {
	if queue < 0 {
		return d.roots
	}
	return d.at(queue).children
}

func (d *draft) isTouched(place int) bool {
	_, is := d.touched[place]
	return is || d.touched == nil
}

// replace replaces a queue.
func (d *draft) replace(place int, by *Queue) {
	q := d.mine(place)
	was, claims := q.Queue, q.claims
	q.Queue, q.claims = by, make([]*Claim, len(claims))
	d.names.enter(by, q.claims)
	for r := range claims {
		if *claims[r] != *q.claims[r] || was.Priority != by.Priority || !was.CreatedAt.Equal(by.CreatedAt) {
			d.changed[r] = true
		}
	}
	if was.Priority != by.Priority {
		siblings := slices.Clone(d.below(q.parent))
		if d.arrange(siblings); q.parent < 0 {
			d.roots = siblings
		} else {
			d.mine(q.parent).children = siblings
		}
	}
	if !d.isTouched(place) {
		d.touched[place] = false
	}
	for above := q.parent; above >= 0; above = d.at(above).parent {
		d.touched[above] = true
	}
}

// sumUp sets what the pods in some siblings and below them request and hold.
func (d *draft) sumUp(siblings []int) {
	for _, i := range siblings {
		if !d.isTouched(i) {
			continue
		}
		q := d.mine(i)
		d.sumUp(q.children)
		for r, c := range q.claims {
			s := &q.shares[r]
			s.Request, s.Usage, s.NonPreemptible = c.Request, c.Usage, c.NonPreemptible
			for _, child := range q.children {
				of := &d.at(child).shares[r]
				s.Request, s.Usage = quota.Add(s.Request, of.Request), quota.Add(s.Usage, of.Usage)
				s.NonPreemptible = quota.Add(s.NonPreemptible, of.NonPreemptible)
			}
		}
	}
}

// divideBelow divides the share of a queue, or for -1 the total, among those below it, and so on down as far as something
// changed. anew: the share did.
func (d *draft) divideBelow(above, resource int, anew bool) {
	if !anew && !d.touched[above] {
		return
	}
	amount := d.tree.Resources[resource].Total
	if above >= 0 {
		amount = d.at(above).shares[resource].FairShare
	}
	from, siblings := len(d.deeper), d.below(above)
	for k, share := range d.divide(amount, resource, siblings) {
		q := d.at(siblings[k])
		was := q.shares[resource]
		if share != was {
			q = d.mine(siblings[k])
			q.shares[resource] = share
		}
		if len(q.children) > 0 {
			d.deeper = append(d.deeper, deeper{siblings[k], share.FairShare != was.FairShare || d.touched == nil})
		}
	}
	for i := from; i < len(d.deeper); i++ {
		d.divideBelow(d.deeper[i].queue, resource, d.deeper[i].moved)
	}
	d.deeper = d.deeper[:from]
}
