package preemption_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// What leaves and was enough together stays enough, in whatever order it goes (KEP-83, Preemption: the
// incoming workload "will be admitted once the changes in the victim Workloads are observed"). The request is asked
// again after each departure: nobody else is told, the answer is no refusal, and it fits when all have left, not before
// there is room. verify.Decision agrees each time.
func victimsLeaveOneByOne(t *rapid.T) {
	rec := preemptiontest.Records().Draw(t, "record")
	config := preemptiontest.Configs().Draw(t, "config")
	searched := rapid.SampledFrom(searches).Draw(t, "search")
	config.Search, config.Best = searched.Search, searched.Best
	config.Sharing = rapid.SampledFrom([]preemption.Sharing{preemption.Classical, preemption.Fair}).Draw(t, "sharing")
	config.Strategies, config.Compat = nil, preemption.Compat{}
	config.Compat.PreemptWithinNominal = rapid.IntRange(0, 3).Draw(t, "within nominal") == 0
	if config.Sharing != preemption.Classical {
		if rapid.IntRange(0, 3).Draw(t, "stable") == 0 {
			config.Sharing = preemption.Stable
		}
	}
	if _, err := preemption.New(config); err != nil {
		t.Skip()
	}
	st, r := withoutRules(rec.State), *rec.Request
	for i := range st.Queues { // lending and borrowing while preempting, more often than drawn
		if p := &st.Queues[i].Preemption; config.Sharing == preemption.Classical && p.ReclaimWithinCohort != queue.Never && rapid.Bool().Draw(t, "borrows") {
			p.BorrowWithinCohort.Policy = queue.LowerPriority
		}
	}
	leave(t, config, st, r, nodesOf(t, st, &r))
}

// withoutRules returns the state with policies alone.
func withoutRules(st preemption.State) preemption.State {
	st.Queues, st.Rules = slices.Clone(st.Queues), nil
	for i := range st.Queues {
		st.Queues[i].Rules = ""
	}
	return st
}

// leave carries out a decision and lets what was told go in a drawn order.
func leave(t *rapid.T, config preemption.Config, st preemption.State, r preemption.Request, nodes *oneByOne) {
	s := snapshotOf(t, st)
	ask := func() preemption.Decision {
		r.Room = nodes.room(t)
		d := decideWith(t, config, s, r)
		r.Room = nodes.room(t)
		verified(t, s.State(), r, config, d)
		return d
	}
	d := ask()
	if d.Outcome != preemption.Preempt {
		return
	}
	first := d
	s = edit(t, s, d.Edits()...)
	nodes.told(t, d)
	for step := 0; ; step++ {
		d = ask()
		if d.Outcome == preemption.Fits {
			if r.Room = nodes.room(t); r.Room != nil && !r.Room.Fits() {
				t.Fatalf("%v: fits without room", first.Victims)
			}
			return
		}
		if (d.Outcome != preemption.Preempt && !d.Leaving) || len(d.Edits()) > 0 || d.Outcome == preemption.Preempt && !leavingAlone(d) {
			t.Fatalf("told %v; after %d departures %v %v, leaving %v", first.Victims, step, d.Outcome, d.Victims, d.Leaving)
		}
		gated := r
		gated.Workload.Gates = gate.Gates{Names: []string{"gate"}}
		gated.Room = nodes.room(t)
		if g := decideWith(t, config, s, gated); g.Outcome != preemption.Wait || !g.Leaving {
			t.Fatalf("with a closed gate %v, want Wait: %v leave already", g.Outcome, d.Victims)
		}
		var left []preemption.Edit
		left = append(left, s.Removals()...)
		if more := nodes.left(); len(left)+len(more) == 0 {
			t.Fatalf("nothing leaves any more, and the answer is %v %v", d.Outcome, d.Victims)
		} else if n := rapid.IntRange(0, len(left)+len(more)-1).Draw(t, "goes"); n < len(left) {
			s = edit(t, s, left[n])
		} else {
			nodes.gone(t, more[n-len(left)])
		}
	}
}

// oneByOne is a node for each column, full of the pods of the workloads that use it. Nil: there is no room.
type oneByOne struct {
	s       *placement.Snapshot
	request placement.Request
	mode    placement.Mode
}

// nodesOf draws nodes on which what runs has its pods, with as much besides as is drawn.
func nodesOf(t *rapid.T, st preemption.State, r *preemption.Request) *oneByOne {
	if rapid.IntRange(0, 2).Draw(t, "room") == 0 {
		return nil
	}
	amounts := func(p workload.PodSet) workload.Resources {
		of := workload.Resources{}
		for _, a := range p.Requests {
			of[a.Resource] += a.Amount
		}
		return of
	}
	o := &oneByOne{mode: rapid.SampledFrom([]placement.Mode{placement.ModeDesign, placement.ModeInPlace}).Draw(t, "mode")}
	var nodes placement.State
	taken := workload.Resources{}
	for _, w := range st.Admitted {
		for _, p := range w.PodSets {
			if p.Totals || p.Count > 6 {
				return nil
			}
			for n := range p.Count {
				pod := workload.Pod{ID: w.ID + "/" + p.Name + "/" + string(rune('a'+n)), Group: w.ID, Node: "n", Requests: amounts(p), Labels: map[string]string{"set": p.Name}}
				if w.Evicted || n < p.Terminating {
					pod.Terminating, pod.Preempted = true, true
				}
				for name, amount := range pod.Requests {
					taken[name] += amount
				}
				nodes.Pods = append(nodes.Pods, pod)
			}
		}
	}
	for _, p := range r.Workload.PodSets {
		if p.Totals || p.Count > 6 {
			return nil
		}
		for n := range p.Count {
			o.request.Pods = append(o.request.Pods, workload.Pod{ID: "in/" + p.Name + "/" + string(rune('a'+n)), Requests: amounts(p)})
			for name := range amounts(p) {
				taken[name] += 0
			}
		}
	}
	if len(o.request.Pods) == 0 {
		return nil
	}
	if len(o.request.Pods) > 1 {
		o.request.Group = "in"
	}
	spare := rapid.Int64Range(0, 3).Draw(t, "spare")
	for name := range taken {
		taken[name] += spare
	}
	nodes.Nodes = []workload.Node{{Name: "n", Capacity: taken}}
	r.MinCounts = nil
	o.request.Now = r.Now
	s, err := placement.NewSnapshot(nodes)
	if err != nil {
		return nil // amounts that no node has
	}
	o.s = s
	return o
}

func (o *oneByOne) room(t *rapid.T) preemption.Room {
	if o == nil {
		return nil
	}
	p := must(placement.New(placement.Config{Mode: o.mode}))(t)
	request := o.request
	if request.Group != "" {
		request.Group = "in"
	}
	fit, err := p.Fit(o.s, request)
	if err != nil {
		t.Skip(err)
	}
	fit.PodSets(func(pod workload.Pod) string { return pod.Labels["set"] }, nil)
	return fit
}

// told marks the pods of victims as terminating.
func (o *oneByOne) told(t *rapid.T, d preemption.Decision) {
	if o == nil {
		return
	}
	fit := o.room(t).(*placement.Fit)
	edits := []placement.Edit{}
	st := o.s.State()
	for _, v := range d.Victims {
		for _, p := range st.Pods {
			if p.Group == v.Workload && len(v.Replicas) == 0 && !p.Terminating {
				edits = append(edits, placement.StartEviction(p.ID))
			}
		}
		for _, few := range v.Replicas {
			for i, id := range fit.Replicas(v.Workload, few.PodSet) {
				if pod, _ := o.s.Find(id); int64(i) < few.Count && !pod.Terminating {
					edits = append(edits, placement.StartEviction(id))
				}
			}
		}
	}
	o.change(t, edits...)
}

// left lists the pods that terminate.
func (o *oneByOne) left() []string {
	if o == nil {
		return nil
	}
	return o.s.Terminating()
}

func (o *oneByOne) gone(t *rapid.T, id string) { o.change(t, placement.Remove(id)) }

func (o *oneByOne) change(t *rapid.T, edits ...placement.Edit) {
	s := must(o.s.With(edits...))(t)
	o.s = s
}

func TestVictimsLeaveOneByOne(t *testing.T) { rapid.Check(t, victimsLeaveOneByOne) }
