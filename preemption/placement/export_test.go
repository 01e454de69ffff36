package placement

import (
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
)

// Cost is what one decision costs.
type Cost = room.Cost

// Cost decides about a single pod or a gang.
func (p *Preemptor) Cost(snapshot *Snapshot, r Request) (Cost, error) {
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return Cost{}, err
	}
	sc.request.Extent = ask.WithTime
	sc.search.Decide(&p.inside, c, &sc.request)
	return sc.search.Spent(), nil
}
