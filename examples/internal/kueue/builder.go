package kueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Group is the API group of Kueue's objects.
const Group = "kueue.x-k8s.io"

// versions are the API versions that are read, by kind.
var versions = map[string][]string{
	"ClusterQueue":   {"v1beta1", "v1beta2"},
	"Cohort":         {"v1alpha1", "v1beta1", "v1beta2"},
	"LocalQueue":     {"v1beta1", "v1beta2"},
	"ResourceFlavor": {"v1beta1", "v1beta2"},
	"Workload":       {"v1beta1", "v1beta2"},
}

// ignored are the kinds of Kueue on which no decision depends.
var ignored = []string{
	"AdmissionCheck", "MultiKueueCluster", "MultiKueueConfig", "ProvisioningRequestConfig",
	"Topology", "WorkloadPriorityClass",
}

// Builder collects objects in the order of the input, and resolves what refers to others
// when all are there.
type Builder struct {
	c         Cluster
	places    map[string]place // by key of the object
	skippedIn map[string]int   // admitted in a queue that is not there: how many, by queue
	objects   int
	surest    int // of what spoke about fair sharing
}

// place is where an object went, so that it can be taken back.
type place struct {
	list  int // of sizes
	index int
}

// NewBuilder returns a builder without objects.
func NewBuilder() *Builder {
	return &Builder{
		c: Cluster{
			QueueNotes: make(map[string][]string), Topologies: make(map[string]string),
			Selectors: make(map[string]*metav1.LabelSelector), Namespaces: make(map[string]map[string]string),
		},
		places:    make(map[string]place),
		skippedIn: make(map[string]int),
	}
}

// Objects is the number of Kueue's objects so far.
func (b *Builder) Objects() int { return b.objects }

func (b *Builder) warn(format string, args ...any) {
	b.c.Warnings = append(b.c.Warnings, fmt.Sprintf(format, args...))
}

// Add takes one object; a later one takes the place of an earlier. An error leaves that
// object out. It is [input.ErrNotRead] for what is not Kueue's.
func (b *Builder) Add(o *input.Object) error {
	known := versions[o.Kind]
	switch {
	case o.Group() == ConfigGroup && o.Kind == "Configuration":
		c, err := configurationOf(o)
		if err != nil {
			return err
		}
		return b.addConfiguration("the Configuration", &c)
	case o.APIVersion == "v1" && o.Kind == "ConfigMap":
		c, ok, err := configurationIn(o)
		if !ok {
			return input.ErrNotRead
		}
		if err != nil {
			return err
		}
		return b.addConfiguration("ConfigMap "+o.ID(), &c)
	case o.APIVersion == "v1" && o.Kind == "Namespace":
		b.addNamespace(o)
		return nil
	case o.Group() == "scheduling.k8s.io" && o.Kind == "Workload":
		return fmt.Errorf("a Workload of %s is not Kueue's: ask kubectl for workloads.%s", o.Group(), Group)
	case o.Group() == Group && slices.Contains(ignored, o.Kind):
		b.objects++
		return nil
	case o.Group() != Group || known == nil:
		return input.ErrNotRead
	}
	b.objects++
	key := o.Key()
	old, again := b.places[key]
	if again {
		b.forget(o, old)
	}
	if o.Deleted {
		return nil
	}
	if !slices.Contains(known, o.Version()) {
		return fmt.Errorf("unknown version %q of %s: want %s", o.APIVersion, o.Kind, strings.Join(known, " or "))
	}
	before := b.sizes()
	if err := b.add(o); err != nil {
		return err
	}
	at := place{list: -1}
	for list, n := range b.sizes() {
		if n > before[list] {
			at = place{list, n - 1}
		}
	}
	b.places[key] = at
	if again {
		return input.ErrAgain
	}
	return nil
}

// sizes are those of the lists to which objects are added.
func (b *Builder) sizes() [7]int {
	c := &b.c
	return [...]int{len(c.Cohorts), len(c.Queues), len(c.LocalQueues), len(c.Admitted), len(c.Pending), len(c.Finished), len(c.Flavors)}
}

// forget empties the place of an object, which is cleared away at the end.
func (b *Builder) forget(o *input.Object, at place) {
	c := &b.c
	switch at.list {
	case 0:
		c.Cohorts[at.index] = queue.Cohort{}
	case 1:
		c.Queues[at.index] = queue.Queue{}
		delete(c.QueueNotes, o.Metadata.Name)
		delete(c.Selectors, o.Metadata.Name)
	case 2:
		c.LocalQueues[at.index] = LocalQueue{}
	case 3:
		c.Admitted[at.index] = workload.Workload{}
	case 4:
		c.Pending[at.index] = Pending{}
	case 5:
		c.Finished[at.index] = ""
	case 6:
		c.Flavors[at.index] = queue.Flavor{}
		delete(c.Topologies, o.Metadata.Name)
	}
	delete(b.places, o.Key())
}

// sweep clears the places away that were emptied.
func (b *Builder) sweep() {
	c := &b.c
	c.Cohorts = slices.DeleteFunc(c.Cohorts, func(c queue.Cohort) bool { return c.Name == "" })
	c.Queues = slices.DeleteFunc(c.Queues, func(q queue.Queue) bool { return q.Name == "" })
	c.LocalQueues = slices.DeleteFunc(c.LocalQueues, func(l LocalQueue) bool { return l.Name == "" })
	c.Admitted = slices.DeleteFunc(c.Admitted, func(w workload.Workload) bool { return w.ID == "" })
	c.Pending = slices.DeleteFunc(c.Pending, func(p Pending) bool { return p.ID == "" })
	c.Finished = slices.DeleteFunc(c.Finished, func(id string) bool { return id == "" })
	c.Flavors = slices.DeleteFunc(c.Flavors, func(f queue.Flavor) bool { return f.Name == "" })
}

func (b *Builder) add(o *input.Object) error {
	switch o.Kind {
	case "ClusterQueue":
		return b.addClusterQueue(o)
	case "Cohort":
		return b.addCohort(o)
	case "LocalQueue":
		return b.addLocalQueue(o)
	case "ResourceFlavor":
		return b.addFlavor(o)
	}
	return b.addWorkload(o)
}

func (b *Builder) addLocalQueue(o *input.Object) error {
	var spec localQueueSpec
	var status queueStatus
	if err := o.Read(&spec, &status); err != nil {
		return err
	}
	l := LocalQueue{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, ClusterQueue: spec.ClusterQueue}
	note := func(format string, args ...any) {
		l.Notes = append(l.Notes, "LocalQueue "+o.ID()+" "+fmt.Sprintf(format, args...))
	}
	if isStopped(spec.StopPolicy) {
		note("is stopped (stopPolicy %s)", spec.StopPolicy)
	}
	if o.Metadata.DeletionTimestamp != nil {
		note("is being deleted")
	}
	if why := status.inactive(); why != "" {
		note("is inactive: %s", why)
	}
	b.c.LocalQueues = append(b.c.LocalQueues, l)
	return nil
}

// Cluster resolves references and returns the result.
func (b *Builder) Cluster() Cluster {
	b.sweep()
	b.leaveOutInvalid()
	b.addImplicitCohorts()
	b.unknownFlavors()
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
func (b *Builder) addImplicitCohorts() {
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
	p.Queue, p.LocalNotes = l.ClusterQueue, l.Notes
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
