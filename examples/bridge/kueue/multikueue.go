package kueue

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/gate"
)

// MultiKueueConfig is Kueue's object in a manager cluster: the workers of an AdmissionCheck.
type MultiKueueConfig struct {
	Metadata bridge.Metadata      `json:"metadata"`
	Spec     MultiKueueConfigSpec `json:"spec"`
}

// MultiKueueConfigSpec is that of a MultiKueueConfig.
type MultiKueueConfigSpec struct {
	Clusters []string `json:"clusters"`
}

// MultiKueueCluster is Kueue's object in a manager cluster: a worker, and whether the manager reaches it.
type MultiKueueCluster struct {
	Metadata bridge.Metadata `json:"metadata"`
	Status   QueueStatus     `json:"status"`
}

func (c *MultiKueueConfig) key() string  { return "MultiKueueConfig " + c.Metadata.Name }
func (c *MultiKueueCluster) key() string { return "MultiKueueCluster " + c.Metadata.Name }

func (c *MultiKueueConfig) reach() reach  { return reach{} }
func (c *MultiKueueCluster) reach() reach { return reach{} }

// workersOf are the workers of a MultiKueueConfig, reached says why a manager does not reach a worker; empty: it does.
type (
	workersOf struct {
		name    string
		workers []string
	}
	reached struct{ name, why string }
)

func (c *MultiKueueConfig) read() (*entry, error) {
	return &entry{value: workersOf{c.Metadata.Name, slices.Clone(c.Spec.Clusters)}}, nil
}

func (c *MultiKueueCluster) read() (*entry, error) {
	is := reached{c.Metadata.Name, ""}
	if !c.Status.active() {
		is.why = cmp.Or(c.Status.inactive(), "its condition Active is not True")
	}
	return &entry{value: is}, nil
}

// MultiKueue is what the objects of a manager or worker cluster say of dispatch to several clusters. A manager has the checks, the
// workers and its workloads; a worker has the copies of these.
type MultiKueue struct {
	Checks  map[string]string   // the MultiKueueConfig of each AdmissionCheck of MultiKueue
	Workers map[string][]string // of each MultiKueueConfig
	// Unreached says, of each MultiKueueCluster, why the manager does not reach it; empty: it does.
	Unreached map[string]string
	Copies    map[string]Copy   // of workloads, by ID
	Unread    map[string]string // of objects that cannot be read, as "Workload a/b": why
}

// Copy is a workload as it stands in one cluster. Without a condition its Condition is zero.
type Copy struct {
	ID         string
	UID        string
	Queue      string // the ClusterQueue in which it holds quota; empty: none
	Priority   int64
	Queued     time.Time // its queue-order timestamp
	Created    time.Time
	Deleted    bool // it is being deleted
	Inactive   bool
	Dispatched bool // it is a copy that a manager sent
	Variant    bool // a variant of concurrent admission, or their parent
	// Gates are its gates as they stand, also the states of those that it does not name.
	Gates gate.Gates
	// GatesUnknown says that it was read in a version of the API that has no gates: v1beta1.
	GatesUnknown bool
	HasState     bool // some gate has a state: its cluster obeys gates

	Reserved, Admitted, Evicted, Finished Condition

	Checks    []AdmissionCheckState
	Nominated []string // of a manager's workload: the workers that it was sent to
	Cluster   string   // of a manager's workload: the worker in which it runs
}

// Is reports whether the condition is true.
func (c *Condition) Is() bool { return c.Status == "True" }

// The labels of a copy in a worker cluster, and of a workload that has variants.
const (
	originLabel = Group + "/multikueue-origin"
	parentLabel = Group + "/concurrent-admission-parent"
)

// copied returns the copy that a workload is; nil for one that no manager and no gate has to do with.
func (w *Workload) copied() *Copy {
	_, dispatched := w.Metadata.Labels[originLabel]
	if !dispatched && len(w.Status.AdmissionChecks)+len(w.Spec.PreemptionGates)+len(w.Status.NominatedClusterNames) == 0 && w.Status.ClusterName == nil {
		return nil
	}
	_, parent := w.Metadata.Labels[parentLabel]
	c := &Copy{
		ID: w.Metadata.ID(), UID: w.Metadata.UID, Priority: w.Spec.Priority, Queued: w.facts().queued, Created: w.Metadata.CreationTimestamp,
		Deleted: w.Metadata.DeletionTimestamp != nil, Inactive: w.inactive(), Dispatched: dispatched,
		Variant: parent || slices.ContainsFunc(w.Metadata.OwnerReferences, func(o bridge.OwnerReference) bool { return o.Kind == "Workload" }),
		Gates:   w.gatesAsTheyStand(), GatesUnknown: w.APIVersion == Group+"/v1beta1", HasState: len(w.Status.PreemptionGates) > 0,
		Checks: slices.Clone(w.Status.AdmissionChecks), Nominated: slices.Clone(w.Status.NominatedClusterNames),
	}
	if w.Status.ClusterName != nil {
		c.Cluster = *w.Status.ClusterName
	}
	if w.Status.Admission != nil {
		c.Queue = w.Status.Admission.ClusterQueue
	}
	c.Reserved, _ = w.Status.condition("QuotaReserved")
	c.Admitted, _ = w.Status.condition("Admitted")
	c.Evicted, _ = w.Status.condition("Evicted")
	c.Finished, _ = w.Status.condition("Finished")
	if blocked, is := w.Status.condition(gate.BlockedOnPreemptionGates); !is && blocked.Status != "" {
		c.Gates.Blocked = gate.Condition{Reason: blocked.Reason, Since: blocked.LastTransitionTime} // of an earlier signal
	}
	return c
}

// WaitingForPreemptedWorkloads is the reason of a QuotaReserved that is False because victims that were told to stop have not left.
const WaitingForPreemptedWorkloads = "WaitingForPreemptedWorkloads"

// Replica is the copy for an orchestrator, under the name of its cluster. Whether its victims leave is what Kueue said last.
func (c *Copy) Replica(cluster string) gate.Replica {
	r := gate.Replica{Name: cluster, Gates: c.Gates.Clone()}
	switch {
	case c.Reserved.Is():
		r.Progress = gate.Reserved
	case c.Reserved.Reason == WaitingForPreemptedWorkloads:
		r.Progress, r.Since = gate.Preempting, c.Reserved.LastTransitionTime
	case c.Reserved.Status != "":
		r.Progress = gate.Pending
	}
	if c.Evicted.Is() {
		r.Evicted = c.Evicted.LastTransitionTime
	}
	return r
}

// MultiKueue returns what the objects say of dispatch to several clusters. It costs O(objects).
func (o *Objects) MultiKueue() MultiKueue {
	m := MultiKueue{Checks: map[string]string{}, Workers: map[string][]string{}, Unreached: map[string]string{}, Copies: map[string]Copy{}, Unread: map[string]string{}}
	for _, e := range o.kept.All() {
		if e.unread != nil {
			m.Unread[e.object] = e.unread.Error()
		}
		switch v := e.value.(type) {
		case check:
			if v.controller == multiKueue {
				m.Checks[v.name] = v.config
			}
		case workersOf:
			m.Workers[v.name] = slices.Clone(v.workers)
		case reached:
			m.Unreached[v.name] = v.why
		}
		if e.copy != nil {
			m.Copies[e.copy.ID] = *e.copy
		}
	}
	return m
}
