package moves

import (
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Decision answers a request, with places for victims. The zero value is invalid.
type Decision struct {
	// Decision is the answer to the request. Its Victims are all units that leave: those in Moves, and those that yield. It is
	// Impossible, for the reason NoRoom, if a victim has no place and by its price must not yield; RetryAt is then the first instant
	// at which it succeeds, of at most 64 that are tried: after those it is the next one, which is not too late.
	Decision placement.Decision `json:"decision"`
	// Moves are the victims that have a place, sorted by the ID of their first pod.
	Moves []Move `json:"moves,omitempty"`
	// Steps is an order in which all of it can happen; see the package.
	Steps []Step `json:"steps,omitempty"`
	// Cost is what the victims lose.
	Cost Cost `json:"cost,omitzero"`
	// Elsewhere lists, for Prefer, the units that were found to have a place on other nodes: the ID of the group, or of the pod,
	// sorted.
	Elsewhere []string `json:"elsewhere,omitempty"`
	// Tried is the number of units for which places were looked for, at all tries.
	Tried int `json:"tried,omitzero"`
}

// Move is a unit that leaves its nodes and has others.
type Move struct {
	// Group is the group that moves whole; empty for a single pod.
	Group string `json:"group,omitempty"`
	// Pods are its pods, sorted.
	Pods []PodMove `json:"pods"`
	// Lost is the price of the move.
	Lost int64 `json:"lost,omitzero"`
}

// PodMove is a pod of a move. The pods of a group may start anew on the node where they run.
type PodMove struct {
	Pod  string `json:"pod"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Step is a part of the order in which pods stop and start. Both lists are sorted by pod.
type Step struct {
	Stop  []string               `json:"stop,omitempty"`
	Start []placement.Nomination `json:"start,omitempty"`
}

// Yields returns the victims that have no place, in the order of Decision.Victims.
func (d Decision) Yields() (list []placement.Victim) {
	moved := map[string]bool{}
	for _, m := range d.Moves {
		moved[m.Pods[0].Pod] = true
	}
	for _, v := range d.Decision.Victims {
		if !moved[v.Pods[0]] {
			list = append(list, v)
		}
	}
	return list
}

// EditsWhenDone returns the edits after which the snapshot is as when all steps are done: victims that yield are gone, those that
// move run since the time of the decision on their new nodes, and the pods of the request run. Before that, the edits of
// Decision start the evictions.
func (d Decision) EditsWhenDone(s *placement.Snapshot) []placement.Edit {
	edits := gone(d.Decision.Victims)
	for _, id := range d.Decision.Withdrawn {
		edits = append(edits, placement.Withdraw(id))
	}
	edits = append(edits, started(s, d.Moves, d.Decision.Now)...)
	return append(edits, placed(d.Decision.Pods)...)
}

// gone returns the edits after which victims run no more.
func gone(victims []placement.Victim) (edits []placement.Edit) {
	for _, v := range victims {
		for _, id := range v.Pods {
			edits = append(edits, placement.Remove(id))
		}
	}
	return edits
}

// placed returns the edits after which the pods of a request run; those without a place are nominated no more.
func placed(pods []workload.Pod) (edits []placement.Edit) {
	for _, p := range pods {
		if p.Node == "" {
			edits = append(edits, placement.Withdraw(p.ID))
		} else {
			edits = append(edits, placement.Run(p))
		}
	}
	return edits
}

// started returns the edits after which moved pods run.
func started(s *placement.Snapshot, list []Move, now time.Time) (edits []placement.Edit) {
	for _, m := range list {
		for _, move := range m.Pods {
			p, _ := s.Find(move.Pod)
			p.Node, p.Started = move.To, now
			edits = append(edits, placement.Run(p))
		}
	}
	return edits
}
