package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	st "k8s.io/kubernetes/pkg/scheduler/testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
)

// The replicas of the workloads on the cluster, what each asks for, and how many of its pods may be away at a time; negative: any.
var drained = map[string]struct {
	replicas int32
	cpu      string
	away     int
}{"web": {4, "1", 1}, "db": {2, "2", 1}, "batch": {3, "1", -1}}

// A node is drained: nodes clear reads the cluster as kubectl prints it and says who moves in which order, and the test
// evicts in that order. The controllers of Kubernetes make new pods and keep the budgets, the scheduler places the pods.
func (c *cluster) drains(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c.control(ctx)
	defer c.clear(t)
	defer cancel()
	defer c.schedule(t, bySample(t))()
	var nodes []*v1.Node
	for _, name := range []string{"old-0", "old-1", "new"} {
		nodes = append(nodes, st.MakeNode().Name(name).Capacity(map[v1.ResourceName]string{"cpu": "8", "pods": "20"}).Obj())
	}
	c.create(t, world{nodes: nodes[:2]}, 0)
	for name := range drained {
		c.addReplicas(t, name)
	}
	c.allRun(t)
	old, web := "old-0", 0 // the node that has at least two pods of web, which may not leave at once
	for _, p := range c.all(t) {
		if p.Spec.NodeName == "old-1" && p.Labels["app"] == "web" {
			web++
		}
	}
	if web > 2 {
		old = "old-1"
	}
	daemon := st.MakePod().Namespace("default").Name("daemon").Node(old).Container("image").Obj()
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "1"}}
	daemon.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	c.create(t, world{nodes: nodes[2:], pods: []*v1.Pod{daemon}}, 0)
	before := c.all(t)
	cordon := []byte(`{"spec":{"unschedulable":true}}`)
	if _, err := c.CoreV1().Nodes().Patch(ctx, old, types.MergePatchType, cordon, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	a := c.cleared(t, old)
	if a.Outcome != preemption.Preempt || len(a.Steps) < 2 || len(a.Victims) > 0 {
		t.Fatalf("%+v", a)
	}
	var evicted []string
	for i, s := range a.Steps {
		for _, id := range s.Stop {
			evicted = append(evicted, strings.TrimPrefix(id, "default/"))
			if err := c.evict(t, id); err != nil {
				t.Errorf("step %d: %s is not evicted: %v", i, id, err)
			}
		}
		if next := i + 1; next < len(a.Steps) { // a budget holds its pods back
			if err := c.evict(t, a.Steps[next].Stop[0], metav1.DryRunAll); !apierrors.IsTooManyRequests(err) {
				t.Errorf("step %d might have been part of step %d: %v", next, i, err)
			}
		}
		c.allRun(t)
	}
	free := map[string]int64{"old-0": 8, "old-1": 8, "new": 8}
	for _, p := range c.all(t) {
		if p.Spec.NodeName == old && p.Name != "daemon" {
			t.Errorf("%s is on %s in the end", p.Name, old)
		}
		cpu := p.Spec.Containers[0].Resources.Requests[v1.ResourceCPU]
		if free[p.Spec.NodeName] -= cpu.Value(); free[p.Spec.NodeName] < 0 {
			t.Errorf("node %s holds more than it has", p.Spec.NodeName)
		}
	}
	for _, p := range before {
		_, err := c.CoreV1().Pods("default").Get(ctx, p.Name, metav1.GetOptions{})
		leaves := p.Spec.NodeName == old && p.Name != "daemon"
		if leaves != slices.Contains(evicted, p.Name) || leaves != apierrors.IsNotFound(err) {
			t.Errorf("%s of %s: evicted: %v; %v", p.Name, p.Spec.NodeName, !leaves, err)
		}
	}
	if a = c.cleared(t, old); a.Outcome != preemption.Fits || len(a.Steps) > 0 {
		t.Errorf("in the end there is still to do: %+v", a)
	}
}

// control runs the controllers of replica sets and of disruption budgets.
func (c *cluster) control(ctx context.Context) {
	f := informers.NewSharedInformerFactory(c.Clientset, 0)
	apps, core := f.Apps().V1(), f.Core().V1()
	replicas := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), core.Pods(), c.Clientset, 10)
	budgets := disruption.NewDisruptionController(ctx, core.Pods(), f.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), c.Clientset, nil, nil, nil) // no owner has another kind
	f.Start(ctx.Done())
	go replicas.Run(ctx, 1)
	go budgets.Run(ctx, 1)
}

// addReplicas creates a replica set, and its budget if it has one.
func (c *cluster) addReplicas(t *testing.T, name string) {
	w, labels := drained[name], map[string]string{"app": name}
	pod := st.MakePod().TerminationGracePeriodSeconds(0).Req(map[v1.ResourceName]string{v1.ResourceCPU: w.cpu}).Obj()
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.ReplicaSetSpec{
		Replicas: &w.replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod.Spec},
	}}
	_, err := c.AppsV1().ReplicaSets("default").Create(t.Context(), set, metav1.CreateOptions{})
	if err == nil && w.away >= 0 {
		away := intstr.FromInt(w.away)
		_, err = c.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &away, Selector: set.Spec.Selector},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// allRun waits until all replicas run, and says so for those that the scheduler has bound, as kubelets do; and until the
// budgets are whole again.
func (c *cluster) allRun(t *testing.T) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		ready := map[string]int32{}
		for _, p := range c.all(t) {
			if podutil.IsPodReady(&p) {
				ready[p.Labels["app"]]++
			} else if p.Spec.NodeName != "" && p.Name != "daemon" {
				p.Status.Phase, p.Status.Conditions = v1.PodRunning, []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}
				if _, err := c.CoreV1().Pods("default").UpdateStatus(ctx, &p, metav1.UpdateOptions{}); err != nil && !apierrors.IsConflict(err) {
					return false, err
				}
			}
		}
		for name, w := range drained {
			if ready[name] != w.replicas {
				return false, nil
			}
		}
		list, err := c.PolicyV1().PodDisruptionBudgets("default").List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(list.Items, func(b policyv1.PodDisruptionBudget) bool {
			w, is := drained[b.Name], b.Status
			return is.DisruptionsAllowed != int32(w.away) || len(is.DisruptedPods) > 0 || is.CurrentHealthy != w.replicas
		}), err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) evict(t *testing.T, id string, dryRun ...string) error {
	namespace, name, _ := strings.Cut(id, "/")
	return c.PolicyV1().Evictions(namespace).Evict(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}, DeleteOptions: &metav1.DeleteOptions{DryRun: dryRun},
	})
}

// cleared asks cede-nodes clear about a node.
func (c *cluster) cleared(t *testing.T, node string) moves.ClearAnswer {
	t.Helper()
	command := exec.Command("go", "run", "./nodes", "clear", "-node", node, "-o", "json")
	var in, told bytes.Buffer
	command.Dir, command.Stdin, command.Stderr = "..", &in, &told
	for _, path := range []string{"/api/v1/nodes", "/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets"} {
		list, err := c.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		in.Write(list)
	}
	out, err := command.Output()
	var a struct {
		Verdict string
		Answer  moves.ClearAnswer
	}
	if err == nil {
		err = json.Unmarshal(out, &a)
	}
	if err != nil || a.Verdict != "yes" {
		t.Fatalf("%v: %s\n%s", err, told.String(), out)
	}
	return a.Answer
}
