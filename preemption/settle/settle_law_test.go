package settle_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// lowered draws a state in which some quotas and limits were lowered.
func lowered(t *rapid.T) preemption.State {
	st := preemptiontest.States().Draw(t, "state")
	lower := func(list []quota.Quota) []quota.Quota {
		list = slices.Clone(list)
		for i := range list {
			q := &list[i]
			part := rapid.SampledFrom([]int64{1, 1, 2, 3, 0}).Draw(t, "part")
			if part != 1 && part != 0 {
				q.Nominal /= part
			} else if part == 0 {
				q.Nominal = 0
			}
			if limit, ok := q.LendingLimit.Get(); ok {
				q.LendingLimit = quota.AtMost(min(limit, q.Nominal))
			}
			if limit, ok := q.BorrowingLimit.Get(); ok && part > 1 {
				q.BorrowingLimit = quota.AtMost(limit / part)
			}
		}
		return list
	}
	st.Cohorts, st.Queues = slices.Clone(st.Cohorts), slices.Clone(st.Queues)
	for i := range st.Cohorts {
		st.Cohorts[i].Quotas = lower(st.Cohorts[i].Quotas)
	}
	for i := range st.Queues {
		st.Queues[i].Quotas = lower(st.Queues[i].Quotas)
	}
	return st
}

// request draws a request about a state.
func request(t *rapid.T, st preemption.State) settle.Request {
	r := settle.Request{Now: preemptiontest.Now}
	nodes := []settle.Node{}
	for _, c := range st.Cohorts {
		nodes = append(nodes, settle.Node{Cohort: c.Name})
	}
	for _, q := range st.Queues {
		nodes = append(nodes, settle.Node{Queue: q.Name})
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(nodes), 0, 3, rapid.ID[settle.Node])
	if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
		r.Nodes = some.Draw(t, "nodes")
	}
	for _, n := range some.Draw(t, "delayed") {
		r.Delays = append(r.Delays, settle.Delay{Node: n, For: time.Duration(rapid.IntRange(0, 20).Draw(t, "delay")) * time.Minute})
	}
	for _, n := range some.Draw(t, "observed") {
		r.Since = append(r.Since, settle.Since{Node: n, At: r.Now.Add(-time.Duration(rapid.IntRange(0, 20).Draw(t, "since")) * time.Minute)})
	}
	if rapid.IntRange(0, 4).Draw(t, "gentle") == 0 {
		r.MaxVictims = rapid.IntRange(1, 3).Draw(t, "most")
	}
	return r
}

func decided(t *rapid.T, c preemption.Config, st preemption.State, r settle.Request) settle.Answer {
	s := must(preemption.NewSnapshot(st))(t)
	p := must(preemption.New(c))(t)
	return must(settle.Decide(p, s, r))(t)
}

// The judge has nothing against any answer.
func answersVerify(t *rapid.T) {
	st := lowered(t)
	c, r := preemptiontest.Configs().Draw(t, "config"), request(t, st)
	if rapid.Bool().Draw(t, "costs") {
		c.Cost = preemption.CostByAge{}
		if c.Sharing != preemption.Reevaluated {
			searched := rapid.SampledFrom([]preemption.Config{{}, {Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}, {Search: preemption.Best}}).Draw(t, "search")
			c.Search, c.Best = searched.Search, searched.Best
		}
	}
	a := decided(t, c, st, r)
	if err := verify.Settlement(st, r, c, a); err != nil {
		t.Fatalf("%v\n%+v", err, a)
	}
}

func TestAnswersVerify(t *testing.T) { rapid.Check(t, answersVerify) }

// "Settling again after them gives the same Remaining and no new victim."
func settlingEnds(t *rapid.T) {
	st := lowered(t)
	c, r := preemptiontest.Configs().Draw(t, "config"), request(t, st)
	first := decided(t, c, st, r)
	s := must(preemption.NewSnapshot(st))(t)
	s = must(s.With(first.Edits()...))(t)
	again := decided(t, c, s.State(), r)
	if r.MaxVictims > 0 {
		for _, v := range again.Victims {
			if slices.ContainsFunc(first.Victims, func(o preemption.Victim) bool { return o.Workload == v.Workload && len(o.Replicas) == 0 }) {
				t.Fatalf("%q is taken twice", v.Workload)
			}
		}
		return
	}
	if len(again.Victims) > 0 || !slices.Equal(again.Remaining, first.Remaining) || !again.RetryAt.Equal(first.RetryAt) {
		t.Fatalf("first %s\nagain %s", told(first), told(again))
	}
}

func TestSettlingEnds(t *testing.T) { rapid.Check(t, settlingEnds) }

// "RetryAt is the first instant at which asking again gets more, if the victims leave and nothing else but time changes": then some
// leave, a nanosecond before none; without one, none ever.
func retryAtIsFirst(t *rapid.T) {
	st := lowered(t)
	c, r := preemptiontest.Configs().Draw(t, "config"), request(t, st)
	c.MaxRetrySteps, r.MaxVictims = 0, 0
	first := decided(t, c, st, r)
	if len(first.Remaining) == 0 {
		return
	}
	for _, e := range first.Excess {
		n := settle.Node{Queue: e.Queue, Cohort: e.Cohort}
		if !slices.ContainsFunc(r.Since, func(o settle.Since) bool { return o.Node == n }) { // it is over since the first request
			r.Since = append(r.Since, settle.Since{Node: n, At: r.Now})
		}
	}
	s, _ := preemption.NewSnapshot(st)
	s = must(s.With(first.Edits()...))(t)
	at := func(now time.Time) settle.Answer {
		r.Now = now
		return decided(t, c, s.State(), r)
	}
	if first.RetryAt.IsZero() {
		if then := at(preemptiontest.Now.Add(1000 * time.Hour)); len(then.Victims) > 0 {
			t.Fatalf("later: %s\nfirst: %s", told(then), told(first))
		}
		return
	}
	if !first.RetryAt.After(r.Now) {
		t.Fatalf("more may leave now: %s", told(first))
	}
	if then := at(first.RetryAt); len(then.Victims) == 0 {
		t.Fatalf("at RetryAt: %s\nfirst: %s", told(then), told(first))
	}
	if before := at(first.RetryAt.Add(-1)); len(before.Victims) > 0 {
		t.Fatalf("before RetryAt: %s\nfirst: %s", told(before), told(first))
	}
}

func TestRetryAtIsFirst(t *testing.T) { rapid.Check(t, retryAtIsFirst) }

// With the Exact search an answer about one cohort has the fewest victims of all sets that may leave: each workload of such a
// set leaves while its queue uses more than its own quota, in some order, and the cohort is then within what it may use.
func fewestOfAllSets(t *rapid.T) {
	st := preemption.State{Cohorts: []queue.Cohort{{Name: "all"}}}
	own := map[string]int64{}
	for _, name := range []string{"a", "b", "c"} {
		own[name] = rapid.Int64Range(0, 4).Draw(t, "nominal")
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "all", Quotas: gpus(own[name])})
	}
	used, over := map[string]int64{}, -own["a"]-own["b"]-own["c"]
	for i := range rapid.IntRange(1, 9).Draw(t, "workloads") {
		in := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "queue")
		w := job(fmt.Sprint(in, i), 0, rapid.Int64Range(1, 5).Draw(t, "gpus"), i)
		w.NeverYields = rapid.IntRange(0, 5).Draw(t, "never") == 0
		st.Admitted = append(st.Admitted, w)
		used[in] += size(&w)
		over += size(&w)
	}
	if over <= 0 {
		return
	}
	fewest := 0 // none
	for set := uint(1); set < 1<<len(st.Admitted); set++ {
		if n := bits.OnesCount(set); (fewest == 0 || n < fewest) && mayLeave(&st, own, used, set, over) {
			fewest = n
		}
	}
	a := decided(t, preemption.Config{Search: preemption.Best}, st, settle.Request{Now: now})
	switch {
	case fewest == 0 && len(a.Remaining) == 0:
		t.Fatalf("%s, but no set may leave", told(a))
	case fewest > 0 && (len(a.Remaining) > 0 || len(a.Victims) != fewest || !a.Proof.Optimal):
		t.Fatalf("%s, proof %+v, but %d suffice", told(a), a.Proof, fewest)
	}
}

// mayLeave reports whether a set frees as much as is over, and has an order in which each of its workloads may leave: of one queue
// the order in which the largest is the last.
func mayLeave(st *preemption.State, own, used map[string]int64, set uint, over int64) bool {
	left, largest := map[string]int64{}, map[string]int64{}
	for i := range st.Admitted {
		if w := &st.Admitted[i]; set>>i&1 == 1 {
			if w.NeverYields {
				return false
			}
			over -= size(w)
			left[w.Queue] += size(w)
			largest[w.Queue] = max(largest[w.Queue], size(w))
		}
	}
	for in, freed := range left {
		if used[in]-(freed-largest[in]) <= own[in] { // before the last one leaves
			return false
		}
	}
	return over <= 0
}

func size(w *workload.Workload) int64 { return w.PodSets[0].Requests[0].Amount }

func TestFewestOfAllSets(t *testing.T) { rapid.Check(t, fewestOfAllSets) }

type fatal interface {
	Helper()
	Fatal(...any)
}

// must returns what came without an error.
func must[T any](v T, err error) func(fatal) T {
	return func(t fatal) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
