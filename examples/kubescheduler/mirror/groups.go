package mirror

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	fwk "k8s.io/kube-scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Groups is where the pod groups of a cycle are found. The zero value: no pod is in a group, as without the
// feature GenericWorkload. Without Composites a pod group has no parent.
type Groups struct {
	PodGroups  fwk.PodGroupLister
	Composites fwk.CompositePodGroupLister
}

// GroupID is the ID of a pod group in the snapshot.
func GroupID(key fwk.EntityKey) string {
	return string(key.Type) + "/" + key.Namespace + "/" + key.Name
}

// groupOf returns the key of the pod group that a pod names; false: it names none, or groups do not count.
func (g Groups) groupOf(p *v1.Pod) (key fwk.EntityKey, ok bool) {
	if g.PodGroups == nil || p.Spec.SchedulingGroup == nil || p.Spec.SchedulingGroup.PodGroupName == nil {
		return key, false
	}
	return fwk.PodGroupKey(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName), true
}

// above returns a pod group and the groups above it, the pod group first. None: there is no such object. It
// reports false if kube-scheduler stops on the way up: the tree is too deep, or goes in a circle.
func (g Groups) above(key fwk.EntityKey) (chain []workload.PodGroup, whole bool) {
	parent := (*string)(nil)
	add := func(key fwk.EntityKey, pg *schedulingv1beta1.PodGroup, cpg *schedulingv1alpha3.CompositePodGroup) bool {
		out := workload.PodGroup{ID: GroupID(key)}
		if pg != nil {
			out.Priority, parent = util.PodGroupPriority(pg), pg.Spec.ParentCompositePodGroupName
			if gang := pg.Spec.SchedulingPolicy.Gang; gang != nil {
				out.MinCount = int(max(0, gang.MinCount))
			}
		} else {
			out.Priority, parent = util.CompositePodGroupPriority(cpg), cpg.Spec.ParentCompositePodGroupName
		}
		if pg != nil && pg.Spec.DisruptionMode != nil && pg.Spec.DisruptionMode.All != nil ||
			cpg != nil && cpg.Spec.DisruptionMode != nil && cpg.Spec.DisruptionMode.All != nil {
			out.DisruptionMode = workload.DisruptionModePodGroup
		}
		if len(chain) > 0 {
			chain[len(chain)-1].Parent = out.ID
		}
		chain = append(chain, out)
		return false
	}
	if g.Composites == nil {
		if pg, err := g.PodGroups.Get(key.Namespace, key.Name); err == nil && pg != nil {
			add(key, pg, nil)
		}
		return chain, true
	}
	kube.TraverseHierarchyUp(key.Namespace, key, g.PodGroups, g.Composites, add)
	if parent == nil {
		return chain, true
	}
	next, err := g.Composites.Get(key.Namespace, *parent)
	return chain, err != nil || next == nil
}

// keep keeps a pod that runs, in place of one with its ID.
func (m *Mirror) keep(id string, p fwk.PodInfo) {
	m.forget(id)
	m.pods[id] = p
	if key, ok := m.look.groupOf(p.GetPod()); ok {
		m.named[key]++
	}
}

// forget forgets a pod that ran.
func (m *Mirror) forget(id string) {
	before := m.pods[id]
	if before == nil {
		return
	}
	delete(m.pods, id)
	if key, ok := m.look.groupOf(before.GetPod()); ok {
		if m.named[key]--; m.named[key] <= 0 {
			delete(m.named, key)
		}
	}
}

// tree returns the groups that running pods are in, and the groups above them, by ID. A pod group of a tree that
// kube-scheduler does not climb to its root is in no tree: it counts with the priority that kube-scheduler finds.
func (m *Mirror) tree() map[string]workload.PodGroup {
	out := map[string]workload.PodGroup{}
	for key := range m.named {
		chain, whole := m.look.above(key)
		if !whole {
			alone := chain[0]
			alone.Parent, alone.Priority = "", chain[len(chain)-1].Priority
			if slices.ContainsFunc(chain, func(g workload.PodGroup) bool { return g.DisruptionMode != 0 }) {
				alone.DisruptionMode = workload.DisruptionModePodGroup
			}
			if before, known := m.groups[alone.ID]; !known || before != alone {
				pg, _ := m.look.PodGroups.Get(key.Namespace, key.Name) // it is in the chain
				m.note(pg, "the groups above it are too many, or go in a circle: it counts alone")
			}
			chain = []workload.PodGroup{alone}
		}
		for _, g := range chain {
			out[g.ID] = g
		}
	}
	return out
}

// group returns the edits of groups that are gone or changed, and of groups that are new or changed. A group
// with the name of one that was deleted may have another priority. What is below a changed group is set again.
func (m *Mirror) group() (gone, set []placement.Edit) {
	before, now := m.groups, m.tree()
	differs := func(id string) bool {
		for ; id != ""; id = before[id].Parent {
			if before[id] != now[id] {
				return true
			}
		}
		return false
	}
	for _, id := range slices.Backward(rootsFirst(before)) {
		if differs(id) {
			gone = append(gone, placement.RemoveGroup(id))
		}
	}
	for _, id := range rootsFirst(now) {
		if _, known := before[id]; !known || differs(id) {
			set = append(set, placement.SetGroup(now[id]))
		}
	}
	m.groups = now
	return gone, set
}

// rootsFirst returns the IDs of groups, those above before those below.
func rootsFirst(groups map[string]workload.PodGroup) []string {
	depth := func(id string) (n int) {
		for ; id != ""; id = groups[id].Parent {
			n++
		}
		return n
	}
	return slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return cmp.Or(depth(a)-depth(b), strings.Compare(a, b)) })
}
