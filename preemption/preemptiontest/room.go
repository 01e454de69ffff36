package preemptiontest

import (
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
)

// CheckRoom checks the laws of [preemption.Room] on a room. make must return an equal room
// each time, with nobody removed. CheckRoom makes calls that change nothing, uses unknown
// names, and checks that removing more workloads never makes the room smaller. ids are IDs of
// workloads in the room. Call it from a property, as [CheckGuard].
func CheckRoom(t *rapid.T, make func() preemption.Room, ids []string) {
	names := append([]string{"nobody"}, ids...)
	room := make()
	away := map[string]bool{}
	fits := room.Fits()
	for range rapid.IntRange(0, 20).Draw(t, "steps") {
		name := rapid.SampledFrom(names).Draw(t, "name")
		take := rapid.Bool().Draw(t, "take")
		if take {
			room.Remove(name)
		} else {
			room.Restore(name)
		}
		now := room.Fits()
		switch changed := take != away[name] && name != "nobody"; {
		case !changed && now != fits:
			t.Fatalf("taking %v %q, which changes nothing, turns %v into %v", take, name, fits, now)
		case take && fits && !now:
			t.Fatalf("there was room; with %q away too there is none", name)
		}
		away[name] = take
		fits = now
	}
	if !fits {
		return
	}
	other := make()
	for _, name := range names {
		if away[name] {
			other.Remove(name)
		}
	}
	if !other.Fits() {
		for _, name := range names { // the exception: placing is not exact
			other.Remove(name)
		}
		if !other.Fits() {
			t.Fatalf("a room with the same away, and one with all, have none")
		}
	}
}
