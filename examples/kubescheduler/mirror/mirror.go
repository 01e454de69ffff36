// Package mirror keeps what kube-scheduler sees in one cycle as a snapshot of cede: nodes with their
// capacity, pods, nominations and disruption budgets. It compares what may have changed since the
// last cycle, and edits the snapshot.
package mirror

import (
	"maps"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/cedesched/cede/preemption/placement"
)

// Mirror is the snapshot, and the objects behind it. The scheduler keeps its own by events.
// Whatever changes on a node gives the node a new generation, which no other node ever has: only
// nodes with a new generation are looked at. The zero value has seen nothing. It is for one
// goroutine.
type Mirror struct {
	snapshot    *placement.Snapshot
	generations []int64                // in the order of the scheduler's list
	nodes       map[string]seen        // by name
	pods        map[string]fwk.PodInfo // by ID
	nominated   map[string]fwk.PodInfo // by ID
	budgets     map[string]*policy.PodDisruptionBudget
}

// seen is a node, and its object as the snapshot has it.
type seen struct {
	fwk.NodeInfo
	object *v1.Node
}

// Snapshot returns the snapshot; nil before [Mirror.Follow] succeeds.
func (m *Mirror) Snapshot() *placement.Snapshot { return m.snapshot }

// Size returns the number of nodes.
func (m *Mirror) Size() int { return len(m.generations) }

// Node returns a node as the scheduler sees it.
func (m *Mirror) Node(name string) fwk.NodeInfo { return m.nodes[name].NodeInfo }

// Pod returns the pod with an ID that runs, or is nominated; nil if there is none.
func (m *Mirror) Pod(id string) fwk.PodInfo {
	if p := m.pods[id]; p != nil {
		return p
	}
	return m.nominated[id]
}

// Follow makes the snapshot equal to what the scheduler sees: nodes and their pods, budgets,
// nominations but that of the pod that asks. It fails on what a snapshot refuses; the next call
// then begins anew.
func (m *Mirror) Follow(infos []fwk.NodeInfo, budgets []*policy.PodDisruptionBudget, nominated func(node string) []fwk.PodInfo, asks *v1.Pod) error {
	if m.nodes == nil {
		if err := m.begin(infos); err != nil {
			return err
		}
	}
	var left, came, removed []placement.Edit // who left is told first: the ID may have come again
	for i, info := range infos {
		if i == len(m.generations) {
			m.generations = append(m.generations, -1)
		}
		if now := info.GetGeneration(); m.generations[i] != now {
			m.generations[i] = now
			name := info.Node().Name
			if m.nodes[name].object != info.Node() {
				came = append(came, placement.SetNode(nodeOf(info)))
			}
			m.nodes[name] = seen{info, info.Node()}
			gone, new := m.compare(name, info.GetPods())
			left, came = append(left, gone...), append(came, new...)
		}
	}
	m.generations = m.generations[:len(infos)]
	if len(m.nodes) > len(infos) {
		before := m.nodes
		m.nodes = map[string]seen{}
		for _, info := range infos {
			m.nodes[info.Node().Name] = before[info.Node().Name]
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			if _, stays := m.nodes[name]; !stays {
				gone, _ := m.compare(name, nil)
				left, removed = append(left, gone...), append(removed, placement.RemoveNode(name))
			}
		}
	}
	void, promised := m.promise(infos, nominated, asks)
	next, err := m.snapshot.With(slices.Concat(void, left, came, promised, removed, m.budget(budgets))...)
	if m.snapshot = next; err != nil {
		*m = Mirror{}
	}
	return err
}

// begin makes the first snapshot, of nodes and pods: it takes less than edits.
func (m *Mirror) begin(infos []fwk.NodeInfo) error {
	m.nodes, m.pods = map[string]seen{}, map[string]fwk.PodInfo{}
	var state placement.State
	for _, info := range infos {
		m.generations, m.nodes[info.Node().Name] = append(m.generations, info.GetGeneration()), seen{info, info.Node()}
		state.Nodes = append(state.Nodes, nodeOf(info))
		for _, p := range info.GetPods() {
			m.pods[ID(p.GetPod())] = p
			state.Pods = append(state.Pods, PodOf(p, info.Node().Name))
		}
	}
	snapshot, err := placement.NewSnapshot(state)
	if m.snapshot = snapshot; err != nil {
		*m = Mirror{}
	}
	return err
}

// compare returns the edits of pods that left a node, and of those that came or changed.
func (m *Mirror) compare(node string, now []fwk.PodInfo) (left, came []placement.Edit) {
	runs := map[string]bool{}
	for _, p := range now {
		id := ID(p.GetPod())
		if before, ok := m.pods[id]; !ok || before.GetPod() != p.GetPod() {
			came = append(came, placement.Run(PodOf(p, node)))
		}
		runs[id], m.pods[id] = true, p
	}
	for p := range m.snapshot.PodsOn(node) {
		if !runs[p.ID] {
			left = append(left, placement.Remove(p.ID))
			if m.pods[p.ID].GetPod().Spec.NodeName == node { // else one of that name runs elsewhere
				delete(m.pods, p.ID)
			}
		}
	}
	return left, came
}

// promise returns the edits of nominations that are void, and of those that are new.
func (m *Mirror) promise(infos []fwk.NodeInfo, nominated func(node string) []fwk.PodInfo, asks *v1.Pod) (void, promised []placement.Edit) {
	now := map[string]fwk.PodInfo{}
	for _, info := range infos {
		for _, p := range nominated(info.Node().Name) {
			pod := PodOf(p, info.Node().Name)
			if _, runs := m.pods[pod.ID]; runs || p.GetPod().UID == asks.UID {
				continue
			}
			now[pod.ID] = p
			if before, ok := m.snapshot.Nominated(pod.ID); !ok || !reflect.DeepEqual(before, pod) {
				promised = append(promised, placement.Nominate(pod))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.nominated)) {
		if now[id] == nil {
			void = append(void, placement.Withdraw(id))
		}
	}
	m.nominated = now
	return void, promised
}

// budget returns the edits of budgets.
func (m *Mirror) budget(budgets []*policy.PodDisruptionBudget) (edits []placement.Edit) {
	now := make(map[string]*policy.PodDisruptionBudget, len(budgets))
	for _, b := range budgets {
		id := b.Namespace + "/" + b.Name
		if now[id] = b; m.budgets[id] != b {
			edits = append(edits, placement.SetBudget(budgetOf(b)))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.budgets)) {
		if now[id] == nil {
			edits = append(edits, placement.RemoveBudget(m.budgets[id].Namespace, m.budgets[id].Name))
		}
	}
	m.budgets = now
	return edits
}
