package corpus

import (
	"slices"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// LeavingIsEnough is the departure for workloads that were told to stop before and make room by
// themselves. Here nothing else is told to stop. Kueue asks each in its turn: its queue may no
// longer borrow then, or a strategy of fair sharing may refuse it.
const LeavingIsEnough = "what is leaving already is enough"

// leavingIsEnough is the predicate of LeavingIsEnough: all victims here are being evicted, Kueue
// names others or none, and by the slow twin the request fits without ours.
func (c *Case) leavingIsEnough(st preemption.State, r preemption.Request, victims []preemption.Victim) (bool, error) {
	evicted := func(id string) bool {
		return slices.ContainsFunc(st.Admitted, func(w workload.Workload) bool { return w.ID == id && w.Evicted })
	}
	others := len(c.Want.Victims) == 0
	for _, v := range c.Want.Victims {
		others = others || !evicted(v.Name)
	}
	config, err := c.Config()
	if err != nil || len(victims) == 0 || !others {
		return false, err
	}
	for _, v := range victims {
		if !evicted(v.Workload) {
			return false, nil
		}
	}
	return reference.FitsWithout(config, st, r, victims, true), nil
}

// departsByLeaving reports whether the case departs so.
func (c *Case) departsByLeaving() (bool, error) {
	config, err := c.Config()
	if err != nil {
		return false, err
	}
	p, err := preemption.New(config)
	if err != nil {
		return false, err
	}
	s, err := preemption.NewSnapshot(c.State())
	if err != nil {
		return false, err
	}
	d, err := p.Decide(s, c.Request())
	if err != nil {
		return false, err
	}
	return c.leavingIsEnough(c.State(), c.Request(), d.Victims)
}
