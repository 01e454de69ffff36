package rooms

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

const (
	hostname = "kubernetes.io/hostname"
	maxPods  = 100_000 // that are placed, of all workloads
)

// flavored is the nodes of a flavor, with what runs there.
type flavored struct {
	why      string // it cannot be asked about; empty: it can
	flavor   queue.Flavor
	nodes    []*node
	machines []workload.Node // the same, for the snapshot
	snapshot *placement.Snapshot
	used     map[string]workload.Resources // by node
}

// builder makes one.
type builder struct {
	*flavored
	all    *Nodes
	at     map[string]*node // of the flavor, by name
	byHost map[string]*node // of the flavor
	known  map[string]bool  // hosts of the input
	pods   []workload.Pod
	groups []workload.PodGroup
}

// flavored returns the nodes of a flavor as Kueue sees them: those with its labels and all levels of its
// topology that are ready; each with what is allocatable, less the pods that it did not place and the
// workloads that it placed there.
func (n *Nodes) flavored(c *answers.Cluster, name string) *flavored {
	b := builder{flavored: &flavored{used: map[string]workload.Resources{}}, all: n, at: map[string]*node{}, byHost: map[string]*node{}, known: map[string]bool{}}
	b.why = b.build(c, name)
	return b.flavored
}

// build returns why the flavor cannot be asked about.
func (b *builder) build(c *answers.Cluster, name string) (why string) {
	at := slices.IndexFunc(c.State.Flavors, func(f queue.Flavor) bool { return f.Name == name })
	if at < 0 || len(c.State.Flavors[at].Topology.Levels) == 0 {
		return fmt.Sprintf("the levels of the topology of flavor %s are not known", name)
	}
	b.flavor = c.State.Flavors[at]
	levels := b.flavor.Topology.Levels
	if last := levels[len(levels)-1]; last != hostname {
		return fmt.Sprintf("the lowest level of topology %s is %s, and what nodes have together is not looked at", b.flavor.Topology.Name, last)
	}
	for i := range b.all.list {
		b.known[b.all.list[i].labels[hostname]] = true
		if m := &b.all.list[i]; m.ready() && of(&b.flavor, m) {
			if host := m.labels[hostname]; b.byHost[host] != nil {
				return fmt.Sprintf("Nodes %s and %s have the same %s", b.byHost[host].name, m.name, hostname)
			}
			b.nodes = append(b.nodes, m)
			b.at[m.name], b.byHost[m.labels[hostname]] = m, m
		}
	}
	has := func(name string) bool { return b.at[name] != nil }
	if why = b.all.unread(func(name string) bool { return has(name) || !b.isRead(name) }); why != "" {
		return why
	}
	if b.pods, why = b.all.others(has, func(workload, podSet string) bool {
		return slices.ContainsFunc(c.Found.Places[workload], func(p bridge.Places) bool { return p.PodSet == podSet })
	}); why != "" {
		return why
	}
	for i := range c.State.Admitted {
		if why = b.place(c, &c.State.Admitted[i]); why != "" {
			return why
		}
	}
	return b.snapshotOf()
}

// isRead reports whether a node is one that was read as it is: it is of the flavor, or it is not.
func (b *builder) isRead(name string) bool {
	return slices.ContainsFunc(b.all.list, func(n node) bool { return n.name == name && !of(&b.flavor, &n) })
}

// of reports whether a node is one of a flavor.
func of(f *queue.Flavor, n *node) bool {
	for key, value := range f.NodeLabels {
		if has, ok := n.labels[key]; !ok || has != value {
			return false
		}
	}
	return n.domain(f.Topology.Levels) != ""
}

// place adds the pods of a workload that holds quota.
func (b *builder) place(c *answers.Cluster, w *workload.Workload) (why string) {
	for i := range w.PodSets {
		s := &w.PodSets[i]
		flavor := ""
		for _, r := range s.Requests {
			if c.Found.Topologies[r.Flavor] != "" {
				flavor = r.Flavor
			}
		}
		if flavor == "" {
			continue // its pods count as they run
		}
		if flavor != b.flavor.Name {
			if b.overlaps(c, flavor) {
				return fmt.Sprintf("flavor %s has nodes of flavor %s too, and Workload %s runs there", flavor, b.flavor.Name, w.ID)
			}
			continue
		}
		if why = b.placePodSet(c, w, s); why != "" {
			return why
		}
	}
	return ""
}

// overlaps reports whether another flavor has nodes of this one, or it is not known.
func (b *builder) overlaps(c *answers.Cluster, flavor string) bool {
	at := slices.IndexFunc(c.State.Flavors, func(f queue.Flavor) bool { return f.Name == flavor })
	return at < 0 || slices.ContainsFunc(b.nodes, func(n *node) bool { return of(&c.State.Flavors[at], n) })
}

// placePodSet adds the pods of a pod set where Kueue placed them.
func (b *builder) placePodSet(c *answers.Cluster, w *workload.Workload, s *workload.PodSet) string {
	list := c.Found.Places[w.ID]
	at := slices.IndexFunc(list, func(p bridge.Places) bool { return p.PodSet == s.Name })
	switch {
	case at < 0:
		return fmt.Sprintf("Workload %s runs in flavor %s without a topologyAssignment: where its pods are is not known", w.ID, b.flavor.Name)
	case s.Totals:
		return fmt.Sprintf("what a pod of Workload %s takes is not known", w.ID)
	}
	levels, domains, err := kueue.ReadPlaces(list[at].Assignment)
	level := len(levels) - 1
	if err != nil {
		return fmt.Sprintf("the topologyAssignment of Workload %s cannot be read: %v", w.ID, err)
	} else if level < 0 || levels[level] != hostname {
		return fmt.Sprintf("the topologyAssignment of Workload %s does not name its nodes", w.ID)
	}
	requests := workload.Resources{}
	for _, r := range s.Requests {
		if r.Resource != workload.PodsResource { // of which each pod takes one anyway
			requests[r.Resource] = r.Amount
		}
	}
	if !slices.ContainsFunc(b.groups, func(g workload.PodGroup) bool { return g.ID == w.ID }) {
		b.groups = append(b.groups, workload.PodGroup{ID: w.ID, DisruptionMode: workload.DisruptionModePodGroup})
	}
	for _, domain := range domains {
		host := domain.Values[level]
		if !b.known[host] {
			return fmt.Sprintf("node %s, on which Workload %s runs, is not in the input", host, w.ID)
		}
		on := b.byHost[host]
		if on == nil {
			continue // Kueue places nothing there now
		}
		if int64(len(b.pods))+domain.Count > maxPods {
			return fmt.Sprintf("more than %d pods run in flavor %s", maxPods, b.flavor.Name)
		}
		for range domain.Count {
			b.pods = append(b.pods, workload.Pod{ID: fmt.Sprintf("%s %d", w.ID, len(b.pods)), Group: w.ID, Node: on.name, Requests: requests})
		}
	}
	return ""
}

// snapshotOf makes the snapshot.
func (b *builder) snapshotOf() string {
	for _, n := range b.nodes {
		b.machines = append(b.machines, workload.Node{Name: n.name, Capacity: n.capacity(), Labels: n.labels})
		b.used[n.name] = workload.Resources{}
	}
	for i := range b.pods {
		used := b.used[b.pods[i].Node]
		for name, amount := range b.pods[i].Requests {
			used[name] = quota.Add(used[name], amount)
		}
		used[workload.PodsResource]++
	}
	var err error
	if b.snapshot, err = placement.NewSnapshot(placement.State{Nodes: b.machines, Pods: b.pods, Groups: b.groups}); err != nil {
		return fmt.Sprintf("the nodes of flavor %s: %v", b.flavor.Name, err)
	}
	return ""
}
