package placement

import "github.com/cedesched/cede/internal/engine/nodes"

// Cost is what one decision costs, in numbers that do not depend on the machine.
type Cost struct {
	Checks    int // units put back with a check
	Opened    int // placements started
	Tried     int // nodes on which a pod was tried
	Looked    int // units looked at
	Elsewhere int // pods whose units stay without a look at each
}

// Cost decides about a single pod or a gang.
func (p *Preemptor) Cost(snapshot *Snapshot, r Request) (Cost, error) {
	c, sc := snapshot.inside(), new(scratch)
	if err := p.enter(sc, c, &r); err != nil {
		return Cost{}, err
	}
	sc.request.Extent = nodes.WithTime
	sc.searcher.Search(&p.inside, c, &sc.request)
	return Cost{sc.searcher.Checks, sc.searcher.Opened, sc.searcher.Tried, sc.searcher.Looked, sc.searcher.Elsewhere}, nil
}
