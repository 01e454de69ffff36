package read

import (
	"io"
	"slices"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/input"
)

// ignoredByKAI is its kinds on which no decision here depends.
var ignoredByKAI = []string{"Topology", "BindRequest", "SchedulingShard", "Config"}

// KAI reads the objects of KAI, as
//
//	kubectl get queues.scheduling.run.ai,podgroups.scheduling.run.ai,pods,priorityclasses -A -o json
//
// prints them. The zero value has read nothing.
type KAI struct {
	kai.Objects
	count int
}

// Count is the number of KAI's own objects so far.
func (k *KAI) Count() int { return k.count }

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (k *KAI) Add(o *input.Object) error {
	if o.Group() == kai.Group {
		k.count++
	}
	switch {
	case o.Group() == "scheduling.k8s.io" && o.Kind == "PriorityClass":
		c := &kai.PriorityClass{Metadata: o.Metadata}
		if err := o.Field("value", &c.Value); err != nil {
			return err
		}
		k.put(o, c)
	case o.Group() == "" && o.Kind == "Pod":
		p := &kai.Pod{Metadata: o.Metadata}
		if err := o.Read(nil, &p.Status); err != nil && o.Metadata.Annotations[kai.GroupAnnotation] != "" {
			k.Remove(p)
			return err
		}
		k.put(o, p)
	case o.Group() == "" && o.Kind == "Node":
	case o.Group() != kai.Group:
		return input.ErrNotRead
	case o.Kind == "Queue":
		q := &kai.Queue{Metadata: o.Metadata}
		if err := o.Read(&q.Spec, nil); err != nil {
			return err
		}
		return k.put(o, q)
	case o.Kind == "PodGroup":
		g := &kai.PodGroup{Metadata: o.Metadata}
		if err := o.Read(&g.Spec, &g.Status); err != nil {
			return err
		}
		return k.put(o, g)
	case !slices.Contains(ignoredByKAI, o.Kind):
		return input.ErrNotRead
	}
	return nil
}

func (k *KAI) put(o *input.Object, one kai.Object) error {
	switch {
	case o.Deleted:
		k.Remove(one)
	case k.Objects.Add(one):
		return input.ErrAgain
	}
	return nil
}

// OfKAI reads a cluster of KAI. It fails on what cannot be read at all; an object that is odd is
// left out, with a warning.
func OfKAI(r io.Reader) (Cluster, error) {
	var k KAI
	notes, err := input.Read([]input.Source{{Name: "kai", Reader: r}}, input.Options{}, k.Add)
	if err != nil {
		return Cluster{}, err
	}
	return With(k.Cluster(), notes), nil
}
