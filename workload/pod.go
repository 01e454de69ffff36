package workload

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
)

// Pod is a pod that runs on a node or waits for one. The zero value is invalid.
type Pod struct {
	// ID names the pod in results, as in "namespace/name". Unique.
	ID string `json:"id"`
	// UID breaks ties of importance: the smaller is more important.
	UID string `json:"uid,omitempty"`
	// Namespace and Labels tell which disruption budgets apply.
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
	// TerminatingSince is when it was told to go, for the termination timeout of a request.
	// Zero is not known: then it is waited for without a bound.
	TerminatingSince time.Time `json:"terminatingSince,omitzero"`
	// Preempted says that it terminates because a scheduler preempted it.
	Preempted bool `json:"preempted,omitempty"`
}

// Clone returns a copy that shares nothing with p.
func (p Pod) Clone() Pod {
	p.Labels, p.Requests, p.Nodes = maps.Clone(p.Labels), maps.Clone(p.Requests), slices.Clone(p.Nodes)
	return p
}

// Validate returns everything that is wrong with the pod by itself, as an error that lists
// each fault with its path under the given one: an empty ID, Preempted or TerminatingSince
// of a pod that does not terminate, times outside the years 1678 to 2262, requests that are
// negative, over [quota.MaxUsage], without a name or of [PodsResource].
//
// [quota.MaxUsage]: https://pkg.go.dev/github.com/cedesched/cede/quota#MaxUsage
func (p *Pod) Validate(path string) error {
	var faults fault.List
	if p.ID == "" {
		faults.Add(path+".id", "is empty")
	}
	if p.Preempted && !p.Terminating {
		faults.Add(path+".preempted", "the pod does not terminate")
	}
	if !p.TerminatingSince.IsZero() && !p.Terminating {
		faults.Add(path+".terminatingSince", "the pod does not terminate")
	}
	for _, t := range [...]struct {
		field string
		time  time.Time
	}{{".started", p.Started}, {".terminatingSince", p.TerminatingSince}} {
		if !instant.Valid(t.time) {
			faults.Add(path+t.field, "%v is not within %s", t.time, instant.Range)
		}
	}
	p.Requests.validate(&faults, path+".requests")
	if _, ok := p.Requests[PodsResource]; ok {
		faults.Add(path+".requests."+PodsResource, "every pod takes one of it: it cannot be requested")
	}
	return faults.Err()
}
