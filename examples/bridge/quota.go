package bridge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Cluster is the result of a bridge of a scheduler with quota. Lists are in the order in
// which the objects were first seen. The zero value is an empty cluster.
type Cluster struct {
	// State is for [preemption.NewSnapshot], which accepts the state of Kueue: what NewSnapshot would refuse
	// is left out, with a note and a doubt. The state of KAI holds what the objects say.
	State preemption.State
	// Pending are the workloads that wait for quota.
	Pending []Pending
	// Checked are workloads of State that hold quota and wait for admission checks; Unresolved says for which. They do not run.
	Checked []Pending
	// Limits are limits on preemptions, for preemption.Config.Limits.
	Limits []limits.Limit
	// Finished holds the IDs of workloads that are finished and hold nothing.
	Finished []string
	// LocalQueues are the queues that users submit to.
	LocalQueues []LocalQueue
	// Notes say what was left out or changed.
	Notes []Note
	// Doubts say what is not known, and which answers that leaves unknown: ask DoubtsOn.
	Doubts []Doubt
	// QueueNotes holds, by name of the queue, notes that belong to every answer about the
	// queue: it is stopped.
	QueueNotes map[string][]Note
	// Topologies holds the names of the flavors' topologies, by flavor; most flavors have
	// none.
	Topologies map[string]string
	// Places says where the pods of workloads that hold quota are, by ID, where Kueue placed them by a
	// topology.
	Places map[string][]Places
	// LeavingSince says since when workloads that hold quota have been leaving, by ID.
	LeavingSince map[string]time.Time
	// Sharing is what is known of fair sharing.
	Sharing FairSharing
	// Nodes are the nodes on which workloads need room, of a scheduler that admits by them (KAI), and the pods that run there: the group of a
	// pod is the ID of its workload, and of the surplus of a workload the last pods leave first. Zero: no room is needed.
	Nodes placement.State
	// Groups are the pod groups with pods, of a scheduler that admits by nodes (KAI): those that run, and those that wait.
	Groups []Group
	// Dropped are queues that the scheduler leaves out with all in them, by name, with the parent that is not there (KAI).
	Dropped map[string]string
	// Blocked says why nothing is admitted for now, though victims are told to stop; empty: nothing is in the way.
	Blocked string
	// Assumptions name fields and objects about which the caller accepts that they are in doubt; see [Cluster.Accepts].
	Assumptions []string
	// Selectors say of which namespaces a queue admits workloads, nil for none, by queue.
	Selectors map[string]*LabelSelector
	// Namespaces is the labels of those that are known, by name.
	Namespaces map[string]map[string]string
}

// FairSharing is what the objects say of fair sharing. The zero value: nothing.
type FairSharing struct {
	// Known: something says whether it is on. Source is what, as in "status.fairSharing of
	// ClusterQueue a".
	Known, On  bool
	Guess      bool // Source is a hint only: all answers are in doubt
	Said       bool // the caller says whether it is on, whatever the objects say
	Source     string
	Strategies []preemption.FairStrategy // those of the configuration; nil for the default
}

// Places is where Kueue placed the pods of a pod set.
type Places struct {
	PodSet string
	// Assignment is the topologyAssignment in JSON, which kueue.ReadPlaces reads.
	Assignment []byte
}

// Place is a number of pods in one domain of a topology, with its value of each level.
type Place struct {
	Values []string
	Count  int64
}

// LocalQueue leads from a namespace to a queue.
type LocalQueue struct {
	Namespace, Name string
	ClusterQueue    string
	// Notes say why it admits nothing for now: it is stopped.
	Notes []Note
}

// Pending is a workload that waits for quota.
type Pending struct {
	// Workload is as it goes into a [preemption.Request], without flavors; of KAI, with the one that there is. Its Queue is empty
	// where it leads to none of the objects; Unresolved says why.
	Workload   workload.Workload
	Unresolved string
	// PreemptsFrom is the time before which no workload may yield for it. Kueue has none.
	PreemptsFrom time.Time
	// BackoffUntil is when it is back in its queue; zero when it is.
	BackoffUntil time.Time
	// Notes are what an answer about the workload must tell its reader: it is inactive and
	// the like. LocalNotes are those of the LocalQueue that it came through.
	Notes, LocalNotes []Note
	// NoRoom says why its room on nodes cannot be asked about, if its pods are placed by a topology: it asks
	// for what is not looked at. Empty: it can.
	NoRoom string
	// Refused says why it is never admitted as things stand, whoever yields. Empty: that is not known to be so.
	Refused string
	// Pods need room together on [Cluster.Nodes], beside quota. Empty: none is needed.
	Pods []workload.Pod
	// IfPreempts says why an answer that it preempts is unknown. Empty: it is not.
	IfPreempts string
	// Replaces is for [preemption.Request.Replaces]: the workload that holds quota and in whose place this
	// one comes. Its requests have the flavors of that one.
	Replaces string
	// MinCounts is for [preemption.Request.MinCounts]: the pod sets that may start with fewer
	// replicas.
	MinCounts []preemption.Replicas
}

// Group is a pod group with all its pods.
type Group struct {
	// Workload is the group without pod sets. ReservedAt is when it started.
	Workload workload.Workload
	// Minimum is how many of its pods must run together.
	Minimum int
	// Pods are in the order in which they start. Those without a node wait.
	Pods []workload.Pod
	// PreemptsFrom is the time before which no workload may yield for it.
	PreemptsFrom time.Time
}

// CountPods adds the resource "pods", one a pod, if the queue has quota for it: Kueue counts
// pods itself.
func (p *Pending) CountPods(q *queue.Queue) {
	const pods = "pods"
	if !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.Resource == pods }) {
		return
	}
	p.Workload = p.Workload.Clone()
	for i := range p.Workload.PodSets {
		s := &p.Workload.PodSets[i]
		if slices.ContainsFunc(s.Requests, func(r quota.Amount) bool { return r.Resource == pods }) {
			continue
		}
		one := quota.Amount{Resource: pods, Amount: 1}
		if s.Totals {
			one.Amount = s.Count
		}
		s.Requests = append(s.Requests, one)
		slices.SortFunc(s.Requests, func(a, b quota.Amount) int { return strings.Compare(a.Resource, b.Resource) })
	}
}

// NotesOn are what an answer about a workload of a namespace in a queue must tell its reader;
// the namespace may be empty: not known.
func (c *Cluster) NotesOn(queueName, namespace string) []Note {
	notes := slices.Clone(c.QueueNotes[queueName])
	selector, isOfKueue := c.Selectors[queueName]
	object := "ClusterQueue " + queueName
	add := func(stops bool, format string, args ...any) {
		notes = append(notes, Note{Object: object, Path: selectorPath, Text: object + " " + fmt.Sprintf(format, args...), Stops: stops})
	}
	switch {
	case !isOfKueue:
		return notes
	case selector == nil:
		add(true, "has no namespaceSelector: it admits workloads of no namespace")
		return notes
	case SelectsAll(selector):
		return notes // all namespaces
	}
	err := ValidateSelector(selectorPath, selector)
	known, there := c.Namespaces[namespace]
	if !there && onlyByName(selector) { // a label that every namespace has
		known, there = map[string]string{NamespaceLabel: namespace}, true
	}
	switch {
	case err != nil:
		add(false, "has a namespaceSelector that cannot be read: %v", err)
	case namespace == "":
		add(false, "admits workloads of namespaces with %s only", SelectorText(selector))
	case !there:
		add(false, "admits workloads of namespaces with %s only; whether %s is one is not known: it is not in the input", SelectorText(selector), namespace)
	case !selector.Matches(known):
		add(true, "admits workloads of namespaces with %s only, and %s is none", SelectorText(selector), namespace)
	}
	return notes
}

// NamespaceDoubts are the notes of NotesOn that say that it is not known whether the queue admits workloads of
// the namespace. Of a namespace that is not named it is no question.
func (c *Cluster) NamespaceDoubts(queueName, namespace string) (list []Doubt) {
	for _, n := range c.NotesOn(queueName, namespace) {
		if n.Path == selectorPath && !n.Stops && namespace != "" {
			list = append(list, Doubt{Note: n, OnlyYes: true})
		}
	}
	return list
}

// NeedsNamespaces reports whether some queue selects namespaces by labels beside their names.
func (c *Cluster) NeedsNamespaces() bool {
	for _, s := range c.Selectors {
		if s != nil && !onlyByName(s) {
			return true
		}
	}
	return false
}

const selectorPath = "spec.namespaceSelector"

// NamespaceLabel is the label that every namespace has: its name.
const NamespaceLabel = "kubernetes.io/metadata.name"

// onlyByName reports whether a selector is about the name of namespaces alone.
func onlyByName(s *LabelSelector) bool {
	for key := range s.MatchLabels {
		if key != NamespaceLabel {
			return false
		}
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(e Requirement) bool { return e.Key != NamespaceLabel })
}
