package kueue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const group = "kueue.x-k8s.io"

// versions are the API versions that are read, by kind.
var versions = map[string][]string{
	"ClusterQueue": {"v1beta1", "v1beta2"},
	"Cohort":       {"v1alpha1", "v1beta1", "v1beta2"},
	"LocalQueue":   {"v1beta1", "v1beta2"},
	"Workload":     {"v1beta1", "v1beta2"},
}

// ignored are the kinds of Kueue on which no decision depends.
var ignored = []string{
	"AdmissionCheck", "MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig",
	"ResourceFlavor", "Topology", "WorkloadPriorityClass",
}

// builder collects objects in the order of the input, and resolves what refers to
// others when all are there.
type builder struct {
	c         Cluster
	seen      map[string]bool // by kind and ID
	skippedIn map[string]int  // admitted in a queue that is not there: how many, by queue
}

func newBuilder() *builder {
	return &builder{
		c:         Cluster{QueueNotes: make(map[string][]string)},
		seen:      make(map[string]bool),
		skippedIn: make(map[string]int),
	}
}

func (b *builder) warn(format string, args ...any) {
	b.c.Warnings = append(b.c.Warnings, fmt.Sprintf(format, args...))
}

// add takes one object.
func (b *builder) add(o *object) error {
	apiGroup, version, _ := strings.Cut(o.APIVersion, "/")
	known := versions[o.Kind]
	switch {
	case o.Kind == "":
		return errors.New("no kind: not a Kubernetes object")
	case apiGroup == "scheduling.k8s.io" && o.Kind == "Workload":
		return fmt.Errorf("a Workload of %s is not Kueue's: ask kubectl for workloads.%s", apiGroup, group)
	case apiGroup == group && slices.Contains(ignored, o.Kind):
		return nil
	case apiGroup != group || known == nil:
		return fmt.Errorf("unknown kind %s of %q: want ClusterQueue, Cohort, LocalQueue, ResourceFlavor or Workload of %s",
			o.Kind, o.APIVersion, group)
	case !slices.Contains(known, version):
		return fmt.Errorf("unknown version %q of %s: want %s", o.APIVersion, o.Kind, strings.Join(known, " or "))
	case o.Metadata.Name == "":
		return fmt.Errorf("%s without metadata.name", o.Kind)
	}
	key := o.Kind + " " + o.id()
	if b.seen[key] {
		return fmt.Errorf("%s is in the input twice", key)
	}
	b.seen[key] = true
	switch o.Kind {
	case "ClusterQueue":
		return b.addClusterQueue(o)
	case "Cohort":
		return b.addCohort(o)
	case "LocalQueue":
		return b.addLocalQueue(o)
	}
	return b.addWorkload(o)
}

func (b *builder) addLocalQueue(o *object) error {
	var spec localQueueSpec
	if err := o.read(&spec, nil); err != nil {
		return err
	}
	b.c.LocalQueues = append(b.c.LocalQueues, LocalQueue{
		Namespace: o.Metadata.Namespace, Name: o.Metadata.Name,
		ClusterQueue: spec.ClusterQueue, Stopped: isStopped(spec.StopPolicy),
	})
	return nil
}

// cluster resolves references and returns the result.
func (b *builder) cluster() Cluster {
	b.addImplicitCohorts()
	queues := make(map[string]*queue.Queue, len(b.c.Queues))
	for i := range b.c.Queues {
		queues[b.c.Queues[i].Name] = &b.c.Queues[i]
	}
	b.c.Admitted = slices.DeleteFunc(b.c.Admitted, func(w workload.Workload) bool {
		if queues[w.Queue] == nil {
			b.skippedIn[w.Queue]++
			return true
		}
		return false
	})
	for _, name := range slices.Sorted(maps.Keys(b.skippedIn)) {
		b.warn("ClusterQueue %q is not in the input: %d workloads that run in it are left out", name, b.skippedIn[name])
	}
	local := make(map[string]LocalQueue, len(b.c.LocalQueues))
	for _, l := range b.c.LocalQueues {
		local[l.Namespace+"/"+l.Name] = l
	}
	for i := range b.c.Pending {
		resolve(&b.c.Pending[i], local, queues)
	}
	return b.c
}

// addImplicitCohorts adds the cohorts that are named but have no object.
func (b *builder) addImplicitCohorts() {
	known := make(map[string]bool, len(b.c.Cohorts))
	for _, c := range b.c.Cohorts {
		known[c.Name] = true
	}
	implicit := make(map[string]bool)
	for _, c := range b.c.Cohorts {
		implicit[c.Parent] = true
	}
	for _, q := range b.c.Queues {
		implicit[q.Cohort] = true
	}
	for _, name := range slices.Sorted(maps.Keys(implicit)) {
		if name != "" && !known[name] {
			b.c.Cohorts = append(b.c.Cohorts, queue.Cohort{Name: name})
		}
	}
}

// resolve leads a pending workload from its LocalQueue to its queue. Until here
// Queue holds the name of the LocalQueue.
func resolve(p *Pending, local map[string]LocalQueue, queues map[string]*queue.Queue) {
	namespace, _, _ := strings.Cut(p.ID, "/")
	name := p.Queue
	p.Queue = ""
	l, ok := local[namespace+"/"+name]
	switch {
	case name == "":
		p.Unresolved = "it names no queue (spec.queueName)"
		return
	case !ok:
		p.Unresolved = fmt.Sprintf("LocalQueue %s/%s is not in the input", namespace, name)
		return
	case queues[l.ClusterQueue] == nil:
		p.Unresolved = fmt.Sprintf("ClusterQueue %s of LocalQueue %s/%s is not in the input", l.ClusterQueue, namespace, name)
		return
	}
	p.Queue = l.ClusterQueue
	if l.Stopped {
		p.Notes = append(p.Notes, fmt.Sprintf("LocalQueue %s/%s is stopped", namespace, name))
	}
	p.CountPods(queues[p.Queue])
}

// CountPods adds the resource "pods", one a replica, if the queue has quota for it.
func (p *Pending) CountPods(q *queue.Queue) {
	const pods = string(corev1.ResourcePods)
	if !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.Resource == pods }) {
		return
	}
	for i := range p.PodSets {
		s := &p.PodSets[i]
		if slices.ContainsFunc(s.Requests, func(r Request) bool { return r.Resource == pods }) {
			continue
		}
		s.Requests = append(s.Requests, Request{pods, max(1, s.pods)})
		slices.SortFunc(s.Requests, func(a, b Request) int { return strings.Compare(a.Resource, b.Resource) })
	}
}

func isStopped(policy string) bool { return policy != "" && policy != "None" }
