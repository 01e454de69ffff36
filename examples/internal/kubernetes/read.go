package kubernetes

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cedesched/cede/examples/internal/kueue"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Objects is what was read, before references are resolved. The zero value is empty.
type Objects struct {
	nodes   []nodeObject
	pods    []podObject
	budgets []budgetObject
	classes map[string]classObject
	groups  map[string]groupObject // by ID
	seen    map[string]bool        // by kind and ID
}

// maxInput bounds what is read: it is held in memory.
const maxInput = 2 << 30

// kinds are what is read, by group of the API.
var kinds = map[string]string{
	"Node": "", "Pod": "", "PodDisruptionBudget": "policy", "PriorityClass": "scheduling.k8s.io", "PodGroup": "scheduling.k8s.io",
}

// Read adds the objects of a source. It fails on what is neither JSON nor YAML, on kinds
// that it does not know, on values that make no sense and on what is there already, naming
// the object.
func (o *Objects) Read(r io.Reader) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(io.LimitReader(r, maxInput)), 1<<16)
	items := 0
	for documents := 0; ; documents++ {
		var data json.RawMessage
		err := decoder.Decode(&data)
		switch {
		case errors.Is(err, io.EOF) && items == 0:
			return errors.New("there are no objects in it")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("document %d: %w", documents+1, err)
		case string(data) == "null" || len(data) == 0: // an empty YAML document
			continue
		}
		if err := o.add(data, &items); err != nil {
			return err
		}
	}
}

// add takes an object, or every object of a list.
func (o *Objects) add(data []byte, items *int) error {
	var head object
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("item %d: not a Kubernetes object: %w", *items+1, explain(err))
	}
	if strings.HasSuffix(head.Kind, "List") {
		for _, item := range head.Items {
			if err := o.add(item, items); err != nil {
				return err
			}
		}
		*items = max(*items, 1) // an empty list is no empty input
		return nil
	}
	*items++
	if err := o.addOne(&head, data); err != nil {
		if head.Metadata.Name == "" {
			return fmt.Errorf("item %d: %w", *items, err)
		}
		return fmt.Errorf("item %d (%s %s): %w", *items, head.Kind, head.Metadata.Name, err)
	}
	return nil
}

func (o *Objects) addOne(head *object, data []byte) error {
	group, _, grouped := strings.Cut(head.APIVersion, "/")
	if !grouped {
		group = ""
	}
	want, known := kinds[head.Kind]
	switch {
	case head.Kind == "":
		return errors.New("no kind: not a Kubernetes object")
	case !known || group != want:
		return fmt.Errorf("unknown kind %s of %q: want Node, Pod, PodDisruptionBudget, PriorityClass or PodGroup of scheduling.k8s.io", head.Kind, head.APIVersion)
	case head.Metadata.Name == "":
		return fmt.Errorf("%s without metadata.name", head.Kind)
	}
	key := head.Kind + " " + head.Metadata.id()
	if o.seen[key] {
		return errors.New("it is in the input twice")
	}
	if o.seen == nil {
		o.seen, o.classes, o.groups = map[string]bool{}, map[string]classObject{}, map[string]groupObject{}
	}
	o.seen[key] = true
	switch head.Kind {
	case "Node":
		return read(data, &o.nodes)
	case "Pod":
		return read(data, &o.pods)
	case "PodDisruptionBudget":
		return read(data, &o.budgets)
	case "PriorityClass":
		var class []classObject
		err := read(data, &class)
		o.classes[head.Metadata.Name] = class[0]
		return err
	}
	var list []groupObject
	err := read(data, &list)
	o.groups[head.Metadata.id()] = list[0]
	return err
}

// read appends an object to a list, a broken one too.
func read[T any](data []byte, into *[]T) error {
	var one T
	err := json.Unmarshal(data, &one)
	*into = append(*into, one)
	return explain(err)
}

func explain(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field != "" {
		return fmt.Errorf("%s: want %v, found %s", mismatch.Field, mismatch.Type, mismatch.Value)
	}
	return err
}

// amounts are those of a resource list, in the units of package placement.
func amounts(list map[string]kueue.Quantity) placement.Resources {
	out := placement.Resources{}
	for name, q := range list {
		out[name] = clamp(kueue.Amount(name, q.Quantity))
	}
	return out
}

// clamp keeps an amount within what a snapshot can count; what is more is as good as that.
func clamp(amount int64) int64 { return min(amount, quota.MaxUsage/1024) }

// requests are what a pod takes.
func (p *podObject) requests() placement.Resources {
	out := placement.Resources{}
	for _, r := range kueue.PodRequests(p.Spec.core()) {
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

// priority is the one that counts for an object that names a class: its own value, that of
// the class, that of the default class, or zero; and what the class lets it do.
func (o *Objects) priority(own *int32, name string, policy *corev1.PreemptionPolicy) (int32, placement.Policy, error) {
	class, known := o.classes[name]
	switch {
	case name == "" && own == nil:
		for _, c := range o.classes {
			if c.GlobalDefault {
				class = c
			}
		}
	case !known && own == nil:
		builtIn := map[string]int32{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
		if class.Value, known = builtIn[name]; !known {
			return 0, 0, fmt.Errorf("PriorityClass %q is not in the input", name)
		}
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
// older versions, one of two words.
func (g *groupObject) mode() (placement.DisruptionMode, error) {
	text := strings.Trim(string(g.Spec.DisruptionMode), `"`)
	var object struct{ Single, All *struct{} }
	isObject := strings.HasPrefix(text, "{") && json.Unmarshal(g.Spec.DisruptionMode, &object) == nil
	switch {
	case slices.Contains([]string{"", "null", "Pod"}, text), isObject && object.All == nil:
		return placement.DisruptionModePod, nil
	case text == "PodGroup", isObject:
		return placement.DisruptionModePodGroup, nil
	}
	return 0, fmt.Errorf("spec.disruptionMode: %s is unknown", text)
}
