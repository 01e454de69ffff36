// Package kueue reads the state of a Kueue cluster, as kubectl prints it, into the
// values of cede.
//
// It reads what
//
//	kubectl get clusterqueues,cohorts,localqueues,resourceflavors,workloads.kueue.x-k8s.io -A -o json
//
// prints, in any shape that package input knows; API versions v1beta1 and v1beta2.
//
// What Kueue ignores is ignored too, with a warning; an object that contradicts itself is
// left out, with a warning.
package kueue

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Cluster is what was read. Lists are in the order of the input. The zero value
// is an empty cluster.
type Cluster struct {
	// Cohorts are followed by those that are named but have no object, by name.
	Cohorts  []queue.Cohort
	Queues   []queue.Queue
	Flavors  []queue.Flavor
	Admitted []workload.Workload
	Pending  []Pending
	// Finished is the IDs of workloads that are done and hold nothing.
	Finished []string
	// LocalQueues are what users submit to.
	LocalQueues []LocalQueue
	// QueueNotes is what an answer about a queue must tell its reader, by name of
	// the queue: it is stopped.
	QueueNotes map[string][]string
	// NeverYield is the workloads that nobody may preempt, with the reason, by ID. Kueue has
	// none.
	NeverYield map[string]string
	// Topologies are the names of the flavors' topologies, by flavor; of most there is none.
	Topologies map[string]string
	// Sharing is what is known of fair sharing.
	Sharing FairSharing
	// Warnings say what was left out or changed, one line each.
	Warnings []string
	// Selectors say of which namespaces a queue admits workloads, nil for none, by queue.
	Selectors map[string]*metav1.LabelSelector
	// Namespaces is the labels of those that are in the input, by name.
	Namespaces map[string]map[string]string
}

// LocalQueue leads from a namespace to a queue.
type LocalQueue struct {
	Namespace, Name string
	ClusterQueue    string
	// Notes say why it admits nothing for now: it is stopped.
	Notes []string
}

// Pending is a workload that waits for quota. It has no flavors yet.
type Pending struct {
	// ID is "namespace/name".
	ID, UID string
	// Queue is the ClusterQueue. Empty when the workload leads to none in the
	// input; Unresolved says why.
	Queue, Unresolved string
	Priority, Boost   int64
	Created, Queued   time.Time
	// NeverPreempts: it is marked so that nobody may yield for it (KEP-8729).
	NeverPreempts bool
	// PreemptsFrom is the time before which nobody may yield for it, for now. Kueue has none.
	PreemptsFrom time.Time
	PodSets      []PodSet
	Gates        gate.Gates
	// BackoffUntil is when it is back in its queue; zero when it is.
	BackoffUntil time.Time
	// Notes are what an answer about the workload must tell its reader: it is
	// inactive and the like.
	Notes []string
	// LocalNotes are those of the LocalQueue that it came through.
	LocalNotes []string
}

// PodSet is a number of equal replicas of a pending workload.
type PodSet struct {
	Name  string
	Count int64
	// Requests is what one replica asks for, sorted by resource.
	Requests []Request
	// Constraints are what its template says about nodes; nil: nothing.
	Constraints *workload.NodeConstraints

	pods int64 // in one replica, where that is not one: a total that does not divide
}

// Request is so much of a resource: milli-CPU for cpu, base units for the rest.
type Request struct {
	Resource string
	Amount   int64
}

// Workload returns p as a workload without flavors.
func (p *Pending) Workload() workload.Workload {
	w := workload.Workload{
		ID: p.ID, UID: p.UID, Queue: p.Queue,
		Priority: p.Priority, PriorityBoost: p.Boost,
		Created: p.Created, Queued: p.Queued, NeverPreempts: p.NeverPreempts, Gates: p.Gates.Clone(),
	}
	for _, set := range p.PodSets {
		s := workload.PodSet{Name: set.Name, Count: set.Count, NodeConstraints: set.Constraints.Clone()}
		for _, r := range set.Requests {
			s.Requests = append(s.Requests, quota.Amount{Resource: r.Resource, Amount: r.Amount})
		}
		w.PodSets = append(w.PodSets, s)
	}
	return w
}

// Read reads a cluster. It fails on what cannot be read at all (naming the place); an
// object that is odd is left out, with a warning.
func Read(r io.Reader) (Cluster, error) {
	b := NewBuilder()
	notes, err := input.Read([]input.Source{{Name: "kueue", Reader: r}}, input.Options{Nameless: Nameless}, b.Add)
	if err != nil {
		return Cluster{}, err
	}
	c := b.Cluster()
	c.Warnings = append(notes, c.Warnings...)
	return c, nil
}
