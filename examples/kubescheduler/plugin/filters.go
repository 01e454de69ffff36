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
var nodeAlone = []string{names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity}

// onlyRoom reports whether room alone keeps the pod from the nodes: all filters before that of
// room let it pass, and none comes after it. Then no filter has to be asked again.
func (a *attempt) onlyRoom(possible []fwk.NodeInfo) bool {
	f, ok := a.handle.(framework.Framework)
	if !ok {
		return false
	}
	room := false
	for _, filter := range f.ListPlugins().Filter.Enabled {
		switch {
		case filter.Name == names.NodeResourcesFit:
			room = true
		case a.state.GetSkipFilterPlugins().Has(filter.Name):
		case room || !slices.Contains(nodeAlone, filter.Name):
			return false
		}
	}
	return room && !slices.ContainsFunc(possible, func(n fwk.NodeInfo) bool { return a.Get(n.Node().Name).Plugin() != names.NodeResourcesFit })
}

// filters are the filters of the scheduler, as they are configured.
type filters struct{ *attempt }

// Reach implements placement.SetFilter. An answer may depend on pods of other nodes, such as
// their number in a zone; but for a single pod none of these comes or goes.
func (filters) Reach() placement.Reach { return placement.ReachNode }

// Begin implements placement.SetFilter.
func (f filters) Begin(*placement.Snapshot, placement.Request) placement.Trial {
	return &trial{attempt: f.attempt, state: f.state.Clone(), nodes: map[string]*tried{}}
}

// trial tells the filters who comes and goes, in one copy of their state for all nodes.
type trial struct {
	*attempt
	state fwk.CycleState
	nodes map[string]*tried // those that differ from what the scheduler sees
}

// tried is a node of a trial.
type tried struct {
	info    fwk.NodeInfo
	differs map[string]bool // pods that came or left
}

// node returns a node as it is in the trial.
func (t *trial) node(name string) *tried {
	if t.nodes[name] == nil {
		t.nodes[name] = &tried{t.mirror.nodes[name].Snapshot(), map[string]bool{}}
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
	n, pod := t.node(p.Node), t.mirror.pods[p.ID]
	if pod == nil {
		pod = t.mirror.nominated[p.ID]
	}
	var status *fwk.Status
	if came {
		n.info.AddPodInfo(pod)
		status = t.handle.RunPreFilterExtensionAddPod(t.ctx, t.state, t.pod, pod, n.info)
	} else {
		t.note(n.info.RemovePod(klog.FromContext(t.ctx), pod.GetPod()))
		status = t.handle.RunPreFilterExtensionRemovePod(t.ctx, t.state, t.pod, pod, n.info)
	}
	t.note(status.AsError())
	if n.differs[p.ID] = !n.differs[p.ID]; !n.differs[p.ID] {
		delete(n.differs, p.ID)
	}
	if len(n.differs) == 0 {
		delete(t.nodes, p.Node)
	}
}

// Allows implements placement.Trial.
func (t *trial) Allows(_ workload.Pod, node workload.Node) bool {
	status := t.handle.RunFilterPlugins(t.ctx, t.state, t.pod, t.node(node.Name).info)
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
