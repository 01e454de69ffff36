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
