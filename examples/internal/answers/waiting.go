package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// Standing is what is known of a workload that waits, whatever the time.
type Standing struct {
	Request      preemption.Request `json:"request"`               // Now is not read
	PreemptsFrom time.Time          `json:"preemptsFrom,omitzero"` // no workload may yield for it before
	BackoffUntil time.Time          `json:"backoffUntil,omitzero"` // it is not considered before
	HoldsQuota   bool               `json:"holdsQuota,omitempty"`  // it is in the state
	Held         string             `json:"held,omitempty"`        // why it is not considered at any time
	Unasked      string             `json:"unasked,omitempty"`     // why nothing can be decided about it
	Doubts       []string           `json:"doubts,omitempty"`      // what its answer depends on and is not known
	NoStands     bool               `json:"noStands,omitempty"`    // Doubts can only make a no of a yes: a no is one
	Notes        []string           `json:"notes,omitempty"`
	Refused      string             `json:"refused,omitempty"`    // why it is never admitted as things stand, whoever yields
	IfPreempts   string             `json:"ifPreempts,omitempty"` // why an answer that it preempts is unknown; empty: it is not
	HeldInLine   bool               `json:"heldInLine,omitempty"` // Held, it keeps its place in its queue
	Blocked      string             `json:"blocked,omitempty"`    // why it is not admitted now even if it fits; empty: it is
	Pods         []workload.Pod     `json:"pods,omitempty"`       // that need room on nodes together; empty: none do
	TooLarge     []TooLarge         `json:"tooLarge,omitempty"`   // for the nodes of flavors

	room   []string // of the doubts, those about room on nodes
	noRoom string   // why that cannot be asked about
}

// Standing returns what is known of a pending workload that came by a LocalQueue with these notes.
func (in *Input) Standing(p *bridge.Pending, local []bridge.Note, namespace string) Standing {
	w := p.Workload
	notes := slices.Concat(p.Notes, local, in.Found.NotesOn(w.Queue, namespace))
	if w.NeverPreempts {
		notes = append(notes, bridge.Note{Text: "the workload never preempts"})
	}
	doubts := bridge.Texts(in.doubts.On(w.ID, w.Queue))
	s := Standing{
		Request:      preemption.Request{Workload: w, MinCounts: p.MinCounts, Replaces: p.Replaces},
		PreemptsFrom: p.PreemptsFrom, BackoffUntil: p.BackoffUntil,
		Doubts: doubts, NoStands: len(doubts) > 0 && len(in.doubts.OnNo(w.ID, w.Queue)) == 0, Notes: bridge.Texts(notes),
		Refused: p.Refused, IfPreempts: p.IfPreempts, Blocked: in.Found.Blocked,
	}
	for _, n := range in.doubts.Accepted(w.ID, w.Queue) {
		s.Notes = append(s.Notes, assumed(n))
	}
	if n := slices.IndexFunc(notes, func(n bridge.Note) bool { return n.Stops }); n >= 0 {
		s.Held = notes[n].Text
		s.HeldInLine = !slices.ContainsFunc(notes, func(n bridge.Note) bool { return n.Stops && !n.InLine })
	}
	if w.Queue == "" {
		s.Unasked = p.Unresolved
	}
	in.Doubt(&s, in.Found.NamespaceDoubts(w.Queue, namespace))
	s.Pods = p.Pods
	s.room, s.noRoom = bridge.Texts(in.doubts.OnRoom(w.ID, w.Queue)), p.NoRoom
	in.tooLarge(&s)
	return s
}

// StandingChecked returns what is known of a workload that holds quota and waits for admission checks.
func StandingChecked(p *bridge.Pending) Standing {
	return Standing{Request: preemption.Request{Workload: p.Workload}, Held: p.Unresolved, Unasked: p.Unresolved, HoldsQuota: true}
}

// assumed is what an answer says of a doubt that the user accepted.
func assumed(n bridge.Note) string { return "assumed to make no difference: " + n.Text }

// Doubt adds doubts about a workload that is not among those of the input, or that is asked about in another
// queue. Those that are there already are not added, and those that the user accepted are notes.
func (in *Input) Doubt(s *Standing, list []bridge.Doubt) {
	for _, d := range list {
		if slices.Contains(s.Doubts, d.Text) {
			continue
		}
		if in.Found.Accepts(&d.Note) {
			if text := assumed(d.Note); !slices.Contains(s.Notes, text) {
				s.Notes = append(slices.Clip(s.Notes), text)
			}
			continue
		}
		s.NoStands = d.OnlyYes && (s.NoStands || len(s.Doubts) == 0)
		s.Doubts = append(slices.Clip(s.Doubts), d.Text)
		if d.Room {
			s.room = append(slices.Clip(s.room), d.Text)
		}
	}
}

// At returns the workload as it is asked about at a time.
func (s *Standing) At(now time.Time, hasQueue func(string) bool) Waiting {
	w := Waiting{Request: s.Request, Held: s.Held, Unasked: s.Unasked, Doubts: s.Doubts, NoStands: s.NoStands, Notes: slices.Clip(s.Notes), Room: s.room, NoRoom: s.noRoom, Pods: s.Pods,
		Refused: s.Refused, IfPreempts: s.IfPreempts, HeldInLine: s.HeldInLine, Blocked: s.Blocked, TooLarge: s.TooLarge}
	w.Request.Now = now
	if text := delayed(s.PreemptsFrom, now); text != "" {
		w.Request.Workload.NeverPreempts = true
		w.Notes = append(w.Notes, text)
	}
	if text := backsOff(s.BackoffUntil, now); text != "" {
		w.Notes = append(w.Notes, text)
		if w.Held == "" {
			w.Held, w.HeldUntil = text, s.BackoffUntil
		}
		w.HeldInLine = false
	}
	if q := w.Request.Workload.Queue; w.Unasked == "" && !hasQueue(q) {
		w.Unasked = fmt.Sprintf("queue %s is not in the input", q)
	}
	w.Workload = w.Request.Workload
	return w
}

// delayed says that a workload may not preempt yet. Empty: it may.
func delayed(from, now time.Time) string {
	if !now.Before(from) {
		return ""
	}
	return fmt.Sprintf("the workload may preempt from %s on, not yet (preemptionDelay)", from.UTC().Format(time.RFC3339))
}

// backsOff says that a workload is not considered yet. Empty: it is.
func backsOff(until, now time.Time) string {
	if !until.After(now) {
		return ""
	}
	return fmt.Sprintf("the workload backs off until %s (status.requeueState)", until.UTC().Format(time.RFC3339))
}

// Waiting is a workload that waits, at a time.
type Waiting struct {
	Workload  workload.Workload
	Request   preemption.Request
	Position  int       // in its queue, from 1; zero if it has none
	Held      string    // why it is not considered at all; empty: it is
	HeldUntil time.Time // if time alone ends that; else zero
	Unasked   string    // why nothing can be decided about it; empty: it can be asked about
	Doubts    []string  // what its answer depends on and is not known
	NoStands  bool      // Doubts can only make a no of a yes: a no is one
	Notes     []string
	Room      []string       // of Doubts, those about room on nodes
	Pods      []workload.Pod // that need room on nodes together; empty: quota alone decides
	NoRoom    string         // why room on nodes cannot be asked about; empty: it can

	Refused    string     // why it is never admitted as things stand, whoever yields; empty: it is decided about
	IfPreempts string     // why an answer that it preempts is unknown; empty: it is not
	HeldInLine bool       // Held, it keeps its place in its queue: in one of StrictFIFO others wait behind it
	Blocked    string     // why it is not admitted now even if it fits; empty: it is
	TooLarge   []TooLarge // for the nodes of flavors
	Behind     string     // who stands before it in a queue of StrictFIFO and waits; empty: nobody

	head *headDecision // nil: none was made yet
}

// Placed leaves out the doubts about room on nodes: a request with a room is in their place.
func (w *Waiting) Placed(r preemption.Request) {
	isRoom := func(text string) bool { return slices.Contains(w.Room, text) }
	w.Doubts, w.Notes = slices.DeleteFunc(slices.Clone(w.Doubts), isRoom), slices.DeleteFunc(slices.Clone(w.Notes), isRoom)
	w.Request, w.Workload, w.Room, w.TooLarge = r, r.Workload, nil, nil
}

// NotPlaced says why the doubts about room on nodes remain.
func (w *Waiting) NotPlaced(why string) {
	w.Doubts, w.Notes = slices.Clone(w.Doubts), slices.Clone(w.Notes)
	for _, list := range [][]string{w.Doubts, w.Notes} {
		for i := range list {
			if slices.Contains(w.Room, list[i]) {
				list[i] += " (" + why + ")"
			}
		}
	}
	for i := range w.Room {
		w.Room[i] += " (" + why + ")"
	}
}

// Waiting returns all workloads that wait: by queue, then in the order of the queue: higher
// effective priority, earlier queue-order timestamp, ID. The request is that of a Record, or
// nil.
func (c *Cluster) Waiting(recorded *preemption.Request) []Waiting {
	queues := map[string]bool{}
	for i := range c.State.Queues {
		queues[c.State.Queues[i].Name] = true
	}
	has := func(name string) bool { return queues[name] }
	var list []Waiting
	if recorded != nil {
		list = append(list, (&Standing{Request: *recorded}).At(recorded.Now, has))
	}
	for i := range c.Found.Pending {
		p := &c.Found.Pending[i]
		s := c.Standing(p, p.LocalNotes, Namespace(p.Workload.ID))
		list = append(list, s.At(c.Now, has))
	}
	for i := range c.Found.Checked {
		s := StandingChecked(&c.Found.Checked[i])
		list = append(list, s.At(c.Now, has))
	}
	return list
}

// Namespace returns the namespace of an ID; empty if it has none.
func Namespace(id string) string {
	namespace, _, inNamespace := strings.Cut(id, "/")
	if !inNamespace {
		return ""
	}
	return namespace
}

// CompareWaiting orders by queue and then as a queue does.
func CompareWaiting(a, b *workload.Workload) int {
	return cmp.Or(
		cmp.Compare(a.Queue, b.Queue),
		cmp.Compare(b.EffectivePriority(), a.EffectivePriority()),
		workload.CompareQueued(a.Queued, b.Queued),
		cmp.Compare(a.ID, b.ID))
}
