package recorded

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
)

// notebook makes a preemptor record its steps.
type notebook struct {
	preemption.Guard
	*trace.Recorder
}

// attempts decides, and lists the candidates of each attempt in the order in which they are taken.
func (a *asked) attempts() (list []Attempt, err error) {
	recorder := &trace.Recorder{}
	recorder.To = func(s *trace.Step) {
		switch s.Kind {
		case trace.AttemptBegins:
			list = append(list, Attempt{WithinNominal: !s.Borrowing})
		case trace.Taken:
			if len(list) == 0 {
				return
			}
			v := Victim{Workload: s.Workload, Reason: preemption.VictimReason(s.Right)} // the constants are the same
			if s.Right == trace.ByRules {
				for _, by := range recorder.Names.Taken(s.Workload) {
					v.Rules = append(v.Rules, preemption.VictimRule(by))
				}
			}
			last := &list[len(list)-1]
			last.Victims = append(last.Victims, v)
		}
	}
	config := a.preemptor.Config()
	config.Guards = append(slices.Clone(config.Guards), notebook{Recorder: recorder})
	p, err := preemption.New(config)
	if err != nil {
		return nil, err
	}
	_, err = p.Decide(a.snapshot, a.request)
	return list, err
}

// taken compares the candidates of each attempt.
func (a *asked) taken() (list []answer, err error) {
	attempts, err := a.attempts()
	if err != nil {
		return nil, err
	}
	var all []Victim
	for _, attempt := range attempts {
		victims := attempt.Victims
		all = append(all, victims...)
		at := slices.IndexFunc(a.Want.Taken, func(w Attempt) bool { return w.WithinNominal == attempt.WithinNominal })
		if at < 0 || len(victims) == 0 {
			continue
		}
		want := a.Want.Taken[at]
		if want.More {
			victims = victims[:min(len(victims), len(want.Victims))]
		}
		list = append(list, answer{
			what: fmt.Sprintf("taken, within nominal %t", want.WithinNominal),
			want: inOrder(want.Victims), got: inOrder(asRecorded(victims, want.Victims)),
		})
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
