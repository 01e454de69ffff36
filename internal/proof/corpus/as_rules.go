package corpus

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/proof/asrules"
	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
)

// CheckRules asks a case by its policies and by rules that say the same, and compares outcomes,
// victims, borrow heights and when to ask again. Where the rules cannot say the same, their answer must
// be that of the slow twin.
func (c *Case) CheckRules() (r Report, err error) {
	config, err := c.Config()
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	want, err := decided(config, c.State(), c.Request())
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	st, byRules := asrules.Of(c.State(), config)
	got, err := decided(byRules, st, c.Request())
	if err != nil {
		return r, fmt.Errorf("case %q by rules: %w", c.Name, err)
	}
	if slices.Equal(want, got) {
		return r, nil
	}
	slow, retry := reference.Decide(byRules, st, c.Request()), time.Time{}
	if !slow.Outcome.Possible() {
		if at, ok := reference.RetryAt(byRules, st, c.Request()); ok {
			slow.Outcome, retry = preemption.Wait, at
		}
	}
	e := excuse{answer: answerTexts(slow.Victims, slow.Outcome, slow.BorrowHeight, retry)}
	unsaid := asrules.Unsaid(c.State(), c.Request(), config)
	if len(unsaid) > 0 {
		e.departure = unsaid[0]
	}
	if r.compareUnless(e, "decision by rules", want, got); r.Passed() {
		r.Departures = unsaid
	}
	return r, nil
}

// decided returns who is preempted, then the outcome, the borrow height and when to ask again.
func decided(c preemption.Config, st preemption.State, r preemption.Request) (list []string, err error) {
	p, err := preemption.New(c)
	if err != nil {
		return nil, err
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return nil, err
	}
	d, err := p.Decide(s, r)
	return answerTexts(d.Victims, d.Outcome, d.BorrowHeight, d.RetryAt), err
}

func answerTexts(victims []preemption.Victim, o preemption.Outcome, height int, retry time.Time) (list []string) {
	for _, v := range victims {
		list = append(list, v.Workload)
	}
	slices.Sort(list)
	return append(list, fmt.Sprintf("%v, borrow height %d, retry at %v", o, height, retry))
}
