package nodes

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/trace"
)

// verdict is the result of a search in one domain.
type verdict uint8

const (
	noVictims  verdict = 1 + iota // no unit there may yield
	noRoom                        // too little room even without all units that may yield; s.placeable
	budgetsBar                    // only against a budget
	found                         // s.victims, s.where
)

// everyone accepts all units.
func everyone(*Unit) bool { return true }

// within reports whether a pod of the unit runs in the domain.
func (s *Searcher) within(d span, u *Unit) bool {
	for _, p := range u.Pods {
		if i := int(s.local[p.node]); i >= d.from && i < d.to {
			return true
		}
	}
	return false
}

// gather lists the units of the domain that may yield, most important first: accepted units
// with a pod on an accepted level. The list is valid until the next call.
func (s *Searcher) gather(d span, accept func(*Unit) bool, levels func(class) bool) []*Unit {
	list := s.list[:0]
	for i := d.from; i < d.to; i++ {
		if from, to := s.rowsOf(i); slices.ContainsFunc(s.rows[from:to], levels) {
			list = s.gatherNode(list, i, accept)
		}
	}
	s.list = list
	return s.distinct(list)
}

func (s *Searcher) gatherNode(list []*Unit, i int, accept func(*Unit) bool) []*Unit {
	n := s.nodes[i]
	for k, b := range n.briefs {
		if b.priority >= s.priority {
			continue
		}
		s.Looked++
		if u := s.unitOf(n.pods[k]); u != nil && accept(u) && !s.isStaying(u) {
			list = append(list, u)
		}
	}
	return list
}

// distinct sorts units by importance and removes duplicates.
func (s *Searcher) distinct(list []*Unit) []*Unit {
	slices.SortFunc(list, s.compare)
	return slices.Compact(list)
}

// run searches one domain: the steps in the comment of package placement.
func (s *Searcher) run(d span, rationed bool) verdict {
	s.forget()
	s.victims = s.victims[:0]
	if !s.anyVictims(d) {
		if s.r.Group != "" || s.r.SkipFit || s.r.Placer != nil { // otherwise the pod is known to have no room
			s.placeBeside(d)
		}
		return noVictims
	}
	if rationed {
		s.ration(d)
	}
	s.open(s.everybody(), false)
	enough := s.place(d)
	s.placeable, s.enough = max(s.placeable, enough), enough
	if s.config.Mode == Design {
		s.enough = s.atLeast
	}
	if t := s.r.Trace; t != nil {
		t.Add(trace.Step{Kind: trace.Placed, Count: int64(enough), Amount: int64(s.atLeast), Fits: enough >= s.atLeast})
	}
	if enough < s.atLeast {
		return noRoom
	}
	var violating []*Unit
	if s.mayStayElsewhere(d) {
		violating = s.splitNear(d)
	} else {
		violating = s.split(d)
	}
	if t := s.r.Trace; t != nil {
		s.traceOverBudget(t, violating)
	}
	if s.config.Mode == Replace {
		s.replace(d, enough, violating)
		return found
	}
	s.victims = s.reprieve(s.victims[:0], d, violating, true)
	if s.config.Mode == Design && !s.skipsLower(d) {
		s.lower(d, s.enough)
	}
	s.victims = s.reprieve(s.victims[:0], d, s.around(d), false)
	return found
}

// skipsLower reports whether the lowest floor is not looked for. For one pod on one node it changes nothing:
// units come back in order of importance. But under rules about sets one that is back may permit another. With
// the caller's own order of importance that order decides.
func (s *Searcher) skipsLower(d span) bool {
	return d.size() == 1 && len(s.members) == 1 && (!s.r.hasTrials() || s.r.Importance != nil)
}

// placeBeside counts the members that have a place beside all running pods.
func (s *Searcher) placeBeside(d span) {
	if s.isAlone() && d.size() > 1 {
		if _, ok := s.findNode(false); ok {
			s.placeable = 1
		}
		return
	}
	s.open(nobody, false)
	s.placeable = max(s.placeable, s.place(d))
}

// anyVictims makes protected units, and units told to stop long ago, stay until the end, and
// reports whether any unit may yield.
func (s *Searcher) anyVictims(d span) bool {
	if !s.anyRules() {
		for i := d.from; i < d.to; i++ {
			if from, to := s.rowsOf(i); from < to {
				return true
			}
		}
		return false
	}
	any := false
	for _, u := range s.gather(d, everyone, func(class) bool { return true }) {
		if s.anyStuck && slices.ContainsFunc(u.Pods, s.stuck) || s.protected(u) {
			if t := s.r.Trace; t != nil {
				s.traceKept(t, u)
			}
			s.stay(u)
		} else {
			any = true
		}
	}
	return any
}

// reprieve puts units back in order, each where it runs, and appends the units that cannot be
// put back. With forGood they stay in every later placement. A unit that shares no node with
// the placed members is put back without a check.
func (s *Searcher) reprieve(victims []*Unit, d span, units []*Unit, forGood bool) []*Unit {
	for _, u := range units {
		switch {
		case !s.wide && !s.touches(d, u):
			if forGood && s.config.Mode == Design { // in place nobody looks there again
				s.stay(u)
			}
			if t := s.r.Trace; t != nil {
				t.Add(stepOf(trace.PutBack, u, trace.Elsewhere))
			}
		case !s.putBack(d, u):
			victims = append(victims, u)
			if t := s.r.Trace; t != nil {
				t.Add(stepOf(trace.Kept, u, trace.DoesNotFit))
			}
		default:
			if forGood {
				s.stay(u)
			}
			if t := s.r.Trace; t != nil {
				t.Add(stepOf(trace.PutBack, u, 0))
			}
		}
	}
	return victims
}

// around lists the units that may yield at the floor on nodes with placed members: all others
// are put back without a check.
func (s *Searcher) around(d span) []*Unit {
	list := s.list[:0]
	low := func(u *Unit) bool { return int64(u.Priority) <= s.floor }
	if s.wide { // a conflict may be with any unit
		return s.gather(d, low, func(class) bool { return true })
	}
	for _, i := range s.used {
		list = s.gatherNode(list, int(i), low)
	}
	s.list = list
	return s.distinct(list)
}

// lower finds by binary search the lowest floor at which enough members have a place, and
// leaves that placement.
func (s *Searcher) lower(d span, enough int) {
	// At index i the units of the lowest i priorities are gone.
	first := slices.Clone(s.where)
	s.listLevels(d)
	low, high := 0, len(s.search)
	for low < high {
		middle := int(uint(low+high) >> 1)
		s.open(s.floorAt(middle), false)
		placed := s.place(d)
		if t := s.r.Trace; t != nil {
			t.Add(trace.Step{Kind: trace.Floor, Priority: s.floorAt(middle), Count: int64(placed), Fits: placed >= enough})
		}
		if placed >= enough {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if s.open(s.floorAt(high), false); s.place(d) >= enough {
		return
	}
	// With some units in place the nodes are filled in another way, and too few members fit: the
	// first placement, with all units gone, is used.
	s.open(s.everybody(), false)
	for m, at := range first {
		if at >= 0 {
			s.put(m, at)
		}
	}
}

func (s *Searcher) floorAt(index int) int64 {
	if index == 0 {
		return nobody
	}
	return int64(s.search[index-1])
}

// listLevels lists the priorities of the units of the domain that may still yield.
// (Priorities of other units would not change which is the lowest that suffices, but they
// would change which are tried, and so the answer: less room may happen to be filled better.)
func (s *Searcher) listLevels(d span) {
	s.marks = resize(s.marks, len(s.levels))
	clear(s.marks)
	left := len(s.levels)
	for i := d.from; i < d.to && left > 0; i++ {
		from, to := s.rowsOf(i)
		for at := from; at < to; at++ {
			if level := s.rowLevel[at]; !s.marks[level] {
				if s.fixElsewhere(i, int64(s.rows[at].priority)); s.rowPods[at] > 0 {
					s.marks[level] = true
					left--
				}
			}
		}
	}
	s.search = s.search[:0]
	for i, priority := range s.levels {
		if s.marks[i] {
			s.search = append(s.search, priority)
		}
	}
}

// replace puts units back as built in v1.36: for every unit all members are placed again.
func (s *Searcher) replace(d span, enough int, violating []*Unit) {
	others := s.gather(d, func(u *Unit) bool { return s.violations[u] == 0 }, func(class) bool { return true })
	// Less room on an unused node moves no member, except with best fit or with filters.
	blind := s.config.Order != BestFit && !s.r.filtered()
	for _, u := range slices.Concat(violating, others) {
		if blind && !s.touches(d, u) {
			s.putBack(d, u)
			s.stay(u)
			if t := s.r.Trace; t != nil {
				t.Add(stepOf(trace.PutBack, u, trace.Elsewhere))
			}
			continue
		}
		s.stay(u)
		s.open(s.everybody(), false)
		n := s.place(d)
		if t := s.r.Trace; t != nil {
			t.Add(replaced(u, n >= enough))
		}
		if n >= enough {
			enough = n
			continue
		}
		s.victims = append(s.victims, u)
		s.unstay()
		s.open(s.everybody(), false)
		s.place(d)
	}
}
