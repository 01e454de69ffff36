package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Settlement judges an answer of package settle from the state, the request and the configuration alone; see
// [Decision]. It returns nil, or [preemption.Faults] of everything that is wrong.
//
//   - Excess is what is over when what was told to leave is gone, and Remaining what is over when the victims are gone too.
//   - The victims of each step are permitted, in some order in which each may be taken when only those before it are gone,
//     and none of them can stay: judged by [Decision] of the request that stands for what they free of the column, with the victims of the
//     steps before in the history. Whether the surplus of a victim alone would do is not judged.
//   - No victim is in vain: if it stays, or one replica of it, more is over.
//   - Each column that remains over has a step, judged by [Decision]: the whole rest may not leave before the RetryAt of its decision,
//     and then it may. None of it may leave now, and RetryAt is the first instant at which some may.
//   - Outcome, Lost and the numbers of the victims are right; there are no more than [settle.Request.MaxVictims]. If those kept others,
//     what remains is judged only by its amount, and RetryAt is the time of the request.
//
// Blockers, Shortage and Proof are not judged.
func Settlement(st preemption.State, r settle.Request, c preemption.Config, a settle.Answer) error {
	if _, err := preemption.NewSnapshot(st); err != nil {
		return err
	}
	if _, err := preemption.New(c); err != nil {
		return err
	}
	j := settlementJudge{request: &r, config: c, answer: &a, history: r.History}
	j.judge(gone(st, leaving(st)))
	return j.faults.Err()
}

type settlementJudge struct {
	request *settle.Request
	config  preemption.Config
	answer  *settle.Answer
	history *limits.History // with the victims of the steps so far, if there are limits
	faults  fault.List
}

func (j *settlementJudge) judge(st preemption.State) {
	a := j.answer
	after := gone(st, a.Victims)
	if want := j.inScope(witness.Excess(st)); !slices.Equal(a.Excess, want) {
		j.faults.Add("answer.excess", "%v is over, not %v", want, a.Excess)
	}
	if want := j.inScope(witness.Excess(after)); !slices.Equal(a.Remaining, want) {
		j.faults.Add("answer.remaining", "%v remains, not %v", want, a.Remaining)
	}
	lost := int64(0)
	for i, v := range a.Victims {
		lost = quota.Add(lost, v.Lost)
		j.inVain(fmt.Sprintf("answer.victims[%d]", i), st, after, &v)
	}
	if lost != a.Lost {
		j.faults.Add("answer.lost", "is %d, but the victims lose %d", a.Lost, lost)
	}
	switch outcome := a.Outcome; {
	case (outcome == preemption.Fits) != (len(a.Excess) == 0), (outcome == preemption.Preempt) != (len(a.Victims) > 0),
		j.config.MaxRetrySteps >= 0 && (outcome == preemption.Wait) != (len(a.Excess) > 0 && len(a.Victims) == 0 && !a.RetryAt.IsZero()),
		len(a.Remaining) == 0 && !a.RetryAt.IsZero():
		j.faults.Add("answer.outcome", "is %v for %d victims, %v over, %v remaining, more at %v",
			outcome, len(a.Victims), a.Excess, a.Remaining, a.RetryAt)
	}
	if most := j.request.MaxVictims; most > 0 && len(a.Victims) > most {
		j.faults.Add("answer.victims", "are %d, at most %d are asked for", len(a.Victims), most)
	}
	j.numbers()
	rest := map[preemption.Excess]bool{} // that has a step
	var first time.Time
	for i := range a.Steps {
		step, path := &a.Steps[i], fmt.Sprintf("answer.steps[%d]", i)
		if step.Decision.Outcome == preemption.Preempt {
			st = j.took(path, st, step)
			continue
		}
		e := excessOf(step)
		rest[e] = true
		if at := j.remains(path+".decision", after, step); first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
	}
	if j.request.MaxVictims > 0 && a.RetryAt.Equal(j.request.Now) && len(a.Victims) == j.request.MaxVictims {
		return // some were kept
	}
	for _, e := range a.Remaining {
		if !rest[e] {
			j.faults.Add("answer.steps", "none is about %v, which remains", e)
		}
	}
	if j.config.MaxRetrySteps == 0 && len(j.faults) == 0 && !first.Equal(a.RetryAt) {
		j.faults.Add("answer.retryAt", "is %v, but some may leave at %v", a.RetryAt, first)
	}
}

func excessOf(s *settle.Step) preemption.Excess {
	return preemption.Excess{Queue: s.Queue, Cohort: s.Cohort, FlavorResource: s.Excess.FlavorResource(), Amount: s.Excess.Amount}
}

// numbers judges that the victims are those of the steps, in the order of choice.
func (j *settlementJudge) numbers() {
	a := j.answer
	orders, names := map[int]bool{}, map[string]bool{}
	for i := range a.Steps {
		for _, v := range a.Steps[i].Victims {
			names[v.Workload] = true
			if orders[v.Order] || v.Order < 1 {
				j.faults.Add(fmt.Sprintf("answer.steps[%d].victims", i), "%q has number %d, as another one or none", v.Workload, v.Order)
			}
			orders[v.Order] = true
		}
	}
	for i, v := range a.Victims {
		if !names[v.Workload] || !orders[v.Order] || i > 0 && a.Victims[i-1].Workload >= v.Workload {
			j.faults.Add(fmt.Sprintf("answer.victims[%d]", i), "%q with number %d is of no step, or not in order", v.Workload, v.Order)
		}
		delete(names, v.Workload)
	}
	if len(names) > 0 || len(orders) > 0 && !orders[1] {
		j.faults.Add("answer.victims", "without %d victims of its steps, or without number 1", len(names))
	}
}

// took judges a step that took victims, and returns the state without them.
func (j *settlementJudge) took(path string, st preemption.State, step *settle.Step) preemption.State {
	after := gone(st, step.Victims)
	had := j.over(st, step)
	if !step.Delayed.IsZero() {
		j.faults.Add(path+".victims", "yield before the delay ends, at %v", step.Delayed)
	}
	d := preemption.Decision{Outcome: preemption.Preempt, Victims: slices.Clone(step.Victims)}
	for i := range d.Victims {
		d.Lost = quota.Add(d.Lost, d.Victims[i].Lost)
		d.Victims[i].Order = 0
	}
	c := j.config // of several searches, it may be: each set that is allowed will do
	if c.Search == preemption.Best {
		c.Best = preemption.BestSearch{Steps: -1} // judges shares likewise, and asks for no proof
	}
	asked, r := j.question(st, step, had)
	for _, f := range j.found(asked, r, had-j.over(after, step), c, d) {
		if !strings.HasSuffix(f.Problem, "can stay without its surplus") {
			j.faults.Add(path+".victims: "+f.Path, "%s", f.Problem)
		}
	}
	if len(j.config.Limits) > 0 {
		for _, v := range step.Victims {
			j.history, _ = j.history.With(limits.Event{
				Preemptor: r.Workload.ID, Victim: v.Workload, At: j.request.Now,
				Class: limits.Class{PreemptingQueue: r.Workload.Queue, PreemptedQueue: v.Queue},
			})
		}
	}
	return after
}

// remains judges the decision of a step about what remains when all victims are gone. It returns the first instant at which some of it
// may leave.
func (j *settlementJudge) remains(path string, after preemption.State, step *settle.Step) (first time.Time) {
	d, has := step.Decision, j.over(after, step)
	if d.Outcome.Succeeds() || has != step.Excess.Amount || has == 0 || len(step.Victims) > 0 {
		j.faults.Add(path, "is %v about %d, but %d remains", d.Outcome, step.Excess.Amount, has)
	}
	if len(j.faults) > 0 {
		return first
	}
	asked, r := j.question(after, step, has)
	if !step.Delayed.IsZero() {
		r.Now = step.Delayed
	}
	if step.Delayed.IsZero() || !d.RetryAt.Equal(step.Delayed) { // then it may leave
		for _, f := range j.found(asked, r, has, j.config, d) {
			j.faults.Add(path+": "+f.Path, "%s", f.Problem)
		}
	}
	r.Workload.PodSets[0].Requests[0].Amount = 1
	if d := witness.Decide(j.config, asked, r); d.Outcome != preemption.Preempt {
		return d.RetryAt
	}
	if step.Delayed.IsZero() {
		j.faults.Add(path, "is %v, but some may leave now", d.Outcome)
	}
	return r.Now
}

// question returns the request that stands for an excess, and the state in which it is made.
func (j *settlementJudge) question(st preemption.State, step *settle.Step, excess int64) (preemption.State, preemption.Request) {
	a := step.Excess
	a.Amount = excess
	part, asks := witness.Settling(st, step.Queue, step.Cohort, a)
	return part, preemption.Request{
		Workload: workload.Workload{
			ID: "\x00", Queue: asks, Priority: math.MaxInt64, Queued: time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC),
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{a}}},
		},
		Now: j.request.Now, LocalQueueUsage: j.request.LocalQueueUsage, History: j.history,
	}
}

// found is what is wrong with a decision about an amount of an excess.
func (j *settlementJudge) found(
	st preemption.State, r preemption.Request, amount int64, c preemption.Config, d preemption.Decision,
) fault.List {
	r.Workload.PodSets = slices.Clone(r.Workload.PodSets)
	a := r.Workload.PodSets[0].Requests[0]
	a.Amount = amount
	r.Workload.PodSets[0].Requests = []quota.Amount{a}
	faults, _ := Decision(st, r, c, d).(fault.List)
	return faults
}

// over returns what is over of the column of a step.
func (j *settlementJudge) over(st preemption.State, step *settle.Step) int64 {
	want := excessOf(step)
	for _, e := range witness.Excess(st) {
		if want.Amount = e.Amount; e == want {
			return e.Amount
		}
	}
	return 0
}

// inVain judges that a victim, or one replica of it, cannot stay.
func (j *settlementJudge) inVain(path string, before, after preemption.State, v *preemption.Victim) {
	back := slices.DeleteFunc(slices.Clone(j.answer.Victims), func(o preemption.Victim) bool { return o.Workload == v.Workload })
	trials := [][]preemption.Victim{back}
	for i := range v.Replicas {
		less := *v
		less.Replicas = slices.Clone(v.Replicas)
		if less.Replicas[i].Count--; less.Replicas[i].Count == 0 {
			less.Replicas = slices.Delete(less.Replicas, i, i+1)
		}
		if len(less.Replicas) > 0 {
			trials = append(trials, append(slices.Clone(back), less))
		}
	}
	settles := func(e preemption.Excess) bool {
		return !slices.ContainsFunc(j.answer.Steps, func(s settle.Step) bool {
			return s.Node == settle.Node{Queue: e.Queue, Cohort: e.Cohort} && !s.Delayed.IsZero()
		})
	}
	over := j.inScope(witness.Excess(after))
	for _, victims := range trials {
		more := slices.ContainsFunc(j.inScope(witness.Excess(gone(before, victims))), func(e preemption.Excess) bool {
			i := slices.IndexFunc(over, func(o preemption.Excess) bool {
				return o.Queue == e.Queue && o.Cohort == e.Cohort && o.FlavorResource == e.FlavorResource
			})
			return (i < 0 || e.Amount > over[i].Amount) && (settles(e) || i < 0)
		})
		if !more {
			j.faults.Add(path, "%q yields in vain: %v", v.Workload, victims)
			return
		}
	}
}

func (j *settlementJudge) inScope(list []preemption.Excess) []preemption.Excess {
	return slices.DeleteFunc(list, func(e preemption.Excess) bool {
		return len(j.request.Nodes) > 0 && !slices.Contains(j.request.Nodes, settle.Node{Queue: e.Queue, Cohort: e.Cohort})
	})
}

// leaving returns what was told to leave, as victims.
func leaving(st preemption.State) (list []preemption.Victim) {
	for _, w := range st.Admitted {
		v := preemption.Victim{Workload: w.ID}
		for _, p := range w.PodSets {
			if p.Terminating > 0 {
				v.Replicas = append(v.Replicas, preemption.Replicas{PodSet: p.Name, Count: p.Terminating})
			}
		}
		switch {
		case w.Evicted:
			v.Replicas = nil
			list = append(list, v)
		case len(v.Replicas) > 0:
			list = append(list, v)
		}
	}
	return list
}

// gone returns the state without victims.
func gone(st preemption.State, victims []preemption.Victim) preemption.State {
	var admitted []workload.Workload
	for _, w := range st.Admitted {
		i := slices.IndexFunc(victims, func(v preemption.Victim) bool { return v.Workload == w.ID })
		if i >= 0 && len(victims[i].Replicas) == 0 {
			continue
		}
		if i >= 0 {
			w = w.Clone()
			for _, r := range victims[i].Replicas {
				for k := range w.PodSets {
					if p := &w.PodSets[k]; p.Name == r.PodSet {
						p.Count -= r.Count
						p.Terminating = max(0, p.Terminating-r.Count)
					}
				}
			}
		}
		admitted = append(admitted, w)
	}
	st.Admitted = admitted
	return st
}
