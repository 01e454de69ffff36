package kueue

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

type flavorSpec struct {
	NodeLabels   map[string]string   `json:"nodeLabels"`
	NodeTaints   []corev1.Taint      `json:"nodeTaints"`
	Tolerations  []corev1.Toleration `json:"tolerations"`
	TopologyName string              `json:"topologyName"`
}

func (b *Builder) addFlavor(o *input.Object) error {
	var spec flavorSpec
	if err := o.Read(&spec, nil); err != nil {
		return err
	}
	f := queue.Flavor{Name: o.Metadata.Name, NodeLabels: spec.NodeLabels}
	for _, t := range spec.NodeTaints {
		taint := workload.Taint{Key: t.Key, Value: t.Value}
		if err := taint.Effect.UnmarshalText([]byte(t.Effect)); err != nil {
			return fmt.Errorf("spec.nodeTaints %q: %w", t.Key, err)
		}
		f.NodeTaints = append(f.NodeTaints, taint)
	}
	var dropped []string
	if f.Tolerations, dropped = tolerations(spec.Tolerations); len(dropped) > 0 {
		b.warn("ResourceFlavor %s: %s", f.Name, dropped[0])
	}
	if err := queue.ValidateFlavors([]queue.Flavor{f}); err != nil {
		return err
	}
	if spec.TopologyName != "" {
		b.c.Topologies[f.Name] = spec.TopologyName
	}
	b.c.Flavors = append(b.c.Flavors, f)
	return nil
}

// tolerations leaves those out that are of no known kind, and says so.
func tolerations(list []corev1.Toleration) (kept []workload.Toleration, dropped []string) {
	for _, t := range list {
		out := workload.Toleration{Key: t.Key, Value: t.Value}
		if err := out.Operator.UnmarshalText([]byte(t.Operator)); err != nil {
			dropped = append(dropped, fmt.Sprintf("a toleration of %q is not looked at: operator %q", t.Key, t.Operator))
			continue
		}
		if err := out.Effect.UnmarshalText([]byte(t.Effect)); err != nil {
			dropped = append(dropped, fmt.Sprintf("a toleration of %q is not looked at: effect %q", t.Key, t.Effect))
			continue
		}
		kept = append(kept, out)
	}
	return kept, dropped
}

// constraints is [constraintsOf] a pod set's template.
func constraints(spec *podSetSpec) (c *workload.NodeConstraints, dropped []string, err error) {
	if len(spec.Template) == 0 {
		return nil, nil, nil
	}
	var template struct {
		Spec struct {
			NodeSelector map[string]string   `json:"nodeSelector"`
			Affinity     *corev1.Affinity    `json:"affinity"`
			Tolerations  []corev1.Toleration `json:"tolerations"`
		} `json:"spec"`
	}
	if err := input.Decode("template", spec.Template, &template); err != nil {
		return nil, nil, fmt.Errorf("podSets %q: %w", spec.Name, err)
	}
	c, dropped = constraintsOf(template.Spec.NodeSelector, template.Spec.Affinity, template.Spec.Tolerations)
	return c, dropped, nil
}

// constraintsOf is what a pod template says about nodes, as far as a flavor depends on it:
// preferred affinities and fields of nodes are for the scheduler of pods. Nil: nothing.
func constraintsOf(selector map[string]string, affinity *corev1.Affinity, tolerated []corev1.Toleration) (c *workload.NodeConstraints, dropped []string) {
	c = &workload.NodeConstraints{NodeSelector: selector}
	c.Tolerations, dropped = tolerations(tolerated)
	if affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			var term workload.NodeSelectorTerm
			for _, e := range t.MatchExpressions {
				r := workload.NodeSelectorRequirement{Key: e.Key, Values: slices.Clone(e.Values)}
				one := workload.NodeConstraints{NodeAffinity: []workload.NodeSelectorTerm{{MatchExpressions: []workload.NodeSelectorRequirement{r}}}}
				err := r.Operator.UnmarshalText([]byte(e.Operator))
				if err == nil {
					one.NodeAffinity[0].MatchExpressions[0] = r
					err = one.Validate("affinity")
				}
				if err != nil {
					dropped = append(dropped, fmt.Sprintf("a requirement of its node affinity about %q is not looked at: %v", e.Key, err))
					continue
				}
				term.MatchExpressions = append(term.MatchExpressions, r)
			}
			c.NodeAffinity = append(c.NodeAffinity, term)
		}
	}
	if len(c.NodeSelector)+len(c.NodeAffinity)+len(c.Tolerations) == 0 {
		return nil, dropped
	}
	if err := c.Validate("template"); err != nil {
		return nil, append(dropped, fmt.Sprintf("its node selector, affinity and tolerations are not looked at: %v", err))
	}
	return c, dropped
}

// unknownFlavors notes, by queue, the flavors of its quotas without object.
func (b *Builder) unknownFlavors() {
	known := make(map[string]bool, len(b.c.Flavors))
	for _, f := range b.c.Flavors {
		known[f.Name] = true
	}
	for i := range b.c.Queues {
		q := &b.c.Queues[i]
		for j, e := range q.Quotas {
			first := !slices.ContainsFunc(q.Quotas[:j], func(o quota.Quota) bool { return o.Flavor == e.Flavor })
			if first && !known[e.Flavor] {
				b.note(q.Name, "has quota in flavor %s, whose ResourceFlavor is not in the input: its labels and taints are not known", e.Flavor)
			}
		}
	}
}
