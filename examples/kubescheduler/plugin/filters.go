package plugin

import (
	"slices"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// nodeAlone are filters that do not look at who runs on the node.
var nodeAlone = []string{names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.DeferredPodScheduling}

// reversible are filters whose state is as before when all that left came back, and the other
// way round. That of PodTopologySpread is not: it keeps the two smallest counts alone.
var reversible = append([]string{
	names.NodeResourcesFit, names.NodePorts, names.InterPodAffinity, names.VolumeRestrictions, names.NodeVolumeLimits,
	names.VolumeBinding, names.VolumeZone, names.DynamicResources, names.NodeDeclaredFeatures,
}, nodeAlone...)

// asked lists the filters that are asked about a pod, in their order. state is the pod's.
func (pl *Plugin) asked(state fwk.CycleState) (list []string) {
	f, ok := pl.handle.(framework.Framework)
	if !ok {
		return []string{"unknown"}
	}
	for _, filter := range f.ListPlugins().Filter.Enabled {
		if !state.GetSkipFilterPlugins().Has(filter.Name) {
			list = append(list, filter.Name)
		}
	}
	return list
}

// asksMore reports whether a filter is asked about a pod that looks at more than room and the node alone.
func (pl *Plugin) asksMore(state fwk.CycleState) bool {
	return slices.ContainsFunc(pl.asked(state), func(name string) bool {
		return name != names.NodeResourcesFit && !slices.Contains(nodeAlone, name)
	})
}

// onlyRoom reports whether room alone keeps the pod from the nodes: all filters before that of
// room let it pass, and none comes after it. Then no filter has to be asked again.
func (a *attempt) onlyRoom(possible []fwk.NodeInfo) bool {
	list := a.asked(a.state)
	return !a.asksMore(a.state) && len(list) > 0 && list[len(list)-1] == names.NodeResourcesFit &&
		!slices.ContainsFunc(possible, func(n fwk.NodeInfo) bool { return a.Get(n.Node().Name).Plugin() != names.NodeResourcesFit })
}

// filters are the filters of the scheduler, as they are configured.
type filters struct{ *attempt }

// Reach implements placement.SetFilter. An answer may depend on pods of other nodes, such as
// their number in a zone; but for a single pod none of these comes or goes.
func (filters) Reach() placement.Reach { return placement.ReachNode }

// Begin implements placement.SetFilter.
func (f filters) Begin(*placement.Snapshot, placement.Request) placement.Trial {
	again := slices.ContainsFunc(f.asked(f.state), func(name string) bool { return !slices.Contains(reversible, name) })
	return &trial{attempt: f.attempt, again: again, nodes: map[string]*tried{}}
}

// trial tells the filters who comes and goes, in a copy of their state: one for all nodes, or
// one for each.
type trial struct {
	*attempt
	again bool              // one for each
	copy  fwk.CycleState    // nil: not made yet
	nodes map[string]*tried // those that differ from what the scheduler sees
}

// told returns the state of the filters in the trial.
func (t *trial) told() fwk.CycleState {
	if t.copy == nil {
		t.copy = t.state.Clone()
	}
	return t.copy
}

// tried is a node of a trial.
type tried struct {
	info    fwk.NodeInfo
	differs map[string]bool // pods that came or left
}

// node returns a node as it is in the trial.
func (t *trial) node(name string) *tried {
	if t.nodes[name] == nil {
		t.nodes[name] = &tried{t.mirror.Node(name).Snapshot(), map[string]bool{}}
	}
	return t.nodes[name]
}

// Add implements placement.Trial.
func (t *trial) Add(p workload.Pod) { t.change(p, true) }

// Remove implements placement.Trial.
func (t *trial) Remove(p workload.Pod) { t.change(p, false) }

func (t *trial) change(p workload.Pod, came bool) {
	if p.ID == t.request.Pods[0].ID {
		return // it is never there when it is asked about
	}
	n, pod := t.node(p.Node), t.mirror.Pod(p.ID)
	var status *fwk.Status
	if came {
		n.info.AddPodInfo(pod)
		status = t.handle.RunPreFilterExtensionAddPod(t.ctx, t.told(), t.pod, pod, n.info)
	} else {
		t.note(n.info.RemovePod(klog.FromContext(t.ctx), pod.GetPod()))
		status = t.handle.RunPreFilterExtensionRemovePod(t.ctx, t.told(), t.pod, pod, n.info)
	}
	t.note(status.AsError())
	if n.differs[p.ID] = !n.differs[p.ID]; !n.differs[p.ID] {
		delete(n.differs, p.ID)
	}
	if len(n.differs) == 0 {
		if delete(t.nodes, p.Node); t.again && len(t.nodes) == 0 {
			t.copy = nil
		}
	}
}

// Allows implements placement.Trial.
func (t *trial) Allows(_ workload.Pod, node workload.Node) bool {
	status := t.handle.RunFilterPlugins(t.ctx, t.told(), t.pod, t.node(node.Name).info)
	if !status.IsRejected() {
		t.note(status.AsError())
	}
	return status.IsSuccess()
}

// note keeps the first error of a filter.
func (t *trial) note(err error) {
	if t.err == nil {
		t.err = err
	}
}
