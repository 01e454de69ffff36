package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/workload"
)

// played is a forecast of sessions of KAI.
type played struct {
	*forecast
	c    *cluster
	of   *session.Session
	pods map[string]int // of steps without victims in this session, by group: they are one line

	ownSearch bool // KAI's own
}

// mostMoving is how many groups KAI moves for one, by default.
const mostMoving = 17

// sessions plays sessions of KAI until nothing changes, or so many, or until the decisions have looked at the most workloads; zero is no
// limit.
func (c *cluster) sessions(o *options, most int, screen cli.Screen) (*forecast, error) {
	p := &played{forecast: &forecast{now: c.Now, said: map[string]string{}}, c: c}
	waits, err := p.sort()
	if err != nil {
		return nil, err
	}
	start := c.atStart(waits)
	if p.ownSearch = o.search != ""; p.ownSearch {
		start.KAISearch, start.MostMoving = true, mostMoving
	}
	if p.of, err = session.New(start); err != nil {
		return nil, answers.Faults(err)
	}
	progress := screen.Start("sessions", int64(o.cycles))
	defer progress.Done()
	for !p.ends && p.cycles < o.cycles {
		if p.cut = most > 0 && p.of.Looked() >= most; p.cut {
			break
		}
		progress.Add(1)
		if err := p.run(); err != nil {
			return nil, answers.Faults(err)
		}
	}
	p.searched = p.of.Cut()
	return p.forecast, nil
}

// sort says of all that waits what is held or unknown, and returns the rest.
func (p *played) sort() (map[string]bool, error) {
	waits := map[string]bool{}
	p.queues = map[string]string{}
	list := p.c.Waiting(nil)
	p.c.Line(list)
	on := rooms.New(&p.c.Cluster, p.c.nodes)
	for i := range list {
		w := &list[i]
		p.queues[w.Workload.ID] = w.Workload.Queue
		switch v := w.Verdict(nil); v.Outcome {
		case "":
			waits[strings.TrimSuffix(w.Workload.ID, kai.More)] = true
		case answers.Held:
			p.held = append(p.held, w.Workload.ID)
		default:
			if err := on.Place(w); err != nil {
				return nil, answers.Faults(err)
			}
			s, err := p.c.Shorten(w)
			if err != nil {
				return nil, err
			}
			if s.Outcome == answers.Unknown {
				p.unknown = append(p.unknown, w.Workload.ID)
			} else { // a no stands, whatever is in doubt
				p.steps = append(p.steps, step{Cycle: 1, At: p.now, Workload: w.Workload.ID, Queue: w.Workload.Queue, Outcome: cycle.Inadmissible, Words: "stays: " + strings.TrimPrefix(s.Words, "no: ")})
			}
		}
	}
	return waits, nil
}

// atStart is the cluster in which only these groups wait.
func (c *cluster) atStart(waits map[string]bool) session.Cluster {
	out := session.Cluster{Config: c.Config, State: c.State, Nodes: c.Found.Nodes, Flavor: kai.Flavor, Now: c.Now}
	is := map[string]bool{}
	for _, g := range c.Found.Groups {
		is[g.Workload.ID] = true
		if !waits[g.Workload.ID] {
			g.Pods = slices.DeleteFunc(slices.Clone(g.Pods), func(p workload.Pod) bool { return p.Node == "" })
		}
		if len(g.Pods) > 0 {
			out.Groups = append(out.Groups, g)
		}
	}
	out.State.Admitted = slices.DeleteFunc(slices.Clone(out.State.Admitted), func(w workload.Workload) bool { return is[w.ID] })
	out.Nodes.Pods = slices.DeleteFunc(slices.Clone(out.Nodes.Pods), func(p workload.Pod) bool { return is[p.Group] })
	return out
}

// run plays a session, and says of those that were not served why.
func (p *played) run() error {
	p.cycles++
	p.pods = map[string]int{}
	before := len(p.steps)
	served := map[string]bool{}
	for _, action := range session.Actions {
		err := p.of.Run(action, func(s *session.Step) {
			served[s.Group] = true
			p.serve(s)
		})
		if err != nil {
			return err
		}
	}
	p.ends = len(served) == 0
	for i := range p.steps[before:] {
		if s := &p.steps[before+i]; len(s.Victims) == 0 {
			s.Words = plural(p.pods[s.Workload], "1 pod", "%d pods") + s.Words
		}
	}
	after := p.c.Cluster
	after.Snapshot, after.Now = p.of.Snapshot(), p.now
	later, err := p.of.Rest(func(group string, r preemption.Request, d preemption.Decision) {
		if served[group] {
			return
		}
		s := step{Outcome: cycle.Inadmissible, Workload: r.Workload.ID, Queue: r.Workload.Queue, RetryAt: d.RetryAt}
		switch why, _ := answers.WhyNot(&d, &r); {
		case d.Outcome == preemption.Wait:
			s.Outcome, s.Words = cycle.Wait, "waits "+duration.HumanDuration(d.RetryAt.Sub(p.now))+": no workload may yield before"
		case d.Outcome.Possible() && p.ownSearch && p.ends:
			s.Words = "stays: KAI's search finds no victims for it"
		case d.Outcome.Possible():
			s.Outcome, s.Words = cycle.Wait, "waits: it "+preemptionWords(&d)
		default:
			s.Words = "stays: " + after.Words(cmp.Or(after.OverShare(&d, &r), why))
		}
		p.say(s, s.Words)
	})
	waits := p.ends && !later.IsZero()
	if p.ends = p.ends && !waits; err != nil || p.ends {
		return err
	}
	if err = p.of.End(); waits {
		p.now = later
		p.of.Wait(later)
	}
	return err
}

// preemptionWords says what may become of a group later.
func preemptionWords(d *preemption.Decision) string {
	if answers.Awaits(d) {
		return "fits once what is leaving is gone"
	}
	return "is served in a later session"
}

// serve says that a group is served.
func (p *played) serve(s *session.Step) {
	w := &s.Request.Workload
	said := step{Workload: w.ID, Queue: w.Queue, Outcome: cycle.Admit, Words: " started"}
	switch victims := s.Decision.Victims; {
	case len(victims) > 0:
		said.Outcome, said.Victims, said.Leaving = cycle.Preempt, answers.VictimNames(victims), answers.LeavingNames(victims)
		said.Words = s.Action + "s " + pods(victims)
		if said.VictimPods = s.Gone; s.Action == "reclaim" {
			said.Words = "reclaims from " + pods(victims)
		}
		if moved := movedWords(s, "moves", "move"); moved != "" {
			said.Words += "; " + moved
		}
	default:
		switch moved := movedWords(s, "has moved", "have moved"); {
		case moved != "":
			said.Words = " to start once " + moved
		case s.Action != "allocate":
			said.Words = " to start once victims have left"
		}
		if p.pods[w.ID] += len(s.Pods); p.pods[w.ID] > len(s.Pods) {
			return
		}
	}
	p.say(said, fmt.Sprint(p.cycles, said.Words))
}

// movedWords says which pods move for a group; empty: none.
func movedWords(s *session.Step, one, several string) string {
	var to []string
	for _, p := range s.Moves() {
		to = append(to, p.Pod+" to "+p.To)
	}
	if len(to) == 0 {
		return ""
	}
	return plural(len(to), "1 pod "+one+": ", "%d pods "+several+": ") + some(to)
}

// pods names victims, with how many pods of those that stay in part.
func pods(victims []preemption.Victim) string {
	var names []string
	for _, v := range victims {
		name := v.Workload
		if len(v.Replicas) > 0 {
			name += " (" + plural(int(v.Replicas[0].Count), "1 pod", "%d pods") + ")"
		}
		names = append(names, name)
	}
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%d: %s", len(names), some(names))
}

// say adds a step, if that was not said last.
func (p *played) say(s step, words string) {
	if p.said[s.Workload] != words {
		s.Cycle, s.At = p.cycles, p.now
		p.steps = append(p.steps, s)
	}
	p.said[s.Workload] = words
}
