// Package kai reads the state of a KAI cluster, as kubectl prints it, into the values of
// cede:
//
//	kubectl get queues.scheduling.run.ai,podgroups.scheduling.run.ai,pods,priorityclasses -A -o json
//
// Leaf queues become queues, those above them cohorts. A leaf's quota is its nominal; limits
// bound what is borrowed. A parent's quota is left out: KAI checks it beside the leaves',
// while a cohort's own would be added to theirs. Every queue may preempt lower priority in
// itself and reclaim from others whatever the priority; groups that are not preemptible
// never yield. What of this departs from KAI in a cluster, a warning or note says.
package kai

import (
	"io"
	"math"
	"slices"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/kueue"
)

// Group is the API group of KAI's objects.
const Group = "scheduling.run.ai"

// ignored is KAI's kinds on which no decision here depends.
var ignored = []string{"Topology", "BindRequest", "SchedulingShard", "Config"}

// Builder collects objects, and resolves what refers to others when all are there.
type Builder struct {
	queues     input.Kept[queueObject]
	groups     input.Kept[groupObject]
	priorities map[string]int64
	running    map[string]map[string]bool // pods, by group; by ID
	groupOf    map[string]string          // by ID of the pod
	objects    int
}

type queueObject struct {
	input.Metadata
	spec queueSpec
}

type groupObject struct {
	input.Metadata
	spec   groupSpec
	status groupStatus
}

// NewBuilder returns a builder without objects.
func NewBuilder() *Builder {
	return &Builder{priorities: map[string]int64{}, running: map[string]map[string]bool{}, groupOf: map[string]string{}}
}

// Objects is the number of KAI's own objects so far.
func (b *Builder) Objects() int { return b.objects }

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for a kind on which nothing here depends.
func (b *Builder) Add(o *input.Object) error {
	if o.Group() == Group {
		b.objects++
	}
	switch {
	case o.Group() == "scheduling.k8s.io" && o.Kind == "PriorityClass":
		return b.addClass(o)
	case o.Group() == "" && o.Kind == "Pod":
		return b.addPod(o)
	case o.Group() == "" && o.Kind == "Node":
		return nil
	case o.Group() != Group:
		return input.ErrNotRead
	case o.Kind == "Queue":
		q := queueObject{Metadata: o.Metadata}
		if err := o.Read(&q.spec, nil); err != nil {
			return err
		}
		return b.queues.Put(o, &q)
	case o.Kind == "PodGroup":
		g := groupObject{Metadata: o.Metadata}
		if err := o.Read(&g.spec, &g.status); err != nil {
			return err
		}
		return b.groups.Put(o, &g)
	case !slices.Contains(ignored, o.Kind):
		return input.ErrNotRead
	}
	return nil
}

func (b *Builder) addClass(o *input.Object) error {
	var value int64
	if err := o.Field("value", &value); err != nil {
		return err
	}
	b.priorities[o.Metadata.Name] = value
	if o.Deleted {
		delete(b.priorities, o.Metadata.Name)
	}
	return nil
}

// addPod counts the pods of a group that run; one that is terminating does not.
func (b *Builder) addPod(o *input.Object) error {
	group := o.Metadata.Annotations["pod-group-name"]
	if old := b.groupOf[o.ID()]; old != "" {
		delete(b.running[old], o.ID())
		delete(b.groupOf, o.ID())
	}
	if group == "" {
		return nil
	}
	var status struct {
		Phase string `json:"phase"`
	}
	if err := o.Read(nil, &status); err != nil {
		return err
	}
	if status.Phase == "Running" && o.Metadata.DeletionTimestamp == nil && !o.Deleted {
		id := o.Metadata.Namespace + "/" + group
		if b.running[id] == nil {
			b.running[id] = map[string]bool{}
		}
		b.running[id][o.ID()], b.groupOf[o.ID()] = true, id
	}
	return nil
}

// Read reads a cluster. It fails on what cannot be read at all; an object that is odd is left
// out, with a warning.
func Read(r io.Reader) (kueue.Cluster, error) {
	b := NewBuilder()
	notes, err := input.Read([]input.Source{{Name: "kai", Reader: r}}, input.Options{}, b.Add)
	if err != nil {
		return kueue.Cluster{}, err
	}
	c := b.Cluster()
	c.Warnings = append(notes, c.Warnings...)
	return c, nil
}

// units turns KAI's numbers into ours: cpu stands in milli-CPU in both, memory in
// megabytes, gpu in devices, of which fractions are rounded up.
func units(resource string, n float64) int64 {
	if resource == "memory" {
		n *= 1e6
	}
	switch n = math.Ceil(n); {
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	}
	return int64(n)
}
