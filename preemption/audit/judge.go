package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Judge says whether an eviction was right. Config is that of the scheduler: its Search and MaxBlockers are not read, Cost
// says what a victim loses, and Best limits the search for [Finding.Instead], which does not know the sharing of KAI: that is an error.
//
// It costs as much as some decisions, one of them of the search Best; where the rules do not permit the victims, for each of them
// as much again as a snapshot.
func Judge(s *preemption.Snapshot, c preemption.Config, e Eviction) (Finding, error) {
	j := judge{before: s, config: c, request: e.Request}
	if err := j.enter(e.Victims); err != nil {
		return Finding{}, err
	}
	among, err := j.decide(s, among(e.Victims))
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Victims: j.victims}
	switch taken := mark(f.Victims, &among); {
	case among.Outcome == preemption.Fits, (among.Possible() || among.Leaving) && taken == 0:
		f.Verdict = Fitted
	case among.Outcome == preemption.Gated:
		f.Verdict = NotPermitted
	case among.Possible() && taken < len(f.Victims):
		f.Verdict = TooMany
	case among.Possible():
		f.Verdict = Right
	default:
		if f.Verdict, err = j.refused(f.Victims); err != nil {
			return Finding{}, err
		}
	}
	if f.Instead, err = j.decision(preemption.Best); err != nil {
		return Finding{}, err
	}
	if (f.Verdict == TooMany || f.Verdict == NotPermitted) && !e.Request.Workload.Gates.AnyClosed() {
		own, err := j.decision(preemption.Greedy)
		if err != nil {
			return Finding{}, err
		}
		if j.same(f.Victims, &own) || j.justified(f.Victims, &own) {
			f.Verdict = Right
		}
	}
	for _, v := range f.Victims {
		f.Lost = quota.Add(f.Lost, v.Lost)
	}
	if f.Verdict != NotEnough {
		f.Avoidable = max(0, f.Lost-j.lost(&f.Instead))
	}
	return f, nil
}

// judge is a judgement on its way.
type judge struct {
	before  *preemption.Snapshot
	config  preemption.Config
	request preemption.Request
	victims []Victim // by ID
}

// among is the guard that keeps all but some workloads. What was told to leave before leaves.
type among []string

func (a among) Verdict(running workload.Workload, _ preemption.Request) preemption.Verdict {
	if running.Evicted || slices.Contains(a, running.ID) {
		return preemption.MayYield()
	}
	return preemption.NeverYields()
}

// enter takes the victims in.
func (j *judge) enter(ids []string) error {
	var faults fault.List
	if len(ids) == 0 {
		faults.Add("victims", "there is none")
	}
	for i, id := range ids {
		w, runs := j.before.Find(id)
		path := fmt.Sprintf("victims[%d]", i)
		switch {
		case !runs:
			faults.Add(path, "%q does not run", id)
		case w.Evicted:
			faults.Add(path, "%q was told to leave before", id)
		case slices.Contains(ids[:i], id):
			faults.Add(path, "%q is there twice", id)
		}
		v := Victim{Workload: id, Lost: 1}
		if runs && j.config.Cost != nil {
			v.Lost = max(0, j.config.Cost.Lost(w, "", j.request.Now))
		}
		j.victims = append(j.victims, v)
	}
	slices.SortFunc(j.victims, func(a, b Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return faults.Err()
}

// decide asks for the victims of a guard. Where the documented search refuses, the search Best looks at every order of them.
func (j *judge) decide(s *preemption.Snapshot, guard preemption.Guard) (d preemption.Decision, err error) {
	c := j.config
	c.MaxRetrySteps = -1
	c.Guards = append(slices.Clip(c.Guards), guard)
	for _, c.Search = range []preemption.Search{preemption.Greedy, preemption.Best} {
		if c.Best = j.config.Best; c.Search == preemption.Greedy {
			c.Best = preemption.BestSearch{}
		}
		p, err := preemption.New(c)
		if err != nil {
			return d, err
		}
		if d, err = p.Decide(s, j.request); err != nil || d.Possible() || d.Leaving {
			return d, err
		}
	}
	return d, nil
}

// decision is that of a search on the cluster as it was, without a guard.
func (j *judge) decision(by preemption.Search) (preemption.Decision, error) {
	c := j.config
	if c.Search = by; by != preemption.Best {
		c.Best = preemption.BestSearch{}
	}
	p, err := preemption.New(c)
	if err != nil {
		return preemption.Decision{}, err
	}
	return p.Decide(j.before, j.request)
}

// same reports whether a decision has these victims, and notes by which rights.
func (j *judge) same(victims []Victim, d *preemption.Decision) bool {
	told := slices.DeleteFunc(slices.Clone(d.Victims), func(v preemption.Victim) bool { return v.Leaving })
	if !slices.EqualFunc(victims, told, func(v Victim, of preemption.Victim) bool { return v.Workload == of.Workload && len(of.Replicas) == 0 }) {
		return false
	}
	for i := range victims {
		victims[i].Reason, victims[i].CouldStay, victims[i].Kept = told[i].Reason, false, nil
	}
	return true
}

// lost is what a decision costs, by the measure of [Finding.Lost].
func (j *judge) lost(d *preemption.Decision) (n int64) {
	if j.config.Cost != nil {
		return d.Lost
	}
	for i := range d.Victims {
		if !d.Victims[i].Leaving {
			n++
		}
	}
	return n
}

// mark notes of each victim by which right a decision takes it, or that it could stay. It counts those that are taken.
func mark(victims []Victim, d *preemption.Decision) (taken int) {
	if !d.Possible() && !d.Leaving {
		return 0
	}
	for i := range victims {
		v := &victims[i]
		v.CouldStay = true
		for k := range d.Victims {
			if of := &d.Victims[k]; of.Workload == v.Workload && len(of.Replicas) == 0 {
				v.Reason, v.CouldStay = of.Reason, false
				taken++
			}
		}
	}
	return taken
}

// refused says why the victims are not permitted, of each with the others gone.
func (j *judge) refused(victims []Victim) (of Verdict, err error) {
	var all []preemption.Edit
	for w := range j.before.Workloads() {
		if w.Evicted || slices.ContainsFunc(victims, func(v Victim) bool { return v.Workload == w.ID }) {
			all = append(all, preemption.Remove(w.ID))
		}
	}
	without, err := j.before.With(all...)
	if err != nil {
		return of, err
	}
	if d, err := j.decide(without, among{}); err != nil || d.Outcome != preemption.Fits {
		return NotEnough, err
	}
	for i := range victims {
		v := &victims[i]
		s, err := j.alone(v.Workload)
		if err != nil {
			return of, err
		}
		d, err := j.decide(s, among{v.Workload})
		if err != nil {
			return of, err
		}
		one := victims[i : i+1]
		if d.Outcome == preemption.Fits {
			v.CouldStay = true
		} else if mark(one, &d) == 0 {
			j.blame(v, &d)
		}
	}
	return NotPermitted, nil
}

// justified reports whether the slow model accepts the victims, which looks at any order and any attempt. It differs from
// the engine where those that the guard keeps decide something: in classical sharing whether other queues have candidates, and
// so whether the request may borrow; in fair sharing whether others, that were put back, let a victim pass the strategies.
func (j *judge) justified(victims []Victim, own *preemption.Decision) bool {
	r := j.request
	r.Workload = own.Assignment.Pin(r.Workload)
	unassigned := slices.ContainsFunc(r.Workload.Usage(), func(a quota.Amount) bool { return a.Flavor == "" })
	if r.Workload.NeverPreempts || unassigned {
		return false
	}
	var list []preemption.Victim
	for _, v := range victims {
		w, _ := j.before.Find(v.Workload)
		list = append(list, preemption.Victim{Workload: v.Workload, Queue: w.Queue})
	}
	st := j.before.State()
	st.Admitted = slices.DeleteFunc(st.Admitted, func(w workload.Workload) bool { return w.Evicted })
	if !j.accepted(st, r, list) {
		return false
	}
	for i := range victims {
		victims[i].Reason, victims[i].CouldStay, victims[i].Kept = list[i].Reason, false, nil
	}
	return true
}

// rights are those by which victims yield, in the order in which accepted tries them. A workload that the strategies of fair sharing
// permit may yield to a reclaim, too.
var rights = []preemption.VictimReason{
	preemption.InClusterQueue, preemption.InClusterQueueTimeBased, preemption.InCohortFairSharing,
	preemption.InCohortReclamation, preemption.InCohortReclaimWhileBorrowing, preemption.ConfigurablePreemption,
}

// accepted asks the slow model about victims, and notes by which rights they yield.
func (j *judge) accepted(st preemption.State, r preemption.Request, list []preemption.Victim) bool {
	q := witness.Ask(j.config, st, r)
	defer q.Done()
	var faults preemption.Faults
	for i, by := range rights {
		for k := range list {
			if i == 0 || slices.ContainsFunc(faults, func(f preemption.Fault) bool { return f.Path == fmt.Sprintf("decision.victims[%d].reason", k) }) {
				list[k].Reason = by
			}
		}
		faults = slices.DeleteFunc(q.Victims(list, false), func(f preemption.Fault) bool {
			return strings.HasSuffix(f.Path, ".cohort") || strings.HasSuffix(f.Path, ".preemptorQueued") // an eviction says nothing of them
		})
		if !slices.ContainsFunc(faults, func(f preemption.Fault) bool { return strings.HasSuffix(f.Path, ".reason") }) {
			break
		}
	}
	return len(faults) == 0
}

// alone is the cluster in which the other victims, and what was leaving, are gone, and one runs. What everybody else uses is
// reserved: so a decision that refuses names what keeps this one.
func (j *judge) alone(id string) (*preemption.Snapshot, error) {
	st := j.before.State()
	queues := map[string]*queue.Queue{}
	for i := range st.Queues {
		queues[st.Queues[i].Name] = &st.Queues[i]
	}
	var only []workload.Workload
	for i := range st.Admitted {
		w := &st.Admitted[i]
		_, told := slices.BinarySearchFunc(j.victims, w.ID, func(v Victim, id string) int { return cmp.Compare(v.Workload, id) })
		switch {
		case w.ID == id, w.ID == j.request.Workload.ID, w.ID == j.request.Replaces:
			only = append(only, *w)
		case !told && !w.Evicted:
			for _, a := range w.Usage() {
				reserve(&queues[w.Queue].Reserved, a)
			}
		}
	}
	st.Admitted = only
	return preemption.NewSnapshot(st)
}

// reserve adds an amount to what is reserved.
func reserve(list *[]quota.Amount, a quota.Amount) {
	i := slices.IndexFunc(*list, func(of quota.Amount) bool { return of.FlavorResource() == a.FlavorResource() })
	if i < 0 {
		*list = append(*list, a)
		return
	}
	(*list)[i].Amount = quota.Add((*list)[i].Amount, a.Amount)
}

// blame notes the rule that keeps a victim.
func (j *judge) blame(v *Victim, d *preemption.Decision) {
	w, _ := j.before.Find(v.Workload)
	for _, b := range d.Blockers {
		if b.Workload == v.Workload || b.Workload == "" && (b.Queue == w.Queue || j.isUnder(w.Queue, b.Cohort)) {
			v.Kept = &b
			return
		}
	}
}

// isUnder reports whether a queue is in a cohort, or farther down.
func (j *judge) isUnder(name, cohort string) bool {
	q, _ := j.before.Queue(name)
	for at := q.Cohort; at != ""; {
		if at == cohort {
			return true
		}
		c, _ := j.before.Cohort(at)
		at = c.Parent
	}
	return false
}
