package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
)

// wayOfKAI is a change of queues of KAI after which a group fits, or preempts.
type wayOfKAI struct {
	flags  []given // of ask and of diff
	answer string
}

// raise is a change of a field of a queue: to what it would hold with the group.
type raise struct {
	queue, resource, field string
	to                     int64
}

// wayOfKAI finds limits, quotas, or both, of the queue and of those above it, with which a group that is refused gets its room: the first of
// these that a decision accepts. Nil: none does.
func (a *answer) wayOfKAI() (*wayOfKAI, error) {
	if !a.ByFairShares() || a.decision == nil || a.decision.Outcome != preemption.Impossible {
		return nil, nil
	}
	limits, fixed, own, all := a.raises()
	for _, changes := range [][]raise{limits, fixed, slices.Concat(limits, fixed), own, all, slices.Concat(limits, own), slices.Concat(limits, all)} {
		if len(changes) == 0 {
			continue
		}
		if way, err := a.after(changes); way != nil || err != nil {
			return way, err
		}
	}
	return nil, nil
}

// raises lists the limits and quotas that are below what queues would hold; fixed are the quotas that are below what they would hold in groups that
// are not preemptible, own the quotas of the group's queue.
func (a *answer) raises() (limits, fixed, own, all []raise) {
	asked := map[string]int64{}
	for _, u := range a.assigned.Usage() {
		asked[u.Resource] = quota.Add(asked[u.Resource], u.Amount)
	}
	list := a.fairShares()
	for name := a.request.Workload.Queue; name != ""; {
		at := slices.IndexFunc(list, func(q queueShares) bool { return q.Queue == name })
		if at < 0 {
			break
		}
		for _, r := range list[at].Shares {
			with := quota.Add(r.Usage, asked[r.Resource])
			if asked[r.Resource] == 0 && !a.request.Workload.NeverYields { // then all resources count
				continue
			}
			if with > r.Limit {
				limits = append(limits, raise{name, r.Resource, "limit", with})
			}
			if still := quota.Add(r.NonPreemptible, asked[r.Resource]); a.request.Workload.NeverYields && still > r.Quota {
				fixed = append(fixed, raise{name, r.Resource, "quota", still})
			}
			if with > r.Quota {
				all = append(all, raise{name, r.Resource, "quota", with})
				if name == a.request.Workload.Queue {
					own = append(own, raise{name, r.Resource, "quota", with})
				}
			}
		}
		name = list[at].Parent
	}
	return limits, fixed, own, all
}

// after decides after changes; nil: the group is still refused.
func (a *answer) after(changes []raise) (*wayOfKAI, error) {
	way := new(wayOfKAI)
	st := a.State
	st.Queues, st.Cohorts = slices.Clone(st.Queues), slices.Clone(st.Cohorts)
	for _, c := range changes {
		value := units.Exact(c.resource, c.to)
		if c.resource == "memory" && c.to%1e6 == 0 { // KAI's unit
			value = fmt.Sprint(c.to/1e6, "M")
		}
		if err := answers.SetShare(&st, c.queue, c.resource, c.field, value); err != nil {
			return nil, err
		}
		path := c.queue + ":" + strings.ToLower(c.resource) // as in a Queue
		if c.field != "quota" {
			path += ":" + c.field
		}
		way.flags = append(way.flags, given{"quota", []string{path + "=" + value}})
	}
	snapshot, err := preemption.NewSnapshot(st)
	if err != nil {
		return nil, answers.Faults(err)
	}
	d, err := a.Preemptor.Decide(snapshot, a.request)
	if err != nil || !d.Outcome.Succeeds() {
		return nil, err
	}
	way.answer = explain.Answer(&d, &a.request)
	return way, nil
}

// print says the change, and the commands that ask about it.
func (w *wayOfKAI) print(b *cli.Page, try *commands) {
	if w == nil {
		return
	}
	b.Gap()
	b.Say("What would change the answer: it %s with\n", w.answer)
	printCommand(b, 2, try.ask(w.flags))
	try.printOthers(b, "it", w.flags)
}
