package plugin

import (
	"slices"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Begin implements placement.Placer.
func (g *groupAttempt) Begin(*placement.Snapshot, placement.Request) placement.PlacerTrial {
	g.trial = &groupTrial{groupAttempt: g, lister: g.handle.MutableSnapshotSharedLister()}
	return g.trial
}

// groupTrial tells the scheduler's snapshot and the states of the members who comes and goes, in the order in
// which kube-scheduler's evaluator does: units come and go while no member is there. (The order matters: a node
// forgets a port when one of two pods that have it leaves.)
type groupTrial struct {
	*groupAttempt
	lister fwk.MutableSnapshotSharedLister
	status *fwk.Status // of the placement; nil: not asked, or success
	placed map[string]fwk.ProposedAssignment
	order  []fwk.ProposedAssignment // the same, in the order in which they were placed
	more   bool                     // more than room keeps a member from nodes
	ahead  int                      // nominated pods that are there
	waits  []change                 // of running pods, that the snapshot does not know
	there  []fwk.ProposedAssignment // members in the snapshot
	wanted []fwk.ProposedAssignment // members that are there
}

// change is a running pod that comes back or leaves.
type change struct {
	pod  fwk.PodInfo
	node string
	came bool
}

// Place implements placement.PlacerTrial.
func (t *groupTrial) Place(pods []workload.Pod, _ []string) []string {
	nodes := make([]string, len(pods))
	t.tell(nil)
	t.placed, t.order, t.more = map[string]fwk.ProposedAssignment{}, nil, false
	assignments, status := t.schedule(t.ctx)
	if t.status = status; !status.IsSuccess() {
		return nodes
	}
	for _, a := range assignments.ProposedAssignments {
		if a.GetNodeName() == "" {
			continue
		}
		t.placed[mirror.ID(a.GetPod())] = a
		t.order = append(t.order, a)
		t.more = t.more || t.asksMore(a.GetCycleState())
	}
	for i, p := range pods {
		if a := t.placed[p.ID]; a != nil {
			nodes[i] = a.GetNodeName()
		}
	}
	return nodes
}

// Add implements placement.Trial.
func (t *groupTrial) Add(p workload.Pod) { t.change(p, true) }

// Remove implements placement.Trial.
func (t *groupTrial) Remove(p workload.Pod) { t.change(p, false) }

func (t *groupTrial) change(p workload.Pod, came bool) {
	member, pod := t.placed[p.ID], t.mirror.Running(p.ID)
	switch {
	case member != nil && came:
		t.wanted = append(t.wanted, member)
	case member != nil:
		t.wanted = slices.DeleteFunc(t.wanted, func(a fwk.ProposedAssignment) bool { return a == member })
	case pod != nil:
		t.waits = append(t.waits, change{pod, p.Node, came})
	case came: // nominated: see Allows
		t.ahead++
	default:
		t.ahead--
	}
}

// tell makes the snapshot hold some members, beside the running pods that are there.
func (t *groupTrial) tell(members []fwk.ProposedAssignment) {
	same := 0
	for same < min(len(t.there), len(members)) && len(t.waits) == 0 && t.there[same] == members[same] {
		same++
	}
	for _, a := range slices.Backward(t.there[same:]) {
		t.handle.RunReservePluginsUnreserve(t.ctx, a.GetCycleState(), a.GetPod(), a.GetNodeName())
		t.note(t.lister.RemovePod(klog.FromContext(t.ctx), a.GetPod(), a.GetNodeName()))
	}
	for _, c := range t.waits {
		t.move(c)
	}
	t.waits, t.there = nil, t.there[:same]
	for _, a := range members[same:] {
		t.note(t.lister.AddPod(a.GetPodInfo(), a.GetNodeName()))
		t.handle.RunReservePluginsReserve(t.ctx, a.GetCycleState(), a.GetPod(), a.GetNodeName())
		t.there = append(t.there, a)
	}
}

// move tells that a running pod came back or left.
func (t *groupTrial) move(c change) {
	if c.came {
		t.note(t.lister.AddPod(c.pod, c.node))
	} else {
		t.note(t.lister.RemovePod(klog.FromContext(t.ctx), c.pod.GetPod(), c.node))
	}
	if len(t.order) == 0 {
		return
	}
	info, err := t.lister.NodeInfos().Get(c.node)
	t.note(err)
	run := t.handle.RunPreFilterExtensionRemovePod
	if c.came {
		run = t.handle.RunPreFilterExtensionAddPod
	}
	for _, a := range t.order {
		t.note(run(t.ctx, a.GetCycleState(), a.GetPod(), c.pod, info).AsError())
	}
}

// Allows implements placement.Trial. With nominated pods and without is one question to the scheduler: it is
// asked without.
func (t *groupTrial) Allows(p workload.Pod, node workload.Node) bool {
	a := t.placed[p.ID]
	if a == nil || t.ahead > 0 || !t.more {
		return true
	}
	t.tell(t.wanted)
	info, err := t.lister.NodeInfos().Get(node.Name)
	if err != nil {
		t.note(err)
		return false
	}
	status := t.handle.RunFilterPluginsWithNominatedPods(t.ctx, a.GetCycleState(), a.GetPod(), info)
	if !status.IsRejected() {
		t.note(status.AsError())
	}
	return status.IsSuccess()
}

// note keeps the first error of a filter.
func (t *groupTrial) note(err error) {
	if t.err == nil {
		t.err = err
	}
}
