package preemption_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// A room that cannot free replicas keeps them: then the whole workload yields.
func TestRoomOfWorkloadsKeepsReplicas(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a", Quotas: gpus(4), Preemption: reclaims}}}
	st.Admitted = append(st.Admitted, elastic("e", "a", 4, 2, started(5)))
	r := pending("a", 10, 1)
	r.Room = struct{ preemption.Room }{fleetOf(st, 1, 1, 1, 1, 1)}
	if d := decide(t, snapshotOf(t, st), r); len(d.Victims) != 1 || len(d.Victims[0].Replicas) > 0 {
		t.Errorf("%v %+v, want e as a whole", d.Outcome, d.Victims)
	}
}

// Rooms of one fleet that each break one law.
type (
	addsUp         struct{ *fleet } // the numbers said
	forgetsNumbers struct{ *fleet } // when a workload is restored
	fewerIsMore    struct{ *fleet } // room
	countsAny      struct {         // number as room, whatever is removed
		*fleet
		said int64
	}
)

func (b addsUp) SetRemoved(id, podSet string, n int64) {
	b.fleet.SetRemoved(id, podSet, min(n, 9)+b.removed[[2]string{id, podSet}])
}
func (b forgetsNumbers) Restore(id string) {
	b.fleet.Restore(id)
	b.fleet.SetRemoved(id, "main", 0)
}
func (b fewerIsMore) SetRemoved(id, podSet string, n int64) {
	b.fleet.SetRemoved(id, podSet, max(0, 3-n))
}
func (b *countsAny) SetRemoved(id, podSet string, n int64) {
	b.said = n
	b.fleet.SetRemoved(id, podSet, n)
}
func (b *countsAny) Fits() bool {
	return b.fleet.Fits() || b.said > 0
}

// The checker finds each broken room, and nothing in the fleet.
func TestBrokenRoomsAreFound(t *testing.T) {
	st := preemption.State{Admitted: []workload.Workload{elastic("e", "a", 3, 0, now), elastic("f", "a", 3, 1, now)}}
	for name, c := range map[string]struct {
		room func(*fleet) preemption.ReplicaRoom
		want bool
	}{
		"lawful":          {func(f *fleet) preemption.ReplicaRoom { return f }, false},
		"adds up":         {func(f *fleet) preemption.ReplicaRoom { return addsUp{f} }, true},
		"forgets numbers": {func(f *fleet) preemption.ReplicaRoom { return forgetsNumbers{f} }, true},
		"fewer is more":   {func(f *fleet) preemption.ReplicaRoom { return fewerIsMore{f} }, true},
		"counts any":      {func(f *fleet) preemption.ReplicaRoom { return &countsAny{f, 0} }, true},
	} {
		once := rapid.Custom(func(t *rapid.T) (failed bool) {
			defer func() { failed = recover() != nil }()
			asks := rapid.Int64Range(1, 6).Draw(t, "asks")
			preemptiontest.CheckReplicaRoom(t, func() preemption.ReplicaRoom { return c.room(fleetOf(st, asks, 2, 2, 2)) }, st.Admitted)
			return false
		})
		found := 0
		for seed := range 300 {
			if once.Example(seed) {
				found++
			}
		}
		if found > 0 != c.want {
			t.Errorf("%s: found %d times of 300", name, found)
		}
	}
}

// Drawn fleets keep the laws, too.
func TestFleetIsARoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := elasticState(t, preemptiontest.States().Draw(t, "state"))
		f := drawFleet(t, st)
		preemptiontest.CheckReplicaRoom(t, func() preemption.ReplicaRoom { return f.after(st) }, st.Admitted)
	})
}

// "Quota and room together take as few replicas as either needs": with a room that frees replicas the
// decision is the witness's, has nothing that can be spared, is the same whatever the order of the input,
// leaves the room as it was, and asked again while the replicas leave it takes no more.
func replicasFreeRoom(t *rapid.T, config preemption.Config) {
	record := preemptiontest.Records().Draw(t, "record")
	st, r := elasticState(t, record.State), *record.Request
	room := drawFleet(t, st)
	r.Room = room
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	if len(room.away) > 0 || room.anyRemoved() {
		t.Fatalf("%v leaves %v and %v removed", d.Outcome, room.away, room.removed)
	}
	agrees(t, config, st, r, d)
	verified(t, st, r, config, d)
	other := st
	other.Admitted = rapid.Permutation(st.Admitted).Draw(t, "admitted")
	noDiff(t, "in another order", d, decideWith(t, config, snapshotOf(t, other), r), sameDecision)
	if d.Outcome != preemption.Preempt {
		return
	}
	noneIsEnough(t, config, st, r, d)
	s = edit(t, s, d.Edits()...)
	told := s.State()
	r.Room = room.after(told)
	again := decideWith(t, config, s, r)
	if !leavingAlone(again) || len(again.Edits()) > 0 {
		t.Fatalf("%v, asked again %v %v", d.Victims, again.Outcome, again.Victims)
	}
	s = edit(t, s, s.Removals()...)
	r.Room = room.without(told)
	if d := decideWith(t, config, s, r); d.Outcome != preemption.Fits {
		t.Fatalf("without them %v", d.Outcome)
	}
}

// elasticState makes most pod sets of a state elastic. Of some, replicas are leaving.
func elasticState(t *rapid.T, st preemption.State) preemption.State {
	st = cloneState(st)
	for i := range st.Admitted {
		w := &st.Admitted[i]
		for n := range w.PodSets {
			p := &w.PodSets[n]
			if p.Totals || p.Count == 0 || rapid.IntRange(0, 3).Draw(t, "rigid") == 0 {
				continue
			}
			p.MinCount = workload.AtLeast(rapid.Int64Range(0, p.Count).Draw(t, "min count"))
			p.Terminating = max(0, rapid.Int64Range(-2, min(2, p.Count)).Draw(t, "leaving"))
		}
	}
	return st
}

// In every search and with every configuration Verify has nothing against a decision about a room that frees
// replicas, the room is left as it was, and asked again while its victims leave it takes no more.
func everySearchFreesReplicas(t *rapid.T) {
	config, st, r := drawSearched(t, preemptiontest.Records())
	searched := rapid.SampledFrom(searches).Draw(t, "search")
	config.Search, config.Best = searched.Search, searched.Best
	st = elasticState(t, st)
	config.Cost = drawCost(t, &st)
	room := drawFleet(t, st)
	r.Room = room
	s := snapshotOf(t, st)
	d := decideWith(t, config, s, r)
	if len(room.away) > 0 || room.anyRemoved() {
		t.Fatalf("%v leaves %v and %v removed", d.Outcome, room.away, room.removed)
	}
	verified(t, st, r, config, d)
	if d.Outcome != preemption.Preempt {
		return
	}
	s = edit(t, s, d.Edits()...)
	r.Room = room.after(s.State())
	if again := decideWith(t, config, s, r); !leavingAlone(again) || len(again.Edits()) > 0 {
		t.Fatalf("%+v, asked again %v %+v", d.Victims, again.Outcome, again.Victims)
	}
}

func TestEverySearchFreesReplicas(t *testing.T) { rapid.Check(t, everySearchFreesReplicas) }
