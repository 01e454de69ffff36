package main

import (
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var guaranteesVerb = verb{
	name: "guarantees", short: "what the settings guarantee to jobs, whatever runs",
	long:     "Says of each queue what its settings, and those of its cohort, guarantee to the jobs in it, from the configuration alone: whose requests can take their places, and after which time. What runs plays no part; of one job that runs ask safe.",
	examples: []string{"guarantees", "guarantees -live", "guarantees -live -queue QUEUE"},
	yes:      "nothing but what is said can make a job yield", unknown: "unknown: rules or fair shares may permit more",
	flags: func(c *cobra.Command, o *options) {
		c.Flags().StringVar(&o.queue, "queue", "", "only `QUEUE`, with the name of each queue that can take from it")
	},
	run: func(c *cluster, o *options, _ stdio) (result, error) {
		if err := c.checkQueue(o.queue); err != nil {
			return result{}, err
		}
		g, err := guaranteesOf(c.State, c.Config, o.queue)
		if err != nil {
			return result{}, answers.Faults(err)
		}
		g.Notes = append([]string{}, c.inputNotes()...)
		status := cli.StatusYes
		if len(g.Doubts) > 0 {
			status = cli.StatusUnknown
		}
		return result{status, func(b *cli.Page) {
			g.print(b, o.queue != "")
			printNotes(b, g.Notes)
			c.printSampleHint(b, "guarantees -live")
		}, g, nil}, nil
	},
}

// guarantees is what the configuration guarantees, by queue.
type guarantees struct {
	Queues []guarantee `json:"queues"`
	// Doubts say what may permit more.
	Doubts []string `json:"doubts"`
	Notes  []string `json:"notes"`

	byFairShares bool
}

// guarantee is who can take from a queue. Within its nominal quotas, or its fair share, no other queue can.
type guarantee struct {
	Queue string `json:"queue"`
	// Own are requests of its own queue.
	Own taker `json:"own"`
	// Others are those of other queues, while it borrows, by name; who cannot take anything is left out.
	Others []taker `json:"others"`
}

// taker is a queue, and what its requests can take.
type taker struct {
	Queue string `json:"queue"`
	// Who is Nobody, Higher (only what has a lower priority than the request), Older (that, or an equal that was queued after the request)
	// or Any.
	Who string `json:"who"`
	// After is how long a job holds its quota before more of it than surplus replicas can be taken; EqualsAfter is minAdmitDuration, after
	// which equals can be taken that were queued before the request, too.
	After       time.Duration `json:"after,omitzero"`
	EqualsAfter time.Duration `json:"equalsAfter,omitzero"`
	// OnlyBorrowing: only by borrowWithinCohort, since it has no quota of its own in what both use. UpTo is the highest priority that it
	// takes so.
	OnlyBorrowing bool   `json:"onlyBorrowing,omitzero"`
	UpTo          *int64 `json:"upTo,omitempty"`
}

const (
	nobody  = "Nobody"
	higher  = "Higher"
	older   = "Older"
	anybody = "Any"
)

// guaranteesOf asks, for each pair of queues, the rights over a job in an otherwise empty cluster that borrows of everything.
func guaranteesOf(st preemption.State, config preemption.Config, only string) (*guarantees, error) {
	g := &guarantees{Queues: []guarantee{}, Doubts: []string{}, byFairShares: config.Sharing == preemption.KAI}
	for i := range st.Queues {
		if st.Queues[i].Rules != "" && !slices.Contains(g.Doubts, rulesPermitMore) {
			g.Doubts = append(g.Doubts, rulesPermitMore)
		}
	}
	if g.byFairShares {
		g.Doubts = append(g.Doubts, "fair shares decide who reclaims, and they change with what is requested")
	}
	st.Admitted = nil
	config.Guards, config.Limits = nil, nil
	asks := &rightsOf{now: time.Unix(1<<30, 0).UTC()}
	var err error
	if asks.preemptor, err = preemption.New(config); err != nil {
		return nil, err
	}
	empty, err := preemption.NewSnapshot(st)
	if err != nil {
		return nil, err
	}
	trees := map[string]string{}
	for _, n := range answers.Tree(empty) {
		if !n.Cohort {
			trees[n.Name] = n.Root
		}
	}
	for q := range empty.Queues() {
		if only != "" && q.Name != only {
			continue
		}
		if asks.snapshot, err = empty.With(preemption.Admit(asks.job(&q))); err != nil {
			return nil, err
		}
		of := guarantee{Queue: q.Name, Own: asks.taker(&q, &q), Others: []taker{}}
		for other := range empty.Queues() {
			if other.Name == q.Name || trees[q.Name] == "" || trees[other.Name] != trees[q.Name] {
				continue
			}
			if t := asks.taker(&other, &q); t.Who != nobody {
				of.Others = append(of.Others, t)
			}
		}
		g.Queues = append(g.Queues, of)
	}
	return g, nil
}

const rulesPermitMore = "rules of operators may permit more"

// rightsOf asks about one job of one queue.
type rightsOf struct {
	preemptor *preemption.Preemptor
	snapshot  *preemption.Snapshot
	now       time.Time
}

// probe is the priority of the job that is asked about: as low as can be, for a threshold to permit it.
const probe = math.MinInt32 + 1

// much is more than any quota.
const much = math.MaxInt64 / 4

// job is one that just began, and borrows all that its queue has quota for.
func (r *rightsOf) job(q *queue.Queue) workload.Workload {
	w := workload.Workload{ID: "guarantees/job", Queue: q.Name, Priority: probe, Queued: r.now, ReservedAt: r.now, AdmittedAt: r.now,
		PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
	for _, e := range q.Quotas {
		w.PodSets[0].Requests = append(w.PodSets[0].Requests, quota.Amount{Flavor: e.Flavor, Resource: e.Resource, Amount: much})
	}
	return w
}

// taker says what requests of one queue can take of the job of another.
func (r *rightsOf) taker(by, of *queue.Queue) taker {
	t := taker{Queue: by.Name, Who: nobody}
	if by.Inactive || of.Inactive {
		return t
	}
	for _, amount := range []int64{1, much} { // within its quota, if it has any; only to borrow
		for _, e := range by.Quotas {
			if !slices.ContainsFunc(of.Quotas, func(o quota.Quota) bool { return o.Flavor == e.Flavor && o.Resource == e.Resource }) {
				continue
			}
			asks := quota.Amount{Flavor: e.Flavor, Resource: e.Resource, Amount: amount}
			if after, ok := r.after(by.Name, probe+1, time.Time{}, asks); ok {
				t.Who, t.After = higher, after
				if _, ok := r.after(by.Name, probe-1, time.Time{}, asks); ok {
					t.Who = anybody
				} else if _, ok := r.after(by.Name, probe, r.now.Add(-time.Second), asks); ok && by.Name == of.Name {
					t.Who = older
					t.EqualsAfter, _ = by.Preemption.MinAdmitDuration.Get()
				}
				t.OnlyBorrowing = amount == much && by.Name != of.Name
				if threshold, ok := by.Preemption.BorrowWithinCohort.MaxPriorityThreshold.Get(); ok && t.OnlyBorrowing {
					t.UpTo = &threshold
				}
				return t
			}
		}
	}
	return t
}

// after returns how long the job keeps its place from such a request; ok is false if for good.
func (r *rightsOf) after(by string, priority int64, queued time.Time, asks quota.Amount) (after time.Duration, ok bool) {
	request := preemption.Request{Now: r.now, NeedsPreemption: []quota.FlavorResource{asks.FlavorResource()}, Workload: workload.Workload{
		ID: "guarantees/request", Queue: by, Priority: priority, Queued: queued,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{asks}}},
	}}
	for {
		e, err := r.preemptor.Exposure(r.snapshot, request, "guarantees/job")
		if err != nil || !e.MayYield && e.Keeps.Until.IsZero() {
			return 0, false
		}
		if e.MayYield {
			return request.Now.Sub(r.now).Truncate(time.Microsecond), true
		}
		request.Now = e.Keeps.Until.Add(time.Nanosecond)
	}
}
