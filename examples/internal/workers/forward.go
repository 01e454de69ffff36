package workers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
)

// Forecast is how it goes on with a workload if nobody else comes and goes.
type Forecast struct {
	Until  time.Time `json:"until"`
	Events []Event   `json:"events"`
	// Starts is the first time at which a worker gives it quota; zero: not until then.
	Starts   time.Time `json:"starts,omitzero"`
	Worker   string    `json:"worker,omitempty"` // that worker
	Sentence string    `json:"sentence"`
}

// Event is something that happens in a forecast.
type Event struct {
	At        time.Time `json:"at"`
	Worker    string    `json:"worker"`
	What      string    `json:"what"`                // signals, gate opens, told to stop, left, has quota
	Workloads []string  `json:"workloads,omitempty"` // of those who are told to stop or left
}

// What happens in a forecast.
const (
	Signals   = "signals"
	GateOpens = "gate opens"
	Told      = "told to stop"
	Left      = "left"
	HasQuota  = "has quota"
)

// maxEvents is how many events a forecast has at most.
const maxEvents = 1000

// forward plays the manager and the workers.
type forward struct {
	*Question
	sites  []site
	now    time.Time
	events []Event
}

// site is a worker as it is played.
type site struct {
	*Worker
	gates    gate.Gates
	snapshot *preemption.Snapshot
	leaves   map[string]time.Time // when who was told to stop is gone
	plays    bool                 // the workload is decided about there
	retry    time.Time            // when time alone changes the decision; zero: it does not
	reserved bool
	awaits   bool      // victims of the workload are leaving
	told     time.Time // when the last of them was told to
}

// Forward plays on until a time, in which victims leave so long after they were told to stop. The answer must be known, and neither
// Running nor settled otherwise.
func (q *Question) Forward(until time.Time, leave time.Duration) Forecast {
	p := &forward{Question: q, now: q.Now}
	for i := range q.Workers {
		p.sites = append(p.sites, p.site(&q.Workers[i], leave))
	}
	out := Forecast{Until: until, Events: []Event{}}
	for len(p.events) < maxEvents {
		p.step(leave)
		next := p.next()
		if at := slices.IndexFunc(p.events, func(e Event) bool { return e.What == HasQuota }); at >= 0 {
			out.Starts, out.Worker = p.events[at].At, p.events[at].Worker
			break
		}
		if next.IsZero() || next.After(until) {
			break
		}
		p.now = next
	}
	out.Events = append(out.Events, p.events...)
	out.Sentence = p.sentence(&out, leave)
	return out
}

// site is the start of a worker.
func (p *forward) site(w *Worker, leave time.Duration) site {
	s := site{Worker: w, leaves: map[string]time.Time{}}
	if w.Copy == nil || w.Unread != "" {
		return s
	}
	s.gates, s.reserved, s.told = w.Copy.Gates.Clone(), w.Copy.Reserved.Is(), w.told(p.now)
	if w.inert() {
		s.gates = gate.Gates{}
	}
	if w.Cluster == nil || w.Short.Outcome == answers.Unknown || w.Short.Outcome == answers.Held || w.Copy.GatesUnknown && !w.Copy.Gates.Blocked.Since.IsZero() {
		return s
	}
	s.snapshot, s.plays = w.Cluster.Snapshot, true
	for i := range w.Cluster.State.Admitted {
		if v := &w.Cluster.State.Admitted[i]; v.Evicted {
			at := w.Cluster.Found.LeavingSince[v.ID].Add(leave)
			if at.Before(p.now) { // it takes longer than that
				at = p.now.Add(leave)
			}
			s.leaves[v.ID] = at
		}
	}
	return s
}

func (p *forward) say(s *site, what string, names ...string) {
	p.events = append(p.events, Event{p.now.UTC(), s.Name, what, names})
}

// step lets everything happen that happens now: who is due leaves, the workers decide, the manager opens a gate, and they decide again.
func (p *forward) step(leave time.Duration) {
	for i := range p.sites {
		p.leave(&p.sites[i])
		p.decide(&p.sites[i], leave)
	}
	if slices.ContainsFunc(p.events, func(e Event) bool { return e.What == HasQuota }) {
		return
	}
	for range p.sites {
		act := p.orchestrate()
		at := slices.IndexFunc(p.sites, func(s site) bool { return s.Name == act.Open })
		if at < 0 || !p.sites[at].gates.Has(gate.MultiKueue) {
			return
		}
		s := &p.sites[at]
		s.gates = s.gates.Opened(gate.MultiKueue, p.now)
		p.say(s, GateOpens)
		p.decide(s, leave)
	}
}

// leave removes who is gone.
func (p *forward) leave(s *site) {
	var gone []string
	for id, at := range s.leaves {
		if !at.After(p.now) {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		delete(s.leaves, id)
		if after, err := s.snapshot.With(preemption.Remove(id)); err == nil {
			s.snapshot = after
		}
	}
	if len(gone) > 0 {
		p.say(s, Left, gone...)
	}
}

// decide lets a worker decide about the copy.
func (p *forward) decide(s *site, leave time.Duration) {
	if s.retry = (time.Time{}); !s.plays || s.reserved {
		return
	}
	r := s.Waiting.Request
	r.Now, r.Workload.Gates = p.now, s.gates
	if !s.gates.Has(gate.MultiKueue) && !s.gates.AnyClosed() {
		r.Workload.Gates = gate.Gates{}
	}
	d, err := s.Cluster.Preemptor.Decide(s.snapshot, r)
	if err != nil {
		s.plays = false
		return
	}
	s.awaits = d.Outcome == preemption.Preempt || answers.Awaits(&d)
	switch d.Outcome {
	case preemption.Fits:
		s.reserved = true
		p.say(s, HasQuota)
	case preemption.Gated:
		if !s.gates.Blocked.Active {
			s.gates = s.gates.Signalled(p.now)
			p.say(s, Signals)
		}
	case preemption.Preempt:
		p.tell(s, &d, leave)
	case preemption.Wait:
		s.retry = d.RetryAt
	}
}

// tell tells victims to stop.
func (p *forward) tell(s *site, d *preemption.Decision, leave time.Duration) {
	var told []string
	for _, v := range d.Victims {
		if v.Leaving || len(v.Replicas) > 0 {
			continue
		}
		if after, err := s.snapshot.With(preemption.StartEviction(v.Workload)); err == nil {
			s.snapshot = after
			s.leaves[v.Workload] = p.now.Add(leave)
			told = append(told, v.Workload)
		}
	}
	if len(told) > 0 {
		s.told = p.now
		p.say(s, Told, told...)
	}
}

// orchestrate asks as the manager does.
func (p *forward) orchestrate() gate.Action {
	var list []gate.Replica
	for i := range p.sites {
		if s := &p.sites[i]; s.Copy != nil && s.Unread == "" {
			list = append(list, p.seen(s))
		}
	}
	p.prefer(list)
	act, _ := gate.Orchestrate(p.config(), p.now, list)
	return act
}

// seen is a copy as the manager sees it.
func (p *forward) seen(s *site) gate.Replica {
	r := p.replica(s.Worker, s.gates, false)
	r.Lost = s.Lost != ""
	switch {
	case s.reserved:
		r.Progress = gate.Reserved
	case s.awaits:
		r.Progress, r.Since = gate.Preempting, s.told
	case s.plays:
		r.Progress = gate.Pending
	}
	return r
}

// next is when something happens next; zero: never.
func (p *forward) next() (at time.Time) {
	earlier := func(t time.Time) {
		if t.After(p.now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	earlier(p.orchestrate().WakeAt)
	for i := range p.sites {
		earlier(p.sites[i].retry)
		for _, t := range p.sites[i].leaves {
			earlier(t)
		}
	}
	return at
}

// sentence says when it starts.
func (p *forward) sentence(f *Forecast, leave time.Duration) string {
	var parts []string
	for i := range p.sites {
		if s := &p.sites[i]; s.Copy != nil && !s.plays && !s.reserved {
			parts = append(parts, s.Name)
		}
	}
	beside := ""
	if len(parts) > 0 {
		beside = " (without " + strings.Join(parts, ", ") + ", where nothing is decided)"
	}
	if f.Starts.IsZero() {
		return fmt.Sprintf("If nobody else comes or ends, no worker gives it quota before %s%s.", p.clock(f.Until), beside)
	}
	if !f.Starts.After(p.Question.Now) {
		return fmt.Sprintf("It has its quota in %s in the next cycle there%s.", f.Worker, beside)
	}
	return fmt.Sprintf("If nobody else comes and victims leave within %s, it has its quota in %s at the latest at %s%s.", duration.HumanDuration(leave), f.Worker, p.clock(f.Starts), beside)
}
