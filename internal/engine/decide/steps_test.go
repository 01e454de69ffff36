package decide

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// crowd is one cohort: "small" has room for as many as run, which all are in "big"; each
// takes one. Nothing is in "idle", which has no quota.
func crowd(t *testing.T, workloads int) *cluster.Cluster {
	t.Helper()
	of := func(n int) []quota.Quota {
		return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: int64(n)}}
	}
	reclaims := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	var admitted []workload.Workload
	for i := range workloads {
		admitted = append(admitted, workload.Workload{
			ID: fmt.Sprintf("w%06d", i), Queue: "big", Priority: int64(i % 5), ReservedAt: time.Unix(int64(i), 0),
			PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 1}}}},
		})
	}
	c, err := cluster.New([]queue.Cohort{{Name: "c"}}, []queue.Queue{
		{Name: "big", Cohort: "c", Quotas: of(0), Preemption: reclaims},
		{Name: "small", Cohort: "c", Quotas: of(workloads), Preemption: reclaims},
		{Name: "idle", Cohort: "c", Quotas: of(0), Preemption: reclaims},
	}, admitted)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(c *cluster.Cluster, queueName string, priority, amount int64) *right.Request {
	node, _ := c.QueueNode(queueName)
	return &right.Request{
		Queue: node, Priority: priority,
		Columns: []int{c.Columns.Number(quota.FlavorResource{Flavor: "f", Resource: "r"})},
		Amounts: []int64{amount}, Needs: []bool{true},
	}
}

// Candidates come lazily: as many workloads are looked at as are taken, and a few
// more, however many there are.
func TestStepsGrowWithTheAnswer(t *testing.T) {
	var s Searcher
	for _, workloads := range []int{100, 10_000} {
		c := crowd(t, workloads)
		for _, victims := range []int64{1, 8, 80} {
			for _, name := range []string{"small", "big"} {
				found := s.Search(c, ask(c, name, 10, victims), nil, 16)
				if len(found.Victims) != int(victims) {
					t.Fatalf("%d victims, want %d", len(found.Victims), victims)
				}
				if most := int(victims) + 8; found.Steps > most {
					t.Errorf("%d workloads, %d victims from %s: %d steps, want at most %d", workloads, victims, name, found.Steps, most)
				}
			}
		}
	}
}

// A request of the lowest priority looks at one workload of each donor.
func TestStepsOfNoCandidate(t *testing.T) {
	var s Searcher
	c := crowd(t, 10_000)
	found := s.Search(c, ask(c, "big", 0, 1), nil, 16)
	if len(found.Victims) > 0 || found.Steps > 8 {
		t.Errorf("%d victims, %d steps", len(found.Victims), found.Steps)
	}
}

// Protected workloads are passed over by their time, one look for each priority: those
// of a priority stand by reservation, and the protected ones first.
func TestStepsPassProtected(t *testing.T) {
	var s Searcher
	c := crowd(t, 10_000)
	r := ask(c, "big", 10, 4)
	r.Now = int64(5000 * time.Second)
	r.MinRuntime.Preempt = quota.Some(1000 * time.Second) // who came at 4000 or later
	found := s.Search(c, r, nil, 16)
	if len(found.Victims) != 4 || found.Steps > 16 {
		t.Errorf("%d victims, %d steps, want 4 and at most 16", len(found.Victims), found.Steps)
	}
}

// What others use is passed over by the sums: many workloads of another flavor, all
// before the first of the one that is needed.
func TestStepsPassOtherFlavors(t *testing.T) {
	var admitted []workload.Workload
	for i := range 20_000 {
		flavor, priority := "f", int64(1)
		if i >= 100 {
			flavor, priority = "other", 0
		}
		admitted = append(admitted, workload.Workload{
			ID: fmt.Sprintf("w%06d", i), Queue: "q", Priority: priority, ReservedAt: time.Unix(int64(i), 0),
			PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: flavor, Resource: "r", Amount: 1}}}},
		})
	}
	c, err := cluster.New(nil, []queue.Queue{{
		Name: "q", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		Quotas: []quota.Quota{{Flavor: "f", Resource: "r", Nominal: 100}, {Flavor: "other", Resource: "r", Nominal: 20_000}},
	}}, admitted)
	if err != nil {
		t.Fatal(err)
	}
	var s Searcher
	found := s.Search(c, ask(c, "q", 10, 4), nil, 16)
	if len(found.Victims) != 4 || found.Steps > 64 {
		t.Errorf("%d victims, %d steps, want 4 and at most 64", len(found.Victims), found.Steps)
	}
}

// A request that the sums refuse costs a few looks, however many candidates there are;
// one that asks for all of them but one is refused without taking any.
func TestStepsOfTheHopeless(t *testing.T) {
	var s Searcher
	for _, workloads := range []int{1000, 100_000} {
		c := crowd(t, workloads)
		for _, fair := range []right.Fairness{{}, {First: right.FinalShare, Second: right.InitialShare}} {
			r := ask(c, "big", 3, int64(workloads)-1) // three fifths may yield
			r.Fair = fair
			if found := s.Search(c, r, nil, 16); len(found.Victims) > 0 || len(found.Shortages) == 0 || found.Steps > 16 {
				t.Errorf("%d workloads, %+v: %d victims, %d steps", workloads, fair, len(found.Victims), found.Steps)
			}
		}
	}
}

// Fair sharing looks at as many workloads as it takes, and a few more.
func TestStepsOfFairSharing(t *testing.T) {
	var s Searcher
	for _, workloads := range []int{1000, 100_000} {
		c := crowd(t, workloads)
		for _, victims := range []int64{1, 8, 80} {
			r := ask(c, "small", 10, victims)
			r.Fair = right.Fairness{First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: true}
			if found := s.Search(c, r, nil, 16); len(found.Victims) != int(victims) || found.Steps > int(victims)+8 {
				t.Errorf("%d workloads: %d victims, want %d, in %d steps", workloads, len(found.Victims), victims, found.Steps)
			}
		}
	}
}

// That a reclaim is hopeless is said by one sum a level, without a look at any of the many
// queues that borrow, at every step of a tree of cohorts.
func TestHopelessReclaimLooksAtNoQueue(t *testing.T) {
	of := func(n int64) []quota.Quota { return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: n}} }
	const cohorts, queues = 20, 50 // each
	list := []queue.Cohort{{Name: "root"}}
	asking := []queue.Queue{{
		Name: "asks", Cohort: "root", Quotas: of(2 * cohorts * queues), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority},
	}}
	var admitted []workload.Workload
	for i := range cohorts {
		name := fmt.Sprintf("c%02d", i)
		list = append(list, queue.Cohort{Name: name, Parent: "root"})
		for j := range queues {
			borrower := fmt.Sprintf("%s-%02d", name, j)
			asking = append(asking, queue.Queue{Name: borrower, Cohort: name, Quotas: of(0)})
			for priority := range int64(2) {
				admitted = append(admitted, workload.Workload{
					ID: fmt.Sprintf("%s-%d", borrower, priority), Queue: borrower, Priority: priority, ReservedAt: time.Unix(1, 0),
					PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 1}}}},
				})
			}
		}
	}
	c, err := cluster.New(list, asking, admitted)
	if err != nil {
		t.Fatal(err)
	}
	var s Searcher
	for _, fair := range []right.Fairness{{}, {First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: true}} {
		r := ask(c, "asks", 1, cohorts*queues+1) // half of all may yield
		r.Fair, r.Trace = fair, new(trace.Recorder)
		found := s.Search(c, r, nil, 4)
		by := slices.DeleteFunc(r.Trace.Steps, func(step trace.Step) bool { return step.Kind != trace.Hopeless })
		if len(found.Victims) > 0 || len(found.Shortages) != 1 || found.Shortages[0].Missing != 1 || len(by) != 1 || by[0].Bound != trace.InReach {
			t.Errorf("%+v: %d victims, shortages %+v, hopeless by %+v", fair, len(found.Victims), found.Shortages, by)
		}
		r.Trace = nil
		if r.Amounts[0]--; len(s.Search(c, r, nil, 4).Victims) != cohorts*queues {
			t.Errorf("%+v: not all that may yield do", fair)
		}
	}
}

// When everybody is protected, the instant at which enough are not is found by the sums,
// without a look at each of them, or a trial of each instant before it.
func TestStepsOfRetry(t *testing.T) {
	var s Searcher
	for _, workloads := range []int64{1000, 100_000} {
		c := crowd(t, int(workloads))
		minimum := time.Duration(2*workloads) * time.Second
		for _, fair := range []right.Fairness{{}, {First: right.FinalShare, Second: right.InitialShare, EntitlesNominal: true}} {
			for _, ask := range []*right.Request{ask(c, "small", 10, 4), ask(c, "big", 10, 4), ask(c, "big", 10, workloads/2)} {
				ask.Now, ask.Retry.MaxSteps, ask.Fair = workloads*int64(time.Second), 1_000_000, fair
				ask.MinRuntime = minruntime.Defaults{Preempt: quota.Some(minimum), Reclaim: quota.Some(minimum)}
				want := (ask.Amounts[0]-1)*int64(time.Second) + int64(minimum) + 1
				found := s.Search(c, ask, nil, 16)
				if !found.Waits || found.RetryAt != want || found.Steps > 400 {
					t.Errorf("%d of %d workloads, %+v: %v until %d, want %d, in %d steps", ask.Amounts[0], workloads, fair, found.Waits, found.RetryAt, want, found.Steps)
				}
			}
		}
	}
}

// Whom no attempt can take is no reason to wait for: a queue that may not borrow by
// preemption looks at nobody outside of it.
func TestStepsOfNoRetry(t *testing.T) {
	var s Searcher
	for _, workloads := range []int64{1000, 100_000} {
		c := crowd(t, int(workloads))
		r := ask(c, "idle", 10, 4)
		r.Retry.MaxSteps = 1_000_000
		r.MinRuntime.Reclaim = quota.Some(time.Duration(2*workloads) * time.Second)
		if found := s.Search(c, r, nil, 16); found.Waits || len(found.Victims) > 0 || found.Steps > 16 {
			t.Errorf("%d workloads: %v, %d victims, %d steps", workloads, found.Waits, len(found.Victims), found.Steps)
		}
	}
}

// Of each queue only one workload may be taken, which leaves it within its nominal quota. So a
// quarter of all workloads would be enough, and half of the queues are needed: each instant in
// between costs a look at the queue that changes then, not a trial of them all.
func TestStepsOfManyInstants(t *testing.T) {
	of := func(n int64) []quota.Quota { return []quota.Quota{{Flavor: "f", Resource: "r", Nominal: n}} }
	const queues, minimum = 200, 1000 * time.Second
	list := []queue.Queue{{
		Name: "asks", Cohort: "c", Quotas: of(queues), Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: queue.LowerPriority},
	}}
	var admitted []workload.Workload
	for i := range queues { // each borrows one
		list = append(list, queue.Queue{Name: fmt.Sprintf("q%03d", i), Cohort: "c", Quotas: of(3)})
		for range 2 {
			admitted = append(admitted, workload.Workload{
				ID: fmt.Sprintf("w%03d", len(admitted)), Queue: list[i+1].Name, ReservedAt: time.Unix(int64(i), 0),
				PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "r", Amount: 2}}}},
			})
		}
	}
	c, err := cluster.New([]queue.Cohort{{Name: "c"}}, list, admitted)
	if err != nil {
		t.Fatal(err)
	}
	r := ask(c, "asks", 1, queues)
	r.Now, r.Retry.MaxSteps = queues*int64(time.Second), 1_000_000
	r.MinRuntime.Reclaim = quota.Some(minimum)
	var s Searcher
	found, want := s.Search(c, r, nil, 4), (queues/2-1)*int64(time.Second)+int64(minimum)+1
	if !found.Waits || found.RetryAt != want || found.Steps > 20*queues {
		t.Errorf("%v until %d, want %d, in %d steps", found.Waits, found.RetryAt, want, found.Steps)
	}
}
