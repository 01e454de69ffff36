package plugin

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// onNode is a candidate of which the name is asked, and by is the pod that preempts there.
type (
	onNode struct{ kube.Candidate }
	by     struct {
		kube.ExecutorPreemptor
		*v1.Pod
	}
)

func (onNode) Name() string       { return "n" }
func (by) UID() types.UID         { return "asks" }
func (by) SchedulerName() string  { return "default-scheduler" }
func (by) Type() string           { return "pod" }
func (p by) Obj() runtime.Object  { return p.Pod }
func (p by) GetName() string      { return p.Pod.Name }
func (p by) GetNamespace() string { return p.Pod.Namespace }
func victimOf(uid types.UID) *v1.Pod {
	return st.MakePod().Namespace("default").Name("low").UID(string(uid)).Node("n").Obj()
}

// A victim that was gone before it is told, or is another pod of that name now, emits no event: the preemptor is tried again.
func TestWakeIfGone(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []*v1.Pod
		wake bool
	}{
		{"it runs", []*v1.Pod{victimOf("low")}, false},
		{"it is gone", nil, true},
		{"another one runs", []*v1.Pod{victimOf("other")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t)
			h.show(t, world{pods: c.runs, pod: st.MakePod().Namespace("default").Name("asks").UID("asks").Obj()})
			wake, err := h.cede.Executor.PreemptPod(h.ctx, onNode{}, by{Pod: st.MakePod().Namespace("default").Name("asks").Obj()}, victimOf("low"), Name)
			if wake != c.wake || err != nil {
				t.Errorf("%v, %v, want %v", wake, err, c.wake)
			}
		})
	}
}

// The victims of a group wait for each member that waits itself and is not nominated to its place.
func TestMembersToNominate(t *testing.T) {
	member := func() *st.PodWrapper { return st.MakePod().Namespace("default").Name("member").UID("member") }
	for _, c := range []struct {
		name  string
		is    []*v1.Pod
		waits int
	}{
		{"not nominated", []*v1.Pod{member().Obj()}, 1},
		{"nominated to its place", []*v1.Pod{member().NominatedNodeName("n").Obj()}, 0},
		{"nominated to another node", []*v1.Pod{member().NominatedNodeName("other").Obj()}, 1},
		{"bound", []*v1.Pod{member().Node("other").Obj()}, 0},
		{"gone", nil, 0},
		{"another pod of that name", []*v1.Pod{member().UID("other").Obj()}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t)
			h.show(t, world{pods: c.is, pod: victimOf("waits")})
			info, err := framework.NewPodInfo(member().Obj())
			if err != nil {
				t.Fatal(err)
			}
			p := places{members: []fwk.ProposedAssignment{assignment{PodInfo: info, node: "n"}}}
			if got := p.missing(h.cede.handle.SharedInformerFactory().Core().V1().Pods().Lister()); got != c.waits {
				t.Errorf("%d, want %d", got, c.waits)
			}
		})
	}
}
