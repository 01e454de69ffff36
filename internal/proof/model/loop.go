package model

import (
	"fmt"
	"strings"
)

// MaxQueues and MaxWorkloads limit [Loop].
const (
	MaxQueues    = 3
	MaxWorkloads = 12
)

// Loop is the model of admission over many cycles: queues of one cohort that share one resource, workloads that
// arrive once, and the steps of a cycle, from the comment of package cycle.
type Loop struct {
	Queues []LoopQueue
	// Workloads are in the order of their timestamps.
	Workloads []LoopWorkload
	// WithinNominal is the mode by the KEP: "there is no preemption with borrowing quota".
	WithinNominal bool
	// Wrong are the rules that a mutant breaks.
	Wrong LoopWrong
}

// LoopQueue is a queue: its nominal quota, whether it may preempt workloads of lower priority of its own, and
// whether it may reclaim from others. It borrows and lends without limit.
type LoopQueue struct {
	Nominal                 int
	Within, Reclaim, Strict bool
}

// LoopWorkload is a workload.
type LoopWorkload struct{ Queue, Size, Priority int }

// LoopWrong is a set of mutants of [Loop].
type LoopWrong uint16

const (
	TakesTwice         LoopWrong = 1 << iota // a victim serves two heads of a cycle
	TakesLeaving                             // a workload that leaves is a victim again
	DropsPromises                            // what a head is promised is given away again in the cycle
	ForgetsPromises                          // heads whose victims leave are heads like others in the next cycle
	ReclaimsWithin                           // queues that do not borrow give, too
	AdmitsEarly                              // a head is admitted before its victims have left
	LeavesAside                              // an inadmissible workload stays so
	NewerByReservation                       // equals yield in the own queue, also those queued first
)

// Status is what becomes of a workload.
type Status uint8

const (
	NotThere Status = iota // it has not arrived
	Waiting                // it is in the order of its queue
	Aside                  // it is inadmissible: out of the order, until room or candidates come
	Promised               // it waits for victims to leave
	Running                // it is admitted
	Leaving                // it was told to leave
	Done                   // it has finished
)

// LoopState is a state of [Loop]: the status of each workload.
type LoopState [MaxWorkloads]Status

// LoopAction is what a step of [Loop] does: to a workload, or, for Cycle, what the heads got, in the order in
// which they were served.
type LoopAction struct {
	Kind   LoopKind
	At     int
	Served [MaxQueues]Served
	Heads  int
}

// Served is a head that was served, and its victims.
type Served struct {
	Head    int
	Victims uint16 // a bit each
}

// LoopKind names the steps of [Loop].
type LoopKind uint8

const (
	Cycle  LoopKind = iota // the heads of all queues are served
	Left                   // a workload that was told to leave has left, and waits again
	Enter                  // a workload arrives
	Finish                 // a workload has done its work
)

var loopKinds = [...]string{"Cycle", "Left", "Enter", "Finish"}

func (a LoopAction) String() string {
	if a.Kind == Cycle {
		return loopKinds[a.Kind]
	}
	return fmt.Sprintf("%s(%d)", loopKinds[a.Kind], a.At)
}

// fair: cycles are run, and who was told to leave leaves. A workload need never arrive or finish.
func (a LoopAction) fair() int {
	switch a.Kind {
	case Cycle:
		return 0
	case Left:
		return 1 + a.At
	}
	return -1
}

// Next calls step for each step of a state.
func (m *Loop) Next(s LoopState, step func(by LoopAction, to LoopState)) {
	m.cycle(s, step)
	for i := range m.Workloads {
		to := s
		switch s[i] {
		case NotThere:
			to[i] = Waiting
			for j, other := range m.Workloads[:i] { // it is like one that is out of the order
				if s[j] == Aside && other == m.Workloads[i] {
					to[i] = Aside
				}
			}
			step(LoopAction{Kind: Enter, At: i}, to)
		case Leaving:
			to[i] = Waiting
			step(LoopAction{Kind: Left, At: i}, m.release(to))
			to[i] = Done
			step(LoopAction{Kind: Finish, At: i}, m.release(to))
		case Running:
			to[i] = Done
			step(LoopAction{Kind: Finish, At: i}, m.release(to))
		}
	}
}

// release: room in the tree brings back all who were out of the order.
func (m *Loop) release(s LoopState) LoopState {
	for i := range m.Workloads {
		if s[i] == Aside && m.Wrong&LeavesAside == 0 {
			s[i] = Waiting
		}
	}
	return s
}

// Show writes a state down.
func (m *Loop) Show(s LoopState) string {
	var b strings.Builder
	for i := range m.Workloads {
		if s[i] != NotThere && s[i] != Done {
			fmt.Fprintf(&b, "%d %s; ", i, [...]string{"", "waits", "is aside", "is promised", "runs", "leaves", ""}[s[i]])
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}
