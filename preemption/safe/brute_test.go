package safe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// brute asks all requests of a grid.
type brute struct {
	p     *preemption.Preemptor
	s     *preemption.Snapshot
	since time.Time
	room  bool // requests have no room but that of the workload
}

// roomOf is a room that there is without one workload.
type roomOf struct {
	id   string
	gone bool
}

func (r *roomOf) Remove(id string)  { r.gone = r.gone || id == r.id }
func (r *roomOf) Restore(id string) { r.gone = r.gone && id != r.id }
func (r *roomOf) Fits() bool        { return r.gone }

func newBrute(t *rapid.T, st preemption.State, c preemption.Config) *brute {
	p, err := preemption.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	return &brute{p: p, s: s}
}

// names reports whether a request makes a workload yield something that was not told to leave.
func (b *brute) names(id, q string, priority int64, queued, now time.Time, asks ...quota.Amount) bool {
	if !queued.IsZero() && queued.Before(b.since) {
		return false
	}
	r := preemption.Request{Now: now, Workload: workload.Workload{
		ID: "asks", Queue: q, Priority: priority, Queued: queued, PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: asks}},
	}}
	if b.room {
		r.Room = &roomOf{id: id}
	}
	d, err := b.p.Decide(b.s, r)
	return err == nil && d.Outcome == preemption.Preempt && slices.ContainsFunc(d.Victims, func(v preemption.Victim) bool {
		return v.Workload == id && !v.Leaving
	})
}

var (
	priorities = []int64{math.MinInt32, -2, -1, 0, 1, 2, 3, math.MaxInt32}
	ages       = []time.Time{{}, preemptiontest.Now.Add(-time.Hour), preemptiontest.Now.Add(-25 * time.Minute), preemptiontest.Now.Add(-5 * time.Minute), preemptiontest.Now.Add(15 * time.Minute)}
)

// grid is every instant of the generated worlds at which anything may change, and one nanosecond later.
func grid() (list []time.Time) {
	for m := range 16 {
		at := preemptiontest.Now.Add(time.Duration(m) * 5 * time.Minute)
		list = append(list, at, at.Add(1))
	}
	for m := range 4 {
		at := preemptiontest.Now.Add(time.Duration(10*m+1) * time.Minute)
		list = append(list, at, at.Add(1))
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}

// rows returns what a queue has quota for.
func (b *brute) rows(q *queue.Queue) (rows []preemption.QuotaStatus) {
	all, _ := b.s.QueueStatus(q.Name)
	return slices.DeleteFunc(all, func(row preemption.QuotaStatus) bool {
		return !slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool { return e.Flavor == row.Flavor && e.Resource == row.Resource })
	})
}

// amounts lists the amounts of one resource that are asked for alone: all that need preemption, or forty.
func amounts(row preemption.QuotaStatus) (list []quota.Amount) {
	for n := max(0, row.Available); n < row.PotentialAvailable && len(list) < 40; n++ {
		list = append(list, of(row, n+1))
	}
	return list
}

func of(row preemption.QuotaStatus, n int64) quota.Amount {
	return quota.Amount{Flavor: row.Flavor, Resource: row.Resource, Amount: n}
}

// drawn draws an amount, most often one that needs preemption.
func drawn(rnd *rand.Rand, row preemption.QuotaStatus) quota.Amount {
	return of(row, min(row.PotentialAvailable, max(1, quota.Add(max(0, row.Available), rnd.Int64N(7)-1))))
}

// anyOf returns a request of a queue that names a workload: all for one resource, and some for several.
func (b *brute) anyOf(rnd *rand.Rand, id string, q queue.Queue, now time.Time) string {
	if q.Inactive {
		return ""
	}
	rows, queued := b.rows(&q), ages
	if q.Preemption.WithinClusterQueue != queue.LowerOrNewerEqualPriority {
		queued = ages[:1]
	}
	var asks [][]quota.Amount
	for i, row := range rows {
		for _, a := range amounts(row) {
			asks = append(asks, []quota.Amount{a})
		}
		for range 6 * min(1, max(0, len(rows)-1)) {
			other := rows[(i+1+rnd.IntN(max(1, len(rows)-1)))%len(rows)]
			if pair := []quota.Amount{drawn(rnd, row), drawn(rnd, other)}; pair[1].Amount > 0 && row.FlavorResource != other.FlavorResource {
				asks = append(asks, pair)
			}
		}
	}
	for range 12 * max(0, len(rows)-2) {
		var all []quota.Amount
		for _, row := range rows {
			all = append(all, drawn(rnd, row))
		}
		asks = append(asks, all)
	}
	for _, p := range priorities {
		for _, at := range queued {
			for _, a := range asks {
				if b.names(id, q.Name, p, at, now, a...) {
					return fmt.Sprintf("%s asks %v with priority %d, queued %v", q.Name, a, p, at)
				}
			}
		}
	}
	return ""
}

// lesser returns a request for one resource that is less than that of an answer and names the workload.
func (b *brute) lesser(st preemption.State, id string, answer safe.Answer) string {
	r := answer.Request
	for _, q := range st.Queues {
		if q.Inactive || q.Name > r.Queue && len(r.Asks) == 1 {
			continue
		}
		for _, row := range b.rows(&q) {
			for _, p := range priorities {
				for _, a := range amounts(row) {
					same := len(r.Asks) == 1 && q.Name == r.Queue && p == r.Priority
					if same && (row.FlavorResource != r.Asks[0].FlavorResource() || a.Amount >= r.Asks[0].Amount) ||
						len(r.Asks) == 1 && q.Name == r.Queue && p > r.Priority {
						continue
					}
					for _, at := range []time.Time{{}, r.Queued} { // those of other ages may ask for less
						if b.names(id, q.Name, p, at, answer.At, a) {
							return fmt.Sprintf("%s asks %v with priority %d, queued %v", q.Name, a, p, at)
						}
					}
				}
			}
		}
	}
	return ""
}

// scaled returns a state with so many times as much of everything.
func scaled(st preemption.State, times int64) preemption.State {
	quotas := func(list []quota.Quota) {
		for i := range list {
			q := &list[i]
			if q.Nominal != quota.Unlimited {
				q.Nominal *= times
			}
			if n, ok := q.BorrowingLimit.Get(); ok {
				q.BorrowingLimit = quota.AtMost(n * times)
			}
			if n, ok := q.LendingLimit.Get(); ok {
				q.LendingLimit = quota.AtMost(n * times)
			}
		}
	}
	all := func(list []quota.Amount) {
		for i := range list {
			list[i].Amount *= times
		}
	}
	s, _ := preemption.NewSnapshot(st)
	st = s.State()
	for i := range st.Cohorts {
		quotas(st.Cohorts[i].Quotas)
		all(st.Cohorts[i].Reserved)
	}
	for i := range st.Queues {
		quotas(st.Queues[i].Quotas)
		all(st.Queues[i].Reserved)
	}
	for i := range st.Admitted {
		for j := range st.Admitted[i].PodSets {
			all(st.Admitted[i].PodSets[j].Requests)
		}
	}
	return st
}

var pointer = regexp.MustCompile("0x[0-9a-f]+")

// stripped is a text without pointers.
func stripped(text string) string { return pointer.ReplaceAllString(text, "") }
