package placement

import (
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Beside says how [Preemptor.Places] looks at a snapshot. The zero value: as it is, one unit after the other, anywhere.
type Beside struct {
	// Gone lists running pods that count as gone. IDs of pods that do not run are ignored.
	Gone []string
	// Placed lists waiting pods that count as running on their Node. Their nominations count no more.
	Placed []workload.Pod
	// Apart places each unit by itself, as if the others were not there, on nodes where none of its pods runs. Its pods may run:
	// then they count as gone. A unit with claims has no other place: devices are on one node.
	Apart bool
	// Domains, if it is not nil, returns domains for a unit by its index: its pods must be within one of them; none: anywhere. Names
	// of unknown nodes in them are ignored.
	Domains func(unit int) []Domain
}

// Places finds places for units that are on no node, one after the other, in their order: for each the nodes of all its pods, or
// nil. A pod goes where it may run ([workload.Pod.Nodes], the filters of the configuration), on the schedulable node with the
// least left beside it ([BestFit]), where it has room now: beside all that runs or terminates, all that is nominated, of any
// priority, and the units before it. No unit is preempted.
//
// It fails with preemption.Faults: a pod of Beside.Placed on an unknown node (beside.placed[i].node), what [Run] refuses, and what
// [Preemptor.Decide] refuses in pods of a request; request.pods are those that are placed, then those of the units.
func (p *Preemptor) Places(snapshot *Snapshot, units []Unit, beside Beside) ([][]Nomination, error) {
	if p == nil {
		p = &standard
	}
	before := snapshot.inside()
	snapshot, placed, err := beside.edit(snapshot)
	if err != nil {
		return nil, err
	}
	c, gone, count := snapshot.inside(), make(map[string]bool, len(beside.Gone)), len(placed)
	for i := range units {
		count += len(units[i].Pods)
	}
	pods := make([]workload.Pod, 0, count)
	for _, w := range placed {
		w.Node = ""
		pods = append(pods, w)
	}
	for _, id := range beside.Gone {
		gone[id] = true
	}
	for _, u := range units {
		pods = append(pods, u.Pods...)
		for k := 0; beside.Apart && k < len(u.Pods); k++ {
			gone[u.Pods[k].ID] = true
		}
	}
	if len(pods) == len(placed) {
		return make([][]Nomination, len(units)), nil
	}
	sc, config := p.scratch.Take(), p.inside
	defer p.release(sc)
	if err := p.enterAs(sc, c, &Request{Priority: math.MinInt32, Pods: pods}, gone); err != nil {
		return nil, err
	}
	config.Mode = ask.InPlace // terminating pods count
	sc.several.Begin(&config, c, &sc.request)
	defer sc.several.End()
	sc.several.Remove(running(c, beside.Gone))
	for k := range placed {
		sc.several.Put(int32(k), c.NodeNumber(placed[k].Node))
	}
	list, next := make([][]Nomination, len(units)), int32(len(placed))
	for i, u := range units {
		ids, members := make([]string, len(u.Pods)), make([]int32, len(u.Pods))
		for k := range members {
			ids[k], members[k] = u.Pods[k].ID, next
			next++
		}
		var closed []int32
		for _, p := range running(before, ids) {
			closed = append(closed, p.Node)
		}
		try := func(nodes []int32) []int32 {
			if beside.Apart && slices.ContainsFunc(u.Pods, func(w workload.Pod) bool { return len(w.Claims) > 0 }) {
				return nil
			}
			if beside.Apart {
				return sc.several.PlaceApart(members, nodes, closed, running(c, ids))
			}
			return sc.several.Place(members, nodes)
		}
		for k, number := range beside.within(&sc.several, i, try) {
			list[i] = append(list[i], Nomination{ids[k], c.NodeName(number)})
		}
	}
	return list, nil
}

// running returns the pods of a list that run.
func running(c *state.Cluster, ids []string) (list []*state.Pod) {
	for _, id := range ids {
		if p := c.Pod(id); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// edit makes the edits for what can not be counted: pods with claims, and pods on nodes where no unit is placed. It returns the other
// ones that are placed.
func (b *Beside) edit(s *Snapshot) (_ *Snapshot, placed []workload.Pod, err error) {
	c := s.inside()
	var edits []Edit
	var faults fault.List
	holders := map[string]bool{} // that are gone
	for _, p := range running(c, b.Gone) {
		if id := p.Facts.ID; len(p.Facts.Claims) > 0 && !holders[id] {
			edits, holders[id] = append(edits, Remove(id)), true
		}
	}
	placed = make([]workload.Pod, 0, len(b.Placed))
	for i, p := range b.Placed {
		switch number := c.NodeNumber(p.Node); {
		case number < 0:
			faults.Add(fmt.Sprintf("beside.placed[%d].node", i), "unknown node %q", p.Node)
		case len(p.Claims) > 0 || c.Node(number).Facts.Unschedulable:
			edits = append(edits, run(p))
		default:
			placed = append(placed, p)
		}
	}
	if err = faults.Err(); err == nil {
		s, err = s.With(edits...)
	}
	return s, placed, err
}

// within tries to place a unit within one of its domains.
func (b *Beside) within(several *place.Units, unit int, try func(nodes []int32) []int32) []int32 {
	var domains []Domain
	if b.Domains != nil {
		domains = b.Domains(unit)
	}
	for _, d := range domains {
		if nodes := several.Nodes(d.Nodes); len(nodes) > 0 {
			if where := try(nodes); where != nil {
				return where
			}
		}
	}
	if len(domains) > 0 {
		return nil
	}
	return try(nil)
}
