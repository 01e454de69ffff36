package model

import "testing"

// contest has two queues that may do all, and workloads that want the same room.
func contest(n int, withinNominal bool) *Loop {
	all := LoopQueue{Nominal: 2, Within: true, Reclaim: true}
	workloads := []LoopWorkload{{0, 2, 0}, {1, 1, 0}, {1, 2, 1}, {1, 1, 0}, {0, 1, 1}, {0, 2, 2}, {1, 3, 1}, {0, 1, 0}, {1, 1, 2}, {0, 1, 2}}
	return &Loop{Queues: []LoopQueue{all, all}, Workloads: workloads[:n], WithinNominal: withinNominal}
}

// mixed has three queues of which only one may do all; strict are they if they are to be.
func mixed(n int, strict bool) *Loop {
	queues := []LoopQueue{{2, true, true, strict}, {1, false, strict, strict}, {1, true, strict, false}}
	workloads := []LoopWorkload{{0, 2, 0}, {1, 1, 0}, {2, 2, 1}, {2, 1, 0}, {0, 1, 1}, {1, 2, 2}, {1, 2, 1}, {2, 1, 1}, {0, 1, 0}}
	return &Loop{Queues: queues, Workloads: workloads[:n]}
}

// crowd has three queues of which each may do all.
func crowd() *Loop {
	all := LoopQueue{Nominal: 1, Within: true, Reclaim: true}
	return &Loop{Queues: []LoopQueue{all, all, all}, Workloads: []LoopWorkload{{0, 3, 0}, {1, 1, 0}, {2, 1, 0}, {0, 1, 1}, {1, 1, 1}, {2, 2, 1}}}
}

// loopMutants are models with one rule broken, and what the checker says of them.
var loopMutants = map[LoopWrong]struct {
	name  string
	model *Loop
	want  string
}{
	TakesTwice:         {"a victim serves two", crowd(), "is a victim twice"},
	TakesLeaving:       {"what leaves is a victim", contest(6, true), "is a victim twice"},
	DropsPromises:      {"promises are dropped", contest(6, true), "more is promised than there is"},
	ForgetsPromises:    {"promises are forgotten", mixed(7, true), "waits for ever"},
	ReclaimsWithin:     {"reclaims within nominal", contest(6, true), "within its nominal quota"},
	AdmitsEarly:        {"admits early", contest(6, true), "more is admitted than there is"},
	LeavesAside:        {"inadmissible for ever", contest(6, true), "waits for ever"},
	NewerByReservation: {"newer by reservation", contest(6, true), "waits for ever"},
}

func TestMutantsOfTheLoopAreFound(t *testing.T) {
	for wrong, c := range loopMutants {
		c.model.Wrong = wrong
		_, err := c.model.System().Check(most)
		found(t, c.name, c.want, err)
	}
	if len(loopMutants) != 8 {
		t.Error("a mutant is not in the table")
	}
}

// No victim twice, none within nominal quota, what is promised stays promised, and each run comes to rest with nothing
// left that could be admitted.
func TestLoopHolds(t *testing.T) {
	models := []*Loop{crowd(), contest(7, true), contest(7, false), mixed(7, false), mixed(7, true)}
	if *full {
		models = append(models, contest(10, true), mixed(9, false), mixed(9, true))
	}
	for _, m := range models {
		r, err := m.System().Check(most)
		if err != nil {
			t.Errorf("%+v: %v", *m, err)
		}
		t.Logf("%+v: %+v", *m, r)
	}
}

// As built, a workload that borrows with the help of victims of its own queue is reclaimed by another queue, whose
// workload is reclaimed in turn: a circle, while nothing enters or finishes (docs/stability.md).
func TestAsBuiltGoesInCircles(t *testing.T) {
	_, err := contest(8, false).System().Check(most)
	found(t, "as built", "waits for ever", err)
}

// Under StrictFIFO a head without candidates stays the head, so what it reserves in each cycle bars, for as long as it
// waits, the head of another queue, for which there is room.
func TestStrictReservationsBar(t *testing.T) {
	m := &Loop{Queues: []LoopQueue{{Nominal: 2, Strict: true}, {Nominal: 2}}, Workloads: []LoopWorkload{{1, 3, 0}, {0, 2, 0}, {1, 1, 0}}}
	_, err := m.System().Check(most)
	found(t, "strict", "waits for ever", err)
	m.Queues[0].Strict = false
	if _, err := m.System().Check(most); err != nil {
		t.Error(err)
	}
}
