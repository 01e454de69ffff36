package read

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
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
	count  int
	doubts []bridge.Doubt
	notes  []bridge.Note
}

// Cluster is the cluster of the objects. What cannot be read leaves every answer in doubt, but for a
// PodGroup that waits.
func (k *KAI) Cluster() bridge.Cluster {
	c := k.Objects.Cluster()
	c.Notes = append(c.Notes, k.notes...)
	for _, d := range k.doubts {
		waits := slices.ContainsFunc(c.Pending, func(p bridge.Pending) bool { return "PodGroup "+p.Workload.ID == d.Object })
		if waits {
			d.Workload = strings.TrimPrefix(d.Object, "PodGroup ")
		}
		c.Doubts = append(c.Doubts, d)
	}
	return c
}

// Count is the number of KAI's own objects so far.
func (k *KAI) Count() int { return k.count }

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (k *KAI) Add(o *input.Object) error {
	if o.Group() == kai.Group {
		k.count++
	}
	err := cmp.Or(o.Fault, k.add(o))
	object := o.Kind + " " + o.ID()
	ours := o.Group() == kai.Group && !slices.Contains(ignoredByKAI, o.Kind) || o.Group() == "scheduling.k8s.io" && o.Kind == "PriorityClass" ||
		o.Group() == "" && o.Kind == "Pod" && o.Metadata.Annotations[kai.GroupAnnotation] != ""
	switch {
	case !ours || o.Deleted || errors.Is(err, input.ErrNotRead):
	case err != nil && !errors.Is(err, input.ErrAgain):
		k.doubts = append(k.doubts, bridge.Doubt{Note: bridge.Note{Object: object, Text: fmt.Sprintf("%s cannot be read: %v", object, err)}})
	case o.Group() == kai.Group:
		for _, f := range faultsOf(o, "kai."+o.Kind) {
			n := bridge.Note{Object: object, Path: f.Path, Text: fmt.Sprintf("%s: %s %s", object, f.Path, f.Text)}
			if k.notes = append(k.notes, n); !f.Harmless {
				k.doubts = append(k.doubts, bridge.Doubt{Note: n})
			}
		}
	}
	return err
}

// Lose takes what has no name or kind that can be read; see [input.Options].
func (k *KAI) Lose(o *input.Object, why error) {
	if n, ok := lostNote(o, why, "Queue", "PodGroup", "PriorityClass", "Pod"); ok {
		k.doubts = append(k.doubts, bridge.Doubt{Note: n})
	}
}

func (k *KAI) add(o *input.Object) error {
	switch {
	case o.Group() == "scheduling.k8s.io" && o.Kind == "PriorityClass":
		c := &kai.PriorityClass{Metadata: o.Metadata}
		if err := o.Field("value", &c.Value); err != nil {
			return err
		}
		return k.put(o, c)
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
	notes, err := input.Read([]input.Source{{Name: "kai", Reader: r}}, input.Options{Lost: k.Lose}, k.Add)
	if err != nil {
		return Cluster{}, err
	}
	return With(k.Cluster(), notes), nil
}
