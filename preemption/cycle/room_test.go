package cycle_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// roomy is a room of nodes: a number of places, some of which workloads hold.
type roomy struct {
	free int
	held map[string]int // places by workload
	away map[string]bool
}

func (r *roomy) Remove(id string)  { r.away[id] = true }
func (r *roomy) Restore(id string) { delete(r.away, id) }
func (r *roomy) Fits() bool {
	free := r.free
	for id, places := range r.held {
		if r.away[id] {
			free += places
		}
	}
	return free >= 1
}

// Each head has a room of its own, less those that were served before it; who leaves has
// not left.
func TestRoom(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(100), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}},
		{Name: "b", Quotas: gpus(100), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}}
	st.Admitted = append(st.Admitted, job("low", "a", 0, 1, 9), evicted(job("going", "b", 9, 1, 9)))
	for _, c := range []struct {
		free  int
		heads []queue.Head
		want  string
	}{
		{2, heads(job("x", "a", 9, 1, 0), job("y", "b", 8, 1, 0)), "x Admit, y Admit"},
		{1, heads(job("x", "a", 9, 1, 0), job("y", "b", 8, 1, 0)), "x Admit, y Wait PendingPreemption"},
		{0, heads(job("x", "a", 9, 1, 0), job("y", "b", 8, 1, 0)), "x Wait PendingPreemption, y Wait FailedAfterNomination"},
		{-1, heads(job("x", "a", 9, 1, 0), job("y", "b", 8, 1, 0)), "x Preempt low, y Inadmissible NoCandidates"},
	} {
		s := snapshotOf(t, st)
		made, err := cycle.New(cycle.Config{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := made.RunRequest(s, cycle.Request{Heads: c.heads, Now: now, Room: func(head workload.Workload, before []cycle.HeadResult) preemption.Room {
			r := &roomy{free: c.free, held: map[string]int{"low": 1, "going": 1}, away: map[string]bool{}}
			for _, v := range before {
				if v.Outcome == cycle.Admit || v.Reason == queue.PendingPreemption {
					r.free--
				}
			}
			return r
		}})
		if got := text(result); err != nil || got != c.want {
			t.Errorf("%d free: %s, want %s (%v)", c.free, got, c.want, err)
		}
		for _, v := range result.Heads {
			if !v.Alone {
				t.Errorf("%d free: %s stands for others that have another room", c.free, v.Head.Workload.ID)
			}
		}
	}
}

// A victim's place is free for those that are served later, and the room is given back as
// it was.
func TestRoomOfVictims(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(100), Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}}
	st.Admitted = append(st.Admitted, job("low", "a", 0, 1, 9), evicted(job("going", "a", 9, 1, 9)))
	r := &roomy{held: map[string]int{"low": 3, "going": 1}, away: map[string]bool{}}
	made, _ := cycle.New(cycle.Config{})
	result, err := made.RunRequest(snapshotOf(t, st), cycle.Request{Heads: heads(job("x", "a", 9, 1, 0), job("y", "a", 8, 1, 0)), Now: now,
		Room: func(_ workload.Workload, before []cycle.HeadResult) preemption.Room {
			r.free = -1 - len(before)
			return r
		}})
	if got, want := text(result), "x Preempt low, y Wait PendingPreemption"; err != nil || got != want || len(r.away) > 0 {
		t.Errorf("%s, want %s; %v are away; %v", got, want, r.away, err)
	}
}
