package kueue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/graph"
	"github.com/cedesched/cede/examples/bridge/internal/kept"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Group is the API group of Kueue's objects, ConfigGroup that of its own configuration.
const (
	Group       = "kueue.x-k8s.io"
	ConfigGroup = "config.kueue.x-k8s.io"
)

// Object is one of *[ClusterQueue], *[Cohort], *[LocalQueue], *[ResourceFlavor], *[Topology], *[AdmissionCheck],
// *[Workload], *[Namespace], *[LimitRange], *[PreemptionConfig], *[PreemptionLimit], *[MultiKueueConfig], *[MultiKueueCluster] and
// *[Configuration].
type Object interface {
	key() string
	read() (*entry, error)
	reach() reach
}

// Objects holds the last state of each object. The zero value is empty. It is not safe for
// concurrent use.
type Objects struct {
	kept    kept.List[entry]
	lost    []bridge.Note   // what may be anything
	missing map[string]bool // what the cluster does not have, though objects name it, as "AdmissionCheck a"
}

// entry is the result for one object.
type entry struct {
	value    any // queue.Queue and so on; nil: nothing but notes
	notes    []bridge.Note
	stops    []bridge.Note // of a queue
	queue    queueFacts    // of a queue
	work     workFacts     // of a workload
	copy     *Copy         // of a workload; nil: no manager and no gate has to do with it
	checked  string        // of a workload that holds quota: the admission checks that it waits for
	places   []bridge.Places
	sharing  sharing
	selector *bridge.LabelSelector // of a queue
	topology string                // of a flavor

	object string // kind and name
	reach  reach
	quotas []string            // the paths of its quotas
	unread error               // why the object cannot be read; nil: it can
	faults []bridge.FieldFault // of its fields
}

type (
	finished  string // by ID
	namespace struct {
		name   string
		labels map[string]string
	}
)

// Add adds an object in place of the one with its kind and name; replaced reports whether
// there was one. The faults are of its fields, which the caller found. It keeps no reference to the object. It
// fails on an object that cannot be read, which is then left out as by LeaveOut.
func (o *Objects) Add(one Object, faults ...bridge.FieldFault) (replaced bool, err error) {
	e, err := one.read()
	if err != nil {
		o.LeaveOut(one, err, false)
		return false, err
	}
	e.object, e.reach, e.faults = one.key(), one.reach(), append(e.faults, faults...)
	before := o.kept.Get(one.key())
	o.kept.Put(one.key(), e)
	return before != nil && before.unread == nil, nil
}

// Remove removes the object with the kind and name of the given one, if there is one.
func (o *Objects) Remove(one Object) { o.kept.Remove(one.key()) }

// Clone returns the same objects, to which others can be added apart from these.
func (o *Objects) Clone() Objects {
	return Objects{o.kept.Clone(), slices.Clone(o.lost), maps.Clone(o.missing)}
}

// Miss keeps that the cluster does not have an object, which then is no doubt where others name it.
func (o *Objects) Miss(kind, name string) {
	if o.missing == nil {
		o.missing = map[string]bool{}
	}
	o.missing[kind+" "+name] = true
}

// Lose keeps that something of the input may be any object and cannot be read: every answer is in doubt.
func (o *Objects) Lose(n bridge.Note) { o.lost = append(o.lost, n) }

func (c *ClusterQueue) key() string   { return "ClusterQueue " + c.Metadata.Name }
func (c *Cohort) key() string         { return "Cohort " + c.Metadata.Name }
func (l *LocalQueue) key() string     { return "LocalQueue " + l.Metadata.ID() }
func (f *ResourceFlavor) key() string { return "ResourceFlavor " + f.Metadata.Name }
func (w *Workload) key() string       { return "Workload " + w.Metadata.ID() }
func (n *Namespace) key() string      { return "Namespace " + n.Metadata.Name }
func (l *LimitRange) key() string     { return "LimitRange " + l.Metadata.ID() }
func (c *Configuration) key() string  { return cmp.Or(c.Origin, "the Configuration") }

func (c *ClusterQueue) read() (*entry, error) {
	q, notes, err := c.queue() // what is known of it also with an error
	return &entry{
		value: q, notes: notes, stops: c.stops(), queue: c.facts(), faults: c.ownFaults(), selector: c.Spec.NamespaceSelector,
		sharing: sharingOf(fmt.Sprintf("ClusterQueue %q", q.Name), &c.Spec.FairSharing, &c.Status), quotas: quotaPathsOf(c.Spec.ResourceGroups),
	}, err
}

func (c *Cohort) read() (*entry, error) {
	out, notes := c.cohort()
	return &entry{
		value: out, notes: notes, sharing: sharingOf(fmt.Sprintf("Cohort %q", out.Name), &c.Spec.FairSharing, &c.Status),
		quotas: quotaPathsOf(c.Spec.ResourceGroups),
	}, nil
}

func (l *LocalQueue) read() (*entry, error) { return &entry{value: l.local()}, nil }

func (f *ResourceFlavor) read() (*entry, error) {
	out, notes, err := f.Flavor()
	if err != nil {
		out = queue.Flavor{Name: f.Metadata.Name, Topology: queue.Topology{Name: f.Spec.TopologyName}}
	}
	e := &entry{value: out, topology: f.Spec.TopologyName}
	for _, n := range notes {
		e.faults = append(e.faults, bridge.FieldFault{Path: n.Path, Text: "is not read as it stands: " + n.Text})
	}
	return e, err
}

// read sorts workloads into those that hold quota, those that wait and those that are
// finished.
func (w *Workload) read() (*entry, error) {
	e := &entry{work: w.facts(), copy: w.copied()}
	switch w.Stage() {
	case StageFinished:
		e.value = finished(w.Metadata.ID())
	case StageAdmitted:
		out, err := w.admitted()
		e.value, e.places, e.faults, e.checked = out, w.places(), w.ownFaults(), w.checked()
		return e, err
	case StagePending:
		p, err := w.pending()
		e.value, e.faults = p, append(w.ownFaults(), w.templateFaults(&p)...)
		return e, err
	default:
		return nil, errors.New("status.admission: is missing, and the condition QuotaReserved is True")
	}
	return e, nil
}

// read keeps the labels of a namespace, one of which is its name.
func (n *Namespace) read() (*entry, error) {
	all := map[string]string{bridge.NamespaceLabel: n.Metadata.Name}
	maps.Copy(all, n.Metadata.Labels)
	return &entry{value: namespace{n.Metadata.Name, all}}, nil
}

// Cluster makes a cluster from the objects: it resolves references, and leaves out what a
// snapshot would refuse. It changes nothing: call it whenever you need a state. It costs
// O(objects).
func (o *Objects) Cluster() bridge.Cluster {
	b := builder{
		quotaPaths: map[string][]string{}, queues: map[string]queueFacts{}, checks: map[string]check{}, missing: o.missing,
		c: bridge.Cluster{
			QueueNotes: map[string][]bridge.Note{}, Topologies: map[string]string{}, Places: map[string][]bridge.Places{}, LeavingSince: map[string]time.Time{},
			Selectors: map[string]*bridge.LabelSelector{}, Namespaces: map[string]map[string]string{},
		},
	}
	for _, e := range o.kept.All() {
		if c, is := e.value.(Configuration); is {
			b.settings.configure(c)
		}
	}
	for _, e := range o.kept.All() {
		b.add(e)
	}
	b.leaveOutInvalid()
	b.addImplicitCohorts()
	b.stopInactive()
	b.noteUnknownRules(o)
	b.resolve()
	b.resolveTopologies()
	for _, e := range o.kept.All() {
		b.doubtEntry(e)
	}
	for _, n := range o.lost {
		b.doubtReach(reach{all: true}, n)
	}
	b.doubtSharing()
	b.block()
	for _, add := range b.later {
		add()
	}
	return b.c
}

// builder makes one cluster.
type builder struct {
	c        bridge.Cluster
	settings settings
	surest   int         // of what spoke about fair sharing
	waits    []workFacts // of Pending
	notReady []string    // workloads that hold quota and are not ready

	topologies []queue.Topology
	later      []func()               // doubts, for when all is resolved
	over       []quota.FlavorResource // see overNominal; nil: not computed yet
	quotaPaths map[string][]string    // by object
	queues     map[string]queueFacts
	checks     map[string]check
	missing    map[string]bool // see [Objects.Miss]
}

func (b *builder) warn(object, path, format string, args ...any) {
	b.c.Notes = append(b.c.Notes, bridge.Note{Object: object, Path: path, Text: fmt.Sprintf(format, args...)})
}

func (b *builder) add(e *entry) {
	c := &b.c
	switch v := e.value.(type) {
	case queue.Queue:
		c.State.Queues = append(c.State.Queues, v)
		if e.selector != nil || e.unread == nil {
			c.Selectors[v.Name] = e.selector
		}
		if len(e.stops) > 0 {
			c.QueueNotes[v.Name] = slices.Clone(e.stops)
		}
		b.queues[v.Name] = e.queue
	case queue.Cohort:
		c.State.Cohorts = append(c.State.Cohorts, v)
	case queue.Flavor:
		c.State.Flavors = append(c.State.Flavors, v)
		if e.topology != "" {
			c.Topologies[v.Name] = e.topology
		}
	case queue.Topology:
		b.topologies = append(b.topologies, v)
	case check:
		b.checks[v.name] = v
	case workload.Workload:
		c.State.Admitted = append(c.State.Admitted, b.counted(v, e))
		if len(e.places) > 0 {
			c.Places[v.ID] = e.places
		}
		if e.checked != "" {
			c.Checked = append(c.Checked, bridge.Pending{Workload: v, Unresolved: e.checked})
		}
	case bridge.Pending:
		c.Pending, b.waits = append(c.Pending, b.considered(v, e)), append(b.waits, e.work)
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
	if len(e.quotas) > 0 {
		b.quotaPaths[e.object] = e.quotas
	}
	c.Notes = append(c.Notes, e.notes...)
	// The more certain source counts; of equally certain ones the first.
	if e.sharing.rank > b.surest {
		b.surest, c.Sharing = e.sharing.rank, e.sharing.FairSharing
	}
}

// cutCycles removes the parents of cohorts that form a cycle, and stops the queues under them: Kueue
// admits nothing there.
func (b *builder) cutCycles() {
	cohorts := b.c.State.Cohorts
	parent := make(map[string]string, len(cohorts))
	names := make([]string, len(cohorts))
	for i, c := range cohorts {
		parent[c.Name], names[i] = c.Parent, c.Name
	}
	inCycle := make(map[string]string) // how the cycle is named, by cohort
	for _, cycle := range graph.Cycles(names, parent) {
		text := "Cohorts " + strings.Join(cycle[:min(len(cycle), 10)], ", ") + " are a cycle"
		if len(cycle) == 1 {
			text = "Cohort " + cycle[0] + " is its own parent"
		}
		for _, n := range cycle {
			inCycle[n] = text
		}
		b.warn("Cohort "+cycle[0], "spec.parentName", "%s, under which Kueue admits nothing: decided without the parents", text)
	}
	b.stopUnder(inCycle, parent)
	for i := range cohorts {
		c := &cohorts[i]
		if inCycle[c.Name] == "" {
			continue
		}
		c.Parent = ""
		*c, _ = c.Normalize("") // limits of a root bound nothing
	}
}

// stopUnder stops the queues under a cycle.
func (b *builder) stopUnder(inCycle, parent map[string]string) {
	if len(inCycle) == 0 {
		return
	}
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		above := q.Cohort
		for above != "" && inCycle[above] == "" {
			above = parent[above]
		}
		if above != "" {
			b.c.QueueNotes[q.Name] = append(b.c.QueueNotes[q.Name], bridge.Note{Object: "ClusterQueue " + q.Name, Path: "spec.cohortName", Stops: true,
				Text: fmt.Sprintf("ClusterQueue %s admits nothing: %s", q.Name, inCycle[above])})
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
	b.c.Checked = slices.DeleteFunc(b.c.Checked, func(p bridge.Pending) bool { return queues[p.Workload.Queue] == nil })
	for _, name := range slices.Sorted(maps.Keys(skipped)) {
		ran := "1 workload that runs in it is left out"
		if n := skipped[name]; n > 1 {
			ran = fmt.Sprintf("%d workloads that run in it are left out", n)
		}
		n := bridge.Note{Object: "ClusterQueue " + name, Text: fmt.Sprintf("ClusterQueue %q is not in the input: %s", name, ran)}
		b.c.Notes = append(b.c.Notes, n)
		b.doubtReach(reach{cohorts: true}, n) // it may be in any
	}
	local := make(map[string]bridge.LocalQueue, len(b.c.LocalQueues))
	for _, l := range b.c.LocalQueues {
		local[l.Namespace+"/"+l.Name] = l
	}
	admitted := make(map[string]*workload.Workload, len(b.c.State.Admitted))
	for i := range b.c.State.Admitted {
		admitted[b.c.State.Admitted[i].ID] = &b.c.State.Admitted[i]
	}
	for i := range b.c.Pending {
		p := &b.c.Pending[i]
		resolve(p, b.waits[i].local, local, func(name string) bool { return queues[name] != nil })
		if q := queues[p.Workload.Queue]; q != nil {
			p.CountPods(q)
			b.doubtKeys(p, q)
			b.waits[i].leaveOutChecks(p, b.queues[q.Name])
			b.doubtPreempts(p, q)
		}
		replace(p, admitted)
	}
}
