package gate_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/gate"
)

// Laws about a workload over time, each also a fuzz target.

func TestOneOpeningATimeout(t *testing.T)   { rapid.Check(t, oneOpeningATimeout) }
func TestEventsChangeNothing(t *testing.T)  { rapid.Check(t, eventsChangeNothing) }
func TestEachSignalHasItsTurn(t *testing.T) { rapid.Check(t, eachSignalHasItsTurn) }

// story is a workload that stays pending: when each replica signals, and how often it
// preempts once its gate is open.
type story struct {
	config  gate.Config
	signals []int // the minute; -1: never
	again   []int // minutes from one preemption to the next, by replica; 0: none
	other   int   // the same for a replica without the gate
}

func drawStory(t *rapid.T) story {
	return story{config: configs(t), signals: rapid.SliceOfN(rapid.IntRange(-1, 12), 1, 4).Draw(t, "signals")}
}

// every returns when the last of the preemptions every n minutes was, at a minute after the
// first; ok is false if there is none.
func every(n, minute int) (last int, ok bool) { return minute - minute%max(n, 1), n > 0 }

type opening struct {
	name string
	at   int
}

const days = 240 // minutes that a story runs

// tell runs the story minute by minute. An event is handled at the minutes for which
// hears holds, a wake-up always; both as often as asks says.
func (s story) tell(t *rapid.T, hears func(minute int) bool, asks func(minute int) int) []opening {
	replicas := make([]gate.Replica, len(s.signals))
	for i := range replicas {
		replicas[i] = gate.Replica{Name: fmt.Sprintf("w%d", i), Gates: gate.Gates{Names: []string{gate.MultiKueue}}, Progress: gate.Pending}
		replicas[i].Offer.Victims = (i + 1) % 3
	}
	if s.other > 0 {
		replicas = append(replicas, gate.Replica{})
	}
	var openings []opening
	var wake time.Time
	for m := range days {
		event := false
		for i := range s.again {
			if at, open := replicas[i].Gates.OpenSince(gate.MultiKueue); open {
				opened := int(at.Sub(noon) / time.Minute)
				if last, preempts := every(s.again[i], m-opened); preempts {
					replicas[i].Progress, replicas[i].Since = gate.Preempting, minute(opened+last)
				}
			}
		}
		if last, preempts := every(s.other, m); preempts {
			replicas[len(s.signals)] = gate.Replica{Name: "other", Progress: gate.Preempting, Since: minute(last)}
		}
		for i, at := range s.signals {
			if at == m {
				replicas[i].Gates = replicas[i].Gates.Signalled(minute(m))
				event = true
			}
		}
		if !(event && hears(m)) && wake.After(minute(m)) || wake.IsZero() && !hears(m) {
			continue
		}
		for range asks(m) {
			act := orchestrate(t, s.config, minute(m), replicas...)
			if wake = act.WakeAt; !wake.IsZero() && !wake.After(minute(m)) {
				t.Fatalf("at %v: woken at %v, in the past", minute(m), wake)
			}
			if act.Open != "" {
				i := slices.IndexFunc(replicas, func(r gate.Replica) bool { return r.Name == act.Open })
				replicas[i] = opened(replicas[i], minute(m))
				openings = append(openings, opening{act.Open, m})
			}
		}
	}
	return openings
}

func (s story) hold(t *rapid.T, what string, openings []opening) {
	limit := cmp.Or(s.config.Timeout, timeout)
	for i := 1; i < len(openings); i++ {
		if apart := time.Duration(openings[i].at-openings[i-1].at) * time.Minute; apart < limit {
			t.Fatalf("%s: openings %v: %v apart", what, openings, apart)
		}
	}
	for i, at := range s.signals {
		times := 0
		for _, o := range openings {
			if o.name == fmt.Sprintf("w%d", i) {
				times++
			}
		}
		if at >= 0 && times != 1 || at < 0 && times != 0 {
			t.Fatalf("%s: w%d, which signalled at %d, was opened %d times: %v", what, i, at, times, openings)
		}
	}
}

// Never two openings within the timeout; never starves: while the workload is pending,
// every replica that signals is opened, once.
func oneOpeningATimeout(t *rapid.T) {
	s := drawStory(t)
	s.hold(t, "heard all", s.tell(t, func(int) bool { return true }, func(int) int { return 1 }))
}

// Events that are heard twice, or that nothing happened at, change nothing. Of lost ones
// the next resync or wake-up makes up for: no two openings within the timeout, each once.
func eventsChangeNothing(t *rapid.T) {
	s := drawStory(t)
	always, once := func(int) bool { return true }, func(int) int { return 1 }
	plain := s.tell(t, always, once)
	twice := rapid.IntRange(2, 3).Draw(t, "times")
	if got := s.tell(t, always, func(int) int { return twice }); !slices.Equal(got, plain) {
		t.Fatalf("events heard %d times: %v, else %v", twice, got, plain)
	}
	lost := rapid.SliceOfN(rapid.Bool(), days, days).Draw(t, "lost")
	resync := rapid.IntRange(1, 10).Draw(t, "resync")
	s.hold(t, "events lost", s.tell(t, func(m int) bool { return !lost[m] || m%resync == 0 }, once))
}

// KEP-8303, Proposal: "a timeout mechanism will ensure that the gate is eventually removed for
// other replica workloads so that another worker gets a chance to preempt". Each replica that
// signals has its turn, however often the others preempt: an opening is at most Timeout +
// PreemptingTimeout after the one before, the first at most PreemptingTimeout or Grace after
// the first signal.
func eachSignalHasItsTurn(t *rapid.T) {
	s := drawStory(t)
	s.again = rapid.SliceOfN(rapid.IntRange(0, 12), len(s.signals), len(s.signals)).Draw(t, "preempts every")
	s.other = rapid.IntRange(0, 12).Draw(t, "one without the gate every")
	always, once := func(int) bool { return true }, func(int) int { return 1 }
	openings := s.tell(t, always, once)
	s.hold(t, "heard all", openings)
	limit := cmp.Or(s.config.Timeout, timeout)
	patience := cmp.Or(s.config.PreemptingTimeout, limit)
	for i, o := range openings {
		first := minute(days)
		for j, at := range s.signals {
			name := fmt.Sprintf("w%d", j)
			if turn := slices.IndexFunc(openings, func(o opening) bool { return o.name == name }); turn >= i && minute(at).Before(first) {
				first = minute(at)
			}
		}
		latest := first.Add(max(patience, s.config.Grace))
		if i > 0 {
			latest = slices.MaxFunc([]time.Time{first, first.Add(s.config.Grace), minute(openings[i-1].at).Add(limit + patience)}, time.Time.Compare)
		}
		if minute(o.at).After(latest) {
			t.Fatalf("%s is opened at %v, later than %v: %v", o.name, minute(o.at), latest, openings)
		}
	}
}
