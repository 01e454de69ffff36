package placement

import (
	"math"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/workload"
)

// Places finds places for units that run on no node, one after the other, in their order: for each the nodes of all its pods, or
// nil. A pod goes where it may run ([workload.Pod.Nodes], the filters of the configuration), on the schedulable node with the
// least left beside it ([BestFit]), where it has room now: beside all that runs or terminates, all that is nominated, of any
// priority, and the units before it. No unit is preempted. domains, if it is not nil, returns domains for a unit by its index: its pods must be within one
// of them; none: anywhere. Names of unknown nodes in them are ignored.
//
// It fails with a [fault.List] of pods that are not valid in a request: see [Preemptor.Decide].
func (p *Preemptor) Places(snapshot *Snapshot, units []Unit, domains func(unit int) []Domain) ([][]Nomination, error) {
	if p == nil {
		p = &standard
	}
	var pods []workload.Pod
	for _, u := range units {
		pods = append(pods, u.Pods...)
	}
	if len(pods) == 0 {
		return make([][]Nomination, len(units)), nil
	}
	c, sc, config := snapshot.inside(), p.scratch.Take(), p.inside
	defer p.release(sc)
	if err := p.enterAs(sc, c, &Request{Priority: math.MinInt32, Pods: pods}, true); err != nil {
		return nil, err
	}
	config.Mode = ask.InPlace // terminating pods count
	several, list, first := &sc.several, make([][]Nomination, len(units)), 0
	several.Begin(&config, c, &sc.request)
	defer several.End()
	for i, u := range units {
		members := make([]int32, len(u.Pods))
		for k := range members {
			members[k] = int32(first + k)
		}
		first += len(members)
		if !placeWithin(several, members, i, domains) {
			continue
		}
		for k, m := range members {
			list[i] = append(list[i], Nomination{u.Pods[k].ID, several.Where(m)})
		}
	}
	return list, nil
}

// placeWithin places a unit within one of its domains.
func placeWithin(several *place.Units, members []int32, unit int, domains func(unit int) []Domain) bool {
	var within []Domain
	if domains != nil {
		within = domains(unit)
	}
	for _, d := range within {
		if nodes := several.Nodes(d.Nodes); len(nodes) > 0 && several.Place(members, nodes) {
			return true
		}
	}
	return len(within) == 0 && several.Place(members, nil)
}
