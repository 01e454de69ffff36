package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// operation is what is done with a snapshot beside a decision; it has a row like the scenarios.
type operation struct {
	name    string
	ofState bool // it needs the state of the snapshot
	// run prepares the operation, measures it and checks its result.
	run func(s *subject, measure func(operation func())) error
}

// subject is what operations are made with.
type subject struct {
	preemptor *preemption.Preemptor
	state     preemption.State
	extra     workload.Workload // that is not in the snapshot
	snapshot  *preemption.Snapshot
}

// Those of the state come first: then it need not stay in memory.
var operations = []operation{
	{"new-snapshot", true, newSnapshot}, {"sync", true, syncNothing}, {"sync-changed", true, syncChanged}, {"sync-versions", true, syncVersions},
	{"admit", false, admit}, {"remove", false, remove}, {"set-queue", false, setQueue}, {"settle", false, settleQueue},
}

func newSnapshot(s *subject, measure func(func())) error {
	var made *preemption.Snapshot
	var err error
	measure(func() { made, err = preemption.NewSnapshot(s.state) })
	if err != nil {
		return err
	}
	for _, w := range s.state.Admitted {
		if _, admitted := made.Find(w.ID); !admitted {
			return fmt.Errorf("workload %q is missing", w.ID)
		}
	}
	return nil
}

func syncNothing(s *subject, measure func(func())) error {
	var edits []preemption.Edit
	synced, _, err := s.snapshot.Sync(s.state)
	if err != nil {
		return err
	}
	measure(func() { _, edits, err = synced.Sync(s.state) })
	return wanted(len(edits), 0, err)
}

// syncChanged changes the priority of at most 500 workloads.
func syncChanged(s *subject, measure func(func())) error {
	synced, _, err := s.snapshot.Sync(s.state)
	if err != nil {
		return err
	}
	changed := s.state
	changed.Admitted = slices.Clone(changed.Admitted)
	every := max(1, len(changed.Admitted)/500)
	n := 0
	for i := 0; i < len(changed.Admitted); i += every {
		changed.Admitted[i].Priority++
		n++
	}
	var edits []preemption.Edit
	measure(func() { _, edits, err = synced.Sync(changed) })
	return wanted(len(edits), n, err)
}

func syncVersions(s *subject, measure func(func())) error {
	config := s.state
	config.Admitted = nil
	var running iter.Seq2[string, int] = func(yield func(string, int) bool) {
		for i := range s.state.Admitted {
			if !yield(s.state.Admitted[i].ID, i+1) {
				return
			}
		}
	}
	describe := func(_ string, version int) (workload.Workload, error) { return s.state.Admitted[version-1], nil }
	synced, _, err := preemption.SyncVersions(s.snapshot, config, running, describe)
	if err != nil {
		return err
	}
	var edits []preemption.Edit
	measure(func() { _, edits, err = preemption.SyncVersions(synced, config, running, describe) })
	return wanted(len(edits), 0, err)
}

func admit(s *subject, measure func(func())) error {
	var with *preemption.Snapshot
	var err error
	measure(func() { with, err = s.snapshot.With(preemption.Admit(s.extra)) })
	if err != nil {
		return err
	}
	if _, admitted := with.Find(s.extra.ID); !admitted {
		return errors.New("the admitted workload is missing")
	}
	return nil
}

func remove(s *subject, measure func(func())) error {
	with, err := s.snapshot.With(preemption.Admit(s.extra))
	if err != nil {
		return err
	}
	var without *preemption.Snapshot
	measure(func() { without, err = with.With(preemption.Remove(s.extra.ID)) })
	if err != nil {
		return err
	}
	if _, admitted := without.Find(s.extra.ID); admitted {
		return errors.New("the removed workload is still there")
	}
	return nil
}

func setQueue(s *subject, measure func(func())) error {
	q, known := s.snapshot.Queue(s.extra.Queue)
	if !known {
		return fmt.Errorf("queue %q is missing", s.extra.Queue)
	}
	q.Quotas = slices.Clone(q.Quotas)
	q.Quotas[0].Nominal++
	var err error
	measure(func() { _, err = s.snapshot.With(preemption.SetQueue(q)) })
	return err
}

// settleQueue takes a hundredth of its usage from a queue.
func settleQueue(s *subject, measure func(func())) error {
	q, _ := s.snapshot.Queue(s.extra.Queue)
	rows, _ := s.snapshot.QueueStatus(q.Name)
	q.Quotas = slices.Clone(q.Quotas)
	for i := range q.Quotas {
		of := &q.Quotas[i]
		at := slices.IndexFunc(rows, func(r preemption.QuotaStatus) bool { return r.FlavorResource == of.FlavorResource() })
		of.Nominal, of.LendingLimit, of.BorrowingLimit = rows[at].Usage-(rows[at].Usage+99)/100, quota.Optional[int64]{}, quota.Some[int64](0)
	}
	less, err := s.snapshot.With(preemption.SetQueue(q))
	if err != nil {
		return err
	}
	var got settle.Answer
	measure(func() {
		got, err = settle.Decide(s.preemptor, less, settle.Request{Now: time.Unix(2_000_000_000, 0).UTC()})
	})
	if err == nil && len(got.Victims) == 0 {
		err = errors.New("nobody leaves a queue that uses more than its quota")
	}
	return err
}

func wanted(edits, want int, err error) error {
	if err == nil && edits != want {
		err = fmt.Errorf("%d edits, want %d", edits, want)
	}
	return err
}
