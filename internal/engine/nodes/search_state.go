package nodes

import "math"

// span is a domain: the nodes [from, to) of a search.
type span struct {
	name     string
	from, to int
}

func (d span) size() int { return d.to - d.from }

// Searcher is the working memory of one decision. Nodes are numbered by domain; amounts are
// in rows with one slot for each resource of the request.
type Searcher struct {
	config   *Config
	wide     bool
	c        *Cluster
	r        *Request
	priority int32
	time     int64 // of the decision
	asBuilt  bool  // terminating pods count as running
	atLeast  int   // the least number of pods that must have a place
	members  []member
	promised bool // some member is nominated

	slots   []string // resources
	columns []int32  // of the snapshot by slot; -1: none
	slotOf  []int32  // by column; -1: none
	nodes   []*node
	ranges  []span
	local   []int32 // by number of the snapshot's node; -1: none
	rank    []int32 // by the same number: the order in which nodes are tried
	levels  []int32 // priorities of running pods below the preemptor's, rising
	search  []int32 // the levels that the binary search in a domain is over
	marks   []bool  // by level

	// What runs, by node and slot.
	capacity, fixed []int64         // fixed stays at every floor
	leaving         []int64         // terminating
	isLoaded        []bool          // by node: the other fields are known
	rowFrom, rowTo  []int32         // of node i: rows [rowFrom[i], rowTo[i])
	rows            []class         // of lower priority
	rowLevel        []int32         // index in levels by row
	rowPods         []int32         // pods by row, without those of units that stay
	gone            []int64         // a row for each of rows
	anyLeaving      bool            // some pod is waited for
	anyStuck        bool            // as built: some pod may terminate for longer than the timeout
	least           []int64         // by slot: what the least number of members needs at least
	smallest        []int64         // by slot: what the smallest member needs
	usable          []bool          // by node: some member may run there
	single          []span          // for a single pod: the nodes on which it may run
	short           []span          // domains without room
	guarded         map[*Unit]int64 // what the guard returned for a unit
	stays           map[*Unit]bool  // units counted in fixed instead of gone
	stayed          []*Unit         // the same, as a list
	elsewhere       elsewhere       // units that stay without a look at each
	recent          *group          // the last one looked up
	taken           map[*Pod]bool   // removed, of a Fit

	// The current placement.
	floor  int64 // units of this priority or lower are gone
	now    bool  // terminating pods count
	free   []int64
	isFree []int32 // by node: free is known in the placement with this number
	where  []int32 // by member: its node; -1: none
	count  []int32 // members by node
	asked  []bool  // by node and slot: a member there needs some
	used   []int32 // nodes with members
	tight  []uint64

	lacking  []int64 // by slot
	yielding []yielding

	trials trials // of rules about sets
	exact  *exact // of the exact search; nil: there was none

	// Counts of what a search costs, for tests: units put back with a check, placements
	// started, nodes on which a member was tried, units looked at, pods whose units stay
	// elsewhere on the nodes that were looked at.
	Checks, Opened, Tried, Looked, Elsewhere int

	placeable  int // the largest number of members that had a place in any domain
	enough     int // the number that must have one in the domain that was searched last
	victims    []*Unit
	list       []*Unit // the latest list of units
	violating  []*Unit
	left       []int64 // of a ledger
	violations map[*Unit]int
	compare    func(a, b *Unit) int
}

const (
	nobody = math.MinInt64 // as a floor: no unit is gone
)

// isStaying reports whether a unit of lower priority stays until the end.
func (s *Searcher) isStaying(u *Unit) bool { return s.stays[u] || s.staysElsewhere(u) }

// everybody is the floor at which all units of lower priority are gone.
func (s *Searcher) everybody() int64 { return int64(s.priority) - 1 }

// open starts a placement, with units up to the floor gone. If now is set, terminating pods
// count. What is free on a node is counted when it is asked for: most nodes are refused by
// their sums, or not looked at.
func (s *Searcher) open(floor int64, now bool) {
	s.floor, s.now = floor, now
	s.Opened++
	s.unplace()
}

// freeOn returns what is free on a node, by slot.
func (s *Searcher) freeOn(i int) []int64 {
	if s.isFree[i] != int32(s.Opened) {
		s.isFree[i] = int32(s.Opened)
		s.fill(i)
	}
	width := len(s.slots)
	return s.free[i*width:][:width]
}

// isFull reports whether by its sums a node has no room for a member. Nominations and units
// that stay are not in the sums: a node that is not full may have no room either.
func (s *Searcher) isFull(one *member, i int) bool {
	n, gone := s.nodes[i], 0
	if s.floor != nobody {
		gone = n.levelsUpTo(s.floor)
	}
	return (s.now || s.asBuilt || !n.leaves) && !s.hasRoomAbove(n, gone, one.needs)
}

// fill counts what is free on a node without members.
func (s *Searcher) fill(i int) {
	width := len(s.slots)
	s.fixElsewhere(i, s.floor)
	from, to := s.rowsOf(i)
	free := s.free[i*width:][:width]
	capacity, fixed := s.capacity[i*width:][:width], s.fixed[i*width:][:width]
	for slot := range free {
		free[slot] = capacity[slot] - fixed[slot]
	}
	if s.now {
		for slot, v := range s.leaving[i*width:][:width] {
			free[slot] -= v
		}
	}
	for at := to - 1; at >= from && int64(s.rows[at].priority) > s.floor; at-- {
		for slot, v := range s.gone[at*width:][:width] {
			free[slot] -= v
		}
	}
}

// unplace clears the trial placement; free is left as it is.
func (s *Searcher) unplace() {
	width := len(s.slots)
	for _, i := range s.used {
		s.count[i] = 0
		clear(s.asked[int(i)*width:][:width])
	}
	s.used, s.trials.order, s.trials.stale = s.used[:0], s.trials.order[:0], true
	for m := range s.where {
		s.where[m] = -1
	}
}

// stay makes a unit stay until the end: it counts as fixed, at every floor, on the nodes of
// all domains.
func (s *Searcher) stay(u *Unit) {
	s.stays[u] = true
	s.stayed = append(s.stayed, u)
	s.move(u, 1)
}

// unstay undoes the last stay.
func (s *Searcher) unstay() {
	last := len(s.stayed) - 1
	s.move(s.stayed[last], -1)
	delete(s.stays, s.stayed[last])
	s.stayed = s.stayed[:last]
}

// forget undoes all stays.
func (s *Searcher) forget() {
	s.unfixElsewhere()
	for len(s.stayed) > 0 {
		s.unstay()
	}
}

func (s *Searcher) move(u *Unit, sign int64) {
	for _, p := range u.Pods {
		if s.local[p.node] >= 0 {
			s.movePod(p, sign)
		}
	}
}

func (s *Searcher) movePod(p *Pod, sign int64) {
	i := int(s.local[p.node])
	s.shift(moved{i, s.rowOf(i, p.class()), p.takes}, sign)
}

// moved is what a pod takes, in a row of a node.
type moved struct {
	node, row int
	takes     []amount
}

// rowOf returns the row of a class on a node.
func (s *Searcher) rowOf(i int, c class) int {
	at, _ := s.rowsOf(i)
	for want := c.rank(); s.rows[at].rank() != want; {
		at++
	}
	return at
}

// shift counts what may yield as fixed, or the reverse.
func (s *Searcher) shift(m moved, sign int64) {
	width := len(s.slots)
	s.rowPods[m.row] -= int32(sign)
	for _, a := range m.takes {
		if slot := s.slotOf[a.column]; slot >= 0 {
			s.fixed[m.node*width+int(slot)] += sign * a.value
			s.gone[m.row*width+int(slot)] -= sign * a.value
		}
	}
}

// putBack puts a unit back where it runs and reports whether the members placed in the domain
// keep their room; if not, nothing changes. Only resources that a member requests are
// checked, as everywhere: a node may hold too much of others.
func (s *Searcher) putBack(d span, u *Unit) bool {
	s.Checks++
	width := len(s.slots)
	ok := s.filtersAllow(d, u)
	for at, p := range u.Pods {
		if !ok {
			return false
		}
		i := int(s.local[p.node])
		if i < d.from || i >= d.to {
			continue
		}
		free := s.freeOn(i)
		for _, a := range p.takes {
			if slot := s.slotOf[a.column]; slot >= 0 {
				free[slot] -= a.value
				ok = ok && (free[slot] >= 0 || !s.asked[i*width+int(slot)])
			}
		}
		if !ok {
			s.takeOut(d, u.Pods[:at+1])
		}
	}
	if ok && !s.trialsAllowBack(d, u) {
		s.takeOut(d, u.Pods)
		return false
	}
	return ok
}

func (s *Searcher) takeOut(d span, pods []*Pod) {
	width := len(s.slots)
	for _, p := range pods {
		if i := int(s.local[p.node]); i >= d.from && i < d.to {
			for _, a := range p.takes {
				if slot := s.slotOf[a.column]; slot >= 0 {
					s.free[i*width+int(slot)] += a.value
				}
			}
		}
	}
}

// touches reports whether the unit shares a node with a placed member.
func (s *Searcher) touches(d span, u *Unit) bool {
	for _, p := range u.Pods {
		if i := int(s.local[p.node]); i >= d.from && i < d.to && s.count[i] > 0 {
			return true
		}
	}
	return false
}

// isThere reports whether a running pod stays at the floor.
func (s *Searcher) isThere(p *Pod) bool {
	if s.stuck(p) {
		return true
	}
	if p.Facts.Terminating && !s.asBuilt {
		return s.now
	}
	if s.taken[p] {
		return false
	}
	return p.priority >= s.priority || int64(p.priority) > s.floor || s.isStaying(s.unitOf(p))
}

// unitOf returns the unit of a running pod. Pods of a group often come one after the other.
func (s *Searcher) unitOf(p *Pod) *Unit {
	if p.single == nil && (s.recent == nil || s.recent.Facts.ID != p.Facts.Group) {
		s.recent = s.c.group(p.Facts.Group)
	}
	return p.unitIn(s.recent, !s.asBuilt)
}

// isElsewhere reports whether a running pod belongs to a unit without a pod in the domain,
// which is no victim there.
func (s *Searcher) isElsewhere(d span, p *Pod) bool {
	u := s.unitOf(p)
	return u != nil && !s.within(d, u) && !s.taken[p]
}
