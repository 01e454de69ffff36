package nodes

// A single pod has every node as a domain. Most nodes are refused or beaten by the sums that
// they keep by priority; what runs on them is looked at only on the others.

// isAlone reports whether a single pod is placed by the built-in rules.
func (s *Searcher) isAlone() bool { return s.r.Group == "" && s.r.Placer == nil }

// hasRoomAbove reports whether by its sums a node has room for a member with those needs
// beside the pods of a level and of all higher ones.
func (s *Searcher) hasRoomAbove(n *node, level int, needs []int64) bool {
	above := n.above[level*n.width():]
	for slot, need := range needs {
		if need == 0 {
			continue
		}
		column := int(s.columns[slot])
		if column < 0 || column >= n.width() || need > n.capacity[column]-above[column] {
			return false
		}
	}
	return true
}

// outlook is what the sums of a node say about preempting there.
type outlook struct {
	known    bool
	hopeless bool  // there is no room even without all units of lower priority
	anyLower bool  // some unit is of lower priority
	score    score // if not hopeless: no victims there have a better one
}

// look returns what the sums of a node say. They say nothing about a node on which pods
// terminate, or where the pod may fit beside all that run.
//
// The bounds of the score: some unit of the highest level above which there is room beside
// the rest must yield. Each victim frees at most what the largest pod uses. None of that level
// started later than the latest of its pods, and the unit of a pod started no later than the
// pod.
func (s *Searcher) look(n *node) (o outlook) {
	lower, needs := n.levelsUpTo(s.everybody()), s.members[0].needs
	if o.anyLower = lower > 0; n.leaves {
		return o
	}
	if !s.hasRoomAbove(n, lower, needs) {
		o.known, o.hopeless = true, true
		return o
	}
	gone := 0 // so many levels
	for gone < lower && !s.hasRoomAbove(n, gone, needs) {
		gone++
	}
	if gone == 0 {
		return o
	}
	victims := s.pods(n, s.missingOn(n))
	top, bottom := n.levels[gone-1], n.levels[0]
	o.known = true
	o.score = score{highest: top.priority, pods: int(victims), started: top.latest}
	o.score.sum = int64(top.priority) + 1<<31 + (victims-1)*(int64(bottom.priority)+1<<31)
	return o
}

// beaten reports whether preempting in a domain cannot be better than the best so far.
func (s *Searcher) beaten(d span, best *Placement) bool {
	if s.r.MaxDomains > 0 || d.size() != 1 {
		return false
	}
	n, clean := s.nodes[d.from], best.score.violations == 0
	traced := s.r.Trace != nil && !s.config.Exact // the exact search looks at so many nodes in any case
	if s.r.Group != "" || traced || n.leaves {
		return clean && s.leastHighest(d) > int64(best.score.highest)
	}
	if clean && !s.hasRoomAbove(n, n.levelsUpTo(int64(best.score.highest)), s.members[0].needs) {
		return true // somebody of a higher priority would have to yield
	}
	o := s.look(n)
	switch {
	case !o.known:
		return false
	case o.hopeless || o.score.compare(best.score) >= 0:
		return true
	}
	bound, ok := s.boundByPods(n, best.score)
	return !ok || bound.compare(best.score) >= 0
}

// refused returns the verdict about a domain where by its sums there is no room; ok is false
// if they do not say. With rules that protect units, a look at these decides why there is
// none.
func (s *Searcher) refused(d span) (v verdict, ok bool) {
	if s.r.Group != "" || s.r.Trace != nil {
		return 0, false
	}
	o := s.look(s.nodes[d.from])
	switch {
	case !o.hopeless || o.anyLower && s.anyRules():
		return 0, false
	case o.anyLower:
		return noRoom, true
	}
	return noVictims, true
}

// findNode is findRoom for a single pod: it looks only at nodes that are not full.
func (s *Searcher) findNode(now bool) (span, bool) {
	d, one := s.ranges[0], &s.members[0]
	s.open(nobody, now)
	at, tightest, least := int32(-1), int32(-1), uint64(tooSmall)
	if one.promise >= 0 && s.local[one.promise] >= 0 {
		i := s.local[one.promise]
		if s.fits(d, one, int(i)) {
			at = i
		}
	}
	for i := d.from; i < d.to && at < 0; i++ {
		switch {
		case s.config.Order == BestFit:
			if left := s.tightness(d, one, i); left < least {
				tightest, least = int32(i), left
			}
		case s.fits(d, one, i):
			at = int32(i)
		}
	}
	if at < 0 {
		at = tightest
	}
	if at < 0 {
		return span{}, false
	}
	s.put(0, at)
	return d, true
}
