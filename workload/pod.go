package workload

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// Pod is a pod that runs on a node or waits for one. The zero value is invalid.
type Pod struct {
	// ID names the pod in results, for instance "namespace/name". It is unique.
	ID string `json:"id"`
	// UID breaks ties of importance: the pod with the smaller UID is more important.
	UID string `json:"uid,omitempty"`
	// Namespace and Labels decide which disruption budgets cover the pod.
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Group is the ID of the pod group. Empty: none. The group may be missing in the state:
	// then the pod is a unit by itself, with its own priority.
	Group string `json:"group,omitempty"`
	// Priority is the pod's own priority. If the state has its group, the priority of the
	// group counts instead, and this one is ignored (KEP-5710, Pod Group priorities). In a request
	// without group it is zero or equal to the priority of the request.
	Priority int32 `json:"priority,omitempty"`
	// Requests is what the pod takes, besides one of [PodsResource].
	Requests Resources `json:"requests,omitempty"`
	// Claims are the IDs of the claims that the pod holds, alone or with other pods ([Claim]), in any order. The state must
	// have them. A waiting pod goes only where pods run or are nominated that hold its claims, and pods of one request
	// with a claim go to one node: that of the first of them, so give nodes as domains if the others must follow.
	Claims []string `json:"claims,omitempty"`
	// Queue is the queue that the pod belongs to. If the state has its group, the queue of the group
	// counts instead, as with Priority. A request of another queue reclaims the room of the pod, any
	// other preempts it: see MinRuntime. Empty: no queue. In a request without group it is empty or
	// equal to the queue of the request.
	Queue string `json:"queue,omitempty"`
	// Node is the node on which the pod runs or to which it is nominated. Empty in a request.
	Node string `json:"node,omitempty"`
	// Nodes lists the nodes on which the pod may run, whatever runs there (selectors, taints, volumes): in a request, and of
	// a running pod, if it moves (package moves); where it runs already does not matter. Empty: all nodes, unless Nowhere is
	// set. Names of unknown nodes are ignored. Equal lists of a state are kept once (NewSnapshot, Sync).
	Nodes []string `json:"nodes,omitempty"`
	// Nowhere says that the pod may run on no node, whatever Nodes says: a running pod stays on its own, as one of a daemon set,
	// or one that nothing would create again.
	Nowhere bool `json:"nowhere,omitempty"`
	// Started is when the pod began to run. Zero counts as now.
	Started time.Time `json:"started,omitzero"`
	// Terminating says that the pod was told to stop and still holds its room.
	Terminating bool `json:"terminating,omitempty"`
	// TerminatingSince is when the pod was told to stop, for the termination timeout of a
	// request. Zero: not known; requests then wait for the pod without limit.
	TerminatingSince time.Time `json:"terminatingSince,omitzero"`
	// MinRuntime is how long the pod must have run before it may be preempted, ReclaimMinRuntime
	// before a request of another queue may reclaim its room. Unset: that of its group, else the
	// default of the preemptor. Zero is a value, and protects nothing. They are measured from Started,
	// and do not protect a pod without a start time, one that terminates, nor one of the surplus of its
	// group ([PodGroup.MinCount]). (KAI's design "Guaranteed minimum runtime before preemptions and reclaims".)
	MinRuntime        quota.OptionalDuration `json:"minRuntime,omitzero"`
	ReclaimMinRuntime quota.OptionalDuration `json:"reclaimMinRuntime,omitzero"`
	// Preempted says that the pod terminates because a scheduler preempted it.
	Preempted bool `json:"preempted,omitempty"`
}

// Clone returns a copy that shares nothing with p.
func (p Pod) Clone() Pod {
	p.Labels, p.Requests, p.Nodes, p.Claims = maps.Clone(p.Labels), maps.Clone(p.Requests), slices.Clone(p.Nodes), slices.Clone(p.Claims)
	return p
}

// Validate returns everything that is wrong with the pod itself, as an error that lists each
// fault with its path under the given one: an empty ID, Preempted or TerminatingSince on a
// pod that does not terminate, times outside the years 1678 to 2262, negative minimum
// runtimes, claims that are empty or there twice, requests that are negative, over [quota.MaxUsage], without a name or for
// [PodsResource].
func (p *Pod) Validate(path string) error {
	if p.isValid() { // the usual case, which is asked of every pod of a state
		return nil
	}
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
	validateMinimums(&faults, path, p.MinRuntime, p.ReclaimMinRuntime)
	for i, id := range p.Claims {
		if id == "" {
			faults.Add(fmt.Sprintf("%s.claims[%d]", path, i), "is empty")
		} else if at := slices.Index(p.Claims, id); at < i {
			faults.Add(fmt.Sprintf("%s.claims[%d]", path, i), "%q is there already: claims[%d]", id, at)
		}
	}
	p.Requests.validate(&faults, path+".requests")
	if _, ok := p.Requests[PodsResource]; ok {
		faults.Add(path+".requests."+PodsResource, "every pod takes one of it: it cannot be requested")
	}
	return faults.Err()
}

// isValid reports whether Validate finds nothing wrong.
func (p *Pod) isValid() bool {
	least := min(p.MinRuntime.Or(0), p.ReclaimMinRuntime.Or(0))
	if p.ID == "" || len(p.Claims) > 0 || !p.Terminating && (p.Preempted || !p.TerminatingSince.IsZero()) || least < 0 ||
		!instant.Valid(p.Started) || !instant.Valid(p.TerminatingSince) {
		return false
	}
	for name, amount := range p.Requests {
		if name == "" || name == PodsResource || amount < 0 || amount > quota.MaxUsage {
			return false
		}
	}
	return true
}

func validateMinimums(faults *fault.List, path string, preempt, reclaim quota.OptionalDuration) {
	if d := preempt.Or(0); d < 0 {
		faults.Add(path+".minRuntime", "%v is negative", d)
	}
	if d := reclaim.Or(0); d < 0 {
		faults.Add(path+".reclaimMinRuntime", "%v is negative", d)
	}
}
