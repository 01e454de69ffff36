package preemption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// nodes puts each workload of a state on a node, by a device a pod, and asks for room for
// a number of pods.
type nodes struct {
	state   placement.State
	request placement.Request
}

// room returns the fit of placement for them. It frees replicas, too: pods name their pod set.
func (n nodes) room(t failer) preemption.ReplicaRoom {
	t.Helper()
	s := must(placement.NewSnapshot(n.state))(t)
	p := must(placement.New(placement.Config{}))(t)
	fit := must(p.Fit(s, n.request))(t)
	fit.PodSets(func(p workload.Pod) string { return p.Labels["podSet"] }, nil)
	return fit
}

// drawNodes draws a fleet for a state: the pods of a workload are on one to three nodes.
func drawNodes(t *rapid.T, st preemption.State) nodes {
	var n nodes
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		n.state.Nodes = append(n.state.Nodes, workload.Node{
			Name: fmt.Sprintf("n%d", i), Capacity: workload.Resources{"gpu": rapid.Int64Range(1, 12).Draw(t, "capacity")},
		})
	}
	one := workload.Resources{"gpu": 1}
	for _, w := range st.Admitted {
		for i := range rapid.IntRange(0, 2).Draw(t, "pods") {
			p := workload.Pod{
				ID: fmt.Sprintf("%s-%d", w.ID, i), Group: w.ID, Requests: one,
				Node: rapid.SampledFrom(n.state.Nodes).Draw(t, "node").Name,
			}
			if len(w.PodSets) > 0 {
				p.Labels = map[string]string{"podSet": rapid.SampledFrom(w.PodSets).Draw(t, "pod set").Name}
			}
			n.state.Pods = append(n.state.Pods, p)
		}
	}
	n.request.Group = "pending"
	for i := range rapid.IntRange(1, 4).Draw(t, "asks for") {
		n.request.Pods = append(n.request.Pods, workload.Pod{ID: fmt.Sprintf("pending-%d", i), Requests: one})
	}
	n.request.MinCount = len(n.request.Pods)
	return n
}

// withoutZeros returns the workload without requests of zero: these count in the height to which it borrows, and are not
// checked for quota.
func withoutZeros(w workload.Workload) workload.Workload {
	w = w.Clone()
	for i := range w.PodSets {
		w.PodSets[i].Requests = slices.DeleteFunc(w.PodSets[i].Requests, func(a quota.Amount) bool { return a.Amount == 0 })
	}
	return w
}

// The attempt without borrowing looks only at what is asked for: the queue uses more cpu than its nominal quota, and the
// request of zero cpu changes only the height. The victims keep the queue within its nominal quota of gpu, though a
// borrowing request needs one less. (Kueue: requests of zero are not checked, and count where the queue borrows.)
func TestRequestOfZeroBorrows(t *testing.T) {
	cpu := quota.Quota{Flavor: "h100", Resource: "cpu"}
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: append(gpus(4), cpu), Preemption: reclaims},
			{Name: "b", Cohort: "c", Quotas: append(gpus(1), cpu)},
		},
		Admitted: []workload.Workload{
			job("own", "a", 0, 1, started(5)), job("equal", "a", 1, 2, started(5)), job("over", "a", 1, 1, started(5)), job("borrows", "b", 0, 2, started(5)),
		},
	}
	st.Admitted[2].PodSets[0].Requests[0].Resource = "cpu"
	r := pending("a", 1, 2)
	for zero, height := range []int{0, 1} {
		if zero == 1 {
			r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests, quota.Amount{Flavor: "h100", Resource: "cpu"})
		}
		d := decide(t, snapshotOf(t, st), r)
		if got, want := text(d), "Preempt: borrows InCohortReclamation, own InClusterQueue"; got != want || d.BorrowHeight != height {
			t.Errorf("%d: %s to height %d, want %s to %d", zero, got, d.BorrowHeight, want, height)
		}
	}
}

// One set of victims satisfies the quota and the room, and none can be spared of both; a
// request for which there is no room evicts nobody and says so.
func victimsMakeRoomOnNodes(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := elasticState(t, record.State), *record.Request
	n := drawNodes(t, st)
	room := n.room(t)
	before := room.Fits()
	r.Room = room
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	if room.Fits() != before {
		t.Fatalf("a decision leaves the room as %v, it was %v", room.Fits(), before)
	}
	fits := func(victims []preemption.Victim) (quota, room, borrows bool) {
		s, other := s, n.room(t)
		for _, v := range victims {
			if len(v.Replicas) == 0 {
				s = edit(t, s, preemption.Remove(v.Workload))
				other.Remove(v.Workload)
			}
			for _, r := range v.Replicas {
				s = edit(t, s, preemption.Remove(v.Workload, preemption.Replicas{PodSet: r.PodSet, Count: r.Count}))
				other.SetRemoved(v.Workload, r.PodSet, r.Count)
			}
		}
		asked := r
		asked.Room, asked.NeedsPreemption, asked.Workload = nil, nil, withoutZeros(r.Workload)
		d := decideWith(t, config, s, asked)
		return d.Outcome == preemption.Fits, other.Fits(), d.BorrowHeight > 0
	}
	quota, roomy, borrows := fits(d.Victims)
	switch {
	case d.Possible():
		if !quota || !roomy {
			t.Fatalf("%v with victims %v: fits by quota %v, by room %v", d.Outcome, ids(d.Victims), quota, roomy)
		}
	default:
		if inactive := queueOf(st, r.Workload.Queue).Inactive; !inactive && d.NoRoom == (len(d.Shortage) > 0) {
			t.Fatalf("no room: %v, and %d shortages", d.NoRoom, len(d.Shortage))
		}
	}
	if config.Sharing == preemption.Classical && !borrows {
		return // perhaps found without borrowing, where more must yield
	}
	for i, v := range d.Victims {
		spared := slices.Delete(slices.Clone(d.Victims), i, i+1)
		if quota, roomy, _ := fits(spared); quota && roomy {
			t.Fatalf("%v need not yield", v.Workload)
		}
	}
}

func TestVictimsMakeRoomOnNodes(t *testing.T) { rapid.Check(t, inEither(victimsMakeRoomOnNodes)) }

// The fit of placement keeps the laws of a room.
func TestPlacementIsARoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := preemptiontest.States().Draw(t, "state")
		n := drawNodes(t, st)
		var names []string
		for _, w := range st.Admitted {
			names = append(names, w.ID)
		}
		preemptiontest.CheckRoom(t, func() preemption.Room { return n.room(t) }, names)
		preemptiontest.CheckReplicaRoom(t, func() preemption.ReplicaRoom { return n.room(t) }, st.Admitted)
	})
}

// Either of two workloads frees the quota, but only "together" frees a whole node:
// "split", which comes first in the order of candidates, is put back.
func TestQuotaAndRoom(t *testing.T) {
	st := preemption.State{
		Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: reclaims}},
	}
	st.Admitted = append(st.Admitted, job("split", "a", 0, 2, started(5)), job("together", "a", 0, 2, started(9)))
	one := workload.Resources{"gpu": 1}
	n := nodes{
		state: placement.State{
			Nodes: []workload.Node{{Name: "n1", Capacity: workload.Resources{"gpu": 1}}, {Name: "n2", Capacity: workload.Resources{"gpu": 1}}, {Name: "n3", Capacity: workload.Resources{"gpu": 2}}},
			Pods: []workload.Pod{
				{ID: "split-0", Group: "split", Node: "n1", Requests: one}, {ID: "split-1", Group: "split", Node: "n2", Requests: one},
				{ID: "together-0", Group: "together", Node: "n3", Requests: workload.Resources{"gpu": 2}},
			},
		},
		request: placement.Request{Pods: []workload.Pod{{ID: "pending-0", Requests: workload.Resources{"gpu": 2}}}},
	}
	s, r := snapshotOf(t, st), pending("a", 10, 2)
	wantText(t, text(decide(t, s, r)), "Preempt: split InClusterQueue", "by quota alone")
	r.Room = n.room(t)
	wantText(t, text(decide(t, s, r)), "Preempt: together InClusterQueue", "with room")
	n.request.Pods[0].Requests = workload.Resources{"gpu": 3} // more than any node has
	r.Room = n.room(t)
	if d := decide(t, s, r); d.Outcome != preemption.Impossible || !d.NoRoom || len(d.Victims)+len(d.Shortage) > 0 {
		t.Errorf("without room: %+v", d)
	}
}

// Within nominal quota nobody's leaving is enough, and to borrow nobody may be taken: it is
// the quota that says no, whatever the room.
func TestNoRoomIsAboutTheRoom(t *testing.T) {
	st := preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: gpus(2), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.Any}},
			{Name: "b", Cohort: "c", Quotas: gpus(4)},
		},
		Admitted: []workload.Workload{job("large", "b", 0, 3, started(9)), job("small", "b", 0, 2, started(5))},
	}
	r := pending("a", 10, 3)
	for _, lacks := range []int{0, 1} {
		r.Room = &space{size: map[string]int{"large": 1}, lacks: lacks, away: map[string]bool{}}
		d := decide(t, snapshotOf(t, st), r)
		if d.Outcome != preemption.Impossible || d.NoRoom || len(d.Shortage) != 1 || len(d.Blockers) != 1 || d.Blockers[0].Rule != preemption.RuleBorrowWithinCohort {
			t.Errorf("a room that lacks %d: %+v", lacks, d)
		}
	}
}

// asked is a room that always has a place, and records who was removed.
type asked struct{ removed []string }

func (a *asked) Remove(id string) { a.removed = append(a.removed, id) }
func (a *asked) Restore(string)   {}
func (a *asked) Fits() bool       { return true }

// In a room that cannot free replicas those of a surplus free quota alone.
func TestSurplusFreesNoRoom(t *testing.T) {
	elastic := job("elastic", "a", 0, 4, started(5))
	elastic.PodSets[0].MinCount = workload.AtLeast(1)
	room, r := &asked{}, pending("a", 10, 1)
	r.Room = room
	st := shared(0, elastic)
	d := decide(t, snapshotOf(t, st), r)
	if len(d.Victims) != 1 || len(d.Victims[0].Replicas) != 1 || len(room.removed) > 0 {
		t.Errorf("%+v, removed %v", d.Victims, room.removed)
	}
}

// Replicas of a surplus yield one by one where the workload has no reservation, too.
func TestSurplusWithoutReservation(t *testing.T) {
	elastic := job("elastic", "a", 0, 4, time.Time{})
	elastic.PodSets[0].MinCount = workload.AtLeast(1)
	d := decide(t, snapshotOf(t, shared(0, elastic)), pending("a", 10, 1))
	if len(d.Victims) != 1 || len(d.Victims[0].Replicas) != 1 || d.Victims[0].Replicas[0].Count != 1 {
		t.Errorf("%+v", d.Victims)
	}
}

// A request that never preempts may borrow, also with PreemptWithinNominal: only the room says no.
func TestNoRoomForAWorkloadThatNeverPreempts(t *testing.T) {
	st := preemption.State{
		Cohorts:  []queue.Cohort{{Name: "c"}},
		Queues:   []queue.Queue{{Name: "a", Cohort: "c", Quotas: gpus(2)}, {Name: "b", Cohort: "c", Quotas: gpus(4)}},
		Admitted: []workload.Workload{job("runs", "a", 0, 2, started(9))},
	}
	r := pending("a", 10, 1)
	r.Workload.NeverPreempts, r.Room = true, noRoom{}
	config := preemption.Config{Compat: preemption.Compat{PreemptWithinNominal: true}}
	d := decideWith(t, config, snapshotOf(t, st), r)
	if d.Outcome != preemption.Impossible || !d.NoRoom || len(d.Shortage) > 0 {
		t.Errorf("%+v", d)
	}
	agrees(t, config, st, r, d)
}

// noRoom has a place for nobody.
type noRoom struct{}

func (noRoom) Remove(string)  {}
func (noRoom) Restore(string) {}
func (noRoom) Fits() bool     { return false }

// Where no policy lets anybody yield, a request without room is impossible, now and later.
func TestNoRoomWithoutDonors(t *testing.T) {
	r := pending("a", 0, 1)
	r.Room = noRoom{}
	d := decide(t, snapshotOf(t, preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4)}}}), r)
	if d.Outcome != preemption.Impossible || !d.NoRoom {
		t.Errorf("%+v", d)
	}
}
