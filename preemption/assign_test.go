package preemption_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// inFlavors returns amounts of GPUs in flavor A, then in B.
func inFlavors(a, b int64) []quota.Quota {
	return []quota.Quota{{Flavor: "A", Resource: "gpu", Nominal: a}, {Flavor: "B", Resource: "gpu", Nominal: b}}
}

func runs(id, queueName string, priority int64, flavor string, gpus int64) workload.Workload {
	w := job(id, queueName, priority, gpus, started(5))
	w.PodSets[0].Requests[0].Flavor = flavor
	return w
}

// asks returns a request of queue a, with priority 10, for an amount of GPUs in each pod set.
func asks(gpus ...int64) preemption.Request {
	r := pending("a", 10, 0)
	r.Workload.PodSets = nil
	for i, n := range gpus {
		r.Workload.PodSets = append(r.Workload.PodSets, workload.PodSet{
			Name: fmt.Sprintf("set%d", i), Count: n, Requests: []quota.Amount{{Resource: "gpu", Amount: 1}},
		})
	}
	return r
}

// assignmentText is "outcome:", then of each choice the flavor, the modes of its
// resources, and in brackets why flavors were passed.
func assignmentText(d preemption.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v:", d.Outcome)
	for _, c := range d.Assignment {
		flavor := c.Flavor
		if flavor == "" {
			flavor = "none"
		}
		fmt.Fprintf(&b, " %s", flavor)
		for _, r := range c.Resources {
			fmt.Fprintf(&b, " %v", r.Mode)
			if r.Possibility != 0 {
				fmt.Fprintf(&b, "/%v", r.Possibility)
			}
			if r.BorrowHeight > 0 {
				fmt.Fprintf(&b, "+%d", r.BorrowHeight)
			}
		}
		var passed []string
		for _, t := range c.Tried {
			if t.Skipped != 0 {
				passed = append(passed, t.Flavor+" "+t.Skipped.String())
			}
		}
		if len(passed) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(passed, ", "))
		}
	}
	return b.String()
}

var (
	tryBoth     = queue.FlavorFungibility{WhenCanBorrow: queue.TryNextFlavor, WhenCanPreempt: queue.TryNextFlavor}
	stopPreempt = queue.FlavorFungibility{WhenCanPreempt: queue.MayStopSearch}
)

// The cluster of most cases: queue a and its neighbour b in cohort c, which is a root.
func pair(a, b []quota.Quota, f queue.FlavorFungibility, admitted ...workload.Workload) preemption.State {
	return preemption.State{
		Cohorts: []queue.Cohort{{Name: "c"}},
		Queues: []queue.Queue{
			{Name: "a", Cohort: "c", Quotas: a, Preemption: reclaims, FlavorFungibility: f}, {Name: "b", Cohort: "c", Quotas: b},
		},
		Admitted: admitted,
	}
}

// Kueue's flavor assigner as built, a sentence each, beside those that the derivations show (flavors.txt).
func TestFlavorAssignment(t *testing.T) {
	preferPreempting := tryBoth
	preferPreempting.Preference = queue.PreemptionOverBorrowing
	whileBorrowing := pair(inFlavors(0, 0), inFlavors(4, 0), stopPreempt, runs("b1", "b", 0, "A", 6))
	whileBorrowing.Queues[0].Quotas = inFlavors(2, 0)
	whileBorrowing.Queues[0].Preemption.BorrowWithinCohort.Policy = queue.LowerPriority
	under := pair(inFlavors(1, 0), nil, stopPreempt, runs("b1", "b", 0, "A", 4))
	under.Cohorts = []queue.Cohort{{Name: "c", Parent: "root", Quotas: inFlavors(3, 0)}, {Name: "root"}}
	under.Queues[1].Cohort = "root"
	local := pair(inFlavors(4, 0), inFlavors(2, 0), stopPreempt)
	local.Queues[0].Quotas[0].LendingLimit = quota.AtMost(1) // keeps 3 of the 8: 5 are left, for which c has 3
	local.Cohorts = []queue.Cohort{
		{Name: "c", Parent: "m", Quotas: inFlavors(0, 0)}, // keeps 2: 3 are left, and m has 3
		{Name: "m", Parent: "root", Quotas: inFlavors(2, 0)}, {Name: "root", Quotas: inFlavors(8, 0)},
	}
	local.Cohorts[0].Quotas[0].LendingLimit = quota.AtMost(1)
	for _, c := range []struct {
		sentence string
		state    preemption.State
		request  preemption.Request
		want     string
	}{{
		"val <= Available -> fit, borrowing level = height of lowest subtree that fits; whenCanBorrow: default is MayStopSearch.",
		pair(inFlavors(2, 8), inFlavors(4, 0), queue.FlavorFungibility{}), asks(4),
		"Fits: A Fit+1",
	}, {
		"val <= the CQ's own nominal -> run the preemption search: any target in the own CQ -> preempt.",
		pair(inFlavors(4, 0), nil, stopPreempt, runs("a1", "a", 0, "A", 4)), asks(4),
		"Preempt: A Preempt/Preempt",
	}, {
		"All targets elsewhere -> reclaim. The borrowing level is then recomputed with the targets gone.",
		pair(inFlavors(4, 0), nil, stopPreempt, runs("b1", "b", 0, "A", 4)), asks(4),
		"Preempt: A Preempt/Reclaim",
	}, {
		"No targets -> noPreemptionCandidates -> next, whatever whenCanPreempt.",
		pair(inFlavors(4, 4), nil, stopPreempt, runs("a1", "a", 10, "A", 4)), asks(4),
		"Fits: B Fit (A NoCandidates)",
	}, {
		"else noFit: over nominal, no subtree short of the root has quota, and no preempting while borrowing.",
		pair(inFlavors(2, 8), inFlavors(4, 0), stopPreempt, runs("b1", "b", 0, "A", 6)), asks(4),
		"Fits: B Fit (A NotReclaimable)",
	}, {
		"Or preempting while borrowing is allowed (borrowWithinCohort.policy != Never).",
		whileBorrowing, asks(4),
		"Preempt: A Preempt/Reclaim+1",
	}, {
		"Or a cohort above it, short of the root, has quota for it with its present usage counted.",
		under, asks(4),
		"Preempt: A Preempt/Reclaim+1",
	}, {
		"height of lowest subtree that fits: of what is left after the local quotas below it.",
		local, asks(8),
		"Fits: A Fit+2",
	}, {
		"BorrowingOverPreemption (also when unset): better preemption mode first, then smaller borrowing level.",
		pair(inFlavors(2, 4), inFlavors(4, 0), tryBoth, runs("b1", "b", 0, "B", 4)), asks(4),
		"Fits: A Fit+1 (A WouldBorrow, B WouldPreempt)",
	}, {
		"PreemptionOverBorrowing: smaller borrowing level first, then better mode.",
		pair(inFlavors(2, 4), inFlavors(4, 0), preferPreempting, runs("b1", "b", 0, "B", 4)), asks(4),
		"Preempt: B Preempt/Reclaim (A WouldBorrow, B WouldPreempt)",
	}, {
		"Ties keep the earlier flavor.",
		pair(inFlavors(4, 4), nil, tryBoth, runs("b1", "b", 0, "A", 4), runs("b2", "b", 0, "B", 4)), asks(4),
		"Preempt: A Preempt/Reclaim (A WouldPreempt, B WouldPreempt)",
	}, {
		"noPreemptionCandidates below everything else, also with PreemptionOverBorrowing.",
		pair(inFlavors(4, 2), inFlavors(0, 4), preferPreempting, runs("a1", "a", 10, "A", 4)), asks(4),
		"Fits: B Fit+1 (A NoCandidates, B WouldBorrow)",
	}, {
		"val = request + what earlier pod sets of the same workload already took.",
		pair(inFlavors(6, 6), nil, queue.FlavorFungibility{}), asks(4, 4),
		"Fits: A Fit B Fit (A ExceedsMaxQuota)",
	}, {
		"What earlier pod sets took, all of them.",
		pair(inFlavors(10, 6), nil, queue.FlavorFungibility{}), asks(4, 4, 4),
		"Fits: A Fit A Fit B Fit (A ExceedsMaxQuota)",
	}, {
		"Also into Preempt: what earlier pod sets took is in the search.",
		pair(inFlavors(8, 0), nil, stopPreempt, runs("a1", "a", 0, "A", 4)), asks(4, 4),
		"Preempt: A Fit A Preempt/Preempt",
	}} {
		t.Run(c.sentence, func(t *testing.T) {
			if got := assignmentText(decide(t, snapshotOf(t, c.state), c.request)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Step 3: "or preempting while borrowing is allowed (borrowWithinCohort.policy != Never, or
// fair sharing with reclaimWithinCohort != Never)".
func TestFlavorAssignmentInFairSharing(t *testing.T) {
	st := pair(inFlavors(2, 8), inFlavors(6, 0), stopPreempt, runs("b1", "b", 0, "A", 4), runs("b2", "b", 0, "A", 4))
	fair := preemptorOf(preemption.Config{Sharing: preemption.Fair})
	for reclaim, want := range map[queue.VictimPolicy]string{
		queue.Never: "Fits: B Fit (A NotReclaimable)", queue.LowerPriority: "Preempt: A Preempt/Reclaim+1",
	} {
		st.Queues[0].Preemption.ReclaimWithinCohort = reclaim
		d, err := fair.Decide(snapshotOf(t, st), asks(3))
		if got := assignmentText(d); err != nil || got != want {
			t.Errorf("%v: got  %s, %v\nwant %s", reclaim, got, err, want)
		}
	}
}

// "Flavors of the resource group are tried in order, starting after the last flavor
// tried", and after the last one from the first.
func TestContinue(t *testing.T) {
	s := snapshotOf(t, pair(inFlavors(4, 4), nil, stopPreempt, runs("b1", "b", 0, "A", 4), runs("b2", "b", 0, "B", 4)))
	r := asks(4)
	for _, want := range []string{"A 1", "B 0", "A 1"} {
		d := decide(t, s, r)
		if got := fmt.Sprint(d.Assignment[0].Flavor, " ", d.Assignment[0].Untried); got != want || len(d.Assignment[0].Tried) != 1 {
			t.Errorf("got %s, want %s", got, want)
		}
		r.Continue = d.Assignment
	}
	r.Continue = preemption.Assignment{{PodSet: "gone", Resources: r.Continue[0].Resources, Tried: r.Continue[0].Tried}}
	if d := decide(t, s, r); d.Assignment[0].Flavor != "A" {
		t.Errorf("flavor %s", d.Assignment[0].Flavor)
	}
}

// The resources of a group get one flavor, whose representative mode is its worst over
// them; different groups may be in different modes.
func TestResourcesOfAGroup(t *testing.T) {
	st := pair([]quota.Quota{
		{Flavor: "A", Resource: "cpu", Nominal: 8}, {Flavor: "A", Resource: "memory", Nominal: 1},
		{Flavor: "B", Resource: "cpu", Nominal: 8}, {Flavor: "B", Resource: "memory", Nominal: 8},
		{Flavor: "C", Resource: "cpu", Nominal: 8}, // no memory
		{Flavor: "G", Resource: "gpu", Nominal: 4},
	}, nil, queue.FlavorFungibility{}, runs("b1", "b", 0, "G", 4))
	r := asks(1)
	r.Workload.PodSets[0].Requests = []quota.Amount{{Resource: "memory", Amount: 4}, {Resource: "gpu", Amount: 2}, {Resource: "cpu", Amount: 4}}
	d := decide(t, snapshotOf(t, st), r)
	if got, want := assignmentText(d), "Preempt: B Fit Fit (A ExceedsMaxQuota) G Preempt/Reclaim (G WouldPreempt)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if tried := d.Assignment[0].Tried[0]; tried.Resource != "memory" || tried.Mode != preemption.ModeNoFit {
		t.Errorf("%+v, want the worst resource", tried)
	}
	r.Workload.PodSets[0].Requests[0].Amount = 9
	if got, want := assignmentText(decide(t, snapshotOf(t, st), r)), "Impossible: none NoFit NoFit (A ExceedsMaxQuota, B ExceedsMaxQuota, C NoQuota)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// KEP-8303, "Re-use the cannot-preempt annotation", the table: flavor A is full and B
// free, whenCanPreempt is MayStopSearch. A workload that never preempts skips A and is
// admitted in B; any other is assigned A.
func TestNeverPreemptingSkipsFlavors(t *testing.T) {
	s := snapshotOf(t, pair(inFlavors(4, 4), nil, stopPreempt, runs("b1", "b", 0, "A", 4)))
	r := asks(4)
	if got, want := assignmentText(decide(t, s, r)), "Preempt: A Preempt/Reclaim"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Workload.NeverPreempts = true
	d := decide(t, s, r)
	if got, want := assignmentText(d), "Fits: B Fit (A NeverPreempts)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	admitted := workloadOf(edit(t, s, d.Edits()...).State(), "pending")
	if got := admitted.PodSets[0].Requests[0].Flavor; got != "B" {
		t.Errorf("admitted in %q", got)
	}
	s = snapshotOf(t, pair(inFlavors(4, 0), nil, stopPreempt, runs("b1", "b", 0, "A", 4)))
	if got, want := assignmentText(decide(t, s, r)), "Impossible: none NoFit (A NeverPreempts, B ExceedsMaxQuota)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Workload.PodSets[0].Requests[0].Flavor = "A"
	d = decide(t, s, r)
	if d.Outcome != preemption.Impossible || len(d.Shortage) != 1 || len(d.Blockers) > 0 || d.Assignment != nil {
		t.Errorf("pinned: %+v", d)
	}
	f, err := preemptorOf(preemption.Config{}).Forecast(s, r, quota.Amount{Flavor: "A", Resource: "gpu", Amount: 4})
	if err != nil || f.Possibility != preemption.PossibilityNoCandidates {
		t.Errorf("%+v, %v", f, err)
	}
}

// What no flavor holds is said for each that was tried; a resource that the queue does
// not have, without flavor.
func TestShortageWithoutFlavor(t *testing.T) {
	st := pair(inFlavors(4, 8), inFlavors(0, 2), stopPreempt, runs("b1", "b", 0, "B", 9))
	r := asks(10)
	d := decide(t, snapshotOf(t, st), r)
	gpu := func(flavor string) quota.FlavorResource { return quota.FlavorResource{Flavor: flavor, Resource: "gpu"} }
	want := []preemption.Shortage{
		{FlavorResource: gpu("A"), Missing: 6, PotentialAvailable: 4, Cohort: "c"}, {FlavorResource: gpu("B"), Missing: 9, PotentialAvailable: 10, Cohort: "c"},
	}
	if diff := cmp.Diff(want, d.Shortage); d.Outcome != preemption.Impossible || diff != "" {
		t.Errorf("%v, -want +got:\n%s", d.Outcome, diff)
	}
	r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests,
		quota.Amount{Resource: "tpu", Amount: 2}, quota.Amount{Resource: "ib", Amount: 0})
	d = decide(t, snapshotOf(t, st), r)
	want = []preemption.Shortage{{FlavorResource: quota.FlavorResource{Resource: "tpu"}, Missing: 20}}
	if diff := cmp.Diff(want, d.Shortage); assignmentText(d) != "Impossible: none NoFit" || diff != "" {
		t.Errorf("%s, -want +got:\n%s", assignmentText(d), diff)
	}
}

// Nothing of a resource that the queue does not have is no reason to refuse: it is left
// out of what is admitted.
func TestNothingOfAnUnknownResource(t *testing.T) {
	s := snapshotOf(t, pair(inFlavors(4, 0), nil, queue.FlavorFungibility{}))
	r := asks(2)
	r.Workload.PodSets[0].Requests = append(r.Workload.PodSets[0].Requests, quota.Amount{Resource: "ib", Amount: 0})
	d := decide(t, s, r)
	admitted := workloadOf(edit(t, s, d.Edits()...).State(), "pending")
	if got, want := fmt.Sprint(assignmentText(d), admitted.PodSets[0].Requests), "Fits: A Fit[{A gpu 1}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Some pod sets and groups may come with flavors; they count before anything is assigned.
func TestPartlyPinned(t *testing.T) {
	s := snapshotOf(t, pair(inFlavors(6, 6), nil, queue.FlavorFungibility{}))
	r := asks(4, 4)
	r.Workload.PodSets[1].Requests[0].Flavor = "A"
	if got, want := assignmentText(decide(t, s, r)), "Fits: B Fit (A ExceedsMaxQuota)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDecideRefusesHalfOpenRequests(t *testing.T) {
	quotas := append(inFlavors(4, 4), quota.Quota{Flavor: "A", Resource: "cpu", Nominal: 4})
	s := snapshotOf(t, pair(quotas, nil, queue.FlavorFungibility{}))
	r := asks(1, 1)
	r.Workload.PodSets[1].Requests = []quota.Amount{{Resource: "gpu", Amount: 1}, {Flavor: "A", Resource: "cpu", Amount: 1}}
	r.NeedsPreemption = []quota.FlavorResource{{Flavor: "A", Resource: "cpu"}}
	_, err := preemptorOf(preemption.Config{}).Decide(s, r)
	wantFaults(t, err,
		`request.needsPreemption: is given, but flavors are to be assigned first`,
		`request.workload.podSets[1].requests[0].flavor: is empty, but that of requests[1], in the same resource group, is "A"`)
	_, err = preemptorOf(preemption.Config{}).Forecast(s, r, quota.Amount{Resource: "gpu"})
	wantFaults(t, err, `amount.flavor: is empty`)
	_, err = preemption.NewSnapshot(preemption.State{Queues: s.State().Queues, Cohorts: s.State().Cohorts, Admitted: []workload.Workload{r.Workload}})
	wantFaults(t, err, `admitted[0].podSets[0].requests[0].flavor: is empty`, `admitted[0].podSets[1].requests[0].flavor: is empty`)
}

// Any number of goroutines may have flavors assigned on one snapshot and its edits.
func TestAssignConcurrently(t *testing.T) {
	s := snapshotOf(t, pair(inFlavors(4, 4), nil, stopPreempt, runs("b1", "b", 0, "A", 4)))
	next := edit(t, s, preemption.Remove("b1"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, c := range []struct {
				s    *preemption.Snapshot
				want string
			}{{s, "Preempt: A Preempt/Reclaim"}, {next, "Fits: A Fit"}} {
				if d, err := preemptorOf(preemption.Config{}).Decide(c.s, asks(4)); err != nil || assignmentText(d) != c.want {
					t.Errorf("%s, %v", assignmentText(d), err)
				}
			}
		})
	}
	group.Wait()
}

// An edit of a queue's quotas changes its flavors.
func TestAssignAfterSetQueue(t *testing.T) {
	st := pair(inFlavors(4, 4), nil, queue.FlavorFungibility{})
	s := snapshotOf(t, st)
	decide(t, s, asks(4))
	q := st.Queues[0].Clone()
	slices.Reverse(q.Quotas)
	wantText(t, assignmentText(decide(t, edit(t, s, preemption.SetQueue(q)), asks(4))), "Fits: B Fit")
}

// A request that would try too many flavors is refused, not decided for hours.
func TestManyTrialsAreRefused(t *testing.T) {
	st := preemption.State{Queues: []queue.Queue{{Name: "a"}}}
	for i := range 100 {
		st.Queues[0].Quotas = append(st.Queues[0].Quotas, quota.Quota{Flavor: fmt.Sprint(i), Resource: "gpu", Nominal: 1})
	}
	sizes := make([]int64, 700)
	_, err := preemptorOf(preemption.Config{}).Decide(snapshotOf(t, st), asks(sizes...))
	wantFaults(t, err, "request.workload.podSets: 70000 times a resource to try in a flavor: more than 65536")
}
