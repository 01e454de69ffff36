package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/pods"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Objects is what was read, before references are resolved. The zero value is empty.
type Objects struct {
	nodes   input.Kept[nodeObject]
	pods    input.Kept[podObject]
	budgets input.Kept[budgetObject]
	classes input.Kept[classObject]
	groups  input.Kept[groupObject]

	namespaces input.Kept[input.Metadata]
}

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (o *Objects) Add(one *input.Object) error {
	if one.Metadata.Namespace == "" && slices.Contains([]string{"Pod", "PodDisruptionBudget", "PodGroup"}, one.Kind) {
		one.Metadata.Namespace = corev1.NamespaceDefault // as a manifest goes there
	}
	switch one.Group() + " " + one.Kind {
	case " Node":
		n := nodeObject{Metadata: one.Metadata}
		return keep(&o.nodes, one, &n, &n.Spec, &n.Status)
	case " Pod":
		p := podObject{Metadata: one.Metadata}
		if err := one.Read(&p.Spec, &p.Status); err != nil {
			return err
		}
		if slices.Equal(p.Spec.Requests(nil), p.Spec.Requests(&p.Status.Status)) {
			p.Status.ContainerStatuses, p.Status.InitContainerStatuses = nil, nil // they take most of the memory
		}
		return o.pods.Put(one, &p)
	case "policy PodDisruptionBudget":
		b := budgetObject{Metadata: one.Metadata}
		return keep(&o.budgets, one, &b, &b.Spec, &b.Status)
	case " Namespace":
		return o.namespaces.Put(one, &one.Metadata)
	case "scheduling.k8s.io PodGroup":
		g := groupObject{Metadata: one.Metadata}
		return keep(&o.groups, one, &g, &g.Spec, nil)
	case "scheduling.k8s.io PriorityClass":
		c := classObject{Metadata: one.Metadata}
		err := errors.Join(one.Field("value", &c.Value), one.Field("globalDefault", &c.GlobalDefault), one.Field("preemptionPolicy", &c.PreemptionPolicy))
		if err != nil {
			return err
		}
		return o.classes.Put(one, &c)
	}
	return input.ErrNotRead
}

// keep reads an object and keeps it.
func keep[T any](in *input.Kept[T], one *input.Object, into *T, spec, status any) error {
	if err := one.Read(spec, status); err != nil {
		return err
	}
	return in.Put(one, into)
}

// amounts are those of a resource list, in the units of package placement.
func amounts(list map[string]pods.Quantity) placement.Resources {
	out := placement.Resources{}
	for name, q := range list {
		out[name] = clamp(pods.Amount(name, q.Quantity))
	}
	return out
}

// clamp keeps an amount within what a snapshot can count; what is more is as good as that.
func clamp(amount int64) int64 { return min(amount, quota.MaxUsage/1024) }

// requests are what a pod takes.
func requests(p *podObject) placement.Resources {
	out := placement.Resources{}
	for _, r := range p.Spec.Requests(&p.Status.Status) {
		if r.Resource != placement.PodsResource {
			out[r.Resource] = clamp(r.Amount)
		}
	}
	return out
}

// selector turns a label selector into that of package placement.
func selector(s *metav1.LabelSelector) *placement.Selector {
	if s == nil {
		return nil
	}
	out := &placement.Selector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, placement.Requirement{Key: r.Key, Operator: placement.Operator(r.Operator), Values: r.Values})
	}
	return out
}

// errClass is that of a priority class that is not there.
type errClass string

func (e errClass) Error() string {
	return fmt.Sprintf("PriorityClass %q is not in the input", string(e))
}

// priority is the one that counts for an object that names a class: its own value, that of
// the class, that of the default class, or zero; and what the class lets it do.
func (c *context) priority(own *int32, name string, policy *corev1.PreemptionPolicy) (int32, placement.Policy, error) {
	class, known := c.classes[name]
	switch {
	case name == "" && own == nil && c.byDefault != nil:
		class = c.byDefault
	case !known && own == nil && name != "":
		builtIn := map[string]int32{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
		value, ok := builtIn[name]
		if !ok {
			return 0, 0, errClass(name)
		}
		class = &classObject{Value: value}
	}
	if class == nil {
		class = new(classObject)
	}
	value := class.Value
	if own != nil {
		value = *own
	}
	if policy == nil {
		policy = class.PreemptionPolicy
	}
	if policy != nil && *policy == corev1.PreemptNever {
		return value, placement.PreemptNever, nil
	}
	return value, placement.PreemptLowerPriority, nil
}

// mode is the disruption mode of a group: an object with the key single or all, or, in
// older versions, one of two words; in KEP-5710 as written it is part of the policy.
func (g *groupObject) mode() (placement.DisruptionMode, error) {
	policy := &g.Spec.SchedulingPolicy
	places := []struct {
		path string
		data json.RawMessage
	}{{"spec.disruptionMode", g.Spec.DisruptionMode}, {"spec.schedulingPolicy.disruptionMode", policy.DisruptionMode}}
	if policy.Gang != nil {
		places = append(places, struct {
			path string
			data json.RawMessage
		}{"spec.schedulingPolicy.gang.disruptionMode", policy.Gang.DisruptionMode})
	}
	for _, place := range places {
		if len(place.data) == 0 || string(place.data) == "null" {
			continue
		}
		mode, ok := readMode(place.data)
		if !ok {
			return placement.DisruptionModePodGroup, fmt.Errorf("%s: %.40s is unknown", place.path, place.data)
		}
		return mode, nil
	}
	return placement.DisruptionModePod, nil
}

func readMode(data json.RawMessage) (mode placement.DisruptionMode, ok bool) {
	var text string
	if json.Unmarshal(data, &text) == nil {
		switch text {
		case "", "Pod", "Single":
			return placement.DisruptionModePod, true
		case "PodGroup", "All":
			return placement.DisruptionModePodGroup, true
		}
		return 0, false
	}
	var object struct{ Single, All *struct{} }
	switch err := json.Unmarshal(data, &object); {
	case err != nil:
		return 0, false
	case object.All != nil && object.Single == nil:
		return placement.DisruptionModePodGroup, true
	case object.All == nil && object.Single != nil, string(data) == "{}":
		return placement.DisruptionModePod, true
	}
	return 0, false
}
