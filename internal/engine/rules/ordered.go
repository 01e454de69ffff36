package rules

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/rules"
)

// ordered walks workloads in an order of the configuration's own: those of each queue are sorted,
// and a heap has the queues by their next workloads. Keys of shares change when somebody is taken.
// Most of these are the same for a whole queue, so that only the heap changes.
type ordered struct {
	by    []rules.Ordering
	moves bool // some key is of shares
	sorts bool // one of these differs inside a queue
	list  []keyed
	// values holds the keys of each workload and of each queue, one for each of by.
	values []value
	queues []group // a heap
	last   *donor  // of the last one given
}

// keyed is a workload with its keys: values[at:].
type keyed struct {
	*cluster.Workload
	at int
}

// group is the workloads of a queue that are left: list[next:end]. Its own keys, values[at:], are
// those of shares.
type group struct {
	*donor
	next, end, at int
}

// value is the value of a key; one of the two is zero, except for a share.
type value struct {
	whole int64
	part  float64
}

func (v value) compare(w value) int {
	return cmp.Or(cmp.Compare(v.whole, w.whole), cmp.Compare(v.part, w.part))
}

func (o *ordered) begin(by []rules.Ordering) {
	o.by = by
	o.moves = slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key.OfShares() })
	o.sorts = slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key == rules.ByFinalShare })
}

// open begins a phase: all that are being evicted in the first, all others in the third.
func (o *ordered) open(t *Taker, s *search.Search, donors []donor, phase int) {
	o.list, o.values, o.queues = o.list[:0], o.values[:0], o.queues[:0]
	if phases[phase].own {
		return
	}
	for i := range donors {
		node := donors[i].node
		g := group{donor: &donors[i], next: len(o.list)}
		for _, lane := range phases[phase].lanes {
			var cursor cluster.LaneCursor
			for cursor.First(*s.Cluster.Running(node).Lane(lane)); ; cursor.Next() {
				w, ok := cursor.Item()
				if !ok || w.Priority > g.Most {
					break
				}
				o.list = append(o.list, keyed{w, len(o.values)})
				for _, key := range o.by {
					o.values = append(o.values, keyOf(s, w, node, key.Key))
				}
			}
		}
		if g.end = len(o.list); g.end > g.next {
			g.at = len(o.values)
			o.values = append(o.values, make([]value, len(o.by))...)
			o.queues = append(o.queues, g)
		}
	}
	o.change(t, s)
	if !o.sorts {
		for i := range o.queues {
			o.sort(&o.queues[i])
		}
		heap.Init(o.queues, o.earlier)
	}
}

// change puts everybody in order by the shares as they are now.
func (o *ordered) change(t *Taker, s *search.Search) {
	if !o.moves {
		return
	}
	for i := range o.queues {
		g := &o.queues[i]
		for k, key := range o.by {
			switch key.Key {
			case rules.ByQueueShare:
				o.values[g.at+k] = shareOf(t, s, g.node)
			case rules.ByInitialShare:
				v := victim(s, o.list[g.next].Workload, g.node)
				o.values[g.at+k] = value{whole: oneIf(t.quotaOf(s, &v).Meets(rules.DRSLessThanInitialShare))}
			case rules.ByFinalShare:
				for _, e := range o.list[g.next:g.end] {
					v := victim(s, e.Workload, g.node)
					o.values[e.at+k] = value{whole: oneIf(t.quotaOf(s, &v).Meets(rules.DRSLessThanOrEqualToFinalShare))}
				}
			}
		}
		if o.sorts {
			o.sort(g)
		}
	}
	heap.Init(o.queues, o.earlier)
}

// next returns the next workload and the node of its queue.
func (o *ordered) next() (w *cluster.Workload, node int, ok bool) {
	if len(o.queues) == 0 {
		return nil, -1, false
	}
	g := &o.queues[0]
	w, node, o.last = o.list[g.next].Workload, g.node, g.donor
	if g.next++; g.next < g.end {
		heap.Fix(o.queues, 0, o.earlier)
	} else {
		o.queues = heap.Drop(o.queues, o.earlier)
	}
	return w, node, true
}

// close ends the queue of the last one.
func (o *ordered) close() {
	if i := slices.IndexFunc(o.queues, func(g group) bool { return g.donor == o.last }); i >= 0 {
		o.queues = slices.Delete(o.queues, i, i+1)
		heap.Init(o.queues, o.earlier)
	}
}

func (o *ordered) sort(g *group) {
	slices.SortFunc(o.list[g.next:g.end], func(a, b keyed) int {
		return cmp.Or(o.compare(o.values[a.at:], o.values[b.at:]), cluster.CompareIDs(a.Workload, b.Workload))
	})
}

// earlier compares two queues by their next workloads.
func (o *ordered) earlier(a, b *group) bool {
	v, w := &o.list[a.next], &o.list[b.next]
	for i, key := range o.by {
		x, y := o.values[v.at+i], o.values[w.at+i]
		if key.Key == rules.ByQueueShare || key.Key == rules.ByInitialShare {
			x, y = o.values[a.at+i], o.values[b.at+i]
		}
		if order := directed(key, x, y); order != 0 {
			return order < 0
		}
	}
	return cluster.CompareIDs(v.Workload, w.Workload) < 0
}

func (o *ordered) compare(a, b []value) int {
	for i, key := range o.by {
		if order := directed(key, a[i], b[i]); order != 0 {
			return order
		}
	}
	return 0
}

func directed(key rules.Ordering, x, y value) int {
	if key.Direction == rules.Descending {
		x, y = y, x
	}
	return x.compare(y)
}

// release drops the references to the cluster.
func (o *ordered) release() {
	clear(o.list[:cap(o.list)])
	o.list, o.queues, o.by, o.last = o.list[:0], o.queues[:0], nil, nil
}

// shareOf returns the share of a queue as a key: as [quota.Share.Compare] orders them.
func shareOf(t *Taker, s *search.Search, node int) value {
	if lowestAbove(s.Cluster, node, s.Request.Queue) < 0 && node != s.Request.Queue {
		return value{}
	}
	of := t.shares.of(s, node)
	if of.Weight == 0 && of.Ratio > 0 {
		return value{1, of.Ratio}
	}
	return value{0, of.Weighted()}
}

func oneIf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// keyOf returns the value of a key that does not change.
func keyOf(s *search.Search, w *cluster.Workload, node int, key rules.OrderingKey) value {
	switch key {
	case rules.ByPriority:
		return value{whole: w.Priority}
	case rules.ByAdmission:
		return value{whole: int64(instant.Rank(w.Reserved) ^ 1<<63)}
	case rules.ByOtherQueue:
		return value{whole: oneIf(node != s.Request.Queue)}
	case rules.ByOtherCohort:
		parent := s.Cluster.Tree.Parent(node)
		return value{whole: oneIf(node != s.Request.Queue && (parent < 0 || parent != s.Cluster.Tree.Parent(s.Request.Queue)))}
	case rules.ByLocalQueue:
		return value{part: s.Request.LocalQueueUsage[w.Facts.LocalQueue()]}
	case rules.ByCost:
		if s.Request.Cost != nil {
			return value{whole: s.Request.Cost(w, -1)}
		}
	}
	return value{}
}

// usable returns an order without what is wrong with it: the configuration may have unknown keys, and
// some twice.
func usable(list []rules.Ordering) (by []rules.Ordering) {
	for _, o := range list {
		if slices.Contains(rules.OrderingKeys(), o.Key) && !slices.ContainsFunc(by, func(b rules.Ordering) bool { return b.Key == o.Key }) {
			by = append(by, o)
		}
	}
	return by
}
