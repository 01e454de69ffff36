package cycle_test

import (
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// A head that comes in the place of a workload is asked about without that one, which goes when the head is
// admitted, and is its victim never.
func TestHeadThatReplaces(t *testing.T) {
	old, other := job("old", "a", 0, 3, 9), job("x", "b", 9, 4, 9)
	slice := func(gpus int64) workload.Workload { return job("new", "a", 0, gpus, 1) }
	low := job("low", "a", -1, 1, 9)
	for _, c := range []struct {
		name    string
		running []workload.Workload
		never   bool
		heads   []workload.Workload
		want    string
		holds   string // what runs in queue a after the cycle
	}{
		{"it takes the place", []workload.Workload{old, other}, true, []workload.Workload{slice(4)}, "new Admit", "new 4"},
		{"others see that it is larger", []workload.Workload{old, other}, true, []workload.Workload{slice(4), job("later", "b", -1, 1, 1)}, "new Admit, later Wait FailedAfterNomination", "new 4"},
		{"others see that it is smaller", []workload.Workload{old, other}, true, []workload.Workload{slice(1), job("later", "b", -1, 1, 1)}, "new Admit, later Admit", "new 1"},
		{"more than there is", []workload.Workload{old, other}, true, []workload.Workload{slice(5)}, "new Inadmissible NoCandidates", "old 3"},
		{"it preempts others", []workload.Workload{old, low, other}, false, []workload.Workload{slice(4)}, "new Preempt low", "low 1 leaving, old 3"},
		{"and never the one that it replaces", []workload.Workload{job("old", "a", -1, 3, 9), job("y", "a", 9, 1, 9), other}, false, []workload.Workload{slice(4)},
			"new Inadmissible NoCandidates", "old 3, y 1"},
		{"nobody preempts what stands for it", []workload.Workload{old, low, other}, false, []workload.Workload{slice(4), job("late", "a", -1, 1, 0)},
			"new Preempt low, late Inadmissible NoCandidates", "low 1 leaving, old 3"},
		{"an earlier head preempts it", []workload.Workload{old, other}, false, []workload.Workload{slice(4), job("urgent", "a", 9, 4, 0)},
			"urgent Preempt old, new Wait FailedAfterNomination", "old 3 leaving"},
		{"it is leaving already", []workload.Workload{evicted(old), other}, false, []workload.Workload{slice(4)}, "new Admit", "new 4"},
		{"a second one comes too late", []workload.Workload{old, other}, true, []workload.Workload{slice(3), job("newer", "b", -1, 3, 1)},
			"new Admit, newer Wait FailedAfterNomination", "new 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := shared(c.running...)
			if c.never {
				st = never(st)
			}
			s := snapshotOf(t, st)
			r := cycle.Request{Heads: heads(c.heads...), Now: now, Replaces: map[string]string{"new": "old", "newer": "old"}}
			result := runRequest(t, cycle.Config{}, s, r)
			if text(result) != c.want {
				t.Errorf("%s, want %s", text(result), c.want)
			}
			for _, v := range result.Heads {
				if _, replaces := r.Replaces[v.Head.Workload.ID]; v.Alone != replaces {
					t.Errorf("%s: alone %t", v.Head.Workload.ID, v.Alone)
				}
			}
			holds := ""
			for _, w := range with(t, s, result.Edits()...).State().Admitted {
				if w.Queue == "a" {
					holds += ", " + w.ID + " " + string('0'+byte(w.Usage()[0].Amount))
					if w.Evicted {
						holds += " leaving"
					}
				}
			}
			if holds != ", "+c.holds {
				t.Errorf("in the queue%s, want %s", holds[1:], c.holds)
			}
		})
	}
	runner, _ := cycle.New(cycle.Config{})
	for _, c := range []struct {
		replaces string
		holds    bool
		want     string
	}{
		{"gone", false, `heads[0].replaces: no workload "gone" is admitted`},
		{"old", true, `heads[0].replaces: "old", and holdsQuota is set: want one of them`},
	} {
		r := cycle.Request{Heads: heads(slice(4)), Now: now, Replaces: map[string]string{"new": c.replaces}, HoldsQuota: map[string]bool{"new": c.holds}}
		s := snapshotOf(t, shared(old))
		if c.holds {
			s = with(t, s, preemption.Admit(slice(1)))
		}
		if _, err := runner.RunRequest(s, r); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A head that waits and replaces a workload keeps from later heads what it asks for beyond that one.
func TestHeadThatReplacesReservesWhatItGrowsBy(t *testing.T) {
	both := func(id, in string, priority, gpus, cpus int64) workload.Workload {
		w := job(id, in, priority, gpus, 9)
		w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: "f", Resource: "cpu", Amount: cpus})
		return w
	}
	st := never(shared(both("old", "a", 0, 2, 6), job("x", "b", 9, 5, 9)))
	for i := range st.Queues {
		st.Queues[i].Quotas = append(st.Queues[i].Quotas, quota.Quota{Flavor: "f", Resource: "cpu", Nominal: 10})
	}
	for cpus, want := range map[int64]string{
		12: "new Inadmissible NoCandidates, later Admit", 13: "new Inadmissible NoCandidates, later Wait FailedAfterNomination",
	} {
		r := cycle.Request{Heads: heads(both("new", "a", 0, 4, 8), both("later", "b", -1, 0, cpus)), Now: now, Replaces: map[string]string{"new": "old"}}
		if got := text(runRequest(t, cycle.Config{}, snapshotOf(t, st), r)); got != want {
			t.Errorf("%d: %s, want %s", cpus, got, want)
		}
	}
}

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
		made := must(cycle.New(cycle.Config{}))(t)
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

// "Nil: if there are such rules, no two workloads are alike": one guard is such a rule.
func TestOneGuardMakesAllUnlike(t *testing.T) {
	one, two := job("one", "a", 0, 1, 0), job("two", "a", 0, 1, 0)
	for guards, want := range map[int]bool{0: true, 1: false, 2: false} {
		c := must(cycle.New(cycle.Config{Preemption: preemption.Config{Guards: []preemption.Guard{odd{}, odd{}}[:guards]}}))(t)
		if got := c.Alike(one) == c.Alike(two); got != want {
			t.Errorf("with %d guards they are alike: %v, want %v", guards, got, want)
		}
	}
}

// "Alike says what the rules of this cycle read": what the caller says.
func TestAlikeIsWhatTheCallerSays(t *testing.T) {
	one, same, other := job("one", "a", 0, 1, 0), job("same", "a", 0, 1, 0), job("other", "a", 0, 1, 0)
	one.Labels, same.Labels, other.Labels = map[string]string{"team": "x"}, map[string]string{"team": "x"}, map[string]string{"team": "y"}
	c, err := cycle.New(cycle.Config{
		Preemption: preemption.Config{Guards: []preemption.Guard{odd{}}},
		Alike:      func(w workload.Workload) string { return w.Labels["team"] },
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Alike(one) != c.Alike(same) {
		t.Errorf("one team: %q and %q", c.Alike(one), c.Alike(same))
	}
	if c.Alike(one) == c.Alike(other) {
		t.Errorf("two teams are alike: %q", c.Alike(one))
	}
}
