package nodes

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/quota"
)

// buildRoom collects the nodes, domain by domain.
func (s *Searcher) buildRoom() {
	c := s.c
	s.local = resize(s.local, c.nodes.Len())
	for i := range s.local {
		s.local[i] = -1
	}
	rank := s.rankNodes()
	s.nodes, s.ranges = s.nodes[:0], s.ranges[:0]
	add := func(name string, numbers []int32) {
		if rank != nil {
			slices.SortFunc(numbers, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
		}
		from := len(s.nodes)
		for _, number := range numbers {
			if n := c.nodes.At(int(number)); !n.Facts.Unschedulable {
				s.local[number] = int32(len(s.nodes))
				s.nodes = append(s.nodes, n)
			}
		}
		s.ranges = append(s.ranges, span{name, from, len(s.nodes)})
	}
	if len(s.r.Domains) == 0 {
		everything := c.order
		if rank != nil {
			everything = slices.Clone(everything)
		}
		add("", everything)
	}
	for _, d := range s.r.Domains {
		numbers := make([]int32, len(d.Nodes))
		for i, name := range d.Nodes {
			numbers[i] = int32(c.nodeNumber(name))
		}
		add(d.Name, numbers)
	}
	n, width := len(s.nodes), len(s.slots)
	s.capacity, s.fixed, s.leaving = resize(s.capacity, n*width), resize(s.fixed, n*width), resize(s.leaving, n*width)
	s.free, s.asked, s.count = resize(s.free, n*width), resize(s.asked, n*width), resize(s.count, n)
	s.isFree = resize(s.isFree, n)
	clear(s.isFree)
	clear(s.asked)
	clear(s.count)
	s.used, s.trials.order, s.trials.stale = s.used[:0], s.trials.order[:0], true
	s.rowFrom, s.rowTo, s.isLoaded = resize(s.rowFrom, n), resize(s.rowTo, n), resize(s.isLoaded, n)
	clear(s.isLoaded)
	s.rows, s.gone = s.rows[:0], s.gone[:0]
	s.rowLevel, s.rowPods = s.rowLevel[:0], s.rowPods[:0]
	s.anyLeaving, s.anyStuck = false, s.asBuilt && s.r.TerminationTimeout > 0
	for i, node := range s.nodes {
		if node.leaves { // most others are never looked at
			s.load(i)
		}
	}
	if s.wide && !s.asBuilt && !s.anyLeaving { // a terminating pod on any node may be in conflict
		for p := range c.pods.All {
			if s.anyLeaving = p.Facts.Terminating && !s.stuck(p); s.anyLeaving {
				break
			}
		}
	}
}

// rankNodes returns the order in which nodes are tried, by number; nil: by name.
func (s *Searcher) rankNodes() []int32 {
	if len(s.r.Prefer)+len(s.r.Domains) == 0 {
		return nil
	}
	s.rank = resize(s.rank, s.c.nodes.Len())
	for i, number := range s.c.order {
		s.rank[number] = int32(len(s.r.Prefer) + i)
	}
	for i, name := range s.r.Prefer {
		s.rank[s.c.nodeNumber(name)] = int32(i)
	}
	return s.rank
}

// load adds up what runs on a node, once for each search.
func (s *Searcher) load(i int) {
	if !s.isLoaded[i] {
		s.isLoaded[i], s.rowFrom[i] = true, int32(len(s.rows))
		s.addNode(i, s.nodes[i])
		s.rowTo[i] = int32(len(s.rows))
	}
}

// rowsOf returns the range of the rows of a node.
func (s *Searcher) rowsOf(i int) (from, to int) {
	s.load(i)
	return int(s.rowFrom[i]), int(s.rowTo[i])
}

func (s *Searcher) addNode(i int, n *node) {
	width := len(s.slots)
	capacity, fixed, leaving := s.capacity[i*width:][:width], s.fixed[i*width:][:width], s.leaving[i*width:][:width]
	clear(fixed)
	clear(leaving)
	for slot, column := range s.columns {
		capacity[slot] = 0
		if column >= 0 && int(column) < n.width() {
			capacity[slot] = n.capacity[column]
		}
	}
	someLeave := false
	for at, l := range n.levels {
		into := fixed
		switch {
		case l.leaving && !s.asBuilt:
			into, someLeave = leaving, true
		case l.priority < s.priority:
			start := len(s.gone)
			s.rows = append(s.rows, l.class)
			level, _ := slices.BinarySearch(s.levels, l.priority)
			s.rowLevel, s.rowPods = append(s.rowLevel, int32(level)), append(s.rowPods, l.pods)
			for range width {
				s.gone = append(s.gone, 0)
			}
			into = s.gone[start:]
		}
		for slot, column := range s.columns {
			if column >= 0 && int(column) < n.width() {
				into[slot] += n.used(at, column)
			}
		}
	}
	if someLeave {
		s.fixStuck(n, fixed, leaving)
	}
	for _, p := range n.nominated {
		if !s.isAhead(p) {
			continue
		}
		for _, a := range p.takes {
			if slot := s.slotOf[a.column]; slot >= 0 {
				fixed[slot] = quota.Add(fixed[slot], a.value)
			}
		}
	}
}

// fixStuck counts pods of a node that terminate and are not waited for as running.
func (s *Searcher) fixStuck(n *node, fixed, leaving []int64) {
	for _, p := range n.pods {
		switch {
		case !p.Facts.Terminating:
		case !s.stuck(p):
			s.anyLeaving = true
		default:
			for _, a := range p.takes {
				if slot := s.slotOf[a.column]; slot >= 0 {
					fixed[slot] += a.value
					leaving[slot] -= a.value
				}
			}
		}
	}
}

// stuck reports whether a terminating pod counts as running: it terminates for longer than the timeout, or,
// in the design, without having been preempted and with a priority to which none is preempted. (KEP-5710, Delayed preemption:
// the triggered preemptions are waited for.)
func (s *Searcher) stuck(p *Pod) bool {
	if !s.asBuilt && p.Facts.Terminating && !p.Facts.Preempted && p.priority >= s.priority {
		return true
	}
	since, timeout := p.Facts.TerminatingSince, s.r.TerminationTimeout
	return timeout > 0 && p.Facts.Terminating && !since.IsZero() && s.r.Now.Sub(since) >= timeout
}

// isAhead reports whether the nomination of a waiting pod holds against the preemptor.
func (s *Searcher) isAhead(p *Pod) bool { return p.priority >= s.priority && !s.isMember(p.Facts.ID) }

func (s *Searcher) isMember(id string) bool {
	return s.promised && slices.ContainsFunc(s.members, func(m member) bool { return m.Facts.ID == id })
}

func resize[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}
