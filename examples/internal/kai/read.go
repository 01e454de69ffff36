// Package kai reads the state of a KAI cluster, as kubectl prints it, into the values of
// cede:
//
//	kubectl get queues.scheduling.run.ai,podgroups.scheduling.run.ai,priorityclasses -A -o json
//
// Leaf queues become queues, those above them cohorts; a leaf's quota is its nominal, its
// limit bounds what it borrows. A parent's quota is left out: KAI checks it beside the
// leaves', while a cohort's own would be added to theirs. Every queue may preempt lower
// priority in itself and reclaim from others whatever the priority.
package kai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/kueue"
)

// Group is the API group of KAI's objects.
const Group = "scheduling.run.ai"

// ignored is the kinds on which no decision here depends.
var ignored = []string{"Node", "Topology", "BindRequest", "ConfigMap", "SchedulingShard"}

type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               string            `json:"uid"`
		CreationTimestamp string            `json:"creationTimestamp"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
	Value  int64           `json:"value"` // of a priority class
	Items  []json.RawMessage
}

func (o *object) id() string {
	if o.Metadata.Namespace == "" {
		return o.Metadata.Name
	}
	return o.Metadata.Namespace + "/" + o.Metadata.Name
}

// maxInput bounds what is read: objects of this kind are held in memory.
const maxInput = 2 << 30

// Read reads a cluster. It fails on what is not JSON, on kinds that it does not know, and
// on values that make no sense, naming the object.
func Read(r io.Reader) (kueue.Cluster, error) {
	decoder := json.NewDecoder(io.LimitReader(r, maxInput))
	var list object
	if err := decoder.Decode(&list); err != nil {
		return kueue.Cluster{}, fmt.Errorf("kai: byte %d: %w", decoder.InputOffset(), err)
	}
	items := list.Items
	b := builder{priorities: map[string]int64{}, running: map[string]int64{}, hasChildren: map[string]bool{}}
	if list.Items == nil {
		items = nil
		if err := b.add(&list); err != nil {
			return kueue.Cluster{}, fmt.Errorf("kai: %w", err)
		}
	}
	for i, item := range items {
		var o object
		err := json.Unmarshal(item, &o)
		if err == nil {
			err = b.add(&o)
		}
		if err != nil {
			return kueue.Cluster{}, fmt.Errorf("kai: item %d (%s): %w", i+1, o.id(), err)
		}
	}
	c, err := b.cluster()
	if err != nil {
		return kueue.Cluster{}, fmt.Errorf("kai: %w", err)
	}
	return c, nil
}

// builder holds objects until all are there.
type builder struct {
	queues      []*object
	specs       []queueSpec
	groups      []*object
	priorities  map[string]int64
	running     map[string]int64 // pods, by namespace and group
	hasChildren map[string]bool
}

func (b *builder) add(o *object) error {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	switch {
	case o.Kind == "":
		return errors.New("no kind: not a Kubernetes object")
	case o.Kind == "PriorityClass":
		b.priorities[o.Metadata.Name] = o.Value
	case o.Kind == "Pod":
		return b.addPod(o)
	case slices.Contains(ignored, o.Kind):
	case group != Group:
		return fmt.Errorf("unknown kind %s of %q", o.Kind, o.APIVersion)
	case o.Kind == "Queue":
		var spec queueSpec
		if err := decode("spec", o.Spec, &spec); err != nil {
			return err
		}
		b.hasChildren[spec.ParentQueue] = true
		b.queues, b.specs = append(b.queues, o), append(b.specs, spec)
	case o.Kind == "PodGroup":
		b.groups = append(b.groups, o)
	default:
		return fmt.Errorf("unknown kind %s of %q", o.Kind, o.APIVersion)
	}
	return nil
}

// addPod counts the pods of a group that run; one that is terminating does not.
func (b *builder) addPod(o *object) error {
	var status struct {
		Phase string `json:"phase"`
	}
	if err := decode("status", o.Status, &status); err != nil {
		return err
	}
	if group := o.Metadata.Annotations["pod-group-name"]; group != "" && status.Phase == "Running" && o.Metadata.DeletionTimestamp == "" {
		b.running[o.Metadata.Namespace+"/"+group]++
	}
	return nil
}

func decode(name string, part json.RawMessage, into any) error {
	if len(part) == 0 {
		return nil
	}
	if err := json.Unmarshal(part, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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
