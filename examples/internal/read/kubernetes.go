package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/input"
)

// Kubernetes reads nodes, pods and what preemption depends on, as
//
//	kubectl get nodes,pods,namespaces,poddisruptionbudgets,priorityclasses,podgroups.scheduling.k8s.io -A -o json
//
// prints them, with compositepodgroups for trees of groups, and with resourceclaims,resourceslices,deviceclasses for devices. The zero value has read nothing.
type Kubernetes struct{ kubernetes.Objects }

// Lose takes what has no name or kind that can be read; see [input.Options].
func (k *Kubernetes) Lose(o *input.Object, why error) {
	kinds := []string{"Node", "Pod", "PodDisruptionBudget", "PodGroup", "CompositePodGroup", "PriorityClass", "ResourceClaim", "ResourceSlice", "DeviceClass"}
	if n, ok := lostNote(o, why, kinds...); ok {
		k.Objects.Lose(n)
	}
}

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (k *Kubernetes) Add(o *input.Object) error {
	if o.Metadata.Namespace == "" && slices.Contains([]string{"Pod", "PodDisruptionBudget", "PodGroup", "CompositePodGroup", "ResourceClaim"}, o.Kind) {
		o.Metadata.Namespace = "default" // as a manifest goes there
	}
	one, spec, status, fields := objectOfKubernetes(o)
	if one == nil {
		for _, kind := range ofKubernetes.Kinds() {
			if strings.EqualFold(kind, o.Kind) && (o.Group() == "" || strings.HasSuffix(o.Group(), ".k8s.io")) {
				err := fmt.Errorf("%s of apiVersion %q looks like a %s and cannot be read as one", o.Kind, o.APIVersion, kind)
				k.Objects.Lose(bridge.Note{Object: kind + " " + o.ID(), Text: kind + " " + o.ID() + " cannot be read: " + err.Error()})
				return err
			}
		}
		return input.ErrNotRead
	}
	if o.Deleted {
		k.Remove(one)
		return nil
	}
	if err := errors.Join(o.Fault, fields); err != nil {
		k.LeaveOut(one, err, append(o.ReadEach(spec, status), paths(fields)...))
		return err
	}
	if err := o.Read(spec, status); err != nil {
		k.LeaveOut(one, err, o.ReadEach(spec, status))
		return err
	}
	kind := o.Kind
	if p, is := one.(*kubernetes.Pod); is {
		if kind += "/waits"; p.Spec.NodeName != "" {
			kind = "Pod/runs"
		}
	}
	if k.Objects.Add(one, faultsIn(ofKubernetes, o, kind)...) {
		return input.ErrAgain
	}
	return nil
}

// paths of an error on fields beside spec and status.
func paths(err error) []string {
	if err == nil {
		return nil
	}
	path, _, _ := strings.Cut(err.Error(), ":")
	return []string{path}
}

// objectOfKubernetes is the object by name, where its spec and status go, and what is wrong with its
// other fields; nil for a kind that is not read.
func objectOfKubernetes(o *input.Object) (one kubernetes.Object, spec, status any, fields error) {
	switch o.Group() + " " + o.Kind {
	case " Node":
		of := &kubernetes.Node{Metadata: o.Metadata}
		return of, &of.Spec, &of.Status, nil
	case " Pod":
		of := &kubernetes.Pod{Metadata: o.Metadata}
		return of, &of.Spec, &of.Status, nil
	case "policy PodDisruptionBudget":
		of := &kubernetes.PodDisruptionBudget{Metadata: o.Metadata}
		return of, &of.Spec, &of.Status, nil
	case "resource.k8s.io DeviceClass":
		of := &kubernetes.DeviceClass{Metadata: o.Metadata}
		return of, &of.Spec, nil, nil
	case "resource.k8s.io ResourceSlice":
		of := &kubernetes.ResourceSlice{Metadata: o.Metadata}
		return of, &of.Spec, nil, nil
	case "resource.k8s.io ResourceClaim":
		of := &kubernetes.ResourceClaim{Metadata: o.Metadata}
		return of, &of.Spec, &of.Status, nil
	case " Namespace":
		return &kubernetes.Namespace{Metadata: o.Metadata}, nil, nil, nil
	case "scheduling.k8s.io PodGroup":
		of := &kubernetes.PodGroup{Metadata: o.Metadata}
		return of, &of.Spec, nil, nil
	case "scheduling.k8s.io CompositePodGroup":
		of := &kubernetes.CompositePodGroup{Metadata: o.Metadata}
		return of, &of.Spec, nil, nil
	case "scheduling.k8s.io PriorityClass":
		of := &kubernetes.PriorityClass{Metadata: o.Metadata}
		return of, nil, nil, errors.Join(o.Field("value", &of.Value), o.Field("globalDefault", &of.GlobalDefault), o.Field("preemptionPolicy", &of.PreemptionPolicy))
	}
	return nil, nil, nil, nil
}
