package workers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// Asked is what is asked of a fleet. The zero value asks about all workloads that it sent out and that do not run.
type Asked struct {
	Workload string        // alone; empty: all
	Timeout  time.Duration // how long each worker may try; zero: Kueue's
	Until    time.Duration // how far to play on; zero: not at all
	Leave    time.Duration // how long victims take to leave
	Design   *Design       // nil: as Kueue 0.19 does
	// Cost is what victims lose, for the comparison of workers; nil: their number, and how long they have run.
	Cost preemption.Cost
}

// Answers are the answers of a fleet.
type Answers struct {
	Now       time.Time `json:"now"`
	Workloads []Answer  `json:"workloads"`
	Notes     []string  `json:"notes"`
}

// NotSentError says that a workload is not among those that a manager sent out.
type NotSentError struct {
	Workload string
	Why      string
	Sent     []string // the others
}

func (e *NotSentError) Error() string { return e.Why }

// Answers answers.
func (f *Fleet) Answers(a Asked) (Answers, error) {
	out := Answers{Now: f.Now, Workloads: []Answer{}, Notes: slices.Clone(f.Notes)}
	ids := f.sentOut()
	if len(f.manager.Checks)+len(f.manager.Unreached)+len(f.manager.Workers)+len(ids) == 0 {
		const why = "what was read as the manager has no AdmissionCheck of MultiKueue and no workers: it may be another cluster"
		if a.Workload != "" {
			return out, &NotSentError{Workload: a.Workload, Why: why}
		}
		out.Notes = append(out.Notes, why)
	}
	if a.Workload != "" {
		if _, known := f.manager.Copies[a.Workload]; !known {
			return out, f.notSent(a.Workload, ids)
		}
		ids = []string{a.Workload}
	}
	for _, id := range ids {
		q, err := f.question(id, &a)
		if err != nil {
			return out, err
		}
		out.Workloads = append(out.Workloads, q.Answer())
	}
	return out, nil
}

// sentOut are the workloads of the manager that have a check of MultiKueue and do not run: by queue, and then in its order.
func (f *Fleet) sentOut() (ids []string) {
	for id, c := range f.manager.Copies {
		check, _ := f.checkOf(&c)
		state := ""
		for _, s := range c.Checks {
			if s.Name == check {
				state = s.State
			}
		}
		if check != "" && !c.Finished.Is() && state != "Ready" {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y string) int {
		a, b := f.manager.Copies[x], f.manager.Copies[y]
		return cmp.Or(strings.Compare(a.Queue, b.Queue), cmp.Compare(b.Priority, a.Priority), a.Queued.Compare(b.Queued), strings.Compare(x, y))
	})
	return ids
}

// notSent says why a workload cannot be asked about.
func (f *Fleet) notSent(id string, sent []string) error {
	e := &NotSentError{Workload: id}
	switch why := f.manager.Unread["Workload "+id]; {
	case why != "":
		e.Why = fmt.Sprintf("workload %q of the manager cannot be read: %s", id, why)
	case slices.ContainsFunc(f.Hub.Found.Pending, func(p bridge.Pending) bool { return p.Workload.ID == id }):
		e.Why = fmt.Sprintf("workload %s waits in the manager, which has not sent it out: ask whatif -f MANAGER -workload %s", id, id)
	default:
		e.Why, e.Sent = fmt.Sprintf("workload %q is not among those that the manager sent out", id), sent
	}
	return e
}

// question asks about a workload.
func (f *Fleet) question(id string, a *Asked) (Question, error) {
	q := Question{Manager: f.manager.Copies[id], Now: f.Now, Timeout: a.Timeout, Unread: f.mixed[""], Ahead: a.Until, Leave: a.Leave, Design: a.Design}
	var sure bool
	if q.Check, sure = f.checkOf(&q.Manager); !sure {
		q.Doubts = append(q.Doubts, fmt.Sprintf("the AdmissionCheck %s is not in the manager's objects: it is taken for one of MultiKueue", q.Check))
	}
	names := f.workersOf(&q)
	for _, name := range names {
		w, err := f.worker(name, id, a.Cost)
		if err != nil {
			return q, err
		}
		q.Workers = append(q.Workers, w)
	}
	return q, nil
}

// worker is what is known of a worker about a workload.
func (f *Fleet) worker(name, id string, cost preemption.Cost) (Worker, error) {
	w := Worker{Name: name, Unread: f.mixed[name]}
	why, has := f.manager.Unreached[name]
	w.Lost = why
	if w.LostUnknown = !has && len(f.manager.Unreached) == 0; !has && !w.LostUnknown {
		w.Lost = "the manager has no MultiKueueCluster of that name"
	}
	m := f.members[name]
	switch {
	case w.Unread != "":
		return w, nil
	case m == nil:
		w.Unread = "nothing was read of worker " + name
		return w, nil
	}
	if why := f.copies[name].Unread["Workload "+id]; why != "" {
		w.Unread = fmt.Sprintf("the copy in %s cannot be read: %s", name, why)
		return w, nil
	}
	found, is := f.copies[name].Copies[id]
	if !is {
		return w, nil
	}
	if _, err := gate.Orchestrate(gate.Config{}, f.Now, []gate.Replica{found.Replica(name)}); err != nil {
		w.Unread = fmt.Sprintf("the copy in %s cannot be read: %v", name, err)
		return w, nil
	}
	w.Copy = &found
	waits, is := f.waiting[name][id]
	if !is {
		return w, nil
	}
	s, err := m.Cluster.Shorten(&waits)
	if err != nil {
		return w, fmt.Errorf("worker %s: %w", name, err)
	}
	w.Short, w.Offer, w.Cluster, w.Waiting = s, offer(m.Cluster, s.Victims, cost), m.Cluster, &waits
	for _, v := range s.Leaving {
		if at, known := m.Cluster.Found.LeavingSince[v]; known && (w.Told.IsZero() || at.Before(w.Told)) {
			w.Told = at
		}
	}
	return w, nil
}

// offer is what victims lose: how long they have run, and by a cost, if there is one.
func offer(c *answers.Cluster, victims []string, cost preemption.Cost) gate.Offer {
	o := gate.Offer{Victims: len(victims)}
	if cost != nil {
		o.Lost = quota.Some[int64](0)
	}
	for _, id := range victims {
		v, runs := c.Snapshot.Find(id)
		if runs && !v.ReservedAt.IsZero() && v.ReservedAt.Before(c.Now) {
			o.LostWork += c.Now.Sub(v.ReservedAt)
		}
		if runs && cost != nil {
			o.Lost = quota.Some(quota.Add(o.Lost.Or(0), cost.Lost(v, "", c.Now)))
		}
	}
	return o
}
