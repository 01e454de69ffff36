package search

// lineup is the candidates of one queue in order, for the tournament: its phases one
// after the other, in each the lanes merged.
type lineup struct {
	donor donor
	level int // index of the level of the common cohort
	side  int // child of the common cohort on this queue's side
	phase int // of lineupPhases
	items [4]item
	n     int
	// retry is, in the second round, the only candidate.
	retry *Victim
	// bySize is, with the largest first, the candidates of another queue.
	bySize []Victim
	// secondUsed: a candidate was taken by the second strategy, with the largest first.
	secondUsed bool
}

// lineupPhases is the order of a queue's candidates: those evicted already come first;
// equals are of the own queue only.
var lineupPhases = [...]phase{
	{evictedLanes, own, everybody},
	{evictedLanes, own, expiredEquals},
	{evictedLanes, own, newerEquals},
	{activeLanes, own, everybody},
	{activeLanes, own, expiredEquals},
	{activeLanes, own, newerEquals},
}

// openLineup makes a lineup of a queue and returns its index; -1 when it has no
// candidates. side is the child of the level's cohort that the queue is at or under.
func (s *Searcher) openLineup(q, level, side int) int32 {
	d, ok := s.ownDonor()
	if q != s.request.Queue {
		lca := s.levels[level].cohort
		d = donor{q, lca, s.levels[level].class, s.guaranteeOf(q, lca)}
		ok = !s.view.WithinNominalAtFirst(q, s.request.Needs)
	}
	if !ok {
		return -1
	}
	n := len(s.lineups)
	s.lineups = grown(s.lineups)
	l := &s.lineups[n]
	*l = lineup{donor: d, level: level, side: side, phase: -1}
	if s.secondChance {
		l.retry = s.firstRefusal(q)
	}
	s.settleLineup(l)
	if s.largestFirst && d.class != own {
		s.sortLineup(l)
	}
	if !l.left() {
		s.lineups = s.lineups[:n]
		return -1
	}
	return int32(n)
}

// sortLineup puts the candidates that free most first.
func (s *Searcher) sortLineup(l *lineup) {
	var all []Victim
	for l.n > 0 {
		v, _ := s.pop(l)
		all = append(all, v)
	}
	s.sortBySize(all)
	l.bySize = all
}

// firstRefusal returns the first candidate of the queue that failed in the first round.
func (s *Searcher) firstRefusal(q int) *Victim {
	if !s.refusers.has(q) {
		return nil
	}
	return &s.refused[s.refusedAt[q]]
}

// left reports whether there is a candidate.
func (l *lineup) left() bool { return l.n > 0 || l.retry != nil || len(l.bySize) > 0 }

// giveUp leaves no candidate.
func (l *lineup) giveUp() {
	l.n, l.retry, l.bySize, l.phase = 0, nil, nil, len(lineupPhases)-1
}

// settleLineup goes on to the next phase that has candidates, if this one has none.
func (s *Searcher) settleLineup(l *lineup) {
	if s.secondChance {
		return
	}
	for l.n == 0 && l.phase < len(lineupPhases)-1 {
		l.phase++
		ph := &lineupPhases[l.phase]
		if l.donor.class != own && ph.tier != everybody || !s.hasTier(ph.tier) {
			continue
		}
		p := s.permission(l.donor.class, true)
		if p == nobody {
			continue
		}
		running := s.cluster.Running(l.donor.queue)
		for _, lane := range ph.lanes {
			if it, ok := s.openStream(running, l.donor, lane, p, ph.tier); ok {
				l.items[l.n] = it
				l.n++
			}
		}
	}
}

// first is the index of the lineup's first item.
func (l *lineup) first() int {
	best := 0
	for i := 1; i < l.n; i++ {
		if before(&l.items[i], &l.items[best]) {
			best = i
		}
	}
	return best
}

// headItem is the next candidate, to compare it with that of another queue.
func (s *Searcher) headItem(l *lineup) (it item, evicted bool) {
	switch {
	case l.retry != nil:
		it = s.itemOf(l.retry.Workload, l.retry.Set >= 0, 0)
	case len(l.bySize) > 0:
		it = s.itemOf(l.bySize[0].Workload, l.bySize[0].Set >= 0, 0)
	default:
		it = l.items[l.first()]
	}
	return it, it.head.Facts.Evicted
}

// pop takes the next candidate out of the lineup.
func (s *Searcher) pop(l *lineup) (v Victim, ok bool) {
	if l.retry != nil {
		v, l.retry = *l.retry, nil
		return v, true
	}
	if len(l.bySize) > 0 {
		v, l.bySize = l.bySize[0], l.bySize[1:]
		return v, true
	}
	if l.n == 0 {
		return v, false
	}
	i := l.first()
	st := &s.streams[l.items[i].at]
	v = s.victim(st)
	if s.advance(st) {
		l.items[i] = s.itemOf(st.head, st.surplus, l.items[i].at)
	} else {
		l.n--
		l.items[i] = l.items[l.n]
	}
	s.settleLineup(l)
	return v, true
}
