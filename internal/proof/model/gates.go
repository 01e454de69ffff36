package model

import "fmt"

// MaxReplicas limits the replicas of [Gates].
const MaxReplicas = 3

// Gates is the model of gates and their manager: a workload has one replica in each cluster, and the manager
// sees the replicas late. The source is docs/designs/gates.md; each rule quotes it.
type Gates struct {
	Replicas int
	// Timeout, Patience and Grace are in ticks: the Timeout, PreemptingTimeout and Grace of gate.Config.
	Timeout, Patience, Grace int
	// InTransit lets reports be under way for a time, so that they cross what the manager does.
	InTransit bool
	// Prompt is what the design hopes of its surroundings: each report arrives, and the manager acts, within the
	// tick; a replica preempts within its turn or not at all, and its victims leave within Patience. Without it
	// everything may be late.
	Prompt bool
	// AnyOrder opens any of the replicas that wait, not that of the first signal: gate.Cheapest, whatever the offers are.
	AnyOrder bool
	// Evictions lets a workload be evicted while it waits, too: it is deactivated, or stopped for another reason.
	Evictions bool
	// Losses lets the manager lose clusters, which may come back.
	Losses bool
	// Restarts lets the manager be started anew at any time. It reads the clusters that it reaches before it acts.
	Restarts bool
	// Batches lets the manager send the workload to some of the clusters first, and to the others later.
	Batches bool
	// Wrong are the rules that a mutant breaks.
	Wrong Wrong
}

// Wrong is a set of mutants of [Gates].
type Wrong uint16

const (
	OpensAll        Wrong = 1 << iota // opens the gates of all replicas that signal
	NoTimeout                         // opens the next gate at once
	NoPatience                        // does not wait for victims that leave
	EndlessPatience                   // waits for victims however often a replica preempts again
	NoWakeUp                          // is not asked again when time has passed
	OldReports                        // a report from before an opening hides the opening
	OpensQuiet                        // opens replicas that do not signal
	OpensAgain                        // an open gate is opened again
	KeepsOpen                         // an eviction leaves the gate open
	ForgetsLost                       // the opening of a lost replica does not count
	OpensLost                         // a lost replica is opened
	ActsUnread                        // the manager acts before it has read the clusters again
)

// Phase is how far a replica has come.
type Phase uint8

const (
	Absent     Phase = iota // the manager took it back, because another one has its quota
	Unseen                  // the scheduler has not looked at it
	Quiet                   // it waits, and preemption would not help, or its gate is open
	Signalled               // preemption would help, and only the gate prevents it
	Preempting              // its victims were told to leave, and have not left
	Reserved                // it has its quota
)

// Replica is a replica, or what is known of it.
type Replica struct {
	Phase Phase
	// Age is, for Signalled and Preempting, how long it has been so, at most that of the longest wait.
	Age uint16
	// Open is 0 for a closed gate, else 1 + the time since its opening, at most Timeout + Patience.
	Open uint16
}

// GatesState is a state of [Gates].
type GatesState struct {
	// Real are the replicas as they are, Seen as the manager last saw them.
	Real, Seen [MaxReplicas]Replica
	// Sent are reports under way; Under says that there is one, Old that it is from before the manager's last
	// look at the replica or its own last change of it.
	Sent       [MaxReplicas]Replica
	Under, Old [MaxReplicas]bool
	// Lost are clusters that the manager does not reach. Free are replicas whose opening a manager did not know that was started
	// meanwhile: until their gates are closed, the next one may be opened within their turns.
	Lost, Free [MaxReplicas]bool
	// Event says that the manager has seen something new. Wake is 0, or 1 + the time until it is asked again.
	Event bool
	Wake  uint16
}

// GatesAction is what a step of [Gates] does, to which replica.
type GatesAction struct {
	Kind GatesKind
	At   int
}

// GatesKind names the steps of [Gates].
type GatesKind uint8

const (
	Look     GatesKind = iota // the scheduler looks at the replica, and preemption would not help
	Signal                    // the scheduler looks at the replica, and only the gate keeps it from preempting
	Clear                     // the scheduler looks again, and takes the signal back
	Preempt                   // the scheduler tells victims of the replica to leave
	Leave                     // all victims of the replica have left
	Reserve                   // the replica gets its quota
	Evict                     // the replica loses its quota
	Send                      // a report leaves a cluster
	Arrive                    // a report arrives
	See                       // the manager sees the replica as it is
	Withdraw                  // the manager takes a replica back, because another one has its quota
	Dispatch                  // the manager sends a replica to its cluster, for the first time or again
	Lose                      // the manager loses a cluster
	Return                    // the manager reaches a cluster again, and reads it
	Ask                       // the manager is asked, because of an event or because it is time
	AskAgain                  // the manager is asked without need
	Tick                      // time passes
	Restart                   // another manager takes over, and reads the clusters that it reaches
)

var gatesKinds = [...]string{"Look", "Signal", "Clear", "Preempt", "Leave", "Reserve", "Evict", "Send", "Arrive", "See", "Withdraw", "Dispatch", "Lose", "Return", "Ask", "AskAgain", "Tick", "Restart"}

func (a GatesAction) String() string {
	if a.Kind >= Ask {
		return gatesKinds[a.Kind]
	}
	return fmt.Sprintf("%s(%d)", gatesKinds[a.Kind], a.At)
}

// fair: every signal is delivered, the manager acts, time passes. What schedulers and workloads do, they need never do.
func (a GatesAction) fair() int {
	switch a.Kind {
	case Arrive, See:
		return int(a.Kind-Arrive)*MaxReplicas + a.At
	case Withdraw, Dispatch:
		return 6 + int(a.Kind-Withdraw)*MaxReplicas + a.At
	case Ask, Tick:
		return 12 + int(a.Kind-Ask)
	}
	return -1
}

func (m Gates) oldest() uint16 { return uint16(max(m.Patience, m.Grace, m.Timeout)) }

// Start is the state in which the workload was just sent to all clusters.
func (m Gates) Start() (s GatesState) {
	for i := range m.Replicas {
		s.Real[i].Phase, s.Seen[i].Phase = Unseen, Unseen
	}
	return s
}

// starts are the states in which the workload was just sent to the first of the clusters.
func (m Gates) starts() []GatesState {
	list := []GatesState{m.Start()}
	if m.Batches {
		for n := 1; n < m.Replicas; n++ {
			s := m.Start()
			for i := n; i < m.Replicas; i++ {
				s.Real[i], s.Seen[i] = Replica{}, Replica{}
			}
			list = append(list, s)
		}
	}
	return list
}

// Next calls step for each step of a state.
func (m Gates) Next(s GatesState, step func(by GatesAction, to GatesState)) {
	m.next(s, func(by GatesAction, to GatesState) {
		for i := range m.Replicas {
			to.Free[i] = to.Free[i] && to.Real[i].Open > 0
		}
		step(by, to)
	})
}

func (m Gates) next(s GatesState, step func(by GatesAction, to GatesState)) {
	for i := range m.Replicas {
		m.scheduler(s, i, func(k GatesKind, r Replica) {
			to := s
			to.Real[i] = r
			step(GatesAction{k, i}, to)
		})
		m.reports(s, i, step)
		m.copies(s, i, step)
		m.reaches(s, i, step)
	}
	if m.Restarts {
		step(GatesAction{Kind: Restart}, m.restart(s))
	}
	if s.Event || s.Wake == 1 {
		m.ask(s, func(to GatesState) { step(GatesAction{Kind: Ask}, to) })
	} else {
		m.ask(s, func(to GatesState) { step(GatesAction{Kind: AskAgain}, to) })
	}
	if !m.Prompt || m.mayPass(s) {
		step(GatesAction{Kind: Tick}, m.tick(s))
	}
}

// scheduler is what the scheduler of a cluster does with the replica there.
func (m Gates) scheduler(s GatesState, i int, step func(GatesKind, Replica)) {
	r := s.Real[i]
	waits := r.Phase == Unseen || r.Phase == Quiet || r.Phase == Signalled
	if r.Phase == Unseen {
		step(Look, Replica{Quiet, 0, r.Open})
	}
	// "Where it would preempt, the outcome is Gated [...]: it raises a signal and waits."
	if (r.Phase == Unseen || r.Phase == Quiet) && r.Open == 0 {
		step(Signal, Replica{Signalled, 0, 0})
	}
	// "The signal says what is true now: it is taken back when the outcome is no longer Gated."
	if r.Phase == Signalled {
		step(Clear, Replica{Quiet, 0, r.Open})
	}
	if waits && r.Open > 0 && (!m.Prompt || int(r.Open)-1 < m.Timeout) {
		step(Preempt, Replica{Preempting, 0, r.Open})
	}
	if r.Phase == Preempting {
		step(Leave, Replica{Quiet, 0, r.Open})
	}
	if waits || r.Phase == Preempting {
		step(Reserve, Replica{Reserved, 0, r.Open})
	}
	// "An eviction closes the gates and forgets their openings"
	if r.Phase == Reserved || m.Evictions && r.Phase > Unseen {
		open := uint16(0)
		if m.Wrong&KeepsOpen != 0 {
			open = r.Open
		}
		step(Evict, Replica{Unseen, 0, open})
	}
}

// reports brings what happens in a cluster to the manager: at once, or under way for any time.
func (m Gates) reports(s GatesState, i int, step func(GatesAction, GatesState)) {
	see := func(k GatesKind, r Replica, to GatesState) {
		to.Event = to.Event || to.Seen[i] != r
		to.Seen[i] = r
		if to.Under[i] {
			to.Old[i] = true
		}
		step(GatesAction{k, i}, to)
	}
	if s.Lost[i] {
		return
	}
	if s.Seen[i] != s.Real[i] {
		see(See, s.Real[i], s)
	}
	if !m.InTransit {
		return
	}
	if !s.Under[i] && s.Seen[i] != s.Real[i] {
		to := s
		to.Sent[i], to.Under[i] = s.Real[i], true
		step(GatesAction{Send, i}, to)
	}
	if s.Under[i] {
		r, old, to := s.Sent[i], s.Old[i], s
		to.Sent[i], to.Under[i], to.Old[i] = Replica{}, false, false
		if old && m.Wrong&OldReports == 0 {
			step(GatesAction{Arrive, i}, to) // versions tell that it is old, and it is dropped
			return
		}
		see(Arrive, r, to)
	}
}

// copies: the workload runs in one cluster. "A replica that has its quota ends the matter."
func (m Gates) copies(s GatesState, i int, step func(GatesAction, GatesState)) {
	reserved := false
	for j := range m.Replicas {
		reserved = reserved || j != i && s.Seen[j].Phase == Reserved && !s.Lost[j]
	}
	if s.Lost[i] {
		return
	}
	to, change := s, Replica{}
	kind := Withdraw
	switch {
	case reserved && s.Seen[i].Phase != Absent && s.Seen[i].Phase != Reserved:
	case !reserved && s.Seen[i].Phase == Absent:
		kind, change.Phase = Dispatch, Unseen
	default:
		return
	}
	to.Real[i], to.Seen[i], to.Old[i] = change, change, s.Under[i]
	to.Event = true
	step(GatesAction{kind, i}, to)
}

// reaches: "Of a lost replica its opening counts, and nothing else." What is under way from it is gone, and when it is reached again it
// is read.
func (m Gates) reaches(s GatesState, i int, step func(GatesAction, GatesState)) {
	if !m.Losses {
		return
	}
	to := s
	to.Event, to.Sent[i], to.Under[i], to.Old[i] = true, Replica{}, false, false
	if to.Lost[i] = !s.Lost[i]; to.Lost[i] {
		step(GatesAction{Lose, i}, to)
		return
	}
	to.Seen[i] = to.Real[i]
	step(GatesAction{Return, i}, to)
}

// restart: "After a restart ask once every cluster was read or is known to be lost." Of a lost one nothing is known.
func (m Gates) restart(s GatesState) GatesState {
	s.Sent, s.Under, s.Old, s.Event, s.Wake = [MaxReplicas]Replica{}, [MaxReplicas]bool{}, [MaxReplicas]bool{}, true, 0
	for i := range m.Replicas {
		s.Seen[i] = s.Real[i]
		if m.Wrong&ActsUnread != 0 {
			s.Seen[i].Open = 0
		}
		if s.Lost[i] {
			s.Seen[i], s.Free[i] = Replica{}, s.Real[i].Open > 0
		}
	}
	return s
}

// Ticks returns the state after some ticks.
func (m Gates) Ticks(s GatesState, n int) GatesState {
	for range min(n, 1+2*int(m.oldest())+m.Timeout) {
		s = m.tick(s)
	}
	return s
}

// tick: a signal that is late ages, too, because what it says has a time.
func (m Gates) tick(s GatesState) GatesState {
	for i := range m.Replicas {
		for _, r := range []*Replica{&s.Real[i], &s.Seen[i], &s.Sent[i]} {
			if r.Phase == Signalled || r.Phase == Preempting {
				r.Age = min(r.Age+1, m.oldest())
			}
			if r.Open > 0 {
				r.Open = min(r.Open+1, uint16(1+m.Timeout+m.Patience))
			}
		}
	}
	if s.Wake > 1 {
		s.Wake--
	}
	return s
}

// mayPass: with Prompt, no tick passes before all has been seen and done, nor before victims leave in time.
func (m Gates) mayPass(s GatesState) bool {
	for i := range m.Replicas {
		if s.Seen[i] != s.Real[i] || s.Under[i] || s.Real[i].Phase == Preempting && int(s.Real[i].Age) >= m.Patience-1 {
			return false
		}
	}
	return !s.Event && s.Wake != 1
}
