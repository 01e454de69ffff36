package gate_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
)

// Lives of a workload in two to six clusters: clusters that are lost and come back, reports that are late, clocks that are minutes
// off, evictions, and managers that are replaced between any two steps, by one with another clock.

func TestLives(t *testing.T)       { rapid.Check(t, lives) }
func TestPromptLives(t *testing.T) { rapid.Check(t, promptLives) }

// life is a workload, its copies, and their manager.
type life struct {
	config gate.Config
	now    time.Time
	off    time.Duration // the clock of the manager
	sites  []place
	prompt bool
	asked  gate.Action
}

// place is a copy in a cluster.
type place struct {
	off  time.Duration // its clock
	lost bool
	real gate.Replica
	seen *gate.Replica // as the manager saw it last; nil: not since it was started
	// opened is when the manager opened the gate, by the clock that it had then, as far as it can know; zero: the gate is closed.
	opened time.Time
	told   time.Time // when its victims were told to stop
}

const worst = 4 * time.Minute // how far a clock is off

func drawLife(t *rapid.T, prompt bool) *life {
	l := &life{config: configs(t), now: noon, prompt: prompt}
	for i := range rapid.IntRange(2, 6).Draw(t, "clusters") {
		s := place{off: offset(t)}
		s.real = gate.Replica{Name: fmt.Sprint("w", i), Gates: gate.Gates{Names: []string{gate.MultiKueue}}.Synced(l.now.Add(s.off)), Offer: gate.Offer{Victims: i % 3}}
		l.sites = append(l.sites, s)
	}
	l.readAll()
	return l
}

func offset(t *rapid.T) time.Duration {
	return time.Duration(rapid.SampledFrom([]int{0, 0, -1, 1, -int(worst / time.Second), int(worst / time.Second)}).Draw(t, "off")) * time.Second
}

func (l *life) timeout() time.Duration  { return cmp.Or(l.config.Timeout, timeout) }
func (l *life) patience() time.Duration { return cmp.Or(l.config.PreemptingTimeout, l.timeout()) }

// clock is the time of the manager.
func (l *life) clock() time.Time { return l.now.Add(l.off) }

// read lets the manager see a copy as it is.
func (l *life) read(i int) {
	s := &l.sites[i]
	if s.lost {
		return
	}
	seen := s.real
	seen.Gates = seen.Gates.Clone()
	s.seen = &seen
	s.opened, _ = seen.Gates.OpenSince(gate.MultiKueue)
}

func (l *life) readAll() {
	for i := range l.sites {
		l.read(i)
	}
}

// restart puts another manager in the place of this one. It knows what it reads.
func (l *life) restart(t *rapid.T) {
	l.asked = gate.Action{}
	if !l.prompt {
		l.off = offset(t)
	}
	for i := range l.sites {
		if l.sites[i].seen = nil; l.sites[i].lost {
			l.sites[i].opened = time.Time{} // nobody knows of it
		}
	}
	l.readAll()
}

// replicas are those that the manager knows of. Of one that it lost it knows what it saw last.
func (l *life) replicas() (list []gate.Replica) {
	for i := range l.sites {
		if s := &l.sites[i]; s.seen != nil {
			r := *s.seen
			r.Lost = s.lost
			list = append(list, r)
		}
	}
	return list
}

// happens lets something happen to a copy in its cluster.
func (l *life) happens(t *rapid.T, i int) {
	s, r := &l.sites[i], &l.sites[i].real
	at, since := l.now.Add(s.off), r.Since
	opened, open := r.Gates.OpenSince(gate.MultiKueue)
	reserved := slices.ContainsFunc(l.sites, func(s place) bool { return s.real.Progress == gate.Reserved })
	switch what := rapid.SampledFrom([]string{"looks", "signals", "signals", "preempts", "preempts", "left", "reserves", "evicted", "missed"}).Draw(t, "what"); {
	case what == "looks" && r.Progress < gate.Reserved:
		r.Progress, r.Gates = gate.Pending, r.Gates.Cleared(at)
	case what == "signals" && r.Progress < gate.Reserved && !open:
		r.Progress, r.Gates = gate.Pending, r.Gates.Signalled(at)
	case what == "preempts" && r.Progress < gate.Reserved && open:
		if l.prompt && (reserved || !opened.Add(l.timeout()).After(l.now)) {
			return // within its turn, or not at all
		}
		r.Progress, s.told = gate.Preempting, l.now
		if since = at; l.prompt {
			since = l.now
		}
		r.Gates = r.Gates.Cleared(at)
	case what == "left" && r.Progress == gate.Preempting:
		r.Progress = gate.Pending
	case what == "reserves" && (r.Progress == gate.Preempting || r.Progress == gate.Pending) && !reserved:
		r.Progress, r.Gates = gate.Reserved, r.Gates.Cleared(at)
	case what == "evicted" && r.Progress != gate.NotEvaluated:
		r.Progress, r.Gates, r.Evicted = gate.NotEvaluated, r.Gates.Evicted(at), at
	case what == "missed" && r.Progress < gate.Reserved: // the workload had to stop elsewhere, and this copy still signals
		r.Evicted = at
	}
	r.Since = since
}

// ask asks the orchestrator, holds the answer to what must be, and does it, unless the manager is replaced before.
func (l *life) ask(t *rapid.T) {
	list := l.replicas()
	act := orchestrate(t, l.config, l.clock(), list...)
	if again := orchestrate(t, l.config, l.clock(), list...); !reflect.DeepEqual(act, again) {
		t.Fatalf("asked twice: %+v, %+v", act, again)
	}
	if l.asked = act; !act.WakeAt.IsZero() && !act.WakeAt.After(l.clock()) {
		t.Fatalf("woken at %v, now is %v", act.WakeAt, l.clock())
	}
	if act.Open == "" {
		return
	}
	i := slices.IndexFunc(l.sites, func(s place) bool { return s.real.Name == act.Open })
	l.holds(t, i)
	s := &l.sites[i]
	if !l.prompt && rapid.IntRange(0, 4).Draw(t, "replaced") == 0 {
		l.restart(t)
		return
	}
	if !reflect.DeepEqual(s.seen.Gates, s.real.Gates) {
		return // the write is refused: the copy has changed since it was seen
	}
	s.real.Gates = s.real.Gates.Opened(gate.MultiKueue, l.clock())
	s.seen.Gates, s.opened = s.real.Gates.Clone(), l.clock()
}

// holds holds an opening to the design.
func (l *life) holds(t *rapid.T, i int) {
	s, now := &l.sites[i], l.clock()
	if _, open := s.seen.Gates.OpenSince(gate.MultiKueue); s.lost || open || !s.seen.Gates.Blocked.Signals() || s.seen.Gates.Blocked.Since.Before(s.seen.Evicted) {
		t.Fatalf("w%d is opened in vain: lost %v, %+v", i, s.lost, s.seen)
	}
	var latest, signal time.Time
	for j := range l.sites {
		o := &l.sites[j]
		if !o.opened.IsZero() && now.Before(o.opened.Add(l.timeout())) {
			t.Fatalf("w%d is opened at %v, w%d had its turn from %v", i, now, j, o.opened)
		}
		if o.opened.After(latest) {
			latest = o.opened
		}
		if o.seen == nil || o.lost {
			continue
		}
		if o.seen.Progress == gate.Reserved && (l.config.Order != gate.Preference || j < i) {
			t.Fatalf("w%d is opened, and w%d has its quota", i, j)
		}
		if _, open := o.seen.Gates.OpenSince(gate.MultiKueue); !open && o.seen.Progress < gate.Reserved && o.seen.Gates.Blocked.Signals() && !o.seen.Gates.Blocked.Since.Before(o.seen.Evicted) && (signal.IsZero() || o.seen.Gates.Blocked.Since.Before(signal)) {
			signal = o.seen.Gates.Blocked.Since
		}
	}
	end := signal.Add(l.patience())
	if !latest.IsZero() {
		end = latest.Add(l.timeout() + l.patience())
	}
	for j := range l.sites {
		if o := l.sites[j].seen; j != i && o != nil && !l.sites[j].lost && o.Progress == gate.Preempting && now.Before(o.Since.Add(l.patience())) && now.Before(end) {
			t.Fatalf("w%d is opened at %v, and victims leave for w%d since %v", i, now, j, o.Since)
		}
	}
}

// step lets one thing happen.
func (l *life) step(t *rapid.T) {
	i := rapid.IntRange(0, len(l.sites)-1).Draw(t, "cluster")
	switch what := rapid.SampledFrom([]string{"time", "time", "happens", "happens", "happens", "happens", "read", "read", "read", "ask", "ask", "ask", "lost", "back", "restart"}).Draw(t, "step"); {
	case what == "time":
		l.pass(time.Duration(rapid.SampledFrom([]int{1, 10, 30, 60, 120, 300}).Draw(t, "seconds")) * time.Second)
	case what == "happens":
		l.happens(t, i)
	case what == "read":
		l.read(i)
	case what == "ask":
		l.ask(t)
	case l.prompt:
	case what == "lost":
		l.sites[i].lost = true
	case what == "back":
		l.sites[i].lost = false
		l.read(i)
	case what == "restart":
		l.restart(t)
	}
}

// pass lets time pass: if all is prompt, no longer than until the manager is to be asked, or victims have to have left.
func (l *life) pass(d time.Duration) {
	until := l.now.Add(d)
	if l.prompt {
		for i := range l.sites {
			if s := &l.sites[i]; s.real.Progress == gate.Preempting && s.told.Add(l.patience()-time.Second).Before(until) {
				until = s.told.Add(l.patience() - time.Second)
				s.real.Progress = gate.Pending
			}
		}
	}
	l.now = until
}

// lives: whatever happens, no gate opens within the turn of another one that the manager may know of, none in vain, none while it is
// seen that victims leave, or that a copy has its quota; and when all comes to rest, everybody who signals has a turn within the
// bound, though the manager is replaced meanwhile.
func lives(t *rapid.T) {
	l := drawLife(t, false)
	for range rapid.IntRange(0, 80).Draw(t, "steps") {
		l.step(t)
	}
	var waits []int
	for i := range l.sites { // the rest: all are reached, nobody has quota, and who signals or preempts goes on
		s := &l.sites[i]
		if s.lost = false; s.real.Progress == gate.Reserved {
			s.real.Progress, s.real.Gates = gate.NotEvaluated, s.real.Gates.Evicted(l.now.Add(s.off))
			s.real.Evicted = l.now.Add(s.off)
		}
		if l.config.Order == gate.Preference && s.real.Progress == gate.NotEvaluated {
			s.real.Progress = gate.Pending
		}
		if _, open := s.real.Gates.OpenSince(gate.MultiKueue); !open && s.real.Gates.Blocked.Signals() && !s.real.Gates.Blocked.Since.Before(s.real.Evicted) {
			waits = append(waits, i)
		}
	}
	l.restart(t)
	bound := l.now.Add(time.Duration(len(waits))*(l.timeout()+l.patience()) + l.config.Grace + 3*worst)
	for len(waits) > 0 {
		for i := range l.sites { // who preempts does so again and again
			if s := &l.sites[i]; s.real.Progress == gate.Preempting {
				s.real.Since = l.now.Add(s.off)
				l.read(i)
			}
		}
		l.ask(t)
		waits = slices.DeleteFunc(waits, func(i int) bool { _, open := l.sites[i].real.Gates.OpenSince(gate.MultiKueue); return open })
		switch {
		case len(waits) == 0:
		case l.asked == gate.Action{}: // it was replaced, and looks again
		case l.asked.WakeAt.IsZero() && l.asked.Open == "":
			t.Fatalf("w%d signals, and the manager waits for nothing: %+v", waits[0], l.replicas())
		case l.asked.WakeAt.After(l.clock()):
			l.now = l.now.Add(l.asked.WakeAt.Sub(l.clock()))
		}
		if l.now.After(bound) {
			t.Fatalf("w%d signals, and had no turn until %v", waits[0], l.now)
		}
	}
}

// promptLives: if everything is seen and done at once, every clock of a cluster being off all the same, a replica preempts within
// its turn or not at all, and victims leave in time, one replica preempts at a time.
func promptLives(t *rapid.T) {
	l := drawLife(t, true)
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		l.step(t)
		l.readAll()
		for {
			if l.ask(t); l.asked.Open == "" {
				break
			}
		}
		var preempt []string
		for i := range l.sites {
			if l.sites[i].real.Progress == gate.Preempting {
				preempt = append(preempt, l.sites[i].real.Name)
			}
		}
		if len(preempt) > 1 {
			t.Fatalf("%q preempt at once", preempt)
		}
	}
}
