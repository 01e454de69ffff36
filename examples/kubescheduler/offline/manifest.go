package offline

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	scheduling "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// Complete does to a Pod or a group of a manifest what the API server does when it is created: it gives it a priority by its
// class, and a pod a policy and the tolerations of a while. It returns what cannot be known: the class is not in the input,
// or something else there changes the pod.
func (o *Objects) Complete(kind, id string) (unknown []Odd) {
	doubt := func(object, path, format string, args ...any) {
		unknown = append(unknown, Odd{Object: object, Path: path, Text: fmt.Sprintf(format, args...)})
	}
	class := func(name string) *scheduling.PriorityClass {
		found, missing := o.class(name)
		if missing {
			doubt("PriorityClass "+name, "", "is not in the input, and %s %s names it", kind, id)
		}
		return found
	}
	switch one := o.Get(kind, id).(type) {
	case *v1.Pod:
		if c := class(one.Spec.PriorityClassName); one.Spec.Priority == nil {
			one.Spec.Priority = new(int32)
			if c != nil {
				*one.Spec.Priority, one.Spec.PriorityClassName = c.Value, c.Name
			}
			if c != nil && c.PreemptionPolicy != nil && one.Spec.PreemptionPolicy == nil {
				one.Spec.PreemptionPolicy = c.PreemptionPolicy
			}
		}
		tolerateForAWhile(one)
		for l := range All[*v1.LimitRange](o, "LimitRange") {
			if l.Namespace == one.Namespace {
				doubt("LimitRange "+idOf(l), "spec.limits", "may change what Pod %s asks for when it is created", id)
			}
		}
		if name := one.Spec.RuntimeClassName; name != nil {
			doubt("Pod "+id, "spec.runtimeClassName", "RuntimeClass %s may add an overhead, a node selector and tolerations when the pod is created", *name)
		}
	case *schedulingv1beta1.PodGroup:
		if c := class(one.Spec.PriorityClassName); one.Spec.Priority == nil && c != nil {
			one.Spec.Priority = &c.Value
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if c := class(one.Spec.PriorityClassName); one.Spec.Priority == nil && c != nil {
			one.Spec.Priority = &c.Value
		}
	}
	return unknown
}

// class finds a priority class; without a name the default one, of several the one with the lowest value.
func (o *Objects) class(name string) (found *scheduling.PriorityClass, missing bool) {
	for c := range All[*scheduling.PriorityClass](o, "PriorityClass") {
		switch {
		case name != "" && c.Name == name:
			return c, false
		case name == "" && c.GlobalDefault && (found == nil || c.Value < found.Value):
			found = c
		}
	}
	for _, c := range schedulingdefaults.SystemPriorityClasses() {
		if c.Name == name {
			return c, false
		}
	}
	return found, name != ""
}

// tolerateForAWhile adds the tolerations of the admission plugin DefaultTolerationSeconds.
func tolerateForAWhile(p *v1.Pod) {
	const seconds = 300
	tolerated := map[string]bool{v1.TaintNodeNotReady: false, v1.TaintNodeUnreachable: false}
	for _, t := range p.Spec.Tolerations {
		for key := range tolerated {
			if (t.Key == key || t.Key == "") && (t.Effect == v1.TaintEffectNoExecute || t.Effect == "") {
				tolerated[key] = true
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tolerated)) {
		if !tolerated[key] {
			while := int64(seconds)
			p.Spec.Tolerations = append(p.Spec.Tolerations,
				v1.Toleration{Key: key, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: &while})
		}
	}
}
