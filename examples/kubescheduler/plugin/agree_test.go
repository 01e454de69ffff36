package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// worldsPerClass is how many random worlds of each class are compared.
const worldsPerClass = 200

// found are worlds on which the plugins once differed.
var found = map[string][]uint64{
	"all of these together": {1523}, // a nominated pod counts in the smallest zone after others were tried
}

// On every node kube-scheduler's own plugin and cede choose the same victims with the same
// violations, and of all nodes the same one, or one that no score tells from it. One plugin
// sees all worlds, one after the other.
func TestAgreesWithDefaultPreemption(t *testing.T) {
	h := newHarness(t)
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		t.Run(class, func(t *testing.T) {
			asked, nodes, places, tied := 0, 0, 0, 0
			for _, seed := range found[class] {
				w := drawWorld(class, seed, 3+int(seed%6))
				if h.show(t, w); !h.compare(t, fmt.Sprint("seed ", seed), w, &nodes, &places, &tied) {
					t.Errorf("seed %d: the pod does not wait", seed)
				}
			}
			for seed := uint64(0); asked < worldsPerClass; seed++ {
				if seed == 10*worldsPerClass {
					t.Fatalf("in %d of %d worlds the pod waits", asked, seed)
				}
				w := drawWorld(class, seed, 3+int(seed%6))
				if h.show(t, w); h.compare(t, fmt.Sprint("seed ", seed), w, &nodes, &places, &tied) {
					asked++
				}
			}
			t.Logf("%d worlds, %d nodes, on %d of them preemption makes room; %d ties of the score", asked, nodes, places, tied)
			if places < worldsPerClass/2 {
				t.Errorf("preemption makes room on %d nodes only", places)
			}
		})
	}
}

// A start in the future beside none: the departure, with its predicate. With starts that have passed there is none.
func TestStartInTheFuture(t *testing.T) {
	h := newHarness(t)
	departs := func(pods []*v1.Pod) bool { // the predicate of docs/departures.md
		return slices.ContainsFunc(pods, func(a *v1.Pod) bool {
			return slices.ContainsFunc(pods, func(b *v1.Pod) bool {
				return *a.Spec.Priority == *b.Spec.Priority && a.Status.StartTime == nil && b.Status.StartTime != nil && b.Status.StartTime.After(time.Now())
			})
		})
	}
	for _, start := range []time.Duration{-time.Hour, time.Hour} {
		at := st.MakePod().Namespace("default").Name("at").UID("at").Priority(1).Node("n1").Req(map[v1.ResourceName]string{"cpu": "1"}).StartTime(metav1.NewTime(time.Now().Add(start))).Obj()
		none := st.MakePod().Namespace("default").Name("none").UID("none").Priority(1).Node("n1").Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
		w := world{nodes: []*v1.Node{st.MakeNode().Name("n1").Capacity(map[v1.ResourceName]string{"cpu": "2", "pods": "9"}).Obj()}, pods: []*v1.Pod{at, none}}
		w.pod = st.MakePod().Namespace("default").Name("asks").UID("asks").Priority(9).Req(map[v1.ResourceName]string{"cpu": "1"}).Obj()
		h.show(t, w)
		state, statuses, _ := h.filter(t, w.pod)
		possible, err := statuses.NodesForStatusCode(h.lister.NodeInfos(), fwk.Unschedulable)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := h.kube.Evaluator.DryRunPreemption(h.ctx, state, w.pod, possible, nil, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		a := &attempt{Interface: h.kube, NodeToStatusReader: statuses, Plugin: h.cede, ctx: h.ctx, state: state, pod: w.pod}
		if err := a.follow(h.ctx, h.lister.NodeInfos(), w.pod); err != nil {
			t.Fatal(err)
		}
		a.ask(possible)
		d, err := h.cede.preemptor.Decide(h.cede.mirror.Snapshot(), a.request)
		if err != nil || len(d.Victims) != 1 || len(list) != 1 {
			t.Fatal(d, err, list)
		}
		if same := d.Victims[0].Pods[0] == "default/"+list[0].Victims().Pods[0].Name; same == departs(w.pods) || d.Victims[0].Pods[0] != "default/none" {
			t.Errorf("start in %v: cede takes %s, kube-scheduler %s", start, d.Victims[0].Pods[0], list[0].Victims().Pods[0].Name)
		}
	}
}

// compare asks both plugins about a world. It reports false if there is nothing to ask.
func (h *harness) compare(t *testing.T, name string, w world, nodes, places, tied *int) bool {
	state, statuses, waits := h.filter(t, w.pod)
	if !waits {
		return false
	}
	possible, err := statuses.NodesForStatusCode(h.lister.NodeInfos(), fwk.Unschedulable)
	if err != nil {
		t.Fatal(err)
	}
	candidates, _, err := h.kube.Evaluator.DryRunPreemption(h.ctx, state, w.pod, possible, w.budgets, 0, int32(len(possible)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, c := range candidates {
		want[c.Name()] = victims(w.inOrder(c.Victims().Pods), int(c.Victims().NumPDBViolations))
	}
	a := &attempt{Interface: h.kube, NodeToStatusReader: statuses, Plugin: h.cede, ctx: h.ctx, state: state, pod: w.pod}
	if err := a.follow(h.ctx, h.lister.NodeInfos(), w.pod); err != nil {
		t.Fatal(name, err)
	}
	a.ask(possible)
	list, err := h.cede.preemptor.Placements(h.cede.mirror.Snapshot(), a.request)
	if err != nil || a.err != nil {
		t.Fatal(name, err, a.err)
	}
	a.chosen = map[string]placement.Placement{}
	got := map[string]string{}
	for _, p := range list {
		a.chosen[p.Domain] = p
		pods, violations, _ := a.SelectVictimsOnNode(h.ctx, state, w.pod, h.cede.mirror.Node(p.Domain), nil, nil)
		got[p.Domain] = victims(w.inOrder(pods), violations)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s:\ncede           %v\nkube-scheduler %v", name, got, want)
	}
	*nodes, *places = *nodes+len(possible), *places+len(want)
	d, err := h.cede.preemptor.Decide(h.cede.mirror.Snapshot(), a.request)
	if err != nil {
		t.Fatal(name, err)
	}
	best := h.kube.Evaluator.SelectCandidate(h.ctx, candidates)
	switch {
	case best == nil || d.Outcome != preemption.Preempt:
		if best != nil || d.Outcome == preemption.Preempt {
			t.Errorf("%s: cede %v on %q, kube-scheduler %v", name, d.Outcome, d.Domain, best)
		}
	case best.Name() == d.Domain && victims(w.inOrder(best.Victims().Pods), int(best.Victims().NumPDBViolations)) == got[d.Domain]:
	default:
		one, _, _ := a.SelectVictimsOnNode(h.ctx, state, w.pod, h.cede.mirror.Node(d.Domain), nil, nil)
		if score(one, d.Violations) != score(best.Victims().Pods, int(best.Victims().NumPDBViolations)) {
			t.Errorf("%s: cede chooses %s, kube-scheduler %s, of %v", name, d.Domain, best.Name(), want)
		}
		*tied++
	}
	return true
}

// inOrder returns victims in their order; where there are groups, of which the pods are in no order, by name.
func (w world) inOrder(pods []*v1.Pod) []*v1.Pod {
	if len(w.podGroups) == 0 {
		return pods
	}
	return slices.SortedFunc(slices.Values(pods), func(a, b *v1.Pod) int { return strings.Compare(a.Name, b.Name) })
}

// victims is the text of a list of victims, in order.
func victims(pods []*v1.Pod, violations int) string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("%s (%d violations)", strings.Join(names, " "), violations)
}

// score is what kube-scheduler compares candidates by, most important first.
func score(pods []*v1.Pod, violations int) string {
	sum, earliest := int64(0), pods[0].Status.StartTime
	for _, p := range pods {
		sum += int64(*p.Spec.Priority) + 1<<31
		if *p.Spec.Priority == *pods[0].Spec.Priority && p.Status.StartTime.Before(earliest) {
			earliest = p.Status.StartTime
		}
	}
	return fmt.Sprint(violations, *pods[0].Spec.Priority, sum, len(pods), earliest)
}
