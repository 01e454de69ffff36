package search

import (
	"math"

	"github.com/cedesched/cede/internal/base/heap"
	"github.com/cedesched/cede/internal/engine/cluster"
)

// The tournament says whose turn it is: from the root down, the child with the largest
// share, until that is a queue. Children that borrow nothing are out, but for those on
// the way to the preemptor's queue, and so are those without candidates. Of equal
// shares a cohort comes before a queue; of queues, the one with the better next
// candidate (evicted already, of another queue, then as in a phase of candidates); of
// cohorts, the one with the better first workload before anything was taken, then the
// one with the lesser name. (Kueue takes, of cohorts, the last in the order of a map.)

// bracket is the children of one cohort, as a heap.
type bracket struct {
	level int // index of the deepest level whose cohort is at or above this one
	side  int // child of that level's cohort at or above this one; -1 for the level's own
	heap  []contender
}

// contender is a queue or a cohort in a bracket.
type contender struct {
	node    int
	at      int32 // once open: of its lineup or bracket; -1 for a queue without candidates
	onPath  bool  // it holds, or is, the preemptor's queue
	open    bool
	borrows bool
	// Of its share:
	ratio, weighted float64
}

// startTournament begins at the root; a second chance is among those refused.
func (s *Searcher) startTournament(secondChance bool) {
	s.secondChance = secondChance
	s.streams, s.lineups, s.brackets = s.streams[:0], s.lineups[:0], s.brackets[:0]
	if len(s.levels) > 0 {
		s.openBracket(s.levels[len(s.levels)-1].cohort, len(s.levels)-1, -1)
		return
	}
	s.brackets = grown(s.brackets)
	b := &s.brackets[0]
	*b = bracket{heap: append(b.heap[:0], s.contender(s.request.Queue, true)), side: -1}
}

func (s *Searcher) contender(node int, onPath bool) contender {
	c := contender{node: node, onPath: onPath}
	c.set(s.view.Share(node))
	return c
}

func (c *contender) set(of share) {
	c.borrows, c.ratio, c.weighted = of.Borrows, of.Ratio, of.Weighted()
}

// openBracket makes the bracket of a cohort and returns its index.
func (s *Searcher) openBracket(cohort, level, side int) int32 {
	n := len(s.brackets)
	s.brackets = grown(s.brackets)
	list := s.brackets[n].heap[:0]
	except := -1
	if side < 0 {
		except = s.levels[level].except
		list = append(list, s.contender(except, true))
	}
	s.seen.next(s.view.Tree.Len())
	p, reach := s.permission(hierarchical, true), s.cluster.Reach(cohort)
	for lane := range cluster.Lanes {
		if !reach.Has(lane) {
			continue
		}
		var cursor cluster.HeadCursor
		// Where they end is sought, as to look at each workload costs more than the rest.
		cursor.Seek(reach.Heads, func(h cluster.Head) bool { return h.Lane < lane || h.Lane == lane && p.permits(h.Workload) })
		end, _ := cursor.Item()
		for cluster.SeekLane(&cursor, reach.Heads, lane); ; cursor.Next() {
			h, ok := cursor.Item()
			if !ok || h == end {
				break
			}
			if node := int(h.Node); node != except && s.seen.add(node) {
				if of := s.view.Share(node); of.Borrows {
					list = append(list, contender{node: node, borrows: true, ratio: of.Ratio, weighted: of.Weighted()})
				}
			}
		}
	}
	s.brackets[n] = bracket{level, side, list}
	heap.Init(list, func(x, y *contender) bool { return s.earlier(n, x, y) })
	return int32(n)
}

// turn finds the queue whose turn it is, and keeps the way to it. It returns false
// when nobody is left.
func (s *Searcher) turn() bool {
	s.way = append(s.way[:0], 0)
	for {
		b := int(s.way[len(s.way)-1])
		if len(s.brackets[b].heap) == 0 {
			if len(s.way) == 1 {
				return false
			}
			s.way = s.way[:len(s.way)-1]
			s.drop(int(s.way[len(s.way)-1]))
			continue
		}
		top := s.brackets[b].heap[0]
		if !top.onPath && !top.borrows {
			s.drop(b)
			continue
		}
		at := s.opened(b, &s.brackets[b].heap[0])
		switch {
		case s.cluster.IsQueue(top.node) && at >= 0:
			return true
		case at < 0:
			s.drop(b)
		default:
			s.way = append(s.way, at)
		}
	}
}

// opened opens a contender, if that has not been done, and returns where it is.
func (s *Searcher) opened(b int, c *contender) int32 {
	level, side := s.brackets[b].level, s.brackets[b].side
	if c.open {
		return c.at
	}
	c.open = true
	if side < 0 {
		if c.onPath {
			level-- // the next level's cohort, or the own queue
		} else {
			side = c.node
		}
	}
	if s.cluster.IsQueue(c.node) {
		c.at = s.openLineup(c.node, level, side)
	} else {
		c.at = s.openBracket(c.node, level, side)
	}
	return c.at
}

// current is the lineup of the queue whose turn it is.
func (s *Searcher) current() *lineup {
	return &s.lineups[s.brackets[s.way[len(s.way)-1]].heap[0].at]
}

// settleTurn brings the shares on the way up to date and drops a queue that has no
// candidates left.
func (s *Searcher) settleTurn() {
	for i := len(s.way) - 1; i >= 0; i-- {
		b := int(s.way[i])
		top := &s.brackets[b].heap[0]
		top.set(s.view.Share(top.node))
		if i == len(s.way)-1 && !s.lineups[top.at].left() {
			s.drop(b)
		} else {
			s.sink(b, 0)
		}
	}
}

// drop takes the first contender of a bracket out.
func (s *Searcher) drop(b int) {
	s.brackets[b].heap = heap.Drop(s.brackets[b].heap, func(x, y *contender) bool { return s.earlier(b, x, y) })
}

// sink brings a contender whose share has become smaller to its place.
func (s *Searcher) sink(b, i int) {
	heap.Fix(s.brackets[b].heap, i, func(x, y *contender) bool { return s.earlier(b, x, y) })
}

// earlier is the order of two contenders of a bracket.
func (s *Searcher) earlier(b int, x, y *contender) bool {
	return x.weighted > y.weighted || x.weighted == y.weighted && s.earlierOfEqual(b, x, y)
}

// earlierOfEqual is the order of two contenders of the same weighted share.
func (s *Searcher) earlierOfEqual(b int, x, y *contender) bool {
	if math.IsInf(x.weighted, 1) && x.ratio != y.ratio { // see quota.Share.Compare
		return x.ratio > y.ratio
	}
	xQueue, yQueue := s.cluster.IsQueue(x.node), s.cluster.IsQueue(y.node)
	switch {
	case xQueue != yQueue:
		return yQueue
	case xQueue:
		return s.earlierQueue(s.opened(b, x), s.opened(b, y))
	}
	return s.earlierCohort(x.node, y.node)
}

// earlierQueue compares two lineups by their next candidates.
func (s *Searcher) earlierQueue(i, j int32) bool {
	if i < 0 || j < 0 {
		return i >= 0 && j < 0
	}
	x, y := &s.lineups[i], &s.lineups[j]
	if !x.left() || !y.left() {
		return x.left() && !y.left()
	}
	a, aEvicted := s.headItem(x)
	b, bEvicted := s.headItem(y)
	switch {
	case aEvicted != bEvicted:
		return aEvicted
	case (x.donor.class == own) != (y.donor.class == own):
		return y.donor.class == own
	}
	return before(&a, &b)
}

// earlierCohort compares two cohorts by the first workloads that the cluster has under
// them; numbers of cohorts are in the order of names.
func (s *Searcher) earlierCohort(x, y int) bool {
	a := s.firstWhole(func(lane cluster.Lane) *cluster.Workload { return s.cluster.Head(x, lane) })
	b := s.firstWhole(func(lane cluster.Lane) *cluster.Workload { return s.cluster.Head(y, lane) })
	switch {
	case a == nil || b == nil:
		if a == nil && b == nil {
			return x < y
		}
		return a != nil
	case a.Facts.Evicted != b.Facts.Evicted:
		return a.Facts.Evicted
	}
	i, j := s.itemOf(a, false, 0), s.itemOf(b, false, 0)
	return before(&i, &j)
}

// marks is a set of nodes that is emptied in one step.
type marks struct {
	epochs []uint32
	epoch  uint32
}

func (m *marks) next(nodes int) {
	if nodes > len(m.epochs) {
		m.epochs, m.epoch = make([]uint32, nodes), 0
	}
	if m.epoch++; m.epoch == 0 {
		clear(m.epochs)
		m.epoch = 1
	}
}

// add adds a node; it returns false when it is there already.
func (m *marks) add(node int) bool {
	if m.has(node) {
		return false
	}
	m.epochs[node] = m.epoch
	return true
}

func (m *marks) has(node int) bool { return m.epochs[node] == m.epoch }
