package read

import (
	"errors"
	"slices"

	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/input"
)

// Kubernetes reads nodes, pods and what preemption depends on, as
//
//	kubectl get nodes,pods,namespaces,poddisruptionbudgets,priorityclasses,podgroups.scheduling.k8s.io -A -o json
//
// prints them. The zero value has read nothing.
type Kubernetes struct{ kubernetes.Objects }

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (k *Kubernetes) Add(o *input.Object) error {
	if o.Metadata.Namespace == "" && slices.Contains([]string{"Pod", "PodDisruptionBudget", "PodGroup"}, o.Kind) {
		o.Metadata.Namespace = "default" // as a manifest goes there
	}
	one, err := objectOfKubernetes(o)
	switch {
	case err != nil:
		return err
	case o.Deleted:
		k.Remove(one)
	case k.Objects.Add(one):
		return input.ErrAgain
	}
	return nil
}

func objectOfKubernetes(o *input.Object) (kubernetes.Object, error) {
	switch o.Group() + " " + o.Kind {
	case " Node":
		one := &kubernetes.Node{Metadata: o.Metadata}
		return one, o.Read(&one.Spec, &one.Status)
	case " Pod":
		one := &kubernetes.Pod{Metadata: o.Metadata}
		return one, o.Read(&one.Spec, &one.Status)
	case "policy PodDisruptionBudget":
		one := &kubernetes.PodDisruptionBudget{Metadata: o.Metadata}
		return one, o.Read(&one.Spec, &one.Status)
	case " Namespace":
		return &kubernetes.Namespace{Metadata: o.Metadata}, nil
	case "scheduling.k8s.io PodGroup":
		one := &kubernetes.PodGroup{Metadata: o.Metadata}
		return one, o.Read(&one.Spec, nil)
	case "scheduling.k8s.io PriorityClass":
		one := &kubernetes.PriorityClass{Metadata: o.Metadata}
		return one, errors.Join(o.Field("value", &one.Value), o.Field("globalDefault", &one.GlobalDefault), o.Field("preemptionPolicy", &one.PreemptionPolicy))
	}
	return nil, input.ErrNotRead
}
