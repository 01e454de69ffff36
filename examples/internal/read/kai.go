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
	"github.com/cedesched/cede/workload"
)

// KAI reads the objects of KAI, as
//
//	kubectl get queues.scheduling.run.ai,podgroups.scheduling.run.ai,bindrequests,pods,nodes,priorityclasses,schedulingshards -A -o json
//
// prints them. The zero value has read nothing.
type KAI struct {
	kai.Objects
	count  int
	faults []fault
	notes  []bridge.Note
}

// fault is what is not known of one object.
type fault struct {
	bridge.Doubt
	kind, id, group string // group: of a pod, its group; else empty
}

// Cluster is the cluster of the objects. What is not known of a PodGroup that waits, or of its pods, leaves the answer about
// it in doubt; everything else every answer, and so does what its pods request: fair shares go by it.
func (k *KAI) Cluster() bridge.Cluster {
	c := k.Objects.Cluster()
	c.Notes = append(c.Notes, k.notes...)
	waits, runs := map[string]string{}, map[string]bool{} // by group: the ID of what waits of it
	for i := range c.Pending {
		id := c.Pending[i].Workload.ID
		waits[strings.TrimSuffix(id, kai.More)] = id
	}
	for i := range c.State.Admitted {
		runs[c.State.Admitted[i].ID] = true
	}
	for _, f := range k.faults {
		if f.kind == "Pod" && f.group != "" {
			neverHeld(&c, waits[f.group])
		}
		id := f.id
		if f.kind == podWaits {
			id = f.group
		}
		waiting, also := waits[id]
		switch {
		case slices.ContainsFunc(ofRequests, func(path string) bool { return strings.HasPrefix(f.Path, path) }):
		case f.kind == "PodGroup" && runs[id] && slices.ContainsFunc(ofWaiting, func(path string) bool { return strings.HasPrefix(f.Path, path) }):
			if !also {
				continue
			}
			f.Workload = waiting
		case f.kind == podWaits, f.kind == "PodGroup" && !runs[id]:
			f.Workload = waiting // empty: every answer
		}
		c.Doubts = append(c.Doubts, f.Doubt)
		if f.kind == "PodGroup" && f.Path == "" && !also && !runs[id] { // it may wait
			waits[id] = id
			c.Pending = append(c.Pending, bridge.Pending{Workload: workload.Workload{ID: id}, Unresolved: f.Text})
		}
	}
	return c
}

// neverHeld takes back that a group has not enough pods: one of them cannot be read.
func neverHeld(c *bridge.Cluster, id string) {
	for i := range c.Pending {
		if p := &c.Pending[i]; p.Workload.ID == id {
			for j := range p.Notes {
				p.Notes[j].Stops = false
			}
		}
	}
}

// The stages of pods in the table of fields.
const podWaits, podHolds = "Pod/waits", "Pod/holds"

// ofRequests are fields on which it depends what pods request, or whether KAI sees them: so does every fair share.
var ofRequests = []string{
	"metadata.annotations[gpu-", "metadata.annotations[nvidia.com/mig-", "metadata.labels[kai.scheduler/node-pool]", "spec.resourceClaims", "status.resourceClaimStatuses",
}

// ofWaiting are fields of a PodGroup that decide where its pods go, or whether they are tried.
var ofWaiting = []string{"spec.topologyConstraint", "spec.schedulingBackoff"}

// Count is the number of KAI's own objects so far.
func (k *KAI) Count() int { return k.count }

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (k *KAI) Add(o *input.Object) error {
	if o.Group() == kai.Group {
		k.count++
	}
	if isLike(o, kai.Group, []string{"Queue", "PodGroup", "BindRequest"}) && o.Group() != kai.Group {
		err := fmt.Errorf("%s of apiVersion %q: it looks like an object of KAI and cannot be read as one", o.Kind, o.APIVersion)
		k.lose(o, err)
		return err
	}
	if version := versionsOfKAI[o.Kind]; o.Group() == kai.Group && version != "" && o.Version() != version {
		err := fmt.Errorf("it is of version %s, and KAI reads %s", o.Version(), version)
		k.lose(o, err)
		return err
	}
	err := cmp.Or(o.Fault, k.add(o))
	ours := o.Group() == kai.Group || o.Group() == kai.OwnGroup || o.Group() == "scheduling.k8s.io" && o.Kind == "PriorityClass" || o.Group() == "" && (o.Kind == "Pod" || o.Kind == "Node")
	switch {
	case !ours || o.Deleted || errors.Is(err, input.ErrNotRead) && !ofKAI.Knows(o.Kind):
	case err != nil && !errors.Is(err, input.ErrAgain):
		k.lose(o, err)
	default:
		k.check(o)
	}
	return err
}

// versionsOfKAI are those that are read, by kind: others may have other fields.
var versionsOfKAI = map[string]string{"Queue": "v2", "PodGroup": "v2alpha2", "BindRequest": "v1alpha2"}

// check holds an object against the table of fields.
func (k *KAI) check(o *input.Object) {
	object, group, kind := o.Kind+" "+o.ID(), "", o.Kind
	if o.Kind == "Pod" {
		if group = o.Metadata.Annotations[kai.GroupAnnotation]; group == "" {
			return // it only takes room on its node, which its requests say
		}
		group, kind = o.Metadata.Namespace+"/"+group, podWaits
		if k.HasNode(o.ID()) {
			kind = podHolds
		}
	}
	for _, f := range faultsIn(ofKAI, o, kind) {
		n := bridge.Note{Object: object, Path: f.Path, Text: fmt.Sprintf("%s: %s %s", object, f.Path, f.Text)}
		k.faults = append(k.faults, fault{bridge.Doubt{Note: n, OnlyYes: f.OnlyYes}, kind, o.ID(), group})
	}
}

// lose keeps that an object cannot be read.
func (k *KAI) lose(o *input.Object, why error) {
	object := o.Kind + " " + o.ID()
	n := bridge.Note{Object: object, Text: fmt.Sprintf("%s cannot be read: %v", object, why)}
	lost := fault{Doubt: bridge.Doubt{Note: n}, kind: o.Kind, id: o.ID()}
	if name := o.Metadata.Annotations[kai.GroupAnnotation]; o.Kind == "Pod" && name != "" {
		lost.group = o.Metadata.Namespace + "/" + name
	}
	k.faults = append(k.faults, lost)
}

// Lose takes what has no name or kind that can be read; see [input.Options].
func (k *KAI) Lose(o *input.Object, why error) {
	if n, ok := lostNote(o, why, "Queue", "PodGroup", "PriorityClass", "Pod", "Node", "BindRequest", "SchedulingShard", "Config"); ok {
		k.faults = append(k.faults, fault{Doubt: bridge.Doubt{Note: n}})
	}
}

func (k *KAI) add(o *input.Object) error {
	switch {
	case o.Group() == "scheduling.k8s.io" && o.Kind == "PriorityClass":
		c := &kai.PriorityClass{Metadata: o.Metadata}
		if err := errors.Join(o.Field("value", &c.Value), o.Field("globalDefault", &c.GlobalDefault)); err != nil {
			return err
		}
		return k.put(o, c)
	case o.Group() == "" && o.Kind == "Pod":
		p := &kai.Pod{Metadata: o.Metadata}
		if err := o.Read(&p.Spec, &p.Status); err != nil {
			k.Remove(p)
			return err
		}
		return k.put(o, p)
	case o.Group() == "" && o.Kind == "Node":
		n := &kai.Node{Metadata: o.Metadata}
		if err := o.Read(&n.Spec, &n.Status); err != nil {
			k.Remove(n)
			return err
		}
		return k.put(o, n)
	case o.Group() == kai.OwnGroup && o.Kind == "SchedulingShard":
		s := &kai.SchedulingShard{Metadata: o.Metadata}
		if err := o.Read(&s.Spec, nil); err != nil {
			return err
		}
		return k.put(o, s)
	case o.Group() == kai.OwnGroup && ofKAI.Knows(o.Kind):
		return nil
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
	case o.Kind == "BindRequest":
		b := &kai.BindRequest{Metadata: o.Metadata}
		if err := o.Read(&b.Spec, &b.Status); err != nil {
			return err
		}
		return k.put(o, b)
	case !ofKAI.Knows(o.Kind):
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
