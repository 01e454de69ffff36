package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/internal/history"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/records"
	"github.com/cedesched/cede/examples/internal/slurm"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// slurmPast is a history of Slurm.
type slurmPast struct {
	*auditor
	history *slurm.History
	list    []slurm.Preemption
	judged  int // how many of them are
}

// readSlurm reads the history of Slurm that is among the sources, and returns the others.
func (a *auditor) readSlurm(sources []objects.Source) (others []objects.Source, err error) {
	var own []objects.Source
	for _, s := range sources {
		begin, err := s.Begin(slurm.Begin)
		if err != nil {
			return nil, err
		}
		switch form := records.SlurmForm(begin); {
		case slurm.Is(begin):
			own = append(own, s)
		case form != "":
			return nil, fmt.Errorf("%s: this is %s: %s", s.Name, form, records.WantRuns)
		default:
			others = append(others, s)
		}
	}
	switch {
	case len(own) == 0:
		return others, nil
	case a.o.changes():
		return nil, errors.New("-policy, -quota and -apply change a cluster of Kueue: there is a history of Slurm")
	}
	h, err := slurm.Read(own, a.o.audit.skew)
	if err == nil {
		a.pasts = append(a.pasts, &slurmPast{auditor: a, history: h, list: h.Preemptions()})
	}
	return others, err
}

func instant(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func (a *slurmPast) Span() (first, last time.Time) {
	return instant(a.history.First), instant(a.history.Last)
}

func (a *slurmPast) Notes() []string { return a.history.Notes }

func (a *slurmPast) Evictions() (list []history.Eviction) {
	for i := range a.list {
		p := &a.list[i]
		e := history.Eviction{At: instant(p.At), Preemptor: p.Preemptor, Started: instant(p.Started), Unknown: p.Unknown}
		for _, v := range p.Victims {
			right := v.Right
			if right == "" && p.Verdict == audit.NotPermitted {
				right = "none"
			}
			e.Victims = append(e.Victims, history.Victim{Workload: v.Job, Reason: right, Since: instant(v.Since), Back: instant(v.Back)})
		}
		list = append(list, e)
	}
	return list
}

// Judge says what was found of a preemption.
func (a *slurmPast) Judge(j *judged) error {
	p := &a.list[a.judged]
	a.judged++
	j.Queue, j.Why, j.Notes = p.Queue, p.Why, p.Notes
	resource := map[bool]string{true: "gpu", false: "cpu"}[a.history.GPUs]
	cost := a.cost([]string{resource})
	if p.Verdict == 0 {
		return nil
	}
	j.found = &found{verdict: p.Verdict}
	for _, v := range p.Victims {
		one := foundVictim{lost: lostBy(&v, cost, j.At), stays: v.Stays, right: v.Right}
		j.found.victims = append(j.found.victims, one)
		if j.found.lost = quota.Add(j.found.lost, one.lost); v.Stays {
			j.Stays = append(j.Stays, v.Job)
			if p.Verdict == audit.Fitted {
				j.found.avoidable = quota.Add(j.found.avoidable, one.lost)
			} else {
				j.found.avoidable = max(j.found.avoidable, one.lost) // each could by itself
			}
		}
	}
	j.Lost, j.Avoidable = j.found.lost, j.found.avoidable
	return nil
}

// lostBy is what a victim lost: CPUs in thousandths, whole GPUs, or what else is asked for, times its seconds.
func lostBy(v *slurm.Victim, cost preemption.Cost, now time.Time) int64 {
	return cost.Lost(workload.Workload{ID: v.Job, ReservedAt: instant(v.Since), PodSets: []workload.PodSet{{Name: "job", Count: 1, Requests: []quota.Amount{
		{Flavor: "slurm", Resource: "cpu", Amount: v.CPU}, {Flavor: "slurm", Resource: "gpu", Amount: v.GPU / 1000}}}}}, "", now)
}
