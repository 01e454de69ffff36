package plugin

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics/legacyregistry"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kube "k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Arguments are read strictly, and all faults come at once, each with its path.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // of the error
	}{
		{"", nil},
		{"null", nil},
		{"{}", nil},
		{`{"kind": "CedeArgs", "apiVersion": "v1"}`, nil},
		{`{"mode": "Design", "budgets": "Hard", "charge": "ToAll", "minRuntime": "0s", "annotate": false}`, nil},
		{`[1]`, []string{"cannot unmarshal array"}},
		{`{"mode": 1}`, []string{"cannot unmarshal number"}},
		{`{"mode": "Design", "mode": "InPlace"}`, []string{`duplicate field "mode"`}},
		{`{"MODE": "Design", "x": 1}`, []string{`unknown field "MODE"`, `unknown field "x"`}},
		{`{"mode": "design", "budgets": "x", "charge": "y", "minRuntime": "-1s"}`, []string{
			`args.mode: Invalid value: "design"`, "InPlace", `args.budgets: Invalid value: "x"`,
			`args.charge: Invalid value: "y"`, `args.minRuntime: Invalid value: "-1s"`}},
		{`{"minRuntime": "x"}`, []string{`args.minRuntime: Invalid value: "x"`}},
	} {
		a, err := read(&runtime.Unknown{Raw: []byte(c.text), ContentType: runtime.ContentTypeJSON})
		if err == nil {
			_, _, err = a.configs()
		}
		if len(c.want) == 0 && err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.text, err, want)
			}
		}
	}
	if _, err := read(&v1.Pod{}); err == nil {
		t.Error("a pod is taken for arguments")
	}
	a, err := read(&runtime.Unknown{Raw: []byte("mode: Design\n"), ContentType: runtime.ContentTypeYAML})
	if err != nil || a.Mode != "Design" {
		t.Errorf("YAML: %+v, %v", a, err)
	}
}

// Without arguments the plugin decides as kube-scheduler. With them pod groups are still decided about in place:
// the scheduler places them.
func TestArgumentsConfigure(t *testing.T) {
	single, groups, err := Arguments{}.configs()
	if err != nil || !same(single, Config) || !same(groups, Config) {
		t.Errorf("%+v, %+v, %v", single, groups, err)
	}
	all := Arguments{Mode: "Design", Budgets: "Hard", Charge: "ToAll", MinRuntime: "1m"}
	single, groups, err = all.configs()
	want := placement.Config{Mode: placement.ModeDesign, Budgets: placement.Hard, Charge: placement.ChargeToAll, MinRuntime: quota.Some(time.Minute), MaxBlockers: -1}
	if err != nil || !same(single, want) {
		t.Errorf("%+v, %v, want %+v", single, err, want)
	}
	want.Mode = placement.ModeInPlace
	if !same(groups, want) {
		t.Errorf("%+v, want %+v", groups, want)
	}
}

func same(a, b placement.Config) bool {
	return a.Mode == b.Mode && a.Budgets == b.Budgets && a.Charge == b.Charge &&
		a.MinRuntime == b.MinRuntime && a.MaxBlockers == b.MaxBlockers && a.MaxRetrySteps == b.MaxRetrySteps
}

// recording is a handle that keeps what is told as events.
type recording struct {
	framework.Framework
	told *events.FakeRecorder
}

func (r recording) EventRecorder() events.EventRecorderLogger { return r.told }

// with makes the plugin with arguments. It returns what it tells, too.
func (h *harness) with(t *testing.T, arguments string) (*Plugin, *events.FakeRecorder) {
	t.Helper()
	told := events.NewFakeRecorder(10)
	one, err := New(h.ctx, &runtime.Unknown{Raw: []byte(arguments)}, recording{h.framework, told})
	if err != nil {
		t.Fatal(err)
	}
	pl := one.(*Plugin)
	pl.Evaluator.PdbLister, pl.Executor = h.kube.Evaluator.PdbLister, h.kube.Executor
	return pl, told
}

// On each of two nodes runs a pod of lower priority: on "budgeted" one that a budget keeps, on "free" one that has
// just started. Arguments decide which may yield; an event says it in words.
func TestArgumentsDecide(t *testing.T) {
	withGroups(t)
	h := newHarness(t)
	h.kube.Executor.PreemptPod = func(_ context.Context, _ kube.Candidate, _ kube.ExecutorPreemptor, _ *v1.Pod, _ string) (bool, error) {
		return false, nil
	}
	h.kube.Evaluator.PdbLister = byName{h.factory.Policy().V1().PodDisruptionBudgets().Lister()}
	old := metav1.NewTime(time.Now().Add(-time.Hour))
	now := metav1.Now()
	cpu := map[v1.ResourceName]string{"cpu": "2"}
	var w world
	for _, name := range []string{"budgeted", "free"} {
		w.nodes = append(w.nodes, st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "2", "pods": "10"}).Obj())
	}
	w.pods = []*v1.Pod{
		st.MakePod().Namespace("default").Name("a").UID("a").Label("app", "a").Node("budgeted").Priority(1).StartTime(old).Req(cpu).Obj(),
		st.MakePod().Namespace("default").Name("b").UID("b").Node("free").Priority(5).StartTime(now).Req(cpu).Obj(),
	}
	w.budgets = []*policy.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keeps"},
		Spec:       policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
	}}
	w.pod = st.MakePod().Namespace("default").Name("waits").UID("waits").Priority(10).Req(cpu).Obj()
	g := st.MakePodGroup().Namespace("default").Name("group").UID("group").Priority(10).Obj()
	member := st.MakePod().Namespace("default").Name("member").UID("member").Priority(10).PodGroupName("group").Req(cpu).Obj()
	w.groups.podGroups, w.groups.minimum = append(w.groups.podGroups, g), 1
	w.groups.asks = &framework.PodGroupInfo{Namespace: "default", Name: "group", Type: fwk.PodGroupKeyType, PodGroup: g}
	w.groups.asks.UnscheduledPods = []*v1.Pod{member}
	const yieldsA, yieldsB = "CedePreempt It has a place once default/a yields", "CedePreempt It has a place once default/b yields"
	const waitsFor = "CedeWait It waits: time alone helps at "
	for _, c := range []struct {
		arguments            string
		node, told           string
		groupNode, groupTold string
	}{
		{`{}`, "free", yieldsB, "budgeted", yieldsA},
		{`{"minRuntime": "10m"}`, "budgeted", yieldsA, "budgeted", yieldsA},
		{`{"budgets": "Hard"}`, "free", yieldsB, "free", yieldsB},
		{`{"budgets": "Hard", "minRuntime": "10m"}`, "", waitsFor, "", waitsFor},
	} {
		t.Run(c.arguments, func(t *testing.T) {
			pl, told := h.with(t, c.arguments)
			h.show(t, w)
			state, statuses, waits := h.filter(t, w.pod)
			if !waits {
				t.Fatal("the pod has a place")
			}
			check := func(what, node, wantNode, wantTold string) {
				text := ""
				select {
				case text = <-told.Events:
				default:
				}
				if node != wantNode || !strings.HasPrefix(text, "Normal "+wantTold) {
					t.Errorf("%s: node %q, told %q, want %q and %q", what, node, text, wantNode, wantTold)
				}
			}
			result, status := pl.PostFilter(h.ctx, state, w.pod, statuses)
			node := ""
			if status.IsSuccess() {
				node = result.NominatedNodeName
			}
			check("pod", node, c.node, c.told)
			h.show(t, w)
			groupResult, status := pl.PodGroupPostFilter(h.ctx, nil, w.groups.asks, h.place(t, w))
			node = ""
			if status.IsSuccess() {
				for _, n := range groupResult.NominatingInfos {
					node = n.NominatedNodeName
				}
			}
			check("group", node, c.groupNode, c.groupTold)
		})
	}
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cede_decisions_total", "cede_victims_total", "cede_decision_seconds", "cede_snapshot_age_seconds"} {
		i := 0
		for i < len(families) && families[i].GetName() != name {
			i++
		}
		if i == len(families) {
			t.Errorf("no metric %s in the registry of the scheduler", name)
		} else if name == "cede_snapshot_age_seconds" && families[i].GetMetric()[0].GetGauge().GetValue() <= 0 {
			t.Errorf("the snapshot has no age: %v", families[i])
		}
	}
}
