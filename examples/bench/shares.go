package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// sharesWorlds are worlds of fair shares as in KAI, by whether all queues are over their shares by the same part.
var sharesWorlds = map[bool]string{true: "k1-100k-1110-alike", false: "k2-100k-1110-varied"}

const byShares scenario.Mode = "kai"

// shares measures on the worlds of fair shares. They belong to neither mode; they are measured with the classical one.
func (b *bench) shares(alike bool) ([]row, error) {
	if b.mode != scenario.Classical || b.by != byPolicies || !b.worlds.match(sharesWorlds[alike]) {
		return nil, nil
	}
	st, _ := scenario.Reclaiming(100_000, alike, 1)
	preemptor, err := preemption.New(preemption.Config{Sharing: preemption.KAI})
	if err != nil {
		return nil, err
	}
	snapshot, err := preemption.NewSnapshot(st)
	if err != nil {
		return nil, err
	}
	var rows []row
	measured := func(name string, measure func(r *row) error) {
		if !b.scenarios.match(name) {
			return
		}
		runtime.GC()
		r := row{World: sharesWorlds[alike], Scenario: name, Mode: byShares, Workloads: len(st.Admitted), Queues: len(st.FairShares.Queues), OK: true}
		if err := measure(&r); err != nil {
			r.OK, r.Error = false, err.Error()
		}
		r.Name = r.path()
		rows = append(rows, r)
	}
	for _, gang := range []int64{1, 20} {
		measured(fmt.Sprintf("reclaim-k%d", gang), func(r *row) error {
			_, request := scenario.Reclaiming(1000, alike, gang)
			s := scenario.Scenario{Request: request, Outcome: preemption.Preempt}
			var d preemption.Decision
			var err error
			if _, r.Steps, err = preemptor.DecideCounting(snapshot, request); err != nil {
				return err
			}
			failed := r.measure(b.minimum, func() { d, err = preemptor.Decide(snapshot, request) })
			if err = cmp.Or(err, failed); err != nil {
				return err
			}
			r.Victims = len(d.Victims)
			r.CheckedBy, err = s.Check(byShares, snapshot, preemptor.Decide, d)
			return err
		})
	}
	measured("set-shares-of-queue", func(r *row) error {
		q := st.FairShares.Queues[len(st.FairShares.Queues)/2]
		q.Claims = slices.Clone(q.Claims)
		for i := range q.Claims {
			q.Claims[i].Request++
		}
		var err error
		failed := r.measure(b.minimum, func() { _, err = snapshot.With(preemption.SetFairShareQueue(q)) })
		return cmp.Or(err, failed)
	})
	return rows, nil
}
