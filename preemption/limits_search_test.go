package preemption_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// "A victim must be within each limit that it falls under", in each search, whatever is better.
func TestLimitsInEachSearch(t *testing.T) {
	declared := preemption.CostDeclared{}
	of := func(id string, gpus, cost int64, minutes int) workload.Workload {
		w := job(id, "q", 0, gpus, started(minutes))
		w.Loss.PerReplica = cost
		return w
	}
	leaving := func(w workload.Workload) workload.Workload {
		w.Evicted = true
		return w
	}
	elastic := func(w workload.Workload) workload.Workload {
		w.PodSets[0].MinCount = quota.Some(int64(0))
		return w
	}
	partly := func(w workload.Workload) workload.Workload {
		w.PodSets[0].MinCount, w.PodSets[0].Terminating = quota.Some(int64(0)), 1
		return w
	}
	victim := func(id string, minutes int) limits.Event {
		return limits.Event{Preemptor: "p", Victim: id, At: started(minutes), Class: limits.Class{PreemptingQueue: "other", PreemptedQueue: "q"}}
	}
	small := []workload.Workload{of("a", 1, 1, 1), of("b", 1, 1, 2), of("c", 1, 1, 3), of("large", 3, 4, 4)}
	two := []workload.Workload{of("a", 2, 9, 1), of("b", 2, 7, 2), of("c", 2, 5, 3)}
	for _, c := range []struct {
		about   string
		running []workload.Workload
		asks    int64
		limit   limits.Limit
		events  []limits.Event
		cost    preemption.Cost
		want    [3]string // of the searches; a number: minutes until RetryAt
	}{
		{"three are enough for all", small, 3, limits.Limit{Limit: 3}, nil, nil, [...]string{"a b c", "large", "large"}},
		{"two are too few in order", small, 3, limits.Limit{Limit: 2}, nil, nil, [...]string{"never", "never", "large"}},
		{"one left of two", small, 3, limits.Limit{Limit: 2}, []limits.Event{victim("x", 4)}, nil, [...]string{"never", "never", "large"}},
		{"none left before six minutes", small, 3, limits.Limit{Limit: 1}, []limits.Event{victim("x", 4)}, nil, [...]string{"never", "never", "6"}},
		{"more than may be left", small, 3, limits.Limit{Limit: 1}, []limits.Event{victim("x", 4), victim("y", 3), victim("z", 2)}, nil, [...]string{"never", "never", "8"}},
		{"of another queue", small, 3, limits.Limit{Limit: 1, Scope: limits.PreemptingClusterQueue}, []limits.Event{victim("x", 4)}, nil, [...]string{"never", "never", "large"}},
		{"of the victims' queue", small, 3, limits.Limit{Limit: 1, Scope: limits.PreemptedClusterQueue}, []limits.Event{victim("x", 4)}, nil, [...]string{"never", "never", "6"}},
		{"zero forbids for ever", small, 3, limits.Limit{}, nil, nil, [...]string{"never", "never", "never"}},
		{"two for two is no exchange", []workload.Workload{of("a", 2, 5, 1), of("b", 2, 5, 2), of("small", 1, 0, 3), of("large", 3, 6, 4)}, 4,
			limits.Limit{Limit: 9}, nil, declared, [...]string{"a b", "a b", "large small"}},
		{"the cheapest was preempted before", two, 2, limits.Limit{Limit: 1, Scope: limits.PreemptedWorkload}, []limits.Event{victim("c", 4)}, declared, [...]string{"a", "b", "b"}},
		{"without it, and at the end of the window", two, 2, limits.Limit{Limit: 1, Scope: limits.PreemptedWorkload}, []limits.Event{victim("c", 10)}, declared, [...]string{"a", "c", "c"}},
		{"replicas beside those that leave are counted", []workload.Workload{of("a", 2, 1, 1), partly(of("e", 2, 0, 2))}, 4, limits.Limit{Limit: 1}, nil, nil, [...]string{"never", "never", "never"}},
		{"those that leave are not", []workload.Workload{of("a", 2, 1, 1), partly(of("e", 2, 0, 2))}, 3, limits.Limit{Limit: 1}, nil, nil, [...]string{"never", "never", "a e"}},
		{"who is leaving was counted", []workload.Workload{of("a", 1, 0, 1), leaving(of("b", 1, 0, 2)), leaving(of("c", 1, 0, 3))}, 3, limits.Limit{Limit: 1}, nil, nil, [...]string{"a b c", "a b c", "a b c"}},
		{"replicas are one", []workload.Workload{elastic(of("a", 3, 0, 1)), of("b", 1, 0, 2)}, 2, limits.Limit{Limit: 1}, nil, nil, [...]string{"a", "a", "a"}},
	} {
		st := preemption.State{Queues: []queue.Queue{{Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}}}, Admitted: c.running}
		used := int64(0)
		for _, w := range c.running {
			used += w.PodSets[0].Count
		}
		st.Queues[0].Quotas = gpus(used)
		if c.limit.Scope == 0 {
			c.limit.Scope = limits.Global
		}
		c.limit.Name, c.limit.Window = "some limit", quota.Some(10*time.Minute)
		r := pending("q", 1, c.asks)
		r.History, _ = limits.NewHistory(c.events)
		for n, config := range searches {
			config.Cost, config.Limits = c.cost, []limits.Limit{c.limit}
			d := decideWith(t, config, snapshotOf(t, st), r)
			var got []string
			for _, v := range d.Victims {
				got = append(got, v.Workload)
			}
			text := strings.Join(got, " ")
			switch d.Outcome {
			case preemption.Wait:
				text = strings.TrimSuffix(d.RetryAt.Sub(now).String(), "m0s")
			case preemption.Impossible:
				text = "never"
			}
			if text != c.want[n] {
				t.Errorf("%s: %v: %s, want %s", c.about, searchOf(config), text, c.want[n])
			}
			if refused := len(d.Blockers) > 0 && d.Blockers[0].Rule == preemption.RuleLimit && d.Blockers[0].SetBy == "some limit"; refused == d.Possible() {
				t.Errorf("%s: %v: blockers %+v of %s", c.about, searchOf(config), d.Blockers, text)
			}
			verified(t, st, r, config, d)
		}
	}
}

// atMost is a limit of all preemptions in an hour.
func atMost(n int64) []limits.Limit {
	return []limits.Limit{{Name: "l", Scope: limits.Global, Limit: n, Window: quota.Some(time.Hour)}}
}

// Where limits leave the policies nobody, rules come after them, with any search.
func TestLimitsOfPoliciesAndRules(t *testing.T) {
	st := preemption.State{
		Queues: []queue.Queue{
			{Name: "a", Cohort: "all", Quotas: gpus(2), Rules: "config", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority}, Labels: map[string]string{"team": "a"}},
			{Name: "b", Cohort: "all", Quotas: gpus(1)},
		},
		Cohorts:  []queue.Cohort{{Name: "all"}},
		Admitted: []workload.Workload{job("own", "a", 0, 2, started(3)), job("other", "b", 0, 1, started(2))},
		Rules: []rules.Config{{Name: "config", Rules: []rules.Rule{{Name: "any", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always},
			CandidateSelectors: []rules.CandidateSelector{{Scope: rules.AnyClusterQueue}}}}}},
	}
	r := pending("a", 1, 1)
	for _, config := range searches {
		config.Limits = []limits.Limit{{
			Name: "not in a", Scope: limits.Global, Window: quota.Some(time.Hour), PreemptedQueues: &workload.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
		}}
		d := decideWith(t, config, snapshotOf(t, st), r)
		if text(d) != "Preempt: other ConfigurablePreemption" || d.Proof != nil {
			t.Errorf("%v: %s, %+v", searchOf(config), text(d), d.Proof)
		}
		verified(t, st, r, config, d)
	}
}

// drawSearched draws a question for a search with, of three of four, limits. Every second question
// is about many small workloads, of which many sets are enough.
func drawSearched(t *rapid.T, records *rapid.Generator[preemption.Record]) (config preemption.Config, st preemption.State, r preemption.Request) {
	record := records.Draw(t, "record")
	config = preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &record.State)
	if st, r = record.State, *record.Request; rapid.Bool().Draw(t, "many small") {
		st, r = manySmall(t)
	}
	switch rapid.IntRange(0, 3).Draw(t, "limited") {
	case 1:
		limit(t, &config, &st, &r)
	case 2, 3:
		limitSome(t, &config, &st, &r)
	}
	return config, st, r
}

// limitSome draws a limit that leaves some sets.
func limitSome(t *rapid.T, c *preemption.Config, st *preemption.State, r *preemption.Request) {
	scope := rapid.SampledFrom([]limits.Scope{limits.Global, limits.PreemptedClusterQueue, limits.PreemptedClusterQueue, limits.PreemptedWorkload, limits.PreemptedWorkload}).Draw(t, "scope")
	c.Limits = []limits.Limit{{Name: "l", Scope: scope, Limit: rapid.Int64Range(1, 2).Draw(t, "limit"), Window: quota.Some(20 * time.Minute)}}
	var events []limits.Event
	for range rapid.IntRange(0, 4).Draw(t, "events") {
		if len(st.Admitted) > 0 {
			w := rapid.SampledFrom(st.Admitted).Draw(t, "victim")
			ago := rapid.IntRange(0, 25).Draw(t, "ago")
			events = append(events, limits.Event{Preemptor: "earlier", Victim: w.ID, At: r.Now.Add(-time.Duration(ago) * time.Minute), Class: limits.Class{PreemptingQueue: r.Workload.Queue, PreemptedQueue: w.Queue}})
		}
	}
	r.History, _ = limits.NewHistory(events)
}

// manySmall draws workloads of several queues that borrow from the one that asks, and of its own.
func manySmall(t *rapid.T) (st preemption.State, r preemption.Request) {
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: rapid.SampledFrom([]queue.VictimPolicy{queue.Any, queue.LowerPriority}).Draw(t, "reclaim")}
	st.Cohorts = []queue.Cohort{{Name: "all"}}
	used := map[string]int64{}
	for i := range rapid.IntRange(4, 9).Draw(t, "workloads") {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "queue")
		w := job(string(rune('m'+i)), name, rapid.Int64Range(0, 1).Draw(t, "priority"), rapid.Int64Range(1, 4).Draw(t, "gpus"), started(i))
		w.Evicted = rapid.IntRange(0, 9).Draw(t, "evicted") == 9
		if rapid.IntRange(0, 9).Draw(t, "elastic") == 9 {
			w.PodSets[0].MinCount = quota.Some(int64(1))
		}
		used[name] += w.PodSets[0].Count
		st.Admitted = append(st.Admitted, w)
	}
	all := used["a"] + used["b"] + used["c"]
	for _, name := range []string{"c", "b", "a"} {
		nominal := all // who asks has what the others borrow
		if name != "a" {
			nominal = rapid.Int64Range(0, min(all, 1)).Draw(t, "nominal")
		}
		all -= nominal
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: "all", Quotas: gpus(nominal), Preemption: policy})
	}
	return st, pending("a", 2, rapid.Int64Range(2, 6).Draw(t, "asks"))
}

type searched struct {
	config preemption.Config
	st     preemption.State
	r      preemption.Request
}

// searchedQuestions are those of the laws of both searches.
var searchedQuestions = rapid.Custom(func(t *rapid.T) (q searched) {
	q.config, q.st, q.r = drawSearched(t, preemptiontest.Records())
	q.config.Search, q.config.Best.Steps = preemption.Best, rapid.SampledFrom([]int{0, -1}).Draw(t, "steps")
	q.config.Cost = drawCost(t, &q.st)
	return q
})

// The questions of the laws of both searches meet limits often enough.
func TestLimitedSearchesReach(t *testing.T) {
	count := map[string]int{}
	reached := func(about string, least int) {
		t.Helper()
		if t.Logf("%s: %d", about, count[about]); count[about] < least {
			t.Errorf("%s: %d, want at least %d", about, count[about], least)
		}
	}
	inOrder := func(s *preemption.Snapshot, c preemption.Config, r preemption.Request) []preemption.Victim {
		c.Search, c.Best, c.Cost = preemption.Greedy, preemption.BestSearch{}, nil
		return decideWith(t, c, s, r).Victims
	}
	for seed := range 6000 {
		q := searchedQuestions.Example(seed)
		s := snapshotOf(t, q.st)
		free := q.config
		free.Limits = nil
		d, without, greedy := decideWith(t, q.config, s, q.r), decideWith(t, free, s, q.r), inOrder(s, q.config, q.r)
		of := func(about string, is bool) {
			if is {
				count[searchOf(q.config)+": "+about]++
			}
		}
		differs := !cmp.Equal(d.Victims, without.Victims)
		of("victims within limits", len(d.Victims) > 0)
		of("other victims", len(d.Victims) > 0 && differs)
		of("other victims, with the same ones in order", len(d.Victims) > 0 && differs && cmp.Equal(greedy, inOrder(s, free, q.r)))
		of("others than in order", len(d.Victims) > 0 && len(greedy) > 0 && !cmp.Equal(d.Victims, greedy))
		of("refused by limits", len(d.Victims) == 0 && len(without.Victims) > 0)
		of("until an event leaves", d.Outcome == preemption.Wait && len(without.Victims) > 0)
		if q.config.Best.Steps >= 0 {
			of("refused in order", len(d.Victims) > 0 && len(greedy) == 0)
		}
	}
	for about, least := range map[string]int{
		"victims within limits": 300, "other victims": 25, "other victims, with the same ones in order": 1, "others than in order": 30,
		"refused by limits": 100, "until an event leaves": 50,
	} {
		for _, search := range []string{"Best", "exchanges alone"} {
			reached(search+": "+about, least)
		}
	}
	reached("Best: refused in order", 10)
}
