package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// picky is an extender that leaves out some nodes.
type picky struct {
	fwk.Extender
	refuses string
	asked   int
}

func (p *picky) Name() string              { return "picky" }
func (p *picky) IsInterested(*v1.Pod) bool { return true }
func (p *picky) SupportsPreemption() bool  { return true }
func (p *picky) IsIgnorable() bool         { return false }
func (p *picky) ProcessPreemption(_ *v1.Pod, victims map[string]*extender.Victims, _ fwk.NodeInfoLister) (map[string]*extender.Victims, error) {
	p.asked += len(victims)
	left := map[string]*extender.Victims{}
	for node, v := range victims {
		if !strings.Contains(p.refuses, node) {
			left[node] = v
		}
	}
	return left, nil
}

// Extenders see every node where preemption makes room, with its victims, and of those that they
// leave the best is chosen: as by kube-scheduler's own plugin.
func TestExtendersTakePart(t *testing.T) {
	one := &picky{refuses: "n0 n1 n4"}
	h := newHarness(t, one)
	var mutex sync.Mutex
	var told []string
	own, err := defaultpreemption.New(h.ctx, &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}, h.framework, feature.Features{})
	if err != nil {
		t.Fatal(err)
	}
	own.Evaluator.PdbLister = byName{own.Evaluator.PdbLister}
	own.Executor.PreemptPod = func(_ context.Context, _ kube.Candidate, _ kube.ExecutorPreemptor, victim *v1.Pod, _ string) (bool, error) {
		mutex.Lock()
		defer mutex.Unlock()
		told = append(told, victim.Name)
		return false, nil
	}
	h.cede.DefaultPreemption = own
	preempted, refused := 0, 0
	for seed := range uint64(300) {
		w := drawWorld("overlapping budgets", seed, 6)
		h.show(t, w)
		state, statuses, waits := h.filter(t, w.pod)
		if !waits {
			continue
		}
		var answers [2]string
		var asked [2]int
		for i, plugin := range []fwk.PostFilterPlugin{own, h.cede} {
			told, one.asked = nil, 0
			result, status := plugin.PostFilter(h.ctx, state, w.pod, statuses)
			slices.Sort(told)
			asked[i] = one.asked
			answers[i] = fmt.Sprint(status.Code(), told)
			if result != nil {
				answers[i] += result.NominatedNodeName
			}
		}
		if answers[0] != answers[1] || asked[0] != asked[1] {
			t.Errorf("seed %d: kube-scheduler %s with %d nodes for the extender, cede %s with %d", seed, answers[0], asked[0], answers[1], asked[1])
		}
		if len(told) > 0 {
			preempted++
		} else if one.asked > 0 {
			refused++
		}
	}
	if t.Logf("%d preempted, in %d worlds the extender refused all nodes", preempted, refused); preempted < 60 || refused == 0 {
		t.Error("too few")
	}
}
