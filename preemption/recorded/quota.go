package recorded

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue/rules"
)

// asked is a question with all that it needs to be asked.
type asked struct {
	*Question
	config    preemption.Config
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
	request   preemption.Request
}

// ask prepares a question about a state.
func (q *Question) ask(st *preemption.State) (a asked, err error) {
	a = asked{Question: q, request: q.Request}
	if q.Config != nil {
		a.config = *q.Config
	}
	if q.Places != nil {
		a.request.Room = &places{sets: q.Places, gone: map[string]bool{}}
	}
	if a.preemptor, err = preemption.New(a.config); err == nil {
		a.snapshot, err = preemption.NewSnapshot(*st)
	}
	return a, err
}

// check asks the question and compares all that it wants.
func (q *Question) check(r *Report) error {
	bad := rules.Validate(q.State.Rules)
	if q.Want.Faults != nil {
		r.compare(excuse{}, "faults", q.Want.Faults, ruleFaults(bad))
		return nil
	}
	a, err := q.ask(q.State)
	if q.Want.Refused && err == nil && bad == nil {
		_, err = a.preemptor.Decide(a.snapshot, a.request)
		bad = err
	}
	if q.Want.Refused {
		r.compare(excuse{}, "refused", one(true), one(bad != nil || err != nil))
		return nil
	}
	if err != nil {
		if q.negativeMinimum() {
			r.compare(excuse{negativeDuration, one(err)}, "a negative duration", nil, one(err))
			return nil
		}
		return err
	}
	answers, err := a.answers()
	if err != nil {
		return err
	}
	for _, answer := range answers {
		r.compare(answer.excuse, answer.what, answer.want, answer.got)
	}
	return nil
}

// answer is one answer to a question.
type answer struct {
	what      string
	want, got []string
	excuse    excuse
}

// answers returns all answers that the question wants, in a fixed order.
func (a *asked) answers() (list []answer, err error) {
	w := &a.Want
	if w.Victims != nil || w.Possible != nil || w.RetryAt != nil {
		d, err := a.preemptor.Decide(a.snapshot, a.request)
		if err != nil {
			return nil, err
		}
		if list, err = a.decision(&d); err != nil {
			return nil, err
		}
	}
	if w.Taken != nil || w.Yields != nil {
		taken, err := a.taken()
		if err != nil {
			return nil, err
		}
		list = append(list, taken...)
	}
	if w.Admits != nil {
		admits, err := a.admits()
		if err != nil {
			return nil, err
		}
		list = append(list, admits)
	}
	for _, f := range w.Forecasts {
		forecast, err := a.forecast(f)
		if err != nil {
			return nil, err
		}
		list = append(list, forecast)
	}
	for _, row := range w.Queues {
		status, _ := a.snapshot.QueueStatus(row.Name, row.FlavorResource)
		list = append(list, row.answer("queue", status))
	}
	for _, row := range w.Cohorts {
		status, _ := a.snapshot.CohortStatus(row.Name, row.FlavorResource)
		list = append(list, row.answer("cohort", status))
	}
	for _, s := range w.Shares {
		list = append(list, a.share(s))
	}
	return list, nil
}

// decision returns the answers of a decision.
func (a *asked) decision(d *preemption.Decision) (list []answer, err error) {
	w := &a.Want
	if w.Victims != nil {
		v := answer{what: "victims", want: texts(w.Victims, Victim.text)}
		got := make([]Victim, len(d.Victims))
		for i, of := range d.Victims {
			got[i] = Victim{Workload: of.Workload, Reason: of.Reason, Rules: of.Rules}
			at := slices.IndexFunc(w.Victims, func(v Victim) bool { return v.Workload == of.Workload })
			if at < 0 || w.Victims[at].Rules == nil {
				got[i].Rules = nil
			}
		}
		v.got = texts(got, Victim.text)
		if v.excuse, err = a.victimsExcuse(d, v.got); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if w.Possible != nil {
		e, err := a.possibleExcuse(d)
		if err != nil {
			return nil, err
		}
		list = append(list, answer{what: "possible", want: one(*w.Possible), got: one(d.Outcome.Succeeds()), excuse: e})
	}
	if w.RetryAt != nil {
		e, err := a.retryExcuse()
		if err != nil {
			return nil, err
		}
		list = append(list, answer{what: "retryAt", want: instantText(*w.RetryAt), got: instantText(d.RetryAt), excuse: e})
	}
	return list, nil
}

// text writes a victim with the rules of the trigger that took it.
func (v Victim) text() string {
	text := v.Workload
	if v.Reason != 0 {
		text += " " + v.Reason.String()
	}
	for _, by := range v.Rules {
		if by.Trigger == v.Rules[0].Trigger {
			text += fmt.Sprintf(" %s/%s%v", by.Config, by.Rule, by.Selectors)
		}
	}
	return text
}

// admits asks a cycle which heads it admits.
func (a *asked) admits() (answer, error) {
	cycles, err := cycle.New(cycle.Config{Preemption: a.config})
	if err != nil {
		return answer{}, err
	}
	result, err := cycles.Run(a.snapshot, a.Heads, a.request.Now)
	if err != nil {
		return answer{}, err
	}
	got := []string{}
	for _, h := range result.Heads {
		if h.Outcome == cycle.Admit {
			got = append(got, h.Head.Workload.ID)
		}
	}
	slices.Sort(got)
	return answer{what: "admits", want: a.Want.Admits, got: got}, nil
}

// forecast asks what preemption could do for an amount, whatever the workload's own policy.
func (a *asked) forecast(f Forecast) (answer, error) {
	r := a.request
	r.Workload.NeverPreempts = false
	got, err := a.preemptor.Forecast(a.snapshot, r, f.Amount)
	if err != nil {
		return answer{}, fmt.Errorf("forecast of %v: %w", f.FlavorResource(), err)
	}
	text := func(possible preemption.Possibility, height int64) []string {
		if f.BorrowHeight.IsZero() {
			return one(possible)
		}
		return one(fmt.Sprintf("%v, borrow height %d", possible, height))
	}
	out := answer{
		what: fmt.Sprintf("forecast of %v", f.FlavorResource()),
		want: text(f.Possibility, f.BorrowHeight.Or(0)), got: text(got.Possibility, int64(got.BorrowHeight)),
	}
	if a.fitsAlready(f.Amount) {
		height, err := a.heightNow(f.Amount)
		if err != nil {
			return answer{}, err
		}
		out.excuse = excuse{fitsBefore, text(preemption.PossibilityNoCandidates, height)}
	}
	return out, nil
}

// answer returns the numbers of a queue or cohort in the column of the row.
func (row Row) answer(kind string, status []preemption.QuotaStatus) answer {
	got := Row{Name: row.Name, FlavorResource: row.FlavorResource}
	if i := slices.IndexFunc(status, func(s preemption.QuotaStatus) bool { return s.FlavorResource == row.FlavorResource }); i >= 0 {
		got.Usage, got.SubtreeQuota = status[i].Usage, status[i].SubtreeQuota
		if kind == "queue" {
			got.Available = max(0, status[i].Available) // below zero: nothing is available
			got.Potential = status[i].PotentialAvailable
		}
	}
	return answer{
		what: fmt.Sprintf("quota of %s %q in %v", kind, row.Name, row.FlavorResource),
		want: []string{row.text()}, got: []string{got.text()},
	}
}

func (row Row) text() string {
	return fmt.Sprintf("usage %d, available %d, potential %d, subtree %d", row.Usage, row.Available, row.Potential, row.SubtreeQuota)
}

func (a *asked) share(s Share) answer {
	got, _ := a.snapshot.QueueShare(s.Queue)
	what := fmt.Sprintf("share of queue %q", s.Queue)
	if s.Cohort != "" {
		got, _ = a.snapshot.CohortShare(s.Cohort)
		what = fmt.Sprintf("share of cohort %q", s.Cohort)
	}
	return answer{
		what: what, want: one(s.Weighted + " of " + s.Resource),
		got: one(strconv.FormatFloat(got.Weighted(), 'g', -1, 64) + " of " + got.DominantResource),
	}
}

func instantText(at time.Time) []string {
	if at.IsZero() {
		return one("none")
	}
	return one(at.UTC().Format(time.RFC3339Nano))
}

// places is the Room of a question.
type places struct {
	sets [][]string
	gone map[string]bool
}

func (p *places) Remove(workload string)  { p.gone[workload] = true }
func (p *places) Restore(workload string) { delete(p.gone, workload) }

// Fits reports whether all workloads of one of the lists are gone.
func (p *places) Fits() bool {
	return slices.ContainsFunc(p.sets, func(set []string) bool {
		return !slices.ContainsFunc(set, func(w string) bool { return !p.gone[w] })
	})
}
