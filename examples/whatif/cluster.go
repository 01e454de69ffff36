package main

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// cluster is an input, ready to be asked.
type cluster struct {
	answers.Cluster
	nodes     *rooms.Nodes
	command   string // with which the user runs the program; empty: go run
	owned     *owned // what -workload may mean beside the ID of a workload
	namespace string // of a name without one; empty: there is none
}

// whileReading is how much a heap may grow, in percent, before it is collected: most of what is read stays, and to look
// for the rest takes a third of the time.
const whileReading = 400

// load reads the cluster that the options name.
func load(o *options, std stdio) (*cluster, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(whileReading))
	nodes, asked := new(rooms.Nodes), o.ownedBy()
	if asked != nil {
		o.see = asked.see
	}
	in, err := readInput(o, std, nodes)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(in, nodes, o, std, nil)
	if err == nil {
		err = c.checkNamespace(o.namespace)
	}
	if err == nil && o.workload != "" {
		c.owned, c.namespace = asked, o.ownNamespace(std)
	}
	return c, err
}

// newCluster makes a cluster of what was read. It shares what did not change with a snapshot before, if there is one.
func newCluster(in answers.Input, nodes *rooms.Nodes, o *options, std stdio, before *preemption.Snapshot) (c *cluster, err error) {
	if in.ByFairShares() && o.sharingSaid {
		return nil, errors.New("-fair: KAI decides by fair shares: give no -fair and no -strategies")
	}
	seeNodes(&in, nodes)
	if err := in.Assume(o.assumptions, o.sharingSaid); err != nil {
		return nil, err
	}
	c = &cluster{Cluster: answers.Cluster{Input: in, Config: o.config, Now: o.now}, nodes: nodes, command: std.command}
	if c.Now.IsZero() && in.Sample != "" {
		c.Now = answers.SampleTime
	} else if c.Now.IsZero() {
		c.Now = std.clock.Now().Truncate(time.Second) // as times of objects are
	}
	c.Now = c.Now.Add(o.in)
	if before == nil {
		c.Snapshot, err = answers.Snapshot(in.State)
	} else {
		c.Snapshot, _, err = before.Sync(in.State)
	}
	if err != nil {
		return nil, answers.Faults(err)
	}
	c.share(o)
	c.LimitAsFound()
	c.Config.MaxBlockers = answers.MaxBlockers
	c.Preemptor, err = preemption.New(c.Config)
	return c, err
}

// seeNodes lets answers know of pods that no node takes. The pods of a manager of MultiKueue run elsewhere.
func seeNodes(in *answers.Input, nodes *rooms.Nodes) {
	if !in.ByFairShares() && len(in.MultiKueue().Checks) == 0 {
		in.Large = nodes.TooLarge(in.State.Flavors)
	}
}

// checkNamespace fails for a namespace of which nothing is in the input: it is a typo, and no good news. Of a namespace that alone was read
// nothing else is known.
func (c *cluster) checkNamespace(name string) error {
	if name == "" {
		return nil
	}
	known := map[string]bool{}
	for namespace := range c.Found.Namespaces {
		known[namespace] = true
	}
	for i := range c.Found.LocalQueues {
		known[c.Found.LocalQueues[i].Namespace] = true
	}
	for i := range c.Found.Pending {
		known[answers.Namespace(c.Found.Pending[i].Workload.ID)] = true
	}
	for i := range c.State.Admitted {
		known[answers.Namespace(c.State.Admitted[i].ID)] = true
	}
	for _, id := range c.Found.Finished {
		known[answers.Namespace(id)] = true
	}
	delete(known, "")
	if known[name] || len(known) == 0 {
		return nil
	}
	return fmt.Errorf("nothing in the input is of namespace %q%s", name, nearest(name, slices.Sorted(maps.Keys(known))))
}

// recordedRequest returns the request of a Record, at the time of the command line if it
// gives one.
func (c *cluster) recordedRequest(o *options) preemption.Request {
	r := *c.Recorded
	if r.Now.IsZero() || o.asked {
		r.Now = c.Now
	} else {
		r.Now = r.Now.Add(o.in)
	}
	return r
}

// share sets fair sharing if the command line or else the input says so.
func (c *cluster) share(o *options) {
	if o.sharingSaid && !c.ByFairShares() {
		return
	}
	c.Config.Sharing, c.Config.Strategies, c.Sharing = o.config.Sharing, o.config.Strategies, ""
	if c.ShareAsFound(); c.Sharing != "" {
		c.Sharing += "; -fair=false decides without it"
	}
}

// waiting returns all workloads that wait, in the order of their queues, with their rooms on nodes.
func (c *cluster) waiting(o *options) ([]answers.Waiting, error) {
	list, err := c.placed(o)
	if err == nil {
		c.Line(list)
	}
	return list, err
}

// forCycles is waiting without who stands behind whom.
func (c *cluster) forCycles(o *options) ([]answers.Waiting, error) {
	list, err := c.placed(o)
	if err == nil {
		c.LineForCycles(list)
	}
	return list, err
}

// placed returns all workloads that wait, with their rooms on nodes.
func (c *cluster) placed(o *options) ([]answers.Waiting, error) {
	var recorded *preemption.Request
	if c.Recorded != nil {
		r := c.recordedRequest(o)
		recorded = &r
	}
	list, on := c.Waiting(recorded), rooms.New(&c.Cluster, c.nodes)
	for i := range list {
		if err := on.Place(&list[i]); err != nil {
			return nil, answers.Faults(err)
		}
	}
	return list, nil
}

// behind says of a workload that is asked about who stands before it and holds it, in a queue of StrictFIFO.
func (c *cluster) behind(w *answers.Waiting, o *options) error {
	line, err := c.lineOf(w, o)
	if line != nil {
		c.standBehind(w, line)
	}
	return err
}

// lineOf returns who waits in the queue of a workload, if it is one of StrictFIFO.
func (c *cluster) lineOf(w *answers.Waiting, o *options) ([]answers.Waiting, error) {
	if q := c.findQueue(w.Workload.Queue); q == nil || q.Strategy != queue.StrictFIFO {
		return nil, nil
	}
	list, err := c.placed(o)
	return slices.DeleteFunc(list, func(other answers.Waiting) bool { return other.Workload.Queue != w.Workload.Queue }), err
}

// standBehind is behind with the workloads of the queue.
func (c *cluster) standBehind(w *answers.Waiting, list []answers.Waiting) {
	list = slices.DeleteFunc(slices.Clone(list), func(other answers.Waiting) bool { return other.Workload.ID == w.Workload.ID })
	list = append(list, *w)
	c.Line(list)
	at := slices.IndexFunc(list, func(other answers.Waiting) bool { return other.Workload.ID == w.Workload.ID })
	*w = list[at]
}
