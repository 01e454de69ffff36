package decide

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/source"
)

// Floor takes victims that are known, and checks that the request fits without them
// and, with prove, that none of them can be spared: what no search can do without.
func (s *Searcher) Floor(c *cluster.Cluster, r *right.Request, victims []right.Victim, prove bool) bool {
	core := &s.search
	core.Begin(c, r)
	defer core.End()
	for _, v := range victims {
		core.Take(v)
	}
	ok := core.Fits(source.Mode{Borrowing: true})
	for _, v := range victims {
		if !prove || !ok {
			break
		}
		core.Move(&v, 1, core.Taken)
		ok = !core.Fits(source.Mode{Borrowing: true})
		core.Move(&v, -1, core.Taken)
	}
	core.PutAllBack()
	return ok
}
