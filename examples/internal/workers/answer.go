package workers

import (
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
)

// Answer says what the manager does next.
func (q *Question) Answer() Answer {
	n, known := q.next()
	a := Answer{Workload: q.Manager.ID, Verdict: n.verdict, Victims: map[string][]string{}, Workers: []Row{}, Doubts: q.doubts()}
	for i := range q.Workers {
		w := &q.Workers[i]
		a.Victims[w.Name], a.Workers = w.victims(), append(a.Workers, w.row())
	}
	a.Cheapest = q.cheapest()
	if !known {
		a.Verdict, a.Sentence = Unknown, "What becomes of "+q.Manager.ID+" is unknown: "+q.whyUnknown()+"."
		return a
	}
	if n.cluster != "" {
		a.Cluster = &n.cluster
	}
	if !n.at.IsZero() {
		at := n.at.UTC()
		a.At = &at
	}
	a.Sentence, a.Design = q.sentence(&n), q.byDesign(&n)
	if !n.done && n.why == "" {
		for _, turn := range q.turns() {
			at := slices.IndexFunc(a.Workers, func(r Row) bool { return r.Worker == turn.Name })
			a.Workers[at].Opens = turn.At.UTC()
		}
	}
	if q.Ahead > 0 && !n.done && n.why == "" {
		f := q.Forward(q.Now.Add(q.Ahead), q.Leave)
		a.Forecast = &f
	}
	return a
}

// cheapest is the worker whose victims lose least.
func (q *Question) cheapest() string {
	var list []gate.Replica
	for i := range q.Workers {
		w := &q.Workers[i]
		if w.Unread != "" || w.Copy == nil || !w.yields() || w.Offer.Victims == 0 {
			continue
		}
		g := gate.Gates{Names: []string{gate.MultiKueue}}.Signalled(q.Now)
		list = append(list, gate.Replica{Name: w.Name, Gates: g, Progress: gate.Pending, Offer: w.Offer})
	}
	act, _ := gate.Orchestrate(gate.Config{Order: gate.Cheapest}, q.Now, list)
	return act.Open
}

// design is what the design does: which gate it opens now, and else when to ask again.
func (q *Question) design() (act gate.Action, known bool) {
	for i := range q.Workers {
		if w := &q.Workers[i]; w.Unread != "" && q.sent(w) || w.Copy != nil && w.Copy.GatesUnknown || w.LostUnknown {
			return act, false
		}
	}
	act, err := gate.Orchestrate(gate.Config{Timeout: q.Timeout}, q.Now, q.replicas(q.first()))
	return act, err == nil
}

// told is when the victims of a worker were told to stop.
func (w *Worker) told(now time.Time) time.Time {
	if w.Told.IsZero() {
		return now
	}
	return w.Told
}

// early reports whether a copy is of an earlier round: it is older than the quota that the manager has for the workload.
func (q *Question) early(w *Worker) bool {
	return w.Copy != nil && q.Manager.Reserved.Is() && w.Copy.Created.Before(q.Manager.Reserved.LastTransitionTime) && !q.behind(w)
}

// behind reports whether the clock of a worker is behind: its copy is older than the workload of which it is one.
func (q *Question) behind(w *Worker) bool { return w.Copy.Created.Before(q.Manager.Created) }

// byDesign says what the design does where Kueue does otherwise; empty: the same.
func (q *Question) byDesign(n *next) string {
	if n.done || n.why != "" || q.Design != nil {
		return ""
	}
	act, known := q.design()
	switch {
	case !known:
		return ""
	case act.Done && (n.open != "" || !n.at.IsZero()):
		return "it opens no gate while a copy has its quota"
	case act.Done, act.Open == n.open && (act.Open != "" || n.at.IsZero() || act.WakeAt.Equal(n.at)):
		return ""
	case act.Open != "":
		return "it opens the gate in " + act.Open + " now"
	case act.WakeAt.IsZero():
		return "it opens no gate, and waits for a signal"
	case n.open != "" || act.WakeAt.After(n.at):
		return "it opens no other gate before " + q.clock(act.WakeAt)
	}
	return ""
}

func (q *Question) timeout() time.Duration {
	if q.Timeout == 0 {
		return gate.DefaultTimeout
	}
	return q.Timeout
}
