package placement

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/jsonform"
)

// Resources is amounts by resource: milli-CPU for cpu, base units (bytes, devices) for
// everything else. An absent resource is zero.
type Resources map[string]int64

// PodsResource is the resource of which every pod takes one. A node that does not list
// it has no limit of pods.
const PodsResource = "pods"

// State is what a snapshot is made of, in plain values. Its JSON form round-trips. The
// zero value is an empty cluster.
type State struct {
	Nodes []Node `json:"nodes,omitempty"`
	// Pods is the pods that run, those that terminate included.
	Pods []Pod `json:"pods,omitempty"`
	// Nominated is the pods that wait and have been promised room on a node ([Pod.Node]):
	// whoever is not of higher priority leaves that room alone.
	Nominated []Pod    `json:"nominated,omitempty"`
	Groups    []Group  `json:"groups,omitempty"`
	Budgets   []Budget `json:"budgets,omitempty"`
}

// Node is a machine. The zero value is invalid.
type Node struct {
	Name string `json:"name"`
	// Capacity is what pods may take of it (allocatable, in Kubernetes). A resource that
	// is absent cannot be had there, but for [PodsResource].
	Capacity Resources `json:"capacity,omitempty"`
	// Labels are for filters; the built-in rules do not look at them.
	Labels map[string]string `json:"labels,omitempty"`
	// Unschedulable takes the node out of all domains: nothing is placed there, and
	// nothing preempted for that.
	Unschedulable bool `json:"unschedulable,omitempty"`
}

// Pod is a pod that runs or waits. The zero value is invalid.
type Pod struct {
	// ID names the pod in results, as in "namespace/name". Unique.
	ID string `json:"id"`
	// UID breaks ties of importance: the smaller is more important.
	UID string `json:"uid,omitempty"`
	// Namespace and Labels tell which budgets apply.
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Group is the pod group, empty for a pod of none. The group need not be in the
	// state: then the pod is a unit by itself, with its own priority.
	Group string `json:"group,omitempty"`
	// Priority is the pod's own. In a group of the state that of the group counts instead
	// (KEP-5710, Pod Group priorities). In a request it is zero or that of the request.
	Priority int32 `json:"priority,omitempty"`
	// Requests is what it takes, besides one of [PodsResource].
	Requests Resources `json:"requests,omitempty"`
	// Node is where it runs, or is nominated to. Empty in a request.
	Node string `json:"node,omitempty"`
	// Nodes is, in a request, where it may run, whatever is there (selectors, taints,
	// volumes); empty: anywhere, unless Nowhere is set. Names that are not in the snapshot
	// count for nothing.
	Nodes []string `json:"nodes,omitempty"`
	// Nowhere says, in a request, that no node will do, whatever Nodes says.
	Nowhere bool `json:"nowhere,omitempty"`
	// Started is when it began to run. Zero counts as just now.
	Started time.Time `json:"started,omitzero"`
	// Terminating says that it is on its way out.
	Terminating bool `json:"terminating,omitempty"`
	// TerminatingSince is when it was told to go, for [Request.TerminationTimeout]. Zero
	// is not known: then it is waited for without a bound.
	TerminatingSince time.Time `json:"terminatingSince,omitzero"`
	// Preempted says that it terminates because a scheduler preempted it.
	Preempted bool `json:"preempted,omitempty"`
}

// DisruptionMode is what is evicted together (KEP-5710, Preemption unit). The zero value
// is DisruptionModePod, the default.
type DisruptionMode uint8

const (
	// DisruptionModePod: each pod of the group by itself ("Single" in newer versions of
	// the KEP).
	DisruptionModePod DisruptionMode = iota
	// DisruptionModePodGroup: all running pods of the group, wherever they run ("All").
	DisruptionModePodGroup
)

// Group is a pod group. The zero value is invalid. Priority and DisruptionMode are fixed
// while it has pods (KEP-5710: they are immutable).
type Group struct {
	ID string `json:"id"`
	// Priority counts instead of those of its pods. Zero where its class sets none.
	Priority       int32          `json:"priority,omitempty"`
	DisruptionMode DisruptionMode `json:"disruptionMode,omitzero"`
	// Basic says that its pods are scheduled each by itself, not as a gang. Then
	// DisruptionModePodGroup is invalid: a unit of preemption is never larger than one of
	// scheduling.
	Basic bool `json:"basic,omitempty"`
}

// Budget is a disruption budget. The zero value is invalid.
type Budget struct {
	Namespace string `json:"namespace,omitempty"`
	// Name is unique in the namespace.
	Name string `json:"name"`
	// Selector tells which pods of the namespace it covers. Nil: none.
	Selector *Selector `json:"selector,omitempty"`
	// Allowed is how many more disruptions it allows now.
	Allowed int64 `json:"allowed,omitempty"`
	// Disrupted is the IDs of pods that it counts as disrupted already: evicting one of
	// them costs nothing.
	Disrupted []string `json:"disrupted,omitempty"`
}

// Selector selects pods by labels. All parts must match; the zero value matches all.
type Selector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []Requirement     `json:"matchExpressions,omitempty"`
}

// Requirement is one expression of a selector.
type Requirement struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	// Values is for In and NotIn.
	Values []string `json:"values,omitempty"`
}

// Operator is how a requirement looks at a label.
type Operator string

// The operators of Kubernetes. A pod without the label matches NotIn.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
)

// Matches reports whether the labels match. A nil selector matches nothing.
func (s *Selector) Matches(labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, value := range s.MatchLabels {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		value, has := labels[r.Key]
		in := has && slices.Contains(r.Values, value)
		switch r.Operator {
		case In:
			has = in
		case NotIn:
			has = !in
		case DoesNotExist:
			has = !has
		}
		if !has {
			return false
		}
	}
	return true
}

// Clone returns a deep copy.
func (n Node) Clone() Node {
	n.Capacity, n.Labels = maps.Clone(n.Capacity), maps.Clone(n.Labels)
	return n
}

// Clone returns a deep copy.
func (p Pod) Clone() Pod {
	p.Labels, p.Requests, p.Nodes = maps.Clone(p.Labels), maps.Clone(p.Requests), slices.Clone(p.Nodes)
	return p
}

// Clone returns a deep copy.
func (b Budget) Clone() Budget {
	if b.Selector != nil {
		s := Selector{MatchLabels: maps.Clone(b.Selector.MatchLabels)}
		for _, r := range b.Selector.MatchExpressions {
			r.Values = slices.Clone(r.Values)
			s.MatchExpressions = append(s.MatchExpressions, r)
		}
		b.Selector = &s
	}
	b.Disrupted = slices.Clone(b.Disrupted)
	return b
}

// Record is a state and a request about it: all that a decision depends on besides the
// [Config].
type Record struct {
	State   State    `json:"state"`
	Request *Request `json:"request,omitempty"`
}

// ParseState reads the JSON form of a [State]. It fails on malformed JSON, unknown fields
// and anything after the object, naming the offset or field. The state is not validated;
// [NewSnapshot] does that.
func ParseState(data []byte) (State, error) {
	var st State
	return st, parse(data, &st)
}

// ParseRecord reads the JSON form of a [Record]. It fails as [ParseState] does.
func ParseRecord(data []byte) (Record, error) {
	var r Record
	return r, parse(data, &r)
}

func parse(data []byte, into any) error {
	if err := jsonform.Read(data, into); err != nil {
		return fmt.Errorf("placement: %w", err)
	}
	return nil
}
