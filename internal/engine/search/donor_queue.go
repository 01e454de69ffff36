package search

// DonorQueue holds the candidates of one donor in the order of an attempt with borrowing: its
// phases one after the other, in each the lanes merged. Package fair takes its candidates
// from one DonorQueue for each queue. All open ones belong to one search.
type DonorQueue struct {
	Donor Donor
	phase int // index of phases
	items [4]item
	n     int
}

// Open starts with the candidates of a donor.
func (s *Search) Open(q *DonorQueue, d Donor) {
	*q = DonorQueue{Donor: d, phase: -1}
	s.settleQueue(q)
}

// CloseAll drops the candidates of all open DonorQueues, so that others can be opened.
func (s *Search) CloseAll() { s.merge.clear() }

// Left reports whether there is a candidate.
func (q *DonorQueue) Left() bool { return q.n > 0 }

// Close drops all candidates.
func (q *DonorQueue) Close() { q.n, q.phase = 0, len(phases)-1 }

// settleQueue moves to the next phase of the donor's class that has candidates, if the
// current one has none.
func (s *Search) settleQueue(q *DonorQueue) {
	for q.n == 0 && q.phase < len(phases)-1 {
		q.phase++
		ph := &phases[q.phase]
		if ph.class != q.Donor.Class || !s.hasTier(ph.tier) {
			continue
		}
		p := s.Permission(q.Donor.Class, true)
		if p == Nobody {
			continue
		}
		running := s.Cluster.Running(q.Donor.Queue)
		for _, lane := range ph.lanes {
			if it, ok := s.openStream(running, &q.Donor, lane, p, ph.tier); ok {
				q.items[q.n] = it
				q.n++
			}
		}
	}
}

// first returns the index of the first item.
func (q *DonorQueue) first() int {
	best := 0
	for i := 1; i < q.n; i++ {
		if before(&q.items[i], &q.items[best]) {
			best = i
		}
	}
	return best
}

// Head returns the place of the next candidate; there must be one.
func (q *DonorQueue) Head() Position { return q.items[q.first()].Position }

// Pop removes and returns the next candidate; ok is false if there is none.
func (s *Search) Pop(q *DonorQueue) (v Victim, ok bool) {
	if q.n == 0 {
		return v, false
	}
	i := q.first()
	at := int(q.items[i].at)
	st := &s.merge.streams[at]
	v = s.victim(st)
	if s.advance(st) {
		q.items[i] = s.itemOf(st, at)
	} else {
		q.n--
		q.items[i] = q.items[q.n]
	}
	s.settleQueue(q)
	return v, true
}
