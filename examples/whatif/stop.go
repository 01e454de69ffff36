package main

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// The notes that say that a queue is stopped.
const (
	stopPolicyPath = "spec.stopPolicy"
	statusPath     = "status.conditions"
)

func isStopPolicy(n bridge.Note) bool { return n.Stops && n.Path == stopPolicyPath }

// changeStopPolicy stops a queue, or lets it go on. What its status said of a stop ends with that; Kueue finds out anew what else stops it.
func (c *cluster) changeStopPolicy(q *queue.Queue, was bool) {
	c.Found.QueueNotes = maps.Clone(c.Found.QueueNotes)
	notes := slices.Clone(c.Found.QueueNotes[q.Name])
	switch {
	case q.Inactive && !was:
		object := "ClusterQueue " + q.Name
		notes = append(notes, bridge.Note{Object: object, Path: stopPolicyPath, Text: object + " is stopped (stopPolicy Hold) and admits nothing for now", Stops: true})
	case !q.Inactive && was:
		notes = slices.DeleteFunc(notes, func(n bridge.Note) bool { return isStopPolicy(n) || n.Stops && n.Path == statusPath })
	}
	q.Inactive = slices.ContainsFunc(notes, func(n bridge.Note) bool { return n.Stops })
	c.Found.QueueNotes[q.Name] = notes
}

// resumed is the cluster as it is once the queue of a workload that waits admits again; the same, if it is not inactive.
func (c *cluster) resumed(name string) (*cluster, error) {
	q, is := c.Snapshot.Queue(name)
	if !is || !q.Inactive {
		return c, nil
	}
	q.Inactive = false
	after := *c
	var err error
	after.Snapshot, err = c.Snapshot.With(preemption.SetQueue(q))
	return &after, err
}
