package recorded

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption/explain"
)

// taken asks for the candidates of each attempt: an explanation has them.
func (a *asked) taken() (list []answer, err error) {
	e, err := explain.Explain(a.preemptor, a.snapshot, a.request)
	if err != nil {
		return nil, err
	}
	var all []Victim
	for _, attempt := range e.Attempts {
		var victims []Victim
		for _, t := range attempt.Taken {
			victims = append(victims, Victim{Workload: t.Workload, Reason: t.Reason, Rules: t.Rules})
		}
		if int(attempt.TakenCount) > len(victims) {
			return nil, fmt.Errorf("an explanation names only %d of %d", len(victims), attempt.TakenCount)
		}
		all = append(all, victims...)
		at := slices.IndexFunc(a.Want.Taken, func(w Attempt) bool { return w.WithinNominal == attempt.WithinNominal })
		if at < 0 || len(victims) == 0 {
			continue
		}
		want := a.Want.Taken[at]
		if want.More {
			victims = victims[:min(len(victims), len(want.Victims))]
		}
		list = append(list, answer{what: fmt.Sprintf("taken, within nominal %t", want.WithinNominal), want: inOrder(want.Victims), got: inOrder(asRecorded(victims, want.Victims))})
	}
	if w := a.Want.Yields; w != nil {
		list = append(list, answer{what: "yields", want: inOrder(w), got: inOrder(asRecorded(all, w))})
	}
	return list, nil
}

// asRecorded leaves out the reason and the rules of each candidate that the recording does not have in its place.
func asRecorded(got, want []Victim) []Victim {
	list := slices.Clone(got)
	for i := range list {
		if i >= len(want) || want[i].Reason == 0 {
			list[i].Reason = 0
		}
		if i >= len(want) || want[i].Rules == nil {
			list[i].Rules = nil
		}
	}
	return list
}

func inOrder(victims []Victim) (list []string) {
	for _, v := range victims {
		list = append(list, v.text())
	}
	return list
}
