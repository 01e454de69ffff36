package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Settlement judges an answer of package settle from the state, the request and the configuration alone; see
// [Decision]. It returns nil, or [preemption.Faults] of everything that is wrong.
//
//   - Excess is what is over when what was told to leave is gone, and Remaining what is over when the victims are gone too.
//   - The victims of each step are permitted, in some order in which each may be taken when only those before it are gone,
//     and none of them can stay: judged by [Decision] of the request that stands for what they free. If they are only a part
//     of what has to leave, or the search is not [preemption.Greedy], whether the surplus of a victim alone would do is not judged.
//   - No victim is in vain: if it stays, or one replica of it, more is over.
//   - Of each step of which something remains: no more may leave now, the whole rest not before the
//     RetryAt of its decision, and then it may. If one node remains, and all of it may leave at once, RetryAt is that time.
//   - Outcome, Lost and the numbers of the victims are right.
//
// With [settle.Request.MaxVictims] what remains is judged only by its amount. MoreAt is not judged, nor are Blockers, Shortage and Proof.
func Settlement(st preemption.State, r settle.Request, c preemption.Config, a settle.Answer) error {
	if _, err := preemption.NewSnapshot(st); err != nil {
		return err
	}
	if _, err := preemption.New(c); err != nil {
		return err
	}
	j := settlementJudge{request: &r, config: c, answer: &a}
	j.judge(gone(st, leaving(st)))
	return j.faults.Err()
}

type settlementJudge struct {
	request *settle.Request
	config  preemption.Config
	answer  *settle.Answer
	faults  fault.List
}

func (j *settlementJudge) judge(st preemption.State) {
	a := j.answer
	after := gone(st, a.Victims)
	if want := j.inScope(reference.Excess(st)); !slices.Equal(a.Excess, want) {
		j.faults.Add("answer.excess", "%v is over, not %v", want, a.Excess)
	}
	if want := j.inScope(reference.Excess(after)); !slices.Equal(a.Remaining, want) {
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
		(outcome == preemption.Wait) != (len(a.Excess) > 0 && len(a.Victims) == 0 && !a.MoreAt.IsZero()):
		j.faults.Add("answer.outcome", "is %v for %d victims, %v over, %v remaining, more at %v",
			outcome, len(a.Victims), a.Excess, a.Remaining, a.MoreAt)
	}
	if most := j.request.MaxVictims; most > 0 && len(a.Victims) > most {
		j.faults.Add("answer.victims", "are %d, at most %d are asked for", len(a.Victims), most)
	}
	j.together()
	for i := range a.Steps {
		j.step(fmt.Sprintf("answer.steps[%d]", i), &st, &a.Steps[i])
		if j.request.MaxVictims == 0 {
			j.rest(fmt.Sprintf("answer.steps[%d].decision", i), after, &a.Steps[i])
		}
	}
	j.retryAt()
}

// together judges that the answer is what its steps say: their victims in the order of choice, their blockers and shortages.
func (j *settlementJudge) together() {
	a := j.answer
	var whole preemption.Decision
	orders, names := map[int]bool{}, map[string]bool{}
	for i := range a.Steps {
		whole.Blockers = append(whole.Blockers, a.Steps[i].Decision.Blockers...)
		whole.Shortage = append(whole.Shortage, a.Steps[i].Decision.Shortage...)
		for _, v := range a.Steps[i].Victims {
			names[v.Workload] = true
			if orders[v.Order] || v.Order < 1 {
				j.faults.Add(fmt.Sprintf("answer.steps[%d].victims", i), "%q has number %d, as another one or none", v.Workload, v.Order)
			}
			orders[v.Order] = true
		}
	}
	if !slices.Equal(whole.Blockers, a.Blockers) || !slices.Equal(whole.Shortage, a.Shortage) {
		j.faults.Add("answer.blockers", "blockers and shortages are %v and %v, those of the steps %v and %v",
			a.Blockers, a.Shortage, whole.Blockers, whole.Shortage)
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

// step judges the step of a node, and removes its victims from the state.
func (j *settlementJudge) step(path string, st *preemption.State, step *settle.Step) {
	before := *st
	*st = gone(before, step.Victims)
	var freed []quota.Amount
	had, has := j.of(before, step.Node), j.of(*st, step.Node)
	for _, e := range had {
		e.Amount = quota.Sub(e.Amount, amountOf(has, e))
		if e.Amount > 0 {
			freed = append(freed, e)
		}
	}
	if len(step.Victims) > 0 {
		if !step.Delayed.IsZero() {
			j.faults.Add(path+".victims", "yield before the delay ends, at %v", step.Delayed)
		}
		j.ask(path+".victims", before, step, had, freed, j.request.Now, preemption.Decision{Outcome: preemption.Preempt, Victims: step.Victims})
	}
}

// rest judges the decision of a step about what remains when all victims are gone.
func (j *settlementJudge) rest(path string, after preemption.State, step *settle.Step) {
	d, has := step.Decision, j.of(after, step.Node)
	if d.Outcome.Succeeds() != (len(has) == 0) {
		j.faults.Add(path, "is %v, but %v remains", d.Outcome, has)
	}
	if len(has) == 0 || len(j.faults) > 0 {
		return
	}
	at := j.request.Now
	if !step.Delayed.IsZero() {
		if at = step.Delayed; d.RetryAt.Equal(at) { // it may leave then
			return
		}
	}
	j.ask(path, after, step, has, has, at, d)
}

// ask judges a decision about the request that stands for amounts of an excess.
func (j *settlementJudge) ask(
	path string, st preemption.State, step *settle.Step, excess, amounts []quota.Amount, at time.Time, d preemption.Decision,
) {
	part, asks := reference.Settling(st, step.Queue, step.Cohort, excess)
	w := workload.Workload{ID: "\x00", Queue: asks, Priority: math.MaxInt64, Queued: time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)}
	r := preemption.Request{Now: at, LocalQueueUsage: j.request.LocalQueueUsage, History: j.request.History}
	for i, a := range excess { // also where nothing was freed a queue may borrow
		a.Amount = amountOf(amounts, a)
		w.PodSets = append(w.PodSets, workload.PodSet{Name: fmt.Sprint(i), Count: 1, Requests: []quota.Amount{a}})
		r.NeedsPreemption = append(r.NeedsPreemption, a.FlavorResource())
	}
	r.Workload = w
	c := j.config
	if d.Outcome == preemption.Preempt { // of several searches, it may be: each set that is allowed will do
		c.Fair.RecheckShares = c.Fair.RecheckShares || c.Search != preemption.Greedy && c.Sharing == preemption.Fair && !c.Fair.Stable
		c.Search, c.Exact, c.Exchange = preemption.Greedy, preemption.ExactSearch{}, preemption.ExchangeSearch{}
	}
	for i := range d.Victims {
		d.Lost = quota.Add(d.Lost, d.Victims[i].Lost)
	}
	d.Victims = slices.Clone(d.Victims)
	for i := range d.Victims {
		d.Victims[i].Order = 0
	}
	faults, _ := Decision(part, r, c, d).(fault.List)
	for _, f := range faults {
		searched := step.Decision.Outcome != preemption.Preempt || j.config.Search != preemption.Greedy // several times, or not in order
		if d.Outcome == preemption.Preempt && searched && strings.HasSuffix(f.Problem, "can stay without its surplus") {
			continue
		}
		j.faults.Add(path+": "+f.Path, "%s", f.Problem)
	}
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
		return slices.ContainsFunc(j.answer.Steps, func(s settle.Step) bool {
			return s.Node == settle.Node{Queue: e.Queue, Cohort: e.Cohort} && s.Delayed.IsZero()
		})
	}
	over := j.inScope(reference.Excess(after))
	for _, victims := range trials {
		more := slices.ContainsFunc(j.inScope(reference.Excess(gone(before, victims))), func(e preemption.Excess) bool {
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

// retryAt judges the time at which nothing remains.
func (j *settlementJudge) retryAt() {
	a := j.answer
	if j.request.MaxVictims > 0 || len(a.Remaining) == 0 || j.config.SkipRetryAt {
		return
	}
	var nodes []settle.Node
	for _, e := range a.Remaining {
		if n := (settle.Node{Queue: e.Queue, Cohort: e.Cohort}); !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) != 1 {
		return // of several one may be above another
	}
	for _, step := range a.Steps {
		if step.Node == nodes[0] && !step.Decision.RetryAt.IsZero() && !step.Decision.RetryAt.Equal(a.RetryAt) {
			j.faults.Add("answer.retryAt", "is %v, but the rest may leave at %v", a.RetryAt, step.Decision.RetryAt)
		}
	}
}

func (j *settlementJudge) inScope(list []preemption.Excess) []preemption.Excess {
	return slices.DeleteFunc(list, func(e preemption.Excess) bool {
		return len(j.request.Nodes) > 0 && !slices.Contains(j.request.Nodes, settle.Node{Queue: e.Queue, Cohort: e.Cohort})
	})
}

// of returns the excess of a node.
func (j *settlementJudge) of(st preemption.State, n settle.Node) (list []quota.Amount) {
	for _, e := range reference.Excess(st) {
		if n == (settle.Node{Queue: e.Queue, Cohort: e.Cohort}) {
			list = append(list, quota.Amount{Flavor: e.Flavor, Resource: e.Resource, Amount: e.Amount})
		}
	}
	return list
}

func amountOf(list []quota.Amount, in quota.Amount) int64 {
	for _, a := range list {
		if a.FlavorResource() == in.FlavorResource() {
			return a.Amount
		}
	}
	return 0
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
