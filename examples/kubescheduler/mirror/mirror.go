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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Mirror is the snapshot, and the objects behind it. The scheduler keeps its own by events.
// Whatever changes on a node gives the node a new generation, which no other node ever has: only
// nodes with a new generation are looked at. The zero value has seen nothing. It is for one
// goroutine.
type Mirror struct {
	names       map[string]bool // of the resources that count: usual ones, those of nodes if they are few, and what a pod has asked for
	strange     []Strange       // found by the latest Follow
	snapshot    *placement.Snapshot
	generations []int64                // in the order of the scheduler's list
	nodes       map[string]seen        // by name
	pods        map[string]fwk.PodInfo // by ID
	nominated   map[string]promised    // by ID
	budgets     map[string]*policy.PodDisruptionBudget
	look        Groups                       // where groups are found in this cycle
	named       map[fwk.EntityKey]int        // pod groups that running pods name, with the number of these pods
	groups      map[string]workload.PodGroup // by ID
}

// Cycle is what the scheduler sees in one cycle.
type Cycle struct {
	Nodes     []fwk.NodeInfo
	Budgets   []*policy.PodDisruptionBudget
	Nominated func(node string) []fwk.PodInfo
	Groups    Groups
	// Asks are the pods that preemption is for. Their own nominations do not count.
	Asks []*v1.Pod
}

// seen is a node, and its object as the snapshot has it.
type seen struct {
	fwk.NodeInfo
	object *v1.Node
	pods   []fwk.PodInfo // the scheduler changes its list in place
	full   bool          // more runs there than can be counted: it takes no pod, and no pod yields there
}

// promised is a pod that is nominated to a node, which may be full.
type promised struct {
	fwk.PodInfo
	node string
	full bool
}

// same reports whether a nomination is as it was. The scheduler hands out copies of pods that are nominated.
func (p promised) same(now promised) bool {
	if p.PodInfo == nil || p.node != now.node || p.full != now.full {
		return false
	}
	before, after := p.GetPod(), now.GetPod()
	return before == after || before.UID == after.UID && before.ResourceVersion == after.ResourceVersion && after.ResourceVersion != ""
}

// Strange is a pod or node that the snapshot does not hold as it is.
type Strange struct {
	Object  runtime.Object
	Problem string
}

// Strange returns what the latest Follow has read for the first time and could not take as it is.
// Only the pod or its node is affected.
func (m *Mirror) Strange() []Strange { return m.strange }

func (m *Mirror) note(object runtime.Object, problem string) {
	if problem != "" {
		m.strange = append(m.strange, Strange{object, problem})
	}
}

// Snapshot returns the snapshot; nil before [Mirror.Follow] succeeds.
func (m *Mirror) Snapshot() *placement.Snapshot { return m.snapshot }

// Size returns the number of nodes.
func (m *Mirror) Size() int { return len(m.generations) }

// Node returns a node as the scheduler sees it.
func (m *Mirror) Node(name string) fwk.NodeInfo { return m.nodes[name].NodeInfo }

// Running returns the pod with an ID that runs; nil if there is none.
func (m *Mirror) Running(id string) fwk.PodInfo { return m.pods[id] }

// Pod returns the pod with an ID that runs, or is nominated; nil if there is none.
func (m *Mirror) Pod(id string) fwk.PodInfo {
	if p := m.pods[id]; p != nil {
		return p
	}
	if p, ok := m.nominated[id]; ok {
		return p.PodInfo
	}
	return nil
}

// maxNames is the number of resources from which on the mirror forgets those that no pod has asked for
// lately.
const maxNames = placement.MaxResources / 2

// count makes the resources that the pods ask for count. Of another one it does not matter who uses it: so
// the number of resources in the cluster does not matter. Those of the nodes count from the beginning if they are
// few: then no pod that asks for one makes the mirror begin anew.
func (m *Mirror) count(pods []*v1.Pod, nodes []fwk.NodeInfo) {
	asked := workload.Resources{}
	for _, p := range pods {
		info, _ := framework.NewPodInfo(p) // of terms that do not parse the filters tell
		maps.Copy(asked, PodOf(info, "").Requests)
	}
	next := maps.Clone(m.names)
	if next == nil || len(next)+len(asked) > maxNames {
		usual := map[string]bool{"cpu": true, "memory": true, "ephemeral-storage": true}
		if next = maps.Clone(usual); !addResources(next, nodes, maxNames-len(asked)) {
			next = usual
		}
	}
	for name := range asked {
		next[name] = true
	}
	if !maps.Equal(next, m.names) {
		*m = Mirror{names: next}
	}
}

// addResources adds the names of the nodes' resources. It reports false once there are more than so many.
func addResources(names map[string]bool, nodes []fwk.NodeInfo, most int) bool {
	for _, n := range nodes {
		for name := range n.GetAllocatable().GetScalarResources() {
			names[string(name)] = true
		}
		if len(names) > most {
			return false
		}
	}
	return true
}

// counted removes the resources that do not count.
func (m *Mirror) counted(r workload.Resources) {
	maps.DeleteFunc(r, func(name string, _ int64) bool { return !m.names[name] && name != workload.PodsResource })
}

// podOf returns a pod as the snapshot has it.
func (m *Mirror) podOf(info fwk.PodInfo, node string) workload.Pod {
	p, problem := podOf(info, node)
	m.note(info.GetPod(), problem)
	if m.counted(p.Requests); m.nodes[node].full {
		p.Requests = nil
	}
	if key, ok := m.look.groupOf(info.GetPod()); ok {
		p.Group = GroupID(key)
	}
	return p
}

// nodeOf returns a node as the snapshot has it, and keeps what the scheduler sees.
func (m *Mirror) nodeOf(info fwk.NodeInfo) workload.Node {
	n, problem := nodeOf(info)
	before, isFull := m.nodes[n.Name], m.overflows(info.GetPods())
	if before.object != info.Node() {
		m.note(info.Node(), problem)
	}
	if isFull && !before.full {
		m.note(info.Node(), "its pods ask for more than can be counted: it takes no pod, and no pod yields there")
	}
	m.nodes[n.Name] = seen{info, info.Node(), slices.Clone(info.GetPods()), isFull}
	if m.counted(n.Capacity); isFull {
		n.Capacity = workload.Resources{workload.PodsResource: 0}
	}
	return n
}

// overflows reports whether pods ask for more than can be counted.
func (m *Mirror) overflows(pods []fwk.PodInfo) bool {
	sum := total{}
	return len(pods) > few && slices.ContainsFunc(pods, func(p fwk.PodInfo) bool { return !sum.add(PodOf(p, "").Requests) })
}

// Follow makes the snapshot equal to what the scheduler sees: nodes and their pods, groups, budgets,
// nominations. It takes what the API server takes; see [Mirror.Strange]. After an error, which no object
// should cause, the next call begins anew.
func (m *Mirror) Follow(c Cycle) error {
	infos := c.Nodes
	m.strange = nil
	m.count(c.Asks, infos)
	m.look = c.Groups
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
			before := m.nodes[name]
			node := m.nodeOf(info)
			turned := before.full != m.nodes[name].full
			if before.object != info.Node() || turned {
				came = append(came, placement.SetNode(node))
			}
			if turned || !samePods(before.pods, info.GetPods()) {
				gone, new := m.compare(name, info.GetPods(), turned)
				left, came = append(left, gone...), append(came, new...)
			}
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
				gone, _ := m.compare(name, nil, false)
				left, removed = append(left, gone...), append(removed, placement.RemoveNode(name))
			}
		}
	}
	void, promised := m.promise(c)
	gone, groups := m.group()
	next, err := m.snapshot.With(slices.Concat(void, left, gone, groups, came, promised, removed, m.budget(c.Budgets))...)
	if m.snapshot = next; err != nil {
		*m = Mirror{}
	}
	return err
}

// begin makes the first snapshot, of nodes and pods: it takes less than edits.
func (m *Mirror) begin(infos []fwk.NodeInfo) error {
	m.nodes, m.pods, m.named = map[string]seen{}, map[string]fwk.PodInfo{}, map[fwk.EntityKey]int{}
	var state placement.State
	for _, info := range infos {
		m.generations = append(m.generations, info.GetGeneration())
		state.Nodes = append(state.Nodes, m.nodeOf(info))
		for _, p := range info.GetPods() {
			id := ID(p.GetPod())
			if m.pods[id] != nil { // one that is assumed, and its successor
				continue
			}
			m.keep(id, p)
			state.Pods = append(state.Pods, m.podOf(p, info.Node().Name))
		}
	}
	m.groups = m.tree()
	for _, id := range slices.Sorted(maps.Keys(m.groups)) {
		state.Groups = append(state.Groups, m.groups[id])
	}
	snapshot, err := placement.NewSnapshot(state)
	if m.snapshot = snapshot; err != nil {
		*m = Mirror{}
	}
	return err
}

// samePods reports whether two lists hold the same pods, each once, in any order.
func samePods(before, now []fwk.PodInfo) bool {
	if len(before) != len(now) {
		return false
	}
	has := make(map[*v1.Pod]bool, len(before))
	for _, p := range before {
		has[p.GetPod()] = true
	}
	for _, p := range now {
		if !has[p.GetPod()] {
			return false
		}
		delete(has, p.GetPod())
	}
	return true
}

// compare returns the edits of pods that left a node, and of those that came or changed; of all, if
// the node has turned full or back.
func (m *Mirror) compare(node string, now []fwk.PodInfo, turned bool) (left, came []placement.Edit) {
	runs := map[string]bool{}
	for _, p := range now {
		id := ID(p.GetPod())
		if before, ok := m.pods[id]; !ok || turned || before.GetPod() != p.GetPod() {
			came = append(came, placement.Run(m.podOf(p, node)))
		}
		runs[id] = true
		m.keep(id, p)
	}
	for p := range m.snapshot.PodsOn(node) {
		if !runs[p.ID] {
			left = append(left, placement.Remove(p.ID))
			if m.pods[p.ID].GetPod().Spec.NodeName == node { // else one of that name runs elsewhere
				m.forget(p.ID)
			}
		}
	}
	return left, came
}

// promise returns the edits of nominations that are void, and of those that are new.
func (m *Mirror) promise(c Cycle) (void, new []placement.Edit) {
	now, asks := make(map[string]promised, len(m.nominated)), map[types.UID]bool{}
	for _, p := range c.Asks {
		asks[p.UID] = true
	}
	for _, info := range c.Nodes {
		node := info.Node().Name
		list, sum := c.Nominated(node), total{}
		for _, p := range list {
			id := ID(p.GetPod())
			if _, runs := m.pods[id]; runs || asks[p.GetPod().UID] {
				continue
			}
			one, before := promised{p, node, m.nodes[node].full}, m.nominated[id]
			same := before.same(one)
			if same && len(list) <= few {
				now[id] = before
				continue
			}
			strange := len(m.strange)
			pod := m.podOf(p, node)
			pod.Group = "" // its own priority counts, and its nomination stays if the rest of its group yields
			if same {
				m.strange = m.strange[:strange] // it was told before
			}
			if len(list) > few && !sum.add(pod.Requests) {
				m.note(p.GetPod(), "with it more is nominated to its node than can be counted: its nomination is left out")
				continue
			}
			now[id] = one
			if before, ok := m.snapshot.Nominated(id); !ok || !reflect.DeepEqual(before, pod) {
				new = append(new, placement.Nominate(pod))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.nominated)) {
		if _, stays := now[id]; !stays {
			void = append(void, placement.Withdraw(id))
		}
	}
	m.nominated = now
	return void, new
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
