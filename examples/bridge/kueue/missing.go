package kueue

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// stopWithoutFlavors stops the queues with quota in a flavor that has no object: Kueue makes such a
// ClusterQueue inactive (FlavorNotFound). Where its status says that it is active, the flavor is there and was
// not given: the answers that it may bear on are in doubt.
func (b *builder) stopWithoutFlavors() {
	known := make(map[string]bool, len(b.c.State.Flavors))
	for _, f := range b.c.State.Flavors {
		known[f.Name] = true
	}
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		for j, e := range q.Quotas {
			again := slices.ContainsFunc(q.Quotas[:j], func(o quota.Quota) bool { return o.Flavor == e.Flavor })
			if !again && !known[e.Flavor] {
				b.stopWithout(q, e.Flavor)
			}
		}
	}
}

// stopWithout stops a queue that has quota in a flavor without object.
func (b *builder) stopWithout(q *queue.Queue, flavor string) {
	n := bridge.Note{Object: "ClusterQueue " + q.Name, Path: "spec.resourceGroups"}
	if n.Stops = !b.active[q.Name]; n.Stops {
		n.Text = fmt.Sprintf("%s is inactive and admits nothing: it has quota in flavor %s, whose ResourceFlavor is not in the input", n.Object, flavor)
		q.Inactive = true
	} else {
		n.Text = fmt.Sprintf("%s has quota in flavor %s, whose ResourceFlavor is not in the input: its labels and taints are not known", n.Object, flavor)
		b.later = append(b.later, func() { b.doubtReach(reach{flavor: flavor}, n) })
	}
	b.c.QueueNotes[q.Name] = append(b.c.QueueNotes[q.Name], n)
}
