package preemptiontest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// CheckRoom checks the laws of [preemption.Room] on a room. make must return an equal room
// each time, with no workload removed. CheckRoom makes calls that change nothing, uses unknown
// names, and checks that removing more workloads never makes the room smaller. ids are IDs of
// workloads in the room. Call it from a property, as [CheckGuard].
func CheckRoom(t *rapid.T, make func() preemption.Room, ids []string) {
	names := append([]string{"nobody"}, ids...)
	checkRoom(t, make, func(c *roomCheck) {
		c.remove(rapid.SampledFrom(names).Draw(t, "name"), rapid.Bool().Draw(t, "take"))
	})
}

// CheckReplicaRoom checks the laws of [preemption.ReplicaRoom] on a room, those of [preemption.Room]
// among them. make must return an equal room each time, with nothing removed. workloads are those in the
// room.
func CheckReplicaRoom(t *rapid.T, make func() preemption.ReplicaRoom, workloads []workload.Workload) {
	workloads = append([]workload.Workload{{ID: "nobody", PodSets: []workload.PodSet{{Name: "main", Count: 1}}}}, workloads...)
	checkRoom(t, func() preemption.Room { return make() }, func(c *roomCheck) {
		w := rapid.SampledFrom(workloads).Draw(t, "workload")
		if len(w.PodSets) == 0 || rapid.IntRange(0, 2).Draw(t, "whole") == 0 {
			c.remove(w.ID, rapid.Bool().Draw(t, "take"))
			return
		}
		set := rapid.SampledFrom(append([]workload.PodSet{{Name: "no pod set"}}, w.PodSets...)).Draw(t, "pod set")
		count := rapid.Int64Range(0, min(set.Count, math.MaxInt64-1)+1).Draw(t, "replicas")
		if rapid.IntRange(0, 9).Draw(t, "all") == 0 {
			count = math.MaxInt64
		}
		c.setRemoved(replicasOf{w.ID, set.Name}, count)
	})
}

// replicasOf names a pod set of a workload.
type replicasOf struct{ workload, podSet string }

// roomCheck is a room and what it was told.
type roomCheck struct {
	t       *rapid.T
	room    preemption.Room
	fits    bool
	away    map[string]bool
	removed map[replicasOf]int64
}

func checkRoom(t *rapid.T, make func() preemption.Room, step func(*roomCheck)) {
	c := &roomCheck{t, make(), false, map[string]bool{}, map[replicasOf]int64{}}
	c.fits = c.room.Fits()
	for range rapid.IntRange(0, 20).Draw(t, "steps") {
		step(c)
	}
	if !c.fits {
		return
	}
	other := make()
	for name, away := range c.away {
		if away {
			other.Remove(name)
		}
	}
	for of, count := range c.removed {
		other.(preemption.ReplicaRoom).SetRemoved(of.workload, of.podSet, count)
	}
	if other.Fits() {
		return
	}
	for name := range c.away { // the exception: placing is not exact
		other.Remove(name)
	}
	for of := range c.removed {
		other.Remove(of.workload)
	}
	if !other.Fits() {
		t.Fatalf("a room with the same away, and one with all, have none")
	}
}

// remove removes a workload, or restores it.
func (c *roomCheck) remove(name string, take bool) {
	if take {
		c.room.Remove(name)
	} else {
		c.room.Restore(name)
	}
	unchanged := take == c.away[name] || name == "nobody"
	c.away[name] = take
	c.answers(unchanged, take, "taking %v %q", take, name)
}

// setRemoved says how many replicas are removed.
func (c *roomCheck) setRemoved(of replicasOf, count int64) {
	c.room.(preemption.ReplicaRoom).SetRemoved(of.workload, of.podSet, count)
	before := c.removed[of]
	c.removed[of] = count
	unchanged := count == before || c.away[of.workload] || of.workload == "nobody" || of.podSet == "no pod set"
	c.answers(unchanged, count > before, "%d replicas of %q of %q, after %d,", count, of.podSet, of.workload, before)
}

// answers checks the answer after a step.
func (c *roomCheck) answers(unchanged, more bool, format string, args ...any) {
	now := c.room.Fits()
	switch {
	case unchanged && now != c.fits:
		c.t.Fatalf(format+" which changes nothing, turns %v into %v", append(args, c.fits, now)...)
	case more && c.fits && !now:
		c.t.Fatalf(format+": there was room, with more away there is none", args...)
	}
	c.fits = now
}
