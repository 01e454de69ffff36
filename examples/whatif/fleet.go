package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/gate"
)

// fleet is a manager cluster and its workers.
type fleet struct {
	hub     *cluster // the manager
	manager kueue.MultiKueue
	workers map[string]*cluster
	copies  map[string]kueue.MultiKueue
	waiting map[string]map[string]answers.Waiting // of each worker, by ID
	mixed   map[string]string                     // why the objects of a worker, or of the manager (""), are not those of one cluster
	now     time.Time
	notes   []string
}

// member is what was read as one cluster.
type member struct {
	name    string // of a worker; empty: the manager
	sources []string
	uids    map[string]string // objects by UID
	objects map[string]string // UIDs by object
	twice   string            // an object that is there with two UIDs; empty: there is none
}

// see keeps which objects are there. Those of a watch may be made anew under their names.
func (m *member) see(o *objects.Object) {
	uid, key := o.Metadata.UID, strings.TrimSpace(o.Kind+" "+o.ID())
	if uid == "" || o.Watched {
		return
	}
	if before := m.objects[key]; before != "" && before != uid && (m.twice == "" || key < m.twice) {
		m.twice = key
	}
	m.objects[key], m.uids[uid] = uid, key
}

// title names the cluster in a message.
func (m *member) title() string {
	if m.name == "" {
		return "the manager"
	}
	return m.name
}

// readFleet reads the manager and all workers.
func readFleet(o *options, std stdio) (*fleet, error) {
	f := &fleet{workers: map[string]*cluster{}, copies: map[string]kueue.MultiKueue{}, waiting: map[string]map[string]answers.Waiting{}, mixed: map[string]string{}, notes: []string{}}
	members := []*member{{sources: o.dispatch.manager}}
	if o.live {
		members[0].sources = []string{o.dispatch.context}
	}
	for _, text := range o.dispatch.workers {
		name, source, ok := strings.Cut(text, "=")
		if !ok || name == "" || source == "" {
			return nil, fmt.Errorf("-worker %q: want NAME=FILE, NAME as the manager calls the cluster", text)
		}
		at := slices.IndexFunc(members, func(m *member) bool { return m.name == name })
		if at >= 0 && o.live {
			return nil, fmt.Errorf("-worker %s is given twice", name)
		} else if at < 0 {
			at, members = len(members), append(members, &member{name: name})
		}
		members[at].sources = append(members[at].sources, source)
	}
	slices.SortFunc(members, func(a, b *member) int { return strings.Compare(a.name, b.name) }) // the manager is first
	for _, m := range members {
		m.uids, m.objects = map[string]string{}, map[string]string{}
		c, err := m.read(o, std)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.title(), err)
		}
		for _, note := range c.inputNotes() {
			if !strings.Contains(note, gatesPath) { // that gates count is seen
				f.notes = append(f.notes, m.title()+": "+note)
			}
		}
		if m.name == "" {
			f.hub, f.manager, f.now = c, c.MultiKueue(), c.Now
			continue
		}
		f.workers[m.name], f.copies[m.name] = c, c.MultiKueue()
		list, err := c.waiting(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.title(), err)
		}
		f.waiting[m.name] = map[string]answers.Waiting{}
		for _, w := range list {
			f.waiting[m.name][w.Workload.ID] = w
		}
	}
	f.findMixed(members)
	return f, f.known(members)
}

// read reads one cluster.
func (m *member) read(o *options, std stdio) (*cluster, error) {
	one, nodes := *o, new(rooms.Nodes)
	in, err := m.input(&one, std, nodes)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(in.Found.Doubts, func(d bridge.Doubt) bool { return d.Path == gatesPath }) {
		one.assumptions = append(slices.Clip(one.assumptions), gatesPath) // that they count is seen by their states
	}
	return newCluster(in, nodes, &one, std, nil)
}

// gatesPath is the field of the gates of a workload.
const gatesPath = "spec.preemptionGates"

func (m *member) input(o *options, std stdio, nodes *rooms.Nodes) (answers.Input, error) {
	if o.live {
		o.context, o.resources, o.see = m.sources[0], nil, m.see
		if m.name == "" {
			o.resources = ofManagers
		}
		return readLive(o, std, nodes)
	}
	sources, err := objects.Files(m.sources, std.in)
	if err != nil {
		return answers.Input{}, err
	}
	return answers.ReadSeen(sources, "kueue", nodes.Add, m.see)
}

// findMixed finds files that are not of one cluster each: two clusters share no UID, and one cluster has no two objects of one kind
// and name.
func (f *fleet) findMixed(members []*member) {
	for i, m := range members {
		if m.twice != "" {
			f.mixed[m.name] = fmt.Sprintf("what was read as %s holds the objects of two clusters: %s is there with two UIDs", m.title(), m.twice)
		}
		for _, other := range members[:i] {
			var same []string
			for uid, key := range m.uids {
				if other.uids[uid] != "" {
					same = append(same, key)
				}
			}
			if len(same) == 0 {
				continue
			}
			text := fmt.Sprintf("what was read as %s and as %s is one cluster: %s has one UID in both", other.title(), m.title(), slices.Min(same))
			f.mixed[m.name], f.mixed[other.name] = text, text
		}
	}
}

// known fails on a worker that the manager does not have.
func (f *fleet) known(members []*member) error {
	if len(f.manager.Unreached) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(f.manager.Unreached))
	for _, m := range members[1:] {
		if !slices.Contains(names, m.name) {
			return fmt.Errorf("-worker %s: the manager has no MultiKueueCluster of that name; it has %s", m.name, some(names))
		}
	}
	return nil
}

// checkOf is the AdmissionCheck of MultiKueue of a workload of the manager. sure is false if the check is not among the objects.
func (f *fleet) checkOf(c *kueue.Copy) (name string, sure bool) {
	for _, s := range c.Checks {
		if _, is := f.manager.Checks[s.Name]; is {
			return s.Name, true
		}
	}
	if len(c.Checks) == 1 && len(f.manager.Checks) == 0 && (len(c.Nominated) > 0 || c.Cluster != "") {
		return c.Checks[0].Name, false
	}
	return "", true
}

// question asks about a workload.
func (f *fleet) question(id string, o *options) (workers.Question, error) {
	q := workers.Question{Manager: f.manager.Copies[id], Now: f.now, Timeout: o.dispatch.timeout, Unread: f.mixed[""], Ahead: o.dispatch.until, Leave: o.dispatch.leave}
	var sure bool
	if q.Check, sure = f.checkOf(&q.Manager); !sure {
		q.Doubts = append(q.Doubts, fmt.Sprintf("the AdmissionCheck %s is not in the manager's objects: it is taken for one of MultiKueue", q.Check))
	}
	names := f.workersOf(&q)
	for _, name := range names {
		w, err := f.worker(name, id)
		if err != nil {
			return q, err
		}
		q.Workers = append(q.Workers, w)
	}
	return q, nil
}

// workersOf are the workers of a workload: those of the MultiKueueConfig of its check.
func (f *fleet) workersOf(q *workers.Question) []string {
	if list, has := f.manager.Workers[f.manager.Checks[q.Check]]; has {
		return slices.Compact(slices.Sorted(slices.Values(list)))
	}
	if len(q.Manager.Nominated) > 0 {
		q.Doubts = append(q.Doubts, "the MultiKueueConfig of its check is not in the manager's objects: its workers are those that it was sent to")
		return slices.Compact(slices.Sorted(slices.Values(q.Manager.Nominated)))
	}
	if q.Check != "" && q.Unread == "" {
		q.Unread = "the MultiKueueConfig of its check is not in the manager's objects: which workers it has is not known"
	}
	return slices.Sorted(maps.Keys(f.workers))
}

// worker is what is known of a worker about a workload.
func (f *fleet) worker(name, id string) (workers.Worker, error) {
	w := workers.Worker{Name: name, Unread: f.mixed[name]}
	why, has := f.manager.Unreached[name]
	w.Lost = why
	if w.LostUnknown = !has && len(f.manager.Unreached) == 0; !has && !w.LostUnknown {
		w.Lost = "the manager has no MultiKueueCluster of that name"
	}
	c := f.workers[name]
	switch {
	case w.Unread != "":
		return w, nil
	case c == nil:
		w.Unread = fmt.Sprintf("nothing was read of worker %s: give it with -worker %s=FILE", name, name)
		return w, nil
	}
	if why := f.copies[name].Unread["Workload "+id]; why != "" {
		w.Unread = fmt.Sprintf("the copy in %s cannot be read: %s", name, why)
		return w, nil
	}
	found, is := f.copies[name].Copies[id]
	if !is {
		return w, nil
	}
	if _, err := gate.Orchestrate(gate.Config{}, f.now, []gate.Replica{found.Replica(name)}); err != nil {
		w.Unread = fmt.Sprintf("the copy in %s cannot be read: %v", name, err)
		return w, nil
	}
	w.Copy = &found
	waits, is := f.waiting[name][id]
	if !is {
		return w, nil
	}
	s, err := c.Shorten(&waits)
	if err != nil {
		return w, fmt.Errorf("worker %s: %w", name, err)
	}
	w.Short, w.Offer, w.Cluster, w.Waiting = s, c.offer(s.Victims), &c.Cluster, &waits
	for _, v := range s.Leaving {
		if at, known := c.Found.LeavingSince[v]; known && (w.Told.IsZero() || at.Before(w.Told)) {
			w.Told = at
		}
	}
	return w, nil
}

// offer is what victims lose: how long they have run.
func (c *cluster) offer(victims []string) gate.Offer {
	o := gate.Offer{Victims: len(victims)}
	for _, id := range victims {
		if v, runs := c.Snapshot.Find(id); runs && !v.ReservedAt.IsZero() && v.ReservedAt.Before(c.Now) {
			o.LostWork += c.Now.Sub(v.ReservedAt)
		}
	}
	return o
}

// isNamed reports whether a pending workload has the name.
func isNamed(id string) func(bridge.Pending) bool {
	return func(p bridge.Pending) bool { return p.Workload.ID == id }
}
