package cluster

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/persist/listed"
	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/internal/persist/vector"
	"github.com/cedesched/cede/workload"
)

// filling adds all workloads of a new cluster at once.
type filling struct {
	*Cluster
	columns *Columns // its own
	byID    trie.Builder[*Workload]
	queues  []int32             // of the workloads
	counts  []int32             // by queue
	homes   []*home             // by queue
	locals  map[home]*home      // of workloads with a local queue
	local   *home               // the last of them
	room    []Workload          // for the next workloads
	seen    [seenTemplates]seen // by hash of the pod sets
	queue   string              // the queue of the last workload
	node    int                 // its node; -1: unknown
}

// seenTemplates is the number of pod sets remembered from the last workloads. Most workloads
// take the same as others. The table fits in the cache, so that it costs little where they do
// not.
const seenTemplates = 1 << 9

// together is the number of workloads that are allocated at once: with the header of the
// allocator that is 2 kB. More at once would not be faster, and one of them that stays keeps
// all of them in memory.
const together = 21

// seen is a list of pod sets that was found valid.
type seen struct {
	podSets  []workload.PodSet // belongs to the caller
	active   *Template
	whole    *Template // of those that leave as a whole; without leaving replicas, of those that give no surplus
	ofQuotas bool      // it uses only columns with quota
}

// fill adds the workloads of a new cluster. It fails with a [fault.List].
func (c *Cluster) fill(admitted []workload.Workload, columns *Columns) error {
	c.leaving = trie.New(idOf)
	f := &filling{
		Cluster: c, columns: columns, byID: trie.NewBuilder(idOf, len(admitted)),
		queues: make([]int32, len(admitted)), counts: make([]int32, len(c.Queues)),
		homes: make([]*home, len(c.Queues)), node: -1,
	}
	for i := range f.homes {
		f.homes[i] = &home{queue: c.Queues[i].Name}
	}
	var faults fault.List
	for i := range admitted {
		if !f.add(i, &admitted[i]) {
			_, known := f.QueueNode(admitted[i].Queue)
			faults = append(faults, faultsOfOne(i, &admitted[i], known)...)
		}
	}
	if len(faults) > 0 {
		return append(faults, doubles(admitted)...)
	}
	c.Columns = f.columns
	byQueue := f.byQueue()
	if c.byID = f.byID.Map(); c.byID.Len() < len(admitted) { // a map for them alone would cost more than all of this
		return doubles(admitted)
	}
	c.list = listed.Of(idOf, c.byID, f.byID.Items())
	direct := make([][]quotatree.Load, c.Tree.Len()) // by node
	for node, reserved := range c.Reserved {
		direct[node] = slices.Clone(reserved)
	}
	running := make([]*Running, len(c.Queues))
	var room []inLane
	for q, workloads := range byQueue {
		running[q], room = newRunning(f.homes[q], workloads, room)
		running[q].addTo(&direct[len(c.Cohorts)+q])
	}
	var err error
	if c.Usage, err = quotatree.NewUsage(c.Tree, direct); err != nil {
		return c.usageFault("admitted", f.columns, err)
	}
	c.running = vector.Of(running)
	c.findLeavers()
	c.reachAll(nil)
	return nil
}

// add adds a workload. It returns false if the workload is invalid.
func (f *filling) add(i int, w *workload.Workload) bool {
	if w.Queue != f.queue || i == 0 {
		f.queue, f.node = w.Queue, -1
		if node, known := f.QueueNode(w.Queue); known {
			f.node = node
		}
	}
	if f.node < 0 {
		return false
	}
	s := &f.seen[hashOf(w.PodSets)]
	if s.active == nil || !samePodSets(s.podSets, w.PodSets) {
		if workload.Validate("", w) != nil { // building paths costs more than the check
			return false
		}
		f.see(s, w)
	} else if !s.ofQuotas {
		f.columns = f.columns.with(w)
	}
	created, ok1 := instant.From(w.Created)
	queued, ok2 := instant.From(w.Queued)
	reserved, ok3 := instant.From(w.ReservedAt)
	if w.ID == "" || !ok1 || !ok2 || !ok3 || !instant.Valid(w.AdmittedAt) { // what Validate finds outside of pod sets and gates
		return false
	}
	q := f.node - len(f.Cohorts)
	if len(f.room) == 0 {
		f.room = make([]Workload, min(together, len(f.queues)-i))
	}
	d := &f.room[0]
	f.room = f.room[1:]
	d.Priority, d.Queued, d.Reserved, d.Template = w.EffectivePriority(), queued, reserved, s.active
	d.Facts = factsOf(w, f.homeOf(q, w.LocalQueue), created)
	switch {
	case w.Evicted:
		d.Template = s.whole
	case w.NeverYields && len(s.active.Parts) > 0:
		d.Template = s.active.rigid()
	case w.NeverYields:
		d.Template = s.whole
	}
	if rare := d.Facts.seldom; rare != nil {
		if workload.Validate("", w) != nil { // the gates and the loss
			return false
		}
		rare.gates, rare.loss, rare.labels = w.Gates.Clone(), w.Loss.Clone(), maps.Clone(w.Labels)
	}
	f.queues[i] = int32(q)
	f.counts[q]++
	f.byID.Add(d)
	if d.leaves() {
		f.leaving = f.leaving.Set(d)
	}
	return true
}

// homeOf returns the home of workloads of a queue and a local queue.
func (f *filling) homeOf(q int, localQueue string) *home {
	at := f.homes[q]
	if localQueue == "" {
		return at
	}
	if last := f.local; last == nil || last.localQueue != localQueue || last.queue != at.queue {
		if f.locals == nil {
			f.locals = map[home]*home{}
		}
		key := home{at.queue, localQueue}
		if f.local = f.locals[key]; f.local == nil {
			f.local = &key
			f.locals[key] = f.local
		}
	}
	return f.local
}

// see remembers the pod sets of a valid workload.
func (f *filling) see(s *seen, w *workload.Workload) {
	columns := f.columns
	f.columns = columns.with(w)
	copied := workload.Workload{PodSets: w.PodSets}
	active := newTemplate(copied.Clone().PodSets, f.columns)
	*s = seen{podSets: w.PodSets, active: active, whole: active.whole(), ofQuotas: f.columns == columns}
}

// hashOf returns a number below [seenTemplates]. Of a flavor's name it takes the length and both ends: there the
// names of many flavors differ.
func hashOf(podSets []workload.PodSet) uint64 {
	const prime = 0x9e3779b97f4a7c15
	hash := uint64(len(podSets))
	for i := range podSets {
		hash = (hash + uint64(podSets[i].Count)) * prime
		for j := range podSets[i].Requests {
			r := &podSets[i].Requests[j]
			hash = (hash + uint64(r.Amount)) * prime
			if n := len(r.Flavor); n > 0 {
				name := uint64(n)<<8 + uint64(r.Flavor[0])
				for k := max(0, n-3); k < n; k++ {
					name = name<<8 + uint64(r.Flavor[k])
				}
				hash += name * prime // of which the upper half counts
			}
		}
	}
	return hash >> 32 % seenTemplates
}

// samePodSets compares by value. Pod sets with constraints are never the same: comparing
// those costs more than keeping two copies.
func samePodSets(a, b []workload.PodSet) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Name != y.Name || x.Count != y.Count || x.MinCount != y.MinCount || x.Terminating != y.Terminating || x.Totals != y.Totals ||
			x.NodeConstraints != y.NodeConstraints || (x.Requests == nil) != (y.Requests == nil) || !slices.Equal(x.Requests, y.Requests) {
			return false
		}
	}
	return true
}

// byQueue returns the records of each queue.
func (f *filling) byQueue() [][]*Workload {
	lists := make([][]*Workload, len(f.counts))
	for q, count := range f.counts {
		lists[q] = make([]*Workload, 0, count)
	}
	for i, q := range f.queues {
		w := f.byID.Item(i)
		lists[q] = append(append(lists[q], w), w.parts()...)
	}
	return lists
}

// newRunning returns the index of the workloads of a queue. It sorts the list and keeps it,
// and returns the memory that it used for that.
func newRunning(at *home, workloads []*Workload, room []inLane) (*Running, []inLane) {
	r := &Running{home: at}
	room = room[:0]
	for _, w := range workloads {
		room = append(room, inLane{w.lane(), w.Priority, w.Reserved, w})
	}
	sorted, room := sortByLane(room)
	var surplus [AllLanes][]*Workload
	for i := range sorted {
		workloads[i] = sorted[i].workload
		if len(workloads[i].Surplus) > 0 {
			lane := SurplusReserved + sorted[i].lane&1
			surplus[lane] = append(surplus[lane], workloads[i])
		}
	}
	for lane, from := Active, 0; lane < AllLanes; lane++ {
		to := from
		for to < len(sorted) && sorted[to].lane == lane {
			to++
		}
		list := workloads[from:to]
		if lane.Surplus() {
			list = surplus[lane]
		}
		r.lanes[lane] = LaneOf(lane, list)
		from = to
	}
	return r, room
}
