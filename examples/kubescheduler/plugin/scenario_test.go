package plugin

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/featuregate"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// scenarios is where the scenarios of kube-scheduler v1.37.2 lie: a corpus beside the checkout. Amounts of cpu are in
// milli.
const scenarios = "../../../../shared/cases/k8s137/"

// scenario is one row of a test of kube-scheduler that runs the whole scheduler.
type scenario struct {
	ID    string
	Suite string
	Input struct {
		Gates         map[featuregate.Feature]any // bool, or "both"
		Nodes         []scenarioNode
		Groups        []scenarioGroup
		Pods          []scenarioPod
		PreemptorPods []scenarioPod `json:"preemptor_pods"`
		PDBs          []struct {
			Name     string
			Selector map[string]string
			Allowed  int32
		}
		Options struct {
			NodeScores map[string]int64 `json:"node_scores"`
			Reserve    any              `json:"reserve_limit"`
			AtOnce     bool             `json:"create_preemptors_at_once"`
			InOrder    bool             `json:"queued_in_creation_order"`
		}
		Resizing struct {
			scenarioPod
			Allocated map[string]int64
			Preempts  string `json:"policy"`
		}
		Steps []struct {
			CreateNodes []scenarioNode `json:"create_nodes"`
			CreateGroup *scenarioGroup `json:"create_group"`
			CreatePods  []scenarioPod  `json:"create_pods"`
		}
	}
	Want struct {
		Scheduled, Preempted, Unschedulable []string
		Victims                             []string
		Nominated                           []string `json:"nominated_pods"`
		Events                              int      `json:"preempted_events"`
		Checks                              []scenarioCheck
	}
}

type scenarioCheck struct {
	AfterStep                         int `json:"after_step"`
	Scheduled, Removed, Unschedulable []string
	OnNodes                           struct{ Pods, Nodes []string } `json:"on_nodes"`
	InOneDomain                       struct {
		Pods []string
		Key  string `json:"topology_key"`
	} `json:"in_one_domain"`
}

type scenarioNode struct {
	Name     string
	Capacity map[string]int64
	Labels   map[string]string
}

type scenarioGroup struct {
	Kind, Name, Parent, Mode, Policy string
	Priority                         int32
	MinCount                         int32  `json:"min_count"`
	MinGroups                        int32  `json:"min_group_count"`
	PreemptionPolicy                 string `json:"preemption_policy"`
	Constraints                      struct{ Topology []struct{ Key string } }
}

type scenarioPod struct {
	Name, Node, Group string
	Priority          int32
	Requests          map[string]int64
	Labels            map[string]string
	Policy            v1.PreemptionPolicy `json:"preemption_policy"`
	NodeSelector      map[string]string   `json:"node_selector"`
	Affinity          *v1.Affinity
	Spread            []v1.TopologySpreadConstraint       `json:"topology_spread"`
	PodLevel          struct{ Requests map[string]int64 } `json:"pod_level_resources"`
	Containers        []struct {
		Requests map[string]int64
		Ports    []v1.ContainerPort
	}
}

// readScenarios reads a file of scenarios.
func readScenarios(t *testing.T, name string) (list []scenario) {
	t.Helper()
	file, err := os.Open(scenarios + name + ".jsonl.gz")
	if os.IsNotExist(err) {
		t.Skip("the corpus is not beside the checkout")
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	data, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(data)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s scenario
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("%s, line %d: %v", name, len(list)+1, err)
		}
		list = append(list, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// amountsOf are amounts as Kubernetes has them.
func amountsOf(list map[string]int64) v1.ResourceList {
	out := v1.ResourceList{}
	for name, n := range list {
		if out[v1.ResourceName(name)] = *resource.NewQuantity(n, resource.BinarySI); name == "cpu" {
			out[v1.ResourceName(name)] = *resource.NewMilliQuantity(n, resource.DecimalSI)
		}
	}
	return out
}

func (n scenarioNode) object() *v1.Node {
	out := st.MakeNode().Name(n.Name).Obj()
	out.Labels = n.Labels
	out.Status.Capacity, out.Status.Allocatable = amountsOf(n.Capacity), amountsOf(n.Capacity)
	return out
}

func (p scenarioPod) object() *v1.Pod {
	out := st.MakePod().Namespace(metav1.NamespaceDefault).Name(p.Name).Priority(p.Priority).Node(p.Node).Obj()
	out.Labels, out.Spec.NodeSelector, out.Spec.Affinity, out.Spec.TopologySpreadConstraints = p.Labels, p.NodeSelector, p.Affinity, p.Spread
	if p.Policy != "" {
		out.Spec.PreemptionPolicy = &p.Policy
	}
	if p.Group != "" {
		out.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &p.Group}
	}
	if p.PodLevel.Requests != nil {
		out.Spec.Resources = &v1.ResourceRequirements{Requests: amountsOf(p.PodLevel.Requests)}
	}
	add := func(requests map[string]int64, ports []v1.ContainerPort) {
		out.Spec.Containers = append(out.Spec.Containers, v1.Container{
			Name: "c" + string(rune('0'+len(out.Spec.Containers))), Image: "image", Ports: ports,
			Resources: v1.ResourceRequirements{Requests: amountsOf(requests)}})
	}
	for _, c := range p.Containers {
		add(c.Requests, c.Ports)
	}
	if len(p.Containers) == 0 {
		add(p.Requests, nil)
	}
	return out
}

func (g scenarioGroup) podGroup() *schedulingv1beta1.PodGroup {
	out := st.MakePodGroup().Namespace(metav1.NamespaceDefault).Name(g.Name).Priority(g.Priority)
	if out.BasicPolicy(); g.Policy == "gang" {
		out = st.MakePodGroup().Namespace(metav1.NamespaceDefault).Name(g.Name).Priority(g.Priority).MinCount(g.MinCount)
	}
	if g.Parent != "" {
		out.ParentCompositePodGroup(g.Parent).WorkloadRef("template", "workload")
	}
	switch g.Mode {
	case "all":
		out.DisruptionModeAll()
	case "single":
		out.DisruptionModeSingle()
	}
	if g.PreemptionPolicy != "" {
		out.PreemptionPolicy(schedulingv1beta1.PreemptionPolicy(g.PreemptionPolicy))
	}
	for _, c := range g.Constraints.Topology {
		out.TopologyKey(c.Key)
	}
	return out.Obj()
}

func (g scenarioGroup) composite() *schedulingv1alpha3.CompositePodGroup {
	out := st.MakeCompositePodGroup().Namespace(metav1.NamespaceDefault).Name(g.Name).Priority(g.Priority).WorkloadRef("workload", "template")
	if out.BasicPolicy(); g.Policy == "gang" {
		out = st.MakeCompositePodGroup().Namespace(metav1.NamespaceDefault).Name(g.Name).Priority(g.Priority).WorkloadRef("workload", "template")
		out.MinGroupCount(cmp.Or(g.MinGroups, 1))
	}
	if g.Parent != "" {
		out.ParentCompositePodGroup(g.Parent)
	}
	switch g.Mode {
	case "all":
		out.DisruptionModeAll()
	case "single":
		out.DisruptionModeSingle()
	}
	if g.PreemptionPolicy != "" {
		out.PreemptionPolicy(schedulingv1alpha3.PreemptionPolicy(g.PreemptionPolicy))
	}
	for _, c := range g.Constraints.Topology {
		out.TopologyKey(c.Key)
	}
	return out.Obj()
}

// budgets are the budgets of a scenario. No controller runs: what the status allows counts.
func (s scenario) budgets() (list []*policy.PodDisruptionBudget) {
	for _, b := range s.Input.PDBs {
		list = append(list, &policy.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: b.Name},
			Spec:       policy.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: b.Selector}},
			Status:     policy.PodDisruptionBudgetStatus{DisruptionsAllowed: b.Allowed},
		})
	}
	return list
}
