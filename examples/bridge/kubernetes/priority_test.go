package kubernetes_test

import (
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/preemption/placement"
)

// The priority of a pod is its own, else that of its class, else that of the default class, else zero.
// The two classes of the system are there without an object. ("The PriorityClass with the smallest value
// ... is used" where several are marked as globalDefault: the API server's admission plugin Priority.)
func TestPriorityOfAPod(t *testing.T) {
	own := int32(7)
	class := func(name string, value int32, byDefault bool, policy string) *kubernetes.PriorityClass {
		return &kubernetes.PriorityClass{Metadata: bridge.Metadata{Name: name}, Value: value, GlobalDefault: byDefault, PreemptionPolicy: policy}
	}
	high, usual, low := class("high", 1000, false, ""), class("usual", 50, true, "Never"), class("low", 10, true, "")
	for _, c := range []struct {
		name     string
		classes  []*kubernetes.PriorityClass
		spec     bridge.PodSpec
		priority int32
		policy   placement.PreemptionPolicy
		unknown  bool
	}{
		{"nothing", nil, bridge.PodSpec{}, 0, placement.PreemptLowerPriority, false},
		{"its own", []*kubernetes.PriorityClass{high}, bridge.PodSpec{Priority: &own, PriorityClassName: "high"}, 7, placement.PreemptLowerPriority, false},
		{"of its class", []*kubernetes.PriorityClass{high, usual}, bridge.PodSpec{PriorityClassName: "high"}, 1000, placement.PreemptLowerPriority, false},
		{"of the default class, with its policy", []*kubernetes.PriorityClass{high, usual}, bridge.PodSpec{}, 50, placement.PreemptNever, false},
		{"of two default classes the lower", []*kubernetes.PriorityClass{usual, low}, bridge.PodSpec{}, 10, placement.PreemptLowerPriority, false},
		{"its own policy before that of the class", []*kubernetes.PriorityClass{usual}, bridge.PodSpec{PriorityClassName: "usual", PreemptionPolicy: "PreemptLowerPriority"}, 50, placement.PreemptLowerPriority, false},
		{"system-node-critical", nil, bridge.PodSpec{PriorityClassName: "system-node-critical"}, 2000001000, placement.PreemptLowerPriority, false},
		{"system-cluster-critical", []*kubernetes.PriorityClass{usual}, bridge.PodSpec{PriorityClassName: "system-cluster-critical"}, 2000000000, placement.PreemptLowerPriority, false},
		{"a class that is not there", []*kubernetes.PriorityClass{usual}, bridge.PodSpec{PriorityClassName: "gone"}, 0, 0, true},
	} {
		var o kubernetes.Objects
		for _, one := range c.classes {
			o.Add(one)
		}
		o.Add(&kubernetes.Pod{Metadata: bridge.Metadata{Name: "p", Namespace: "n"}, Spec: c.spec})
		p := o.Cluster().Pending[0]
		if p.Request.Priority != c.priority || (p.Unresolved != nil) != c.unknown || !c.unknown && p.Request.Policy != c.policy {
			t.Errorf("%s: %d, %v, %v", c.name, p.Request.Priority, p.Request.Policy, p.Unresolved)
		}
	}
}
