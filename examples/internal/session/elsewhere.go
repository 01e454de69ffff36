package session

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// elsewhere is the room of pods while victims of a first decision that are not removed move: each of their pods has a place on other nodes.
type elsewhere struct {
	room     *placement.Fit // which says which pods leave first
	places   *placement.Preemptor
	nodes    *placement.Snapshot // the pods of the victims are of lower priority than all others
	request  placement.Request
	gone     map[string]bool
	replicas map[string]int64
	moving   *Moving // of the last answer
	tried    int
	err      error
}

// mostMoving limits how many pods of one decision may move: each is placed anew for each set that is looked at.
const mostMoving = 64

// Remove removes a workload.
func (e *elsewhere) Remove(id string) { e.gone[id] = true }

// Restore restores a workload.
func (e *elsewhere) Restore(id string) { delete(e.gone, id) }

// SetRemoved says how many replicas of a workload are removed.
func (e *elsewhere) SetRemoved(id, _ string, replicas int64) { e.replicas[id] = replicas }

// Fits reports whether all have places.
func (e *elsewhere) Fits() bool {
	var edits []placement.Edit
	for _, id := range e.left() {
		edits = append(edits, placement.Remove(id))
	}
	on, err := e.nodes.With(edits...)
	if err != nil {
		e.err = err
		return false
	}
	e.moving = &Moving{Before: on, Request: e.request}
	d, err := moves.Decide(e.places, on, e.request, AllMove)
	if e.moving.Decision, e.tried = d, e.tried+d.Tried; err != nil {
		e.err = err
		return false
	}
	return d.Decision.Outcome.Succeeds()
}

// left lists the pods that are removed.
func (e *elsewhere) left() (pods []string) {
	for _, id := range slices.Sorted(maps.Keys(e.gone)) {
		pods = append(pods, e.room.Replicas(id, rooms.PodSet)...)
	}
	for _, id := range slices.Sorted(maps.Keys(e.replicas)) {
		if list := e.room.Replicas(id, rooms.PodSet); !e.gone[id] {
			pods = append(pods, list[:min(int64(len(list)), e.replicas[id])]...)
		}
	}
	return pods
}

// take removes the victims of a decision.
func (e *elsewhere) take(victims []preemption.Victim) {
	for _, v := range victims {
		if len(v.Replicas) > 0 {
			e.SetRemoved(v.Workload, rooms.PodSet, v.Replicas[0].Count)
		} else {
			e.Remove(v.Workload)
		}
	}
}

// spare decides again, so that victims that have a place elsewhere move. It changes the step if then fewer pods yield.
func (s *Session) spare(step *Step, room *placement.Fit, pods []workload.Pod) error {
	e := &elsewhere{room: room, places: s.placer(pods), gone: map[string]bool{}, replicas: map[string]int64{}}
	e.take(step.Decision.Victims)
	victims := e.left()
	if len(victims) == 0 || len(victims) > mostMoving || slices.ContainsFunc(step.Decision.Victims, func(v preemption.Victim) bool {
		return s.byID[v.Workload] == nil || v.Leaving
	}) {
		return nil
	}
	on, err := s.rooms.Snapshot()
	if err != nil {
		return err
	}
	var edits []placement.Edit
	for _, id := range victims {
		p, _ := on.Find(id)
		p.Group, p.Priority = "", -1
		edits = append(edits, placement.Run(p))
	}
	if e.nodes, err = on.With(edits...); err != nil {
		return err
	}
	e.request = placement.Request{Group: step.Request.Workload.ID, MinCount: len(pods), Pods: slices.Clone(pods), Now: s.now}
	for i := range e.request.Pods {
		e.request.Pods[i].Group = e.request.Group
	}
	e.gone, e.replicas = map[string]bool{}, map[string]int64{}
	r := step.Request
	r.Room = e
	d, looked, err := s.preemptor.DecideCounting(s.snapshot, r)
	if s.looked += looked + e.tried; err != nil || e.err != nil || !d.Outcome.Succeeds() {
		return err
	}
	e.take(d.Victims)
	if gone := e.left(); len(gone) >= len(victims) || !e.Fits() {
		return e.err
	}
	step.Request, step.Decision, step.Moving = r, d, e.moving
	return nil
}
