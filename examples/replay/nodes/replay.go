package main

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// policy says how room is made for a pod that has none.
type policy struct {
	name    string
	configs []moves.Config // tried in turn; empty: it waits
	moves   bool           // victims move that can
}

var policies = []policy{
	{name: "wait"},
	{name: "preempt", configs: []moves.Config{{}}},
	{name: "moves", configs: []moves.Config{{Price: onlyMoves}, {}}, moves: true},
}

func onlyMoves(placement.Unit) (yield, move int64) { return -1, 0 }

// measures is what a replay counts. Waits are in seconds, what is lost in thousandths of a GPU × seconds.
type measures struct {
	nodes             int
	large, all        []int64
	evicted, moved    int
	lost, lostByMoves int64
}

// job is a pod in a replay.
type job struct {
	pod
	left    int64 // seconds to run
	waits   int64 // since when
	waited  int64
	started int64
	epoch   int // how often it started
}

// ends is when a job ends that was not disturbed.
type ends struct {
	at    int64
	job   *job
	epoch int
}

type agenda []ends

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].at, a[j].at), cmp.Compare(a[i].job.id, a[j].job.id)) < 0
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(ends)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// cluster is a replay under way.
type cluster struct {
	measures
	options   *options
	policy    policy
	preemptor *placement.Preemptor
	snapshot  *placement.Snapshot
	now       int64
	running   map[string]*job
	waiting   []*job
	agenda    agenda
}

// midnight is the time of second zero.
var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *cluster) time() time.Time { return midnight.Add(time.Duration(c.now) * time.Second) }

// replay replays pods at a load.
func replay(o *options, pods []pod, load int64, p policy) (measures, error) {
	c := &cluster{options: o, policy: p, running: map[string]*job{}}
	var work int64
	window := pods[len(pods)-1].arrives/o.speed + 1
	for i := range pods { // as if each started when it arrives
		work += pods[i].gpu * min(pods[i].runs, window-pods[i].arrives/o.speed)
	}
	c.nodes = max(2, int(work*100/window/8000/load))
	var st placement.State
	for n := range c.nodes {
		st.Nodes = append(st.Nodes, workload.Node{
			Name: fmt.Sprintf("node-%04d", n), Capacity: workload.Resources{"gpu": 8000, "cpu": 128_000, "memory": 768 << 10},
		})
	}
	var err error
	if c.snapshot, err = placement.NewSnapshot(st); err != nil {
		return c.measures, err
	}
	if c.preemptor, err = placement.New(placement.Config{Order: placement.BestFit, MaxBlockers: -1, MaxRetrySteps: -1}); err != nil {
		return c.measures, err
	}
	next := 0
	for next < len(pods) || len(c.agenda) > 0 {
		arrives := int64(1) << 62
		if next < len(pods) {
			arrives = pods[next].arrives / o.speed
		}
		if len(c.agenda) > 0 && c.agenda[0].at <= arrives {
			e := heap.Pop(&c.agenda).(ends)
			if e.epoch != e.job.epoch || c.running[e.job.id] != e.job {
				continue // it was disturbed
			}
			c.now = e.at
			err = c.finish(e.job)
		} else {
			c.now = arrives
			p := pods[next]
			p.gpu, p.cpu, p.memory = min(p.gpu, 8000), min(p.cpu, 128_000), min(p.memory, 768<<10)
			c.waiting = append(c.waiting, &job{pod: p, left: p.runs, waits: c.now})
			next++
		}
		if err == nil {
			err = c.serve()
		}
		if err != nil {
			return c.measures, err
		}
	}
	return c.measures, nil
}

func (c *cluster) finish(j *job) (err error) {
	delete(c.running, j.id)
	c.all = append(c.all, j.waited)
	if j.gpu >= largeGPU {
		c.large = append(c.large, j.waited)
	}
	c.snapshot, err = c.snapshot.With(placement.Remove(j.id))
	return err
}

// shape is what decides whether a pod has room.
type shape struct {
	gpu, cpu, memory int64
	priority         int32
}

// serve gives room to the pods that wait, the most important first. A shape that found none is not asked again.
func (c *cluster) serve() error {
	slices.SortStableFunc(c.waiting, func(a, b *job) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.arrives, b.arrives))
	})
	failed := map[shape]bool{}
	for i := 0; i < len(c.waiting); {
		j := c.waiting[i]
		s := shape{j.gpu, j.cpu, j.memory, j.priority}
		if failed[s] {
			i++
			continue
		}
		ok, err := c.admit(j)
		if err != nil {
			return err
		}
		if !ok {
			failed[s] = true
			i++
			continue
		}
		c.waiting = slices.DeleteFunc(c.waiting, func(other *job) bool { return other == j })
		i = 0 // victims may wait now
		slices.SortStableFunc(c.waiting, func(a, b *job) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.arrives, b.arrives))
		})
	}
	return nil
}

// admit starts a pod where it has room, or where room is made for it.
func (c *cluster) admit(j *job) (bool, error) {
	r := placement.Request{Priority: j.priority, Now: c.time(), Policy: placement.PreemptNever, Pods: []workload.Pod{{
		ID: j.id, Requests: workload.Resources{"gpu": j.gpu, "cpu": j.cpu, "memory": j.memory},
	}}}
	d, err := c.preemptor.Decide(c.snapshot, r)
	if err != nil {
		return false, err
	}
	if d.Outcome == preemption.Fits {
		c.start(j)
		c.snapshot, err = c.snapshot.With(d.Edits()...)
		return true, err
	}
	r.Policy = placement.PreemptLowerPriority
	for _, config := range c.policy.configs {
		if !c.policy.moves {
			config.Price = func(placement.Unit) (yield, move int64) { return 0, -1 }
		}
		d, err := moves.Decide(c.preemptor, c.snapshot, r, config)
		if err != nil {
			return false, err
		}
		if d.Decision.Outcome == preemption.Preempt {
			return true, c.carryOut(j, d)
		}
	}
	return false, nil
}

// carryOut does what a decision says.
func (c *cluster) carryOut(j *job, d moves.Decision) (err error) {
	moved := map[string]bool{}
	for _, m := range d.Moves {
		moved[m.Pods[0].Pod] = true
	}
	for _, v := range d.Decision.Victims {
		for _, id := range v.Pods {
			victim := c.running[id]
			lost := c.stop(victim)
			if c.lost += lost; moved[id] {
				c.moved++
				c.lostByMoves += lost
				c.start(victim)
				continue
			}
			c.evicted++
			delete(c.running, id)
			victim.waits = c.now
			c.waiting = append(c.waiting, victim)
		}
	}
	c.snapshot, err = c.snapshot.With(d.EditsWhenDone(c.snapshot)...)
	c.start(j)
	return err
}

// stop returns what a pod loses: its work since the last checkpoint, and the time of its restart.
func (c *cluster) stop(j *job) int64 {
	ran := c.now - j.started
	saved := int64(0)
	if every := int64(c.options.checkpoint / time.Second); every > 0 {
		saved = ran / every * every
	}
	restart := int64(c.options.restart / time.Second)
	j.left = j.left - saved + restart
	return j.gpu * (ran - saved + restart)
}

func (c *cluster) start(j *job) {
	if c.running[j.id] == nil {
		j.waited += c.now - j.waits
	}
	j.started, j.epoch = c.now, j.epoch+1
	c.running[j.id] = j
	heap.Push(&c.agenda, ends{c.now + max(1, j.left), j, j.epoch})
}
