package search

import "github.com/cedesched/cede/internal/engine/cluster"

// Floor takes victims that are known, and checks that the request fits without them
// and, with prove, that none of them can be spared: what no search can do without.
func (s *Searcher) Floor(c *cluster.Cluster, r *Request, victims []Victim, prove bool) bool {
	s.cluster, s.request = c, r
	s.view.Reset(c, r.Columns)
	s.taken = s.taken[:0]
	for _, v := range victims {
		s.take(v)
	}
	ok := s.fits(true)
	for _, v := range victims {
		if !prove || !ok {
			break
		}
		s.move(v, 1)
		ok = !s.fits(true)
		s.move(v, -1)
	}
	s.restore()
	return ok
}
