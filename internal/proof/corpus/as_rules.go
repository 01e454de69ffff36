package corpus

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/proof/asrules"
	"github.com/cedesched/cede/preemption"
)

// CheckRules asks a case by its policies and by rules that say the same, and compares outcomes,
// victims, borrow heights and when to ask again.
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
	if r.Departures = asrules.Unsaid(c.State(), c.Request(), config); len(r.Departures) == 0 {
		r.Differences = []Difference{{"decision by rules", want, got}}
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
	for _, v := range d.Victims {
		list = append(list, v.Workload)
	}
	slices.Sort(list)
	return append(list, fmt.Sprintf("%v, borrow height %d, retry at %v", d.Outcome, d.BorrowHeight, d.RetryAt)), err
}
