package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/preemption"
)

// fleet is a manager cluster and its workers, to be asked by this program.
type fleet struct {
	*workers.Fleet
	clusters map[string]*cluster
}

// origin is where a cluster is read from: its files, or its context of kubectl.
type origin struct {
	name    string // of a worker; empty: the manager
	sources []string
}

// origins are those that the command line names, in its order.
func origins(o *options) ([]origin, error) {
	list := []origin{{sources: o.dispatch.manager}}
	if o.live {
		list[0].sources = []string{o.dispatch.context}
	}
	for _, text := range o.dispatch.workers {
		name, source, ok := strings.Cut(text, "=")
		if !ok || name == "" || source == "" {
			return nil, fmt.Errorf("-worker %q: want NAME=FILE, NAME as the manager calls the cluster", text)
		}
		at := slices.IndexFunc(list, func(m origin) bool { return m.name == name })
		if at >= 0 && o.live {
			return nil, fmt.Errorf("-worker %s is given twice", name)
		} else if at < 0 {
			at, list = len(list), append(list, origin{name: name})
		}
		list[at].sources = append(list[at].sources, source)
	}
	return list, nil
}

// readFleet reads the manager and all workers.
func readFleet(o *options, std stdio) (*fleet, error) {
	list, err := origins(o)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(whileReading))
	piped := slices.ContainsFunc(list, func(m origin) bool { return slices.Contains(m.sources, "-") })
	return newFleet(len(list), !o.live && !piped, o, std, func(i int, m *workers.Member, one *options, nodes *rooms.Nodes) (answers.Input, error) {
		if m.Name = list[i].name; !o.live {
			sources, err := objects.Files(list[i].sources, std.in)
			if err != nil {
				return answers.Input{}, err
			}
			return answers.ReadSeen(sources, "kueue", nodes.Add, m.See)
		}
		one.context, one.resources, one.see = list[i].sources[0], nil, m.See
		if m.Name == "" {
			one.resources = ofManagers
		}
		return readLive(one, std, nodes)
	})
}

// newFleet makes a fleet of so many clusters, each of which read reads: all at once, or one after the other.
func newFleet(many int, together bool, o *options, std stdio, read func(int, *workers.Member, *options, *rooms.Nodes) (answers.Input, error)) (*fleet, error) {
	f := &fleet{clusters: map[string]*cluster{}}
	members, clusters, errs := make([]*workers.Member, many), make([]*cluster, many), make([]error, many)
	one := func(i int) { clusters[i], errs[i] = readMember(i, members[i], o, std, read) }
	var all sync.WaitGroup
	for i := range members {
		if members[i] = workers.NewMember(""); together {
			all.Go(func() { one(i) })
		} else if one(i); errs[i] != nil {
			break
		}
	}
	all.Wait()
	for i, m := range members {
		if errs[i] != nil {
			return nil, fmt.Errorf("%s: %w", cmp.Or(m.Name, "the manager"), errs[i])
		}
		f.clusters[m.Name] = clusters[i]
	}
	var err error
	f.Fleet, err = workers.NewFleet(members)
	return f, err
}

// readMember reads one cluster.
func readMember(i int, m *workers.Member, o *options, std stdio, read func(int, *workers.Member, *options, *rooms.Nodes) (answers.Input, error)) (*cluster, error) {
	one, nodes := *o, new(rooms.Nodes)
	in, err := read(i, m, &one, nodes)
	if err != nil {
		return nil, err
	}
	one.assumptions = append(slices.Clip(one.assumptions), workers.Assumed(&in)...)
	c, err := newCluster(in, nodes, &one, std, nil)
	if err != nil {
		return nil, err
	}
	if m.Cluster, m.Notes = &c.Cluster, c.inputNotes(); m.Name != "" {
		m.Waiting, err = c.waiting(o)
	}
	return c, err
}

// answers answers what the command line asks.
func (f *fleet) answers(o *options) (workers.Answers, error) {
	d := &o.dispatch
	asked := workers.Asked{Workload: o.workload, Timeout: d.timeout, Until: d.until, Leave: d.leave}
	if d.design {
		asked.Design = &workers.Design{Order: d.by, Grace: d.grace}
		for _, text := range d.workers {
			name, _, _ := strings.Cut(text, "=")
			asked.Design.Prefer = append(asked.Design.Prefer, name)
		}
	}
	if len(d.cost) > 0 {
		asked.Cost = preemption.CostByAge{Resources: d.cost}
	}
	out, err := f.Answers(asked)
	var unknown *workers.NotSentError
	if errors.As(err, &unknown) {
		return out, fmt.Errorf("%w%s", err, nearest(unknown.Workload, unknown.Sent))
	}
	return out, err
}
