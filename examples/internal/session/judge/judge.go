// Package judge says what is wrong with the steps of sessions that are played with KAI's own search (package session), apart from how they
// were found: who yields is judged by package verify, and on the nodes everybody has room.
package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Victims returns what is wrong with those who yield in a step. Whether all are needed is not judged: KAI puts nothing back.
func Victims(step *session.Step, c preemption.Config) error {
	if len(step.Decision.Victims) == 0 {
		return nil
	}
	room := &together{map[string]int64{}, map[string]int64{}, map[string]bool{}}
	for _, v := range step.Decision.Victims {
		if room.leaves[v.Workload] = math.MaxInt64; len(v.Replicas) > 0 {
			room.leaves[v.Workload] = v.Replicas[0].Count
		}
	}
	r := step.Request
	r.Room = room
	return verify.Decision(step.Before.State(), r, c, step.Decision)
}

// together is room only without all that leaves.
type together struct {
	leaves, replicas map[string]int64 // how many pods; all of them: math.MaxInt64
	gone             map[string]bool
}

func (t *together) Remove(id string)                        { t.gone[id] = true }
func (t *together) Restore(id string)                       { delete(t.gone, id) }
func (t *together) SetRemoved(id, _ string, replicas int64) { t.replicas[id] = replicas }
func (t *together) Fits() bool {
	for id, n := range t.leaves {
		if !t.gone[id] && t.replicas[id] < n {
			return false
		}
	}
	return true
}

// Floor is what pods hold on the nodes. Make it with [NewFloor].
type Floor struct {
	nodes     []workload.Node
	takes     map[string]workload.Resources // by pod
	at, began map[string]string             // the nodes of those that have one: now, and in the beginning
}

// NewFloor returns the nodes with the pods of groups.
func NewFloor(nodes []workload.Node, groups []bridge.Group) *Floor {
	f := &Floor{nodes: nodes, takes: map[string]workload.Resources{}, at: map[string]string{}}
	for i := range groups {
		for _, p := range groups[i].Pods {
			if f.takes[p.ID] = p.Requests; p.Node != "" {
				f.at[p.ID] = p.Node
			}
		}
	}
	f.began = maps.Clone(f.at)
	return f
}

// Moved lists the pods that run on another node than in the beginning, sorted.
func (f *Floor) Moved() (pods []string) {
	for id, node := range f.began {
		if f.at[id] != "" && f.at[id] != node {
			pods = append(pods, id)
		}
	}
	slices.Sort(pods)
	return pods
}

// Follow lets pods leave, move and start. It fails if one of them cannot, and if some node has not enough for those that are there then.
func (f *Floor) Follow(step *session.Step) error {
	for _, id := range step.Gone {
		if f.at[id] == "" {
			return fmt.Errorf("%s leaves, but does not run", id)
		}
		delete(f.at, id)
	}
	for _, m := range step.Moves() {
		if f.at[m.Pod] != m.From {
			return fmt.Errorf("%s moves from %s, but is on %q", m.Pod, m.From, f.at[m.Pod])
		}
		f.at[m.Pod] = m.To
	}
	for _, p := range step.Pods {
		if f.at[p.ID] != "" {
			return fmt.Errorf("%s starts, but runs", p.ID)
		}
		f.at[p.ID] = p.Node
	}
	held := map[string]workload.Resources{}
	for id, node := range f.at {
		if held[node] == nil {
			held[node] = workload.Resources{}
		}
		for resource, amount := range f.takes[id] {
			held[node][resource] = quota.Add(held[node][resource], amount)
		}
	}
	for _, n := range f.nodes {
		for resource, amount := range held[n.Name] {
			if amount > n.Capacity[resource] {
				return fmt.Errorf("%d %s of %d on %s", amount, resource, n.Capacity[resource], n.Name)
			}
		}
	}
	return nil
}
