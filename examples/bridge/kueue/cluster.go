package kueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/graph"
	"github.com/cedesched/cede/examples/bridge/internal/kept"
	"github.com/cedesched/cede/limits"
	"github.com/cedesched/cede/optional"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// Group is the API group of Kueue's objects, ConfigGroup that of its own configuration.
const (
	Group       = "kueue.x-k8s.io"
	ConfigGroup = "config.kueue.x-k8s.io"
)

// Object is one of *[ClusterQueue], *[Cohort], *[LocalQueue], *[ResourceFlavor], *[Workload],
// *[Namespace], *[PreemptionConfig], *[PreemptionLimit] and *[Configuration].
type Object interface {
	key() string
	read() (*entry, error)
}

// Objects holds the last state of each object. The zero value is empty. It is not safe for
// concurrent use.
type Objects struct {
	kept kept.List[entry]
}

// entry is the result for one object.
type entry struct {
	value    any // queue.Queue and so on; nil: nothing but notes
	notes    []bridge.Note
	stops    []bridge.Note // of a queue
	sharing  sharing
	selector *bridge.LabelSelector // of a queue
	topology string                // of a flavor
	local    string                // the LocalQueue that a pending workload names
}

type (
	finished  string // by ID
	namespace struct {
		name   string
		labels map[string]string
	}
)

// Add adds an object in place of the one with its kind and name; replaced reports whether
// there was one. It keeps no reference to the object. It fails on an object that cannot be
// read; that object and the earlier one are then left out.
func (o *Objects) Add(one Object) (replaced bool, err error) {
	e, err := one.read()
	if err != nil {
		o.kept.Remove(one.key())
		return false, err
	}
	return o.kept.Put(one.key(), e), nil
}

// Remove removes the object with the kind and name of the given one, if there is one.
func (o *Objects) Remove(one Object) { o.kept.Remove(one.key()) }

// Clone returns the same objects, to which others can be added apart from these.
func (o *Objects) Clone() Objects { return Objects{o.kept.Clone()} }

func (c *ClusterQueue) key() string   { return "ClusterQueue " + c.Metadata.ID() }
func (c *Cohort) key() string         { return "Cohort " + c.Metadata.ID() }
func (l *LocalQueue) key() string     { return "LocalQueue " + l.Metadata.ID() }
func (f *ResourceFlavor) key() string { return "ResourceFlavor " + f.Metadata.ID() }
func (w *Workload) key() string       { return "Workload " + w.Metadata.ID() }
func (n *Namespace) key() string      { return "Namespace " + n.Metadata.ID() }
func (c *Configuration) key() string  { return "Configuration " + c.Origin }

func (c *ClusterQueue) read() (*entry, error) {
	q, notes, err := c.queue()
	return &entry{
		value: q, notes: notes, stops: c.stops(), selector: c.Spec.NamespaceSelector,
		sharing: sharingOf(fmt.Sprintf("ClusterQueue %q", q.Name), &c.Spec.FairSharing, &c.Status),
	}, err
}

func (c *Cohort) read() (*entry, error) {
	out, notes := c.cohort()
	return &entry{value: out, notes: notes, sharing: sharingOf(fmt.Sprintf("Cohort %q", out.Name), &c.Spec.FairSharing, &c.Status)}, nil
}

func (l *LocalQueue) read() (*entry, error) { return &entry{value: l.local()}, nil }

func (f *ResourceFlavor) read() (*entry, error) {
	out, notes, err := f.Flavor()
	return &entry{value: out, notes: notes, topology: f.Spec.TopologyName}, err
}

// read sorts workloads into those that hold quota, those that wait and those that are
// finished.
func (w *Workload) read() (*entry, error) {
	e := new(entry)
	switch w.Stage() {
	case StageFinished:
		e.value = finished(w.Metadata.ID())
	case StageAdmitted:
		out, err := w.admitted()
		e.value = out
		return e, err
	case StagePending:
		p, err := w.pending()
		e.value, e.local = p, w.Spec.QueueName
		return e, err
	default:
		if _, err := w.check(); err != nil {
			return nil, err
		}
		n := noter{object: "Workload " + w.Metadata.ID()}
		n.add("status.admission", "%s: QuotaReserved, but without status.admission: left out", n.object)
		e.notes = n.notes
	}
	return e, nil
}

// read keeps the labels of a namespace, one of which is its name.
func (n *Namespace) read() (*entry, error) {
	all := map[string]string{bridge.NamespaceLabel: n.Metadata.Name}
	maps.Copy(all, n.Metadata.Labels)
	return &entry{value: namespace{n.Metadata.Name, all}}, nil
}

func (c *Configuration) read() (*entry, error) {
	known, notes, err := c.Sharing()
	return &entry{notes: notes, sharing: sharing{fromConfiguration, known}}, err
}

// Cluster makes a cluster from the objects: it resolves references, and leaves out what a
// snapshot would refuse. It changes nothing: call it whenever you need a state. It costs
// O(objects).
func (o *Objects) Cluster() bridge.Cluster {
	b := builder{
		c: bridge.Cluster{
			QueueNotes: map[string][]bridge.Note{}, Topologies: map[string]string{},
			Selectors: map[string]*bridge.LabelSelector{}, Namespaces: map[string]map[string]string{},
		},
	}
	for _, e := range o.kept.All() {
		b.add(e)
	}
	b.leaveOutInvalid()
	b.addImplicitCohorts()
	b.noteUnknownFlavors()
	b.noteUnknownRules()
	b.resolve()
	return b.c
}

// builder makes one cluster.
type builder struct {
	c      bridge.Cluster
	surest int      // of what spoke about fair sharing
	local  []string // the LocalQueues that those who wait name, as Pending
}

func (b *builder) warn(object, path, format string, args ...any) {
	b.c.Notes = append(b.c.Notes, bridge.Note{Object: object, Path: path, Text: fmt.Sprintf(format, args...)})
}

func (b *builder) add(e *entry) {
	c := &b.c
	switch v := e.value.(type) {
	case queue.Queue:
		c.State.Queues = append(c.State.Queues, v)
		c.Selectors[v.Name] = e.selector
		if len(e.stops) > 0 {
			c.QueueNotes[v.Name] = slices.Clone(e.stops)
		}
	case queue.Cohort:
		c.State.Cohorts = append(c.State.Cohorts, v)
	case queue.Flavor:
		c.State.Flavors = append(c.State.Flavors, v)
		if e.topology != "" {
			c.Topologies[v.Name] = e.topology
		}
	case workload.Workload:
		c.State.Admitted = append(c.State.Admitted, v)
	case bridge.Pending:
		c.Pending, b.local = append(c.Pending, v), append(b.local, e.local)
	case bridge.LocalQueue:
		c.LocalQueues = append(c.LocalQueues, v)
	case rules.Config:
		c.State.Rules = append(c.State.Rules, v)
	case limits.Limit:
		c.Limits = append(c.Limits, v)
	case finished:
		c.Finished = append(c.Finished, string(v))
	case namespace:
		c.Namespaces[v.name] = v.labels
	}
	c.Notes = append(c.Notes, e.notes...)
	// The more certain source counts; of equally certain ones the first.
	if e.sharing.rank > b.surest {
		b.surest, c.Sharing = e.sharing.rank, e.sharing.FairSharing
	}
}

// leaveOutInvalid leaves out, with a note, each object that would make NewSnapshot refuse the
// whole state. No API server stores such an object, but a file may hold it.
func (b *builder) leaveOutInvalid() {
	st := &b.c.State
	invalid := func(object string, err error) bool {
		if err != nil {
			b.warn(object, "", "%s: %v: left out", object, err)
		}
		return err != nil
	}
	st.Cohorts = slices.DeleteFunc(st.Cohorts, func(c queue.Cohort) bool { return invalid("Cohort "+c.Name, validCohort(c)) })
	b.cutCycles()
	st.Queues = slices.DeleteFunc(st.Queues, func(q queue.Queue) bool { return invalid("ClusterQueue "+q.Name, validQueue(q)) })
	st.Admitted = slices.DeleteFunc(st.Admitted, func(w workload.Workload) bool {
		return invalid("Workload "+w.ID, workload.Validate("workload", &w))
	})
	pending, local := b.c.Pending[:0], b.local[:0]
	for i, p := range b.c.Pending {
		if !invalid("Workload "+p.Workload.ID, validPending(&p.Workload)) {
			pending, local = append(pending, p), append(local, b.local[i])
		}
	}
	b.c.Pending, b.local = pending, local
}

// cutCycles removes the parents of cohorts that form a cycle. (Kueue admits nothing in the
// queues under them.)
func (b *builder) cutCycles() {
	cohorts := b.c.State.Cohorts
	parent := make(map[string]string, len(cohorts))
	names := make([]string, len(cohorts))
	for i, c := range cohorts {
		parent[c.Name], names[i] = c.Parent, c.Name
	}
	inCycle := make(map[string]bool)
	for _, cycle := range graph.Cycles(names, parent) {
		for _, n := range cycle {
			inCycle[n] = true
		}
		b.warn("Cohort "+cycle[0], "spec.parentName", "Cohorts %s are a cycle, under which Kueue admits nothing: their parents are left out",
			strings.Join(cycle[:min(len(cycle), 10)], ", "))
	}
	for i := range cohorts {
		c := &cohorts[i]
		if !inCycle[c.Name] {
			continue
		}
		c.Parent, c.Quotas = "", slices.Clone(c.Quotas)
		for j := range c.Quotas { // limits of a root bound nothing
			c.Quotas[j].BorrowingLimit, c.Quotas[j].LendingLimit = optional.Int64{}, optional.Int64{}
		}
	}
}

// addImplicitCohorts adds, by name, the cohorts that are named but have no object.
func (b *builder) addImplicitCohorts() {
	st := &b.c.State
	known := make(map[string]bool, len(st.Cohorts))
	for _, c := range st.Cohorts {
		known[c.Name] = true
	}
	implicit := make(map[string]bool)
	for _, c := range st.Cohorts {
		implicit[c.Parent] = true
	}
	for _, q := range st.Queues {
		implicit[q.Cohort] = true
	}
	for _, name := range slices.Sorted(maps.Keys(implicit)) {
		if name != "" && !known[name] {
			st.Cohorts = append(st.Cohorts, queue.Cohort{Name: name})
		}
	}
}

// noteUnknownFlavors adds notes, by queue, on flavors of its quotas that have no object.
func (b *builder) noteUnknownFlavors() {
	known := make(map[string]bool, len(b.c.State.Flavors))
	for _, f := range b.c.State.Flavors {
		known[f.Name] = true
	}
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		for j, e := range q.Quotas {
			first := !slices.ContainsFunc(q.Quotas[:j], func(o quota.Quota) bool { return o.Flavor == e.Flavor })
			if first && !known[e.Flavor] {
				b.noteQueue(q, "spec.resourceGroups", "has quota in flavor %s, whose ResourceFlavor is not in the input: its labels and taints are not known", e.Flavor)
			}
		}
	}
}

// resolve leaves out workloads that run in unknown queues, and finds the queues of waiting
// ones.
func (b *builder) resolve() {
	queues := make(map[string]*queue.Queue, len(b.c.State.Queues))
	for i := range b.c.State.Queues {
		queues[b.c.State.Queues[i].Name] = &b.c.State.Queues[i]
	}
	skipped := map[string]int{}
	b.c.State.Admitted = slices.DeleteFunc(b.c.State.Admitted, func(w workload.Workload) bool {
		if queues[w.Queue] == nil {
			skipped[w.Queue]++
		}
		return queues[w.Queue] == nil
	})
	for _, name := range slices.Sorted(maps.Keys(skipped)) {
		b.warn("ClusterQueue "+name, "", "ClusterQueue %q is not in the input: %d workloads that run in it are left out", name, skipped[name])
	}
	local := make(map[string]bridge.LocalQueue, len(b.c.LocalQueues))
	for _, l := range b.c.LocalQueues {
		local[l.Namespace+"/"+l.Name] = l
	}
	for i := range b.c.Pending {
		p := &b.c.Pending[i]
		resolve(p, b.local[i], local, func(name string) bool { return queues[name] != nil })
		if q := queues[p.Workload.Queue]; q != nil {
			p.CountPods(q)
		}
	}
}
