package bridge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// TopologyDoubts returns what is not known of where the pods of a waiting workload go that Kueue places by a
// topology: since they ask for one, or since every flavor of their queue has one. It is the levels, where
// they are not in the input, and room in the domains.
func (c *Cluster) TopologyDoubts(w *workload.Workload) (list []Doubt) {
	at := slices.IndexFunc(c.State.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
	if at < 0 || len(c.Topologies) == 0 {
		return nil
	}
	with, unknown, all := "", "", true
	for _, e := range c.State.Queues[at].Quotas {
		name := c.Topologies[e.Flavor]
		all = all && name != ""
		with = cmp.Or(with, name)
		known := slices.ContainsFunc(c.State.Flavors, func(f queue.Flavor) bool { return f.Name == e.Flavor && len(f.Topology.Levels) > 0 })
		if name != "" && !known {
			unknown = cmp.Or(unknown, name)
		}
	}
	for i := range w.PodSets {
		s := &w.PodSets[i]
		asks := s.NodeConstraints != nil && !s.NodeConstraints.Topology.IsZero()
		if with == "" || !asks && !all {
			continue
		}
		d := Doubt{Workload: w.ID, Note: Note{Object: "Workload " + w.ID, Path: fmt.Sprintf("spec.podSets[%d].topologyRequest", i)}}
		if asks && unknown != "" && s.NodeConstraints.Topology.MissingFrom(nil) != "" {
			d.Text = fmt.Sprintf("pod set %s asks for a level of a topology, and Topology %s is not in the input", s.Name, unknown)
			list = append(list, d)
		}
		d.OnlyYes, d.Room = true, true
		d.Text = fmt.Sprintf("pod set %s is placed by topology %s, and whether a domain of it has room is not known: only quota is looked at", s.Name, with)
		list = append(list, d)
	}
	return list
}
