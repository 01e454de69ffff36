package lint

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// clusterOf returns two queues a and b of 8 gpu each below a cohort, after a change, with
// policies, one workload that runs in each, and one that waits in a.
func clusterOf(t *testing.T, change func(*Cluster)) *Cluster {
	t.Helper()
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.LowerPriority}
	c := &Cluster{
		State: preemption.State{
			Cohorts: []queue.Cohort{{Name: "root"}, {Name: "lab", Parent: "root"}},
			Queues: []queue.Queue{
				{Name: "a", Cohort: "lab", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 8}}, Preemption: policy},
				{Name: "b", Cohort: "lab", Quotas: []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 8}}, Preemption: policy},
			},
			Admitted: []workload.Workload{job("runs-a", "a", 4), job("runs-b", "b", 12)},
		},
		Pending: []workload.Workload{job("waits", "a", 4)},
		Now:     now,
	}
	for i := range c.State.Admitted {
		c.State.Admitted[i].ReservedAt = now.Add(-time.Hour)
	}
	c.Pending[0].Priority = 5
	if change != nil {
		change(c)
	}
	var err error
	if c.Snapshot, err = preemption.NewSnapshot(c.State); err != nil {
		t.Fatal(err)
	}
	return c
}

func job(id, queueName string, gpus int64) workload.Workload {
	return workload.Workload{ID: id, Queue: queueName, Queued: now.Add(-time.Hour),
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "gpu", Amount: gpus}}}}}
}

// limited adds a limit.
func limited(c *Cluster, l limits.Limit) {
	l.Name, l.Scope, l.Window = "l", limits.Global, quota.Some(time.Hour)
	c.Config.Limits = []limits.Limit{l}
}

func fair(c *Cluster) { c.Config.Sharing = preemption.Fair }

// ask has workloads wait.
func ask(c *Cluster, list ...workload.Workload) {
	for _, w := range list {
		c.Waiting = append(c.Waiting, preemption.Request{Workload: w, Now: now})
	}
}

// tooLargeFor has nodes of a flavor that are too small for the workloads that wait.
func tooLargeFor(c *Cluster, flavor string) {
	c.TooLarge = map[string][]answers.TooLarge{}
	for _, r := range c.Waiting {
		c.TooLarge[r.Workload.ID] = []answers.TooLarge{{PodSet: r.Workload.PodSets[0].Name, Flavor: flavor, Why: "a pod is too large"}}
	}
}

// Each rule has cases in which it finds something and in which it does not: no case finds
// anything by another rule.
func TestRules(t *testing.T) {
	hour := quota.Some(time.Hour)
	cases := []struct {
		rule, name string
		change     func(*Cluster)
		place      string // empty: nothing is found
		problem    string
	}{
		{"lending", "over all that there is", func(c *Cluster) {
			c.State.Cohorts[1].Quotas = []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 2, LendingLimit: quota.AtMost(19)}}
		}, `cohort "lab"`, "its lending limit of 19 for f/gpu is more than its quota and what its members lend, 18"},
		{"lending", "all that there is", func(c *Cluster) {
			c.State.Cohorts[1].Quotas = []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 2, LendingLimit: quota.AtMost(18)}}
		}, "", ""},
		{"lending", "of a queue, as the bridge says it", func(c *Cluster) {
			c.Notes = []bridge.Note{{Object: "ClusterQueue a", Path: "spec.resourceGroups", Text: "ClusterQueue a: lendingLimit of f/gpu is more than its nominalQuota: taken as that"}}
		}, `queue "a"`, "lendingLimit of f/gpu is more than its nominalQuota: taken as that"},

		{"unreachable", "a column of no queue", func(c *Cluster) {
			c.State.Cohorts[0].Quotas = []quota.Quota{{Flavor: "g", Resource: "gpu", Nominal: 2}}
		}, `cohort "root"`, "its quota of 2 for g/gpu is for nobody"},
		{"unreachable", "nobody may borrow", func(c *Cluster) {
			c.State.Cohorts[0].Quotas = []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 2}}
			for i := range c.State.Queues {
				c.State.Queues[i].Quotas[0].BorrowingLimit = quota.AtMost(0)
			}
		}, `cohort "root"`, "no queue of its tree has an entry for that and may borrow"},
		{"unreachable", "one may borrow", func(c *Cluster) {
			c.State.Cohorts[0].Quotas = []quota.Quota{{Flavor: "f", Resource: "gpu", Nominal: 2}}
			c.State.Queues[0].Quotas[0].BorrowingLimit = quota.AtMost(0)
		}, "", ""},
		{"unreachable", "no LocalQueue, lends nothing", func(c *Cluster) {
			c.LocalQueues = []bridge.LocalQueue{{Namespace: "n", Name: "l", ClusterQueue: "a"}}
			c.State.Queues[1].Quotas[0].LendingLimit = quota.AtMost(0)
			c.State.Admitted = c.State.Admitted[:1]
		}, `queue "b"`, "no LocalQueue leads to it, and it lends nothing"},
		{"unreachable", "no LocalQueue, lends", func(c *Cluster) {
			c.LocalQueues = []bridge.LocalQueue{{Namespace: "n", Name: "l", ClusterQueue: "a"}}
			c.State.Admitted = c.State.Admitted[:1]
		}, "", ""},

		{"min-runtime", "of the cohort, as long", func(c *Cluster) {
			timed(c)
			c.State.Cohorts[0].MinRuntime = minruntime.Settings{Preempt: hour}
		}, `queue "a"`, `lets equals yield after 1h0m0s, but the minimum runtime of cohort "root" protects them for 1h0m0s`},
		{"min-runtime", "of the queue, shorter", func(c *Cluster) {
			timed(c)
			c.State.Cohorts[0].MinRuntime = minruntime.Settings{Preempt: hour}
			c.State.Queues[0].MinRuntime = minruntime.Settings{Preempt: quota.Some(59 * time.Minute)}
		}, "", ""},
		{"min-runtime", "without minAdmitDuration", func(c *Cluster) {
			c.State.Cohorts[0].MinRuntime = minruntime.Settings{Preempt: hour}
		}, "", ""},

		{"limits", "zero of everything", func(c *Cluster) { limited(c, limits.Limit{}) }, `limit "l"`, "it is zero and counts everything, so that it forbids each preemption"},
		{"limits", "one of everything", func(c *Cluster) { limited(c, limits.Limit{Limit: 1}) }, "", ""},

		{"gate", "closed for an hour", func(c *Cluster) {
			c.Pending[0].Gates = gate.Gates{Names: []string{"g"}}
		}, `workload "waits"`, "its gate g is closed since it was queued, 60m ago, and is open for no workload"},
		{"gate", "open for another", func(c *Cluster) {
			c.Pending[0].Gates = gate.Gates{Names: []string{"g"}}
			other := job("other", "b", 1)
			other.Gates = gate.Gates{Names: []string{"g"}}.Opened("g", now.Add(-time.Minute))
			c.Pending = append(c.Pending, other)
		}, "", ""},
		{"gate", "closed since a moment", func(c *Cluster) {
			c.Pending[0].Gates = gate.Gates{Names: []string{"g"}}
			c.Pending[0].Queued = now.Add(-gate.DefaultTimeout)
		}, "", ""},
		{"gate", "holds nobody back", func(c *Cluster) {
			c.Pending[0].Gates = gate.Gates{Names: []string{"g"}}
			c.State.Admitted = nil
		}, "", ""},

		{"weight", "zero", func(c *Cluster) {
			fair(c)
			c.State.Queues[1].FairWeight = quota.WeightOf(0)
		}, `queue "b"`, "it yields before all others"},
		{"weight", "of a cohort", func(c *Cluster) {
			fair(c)
			c.State.Cohorts[1].FairWeight = quota.WeightOf(0)
		}, `cohort "lab"`, "it yields before all others"},
		{"weight", "small", func(c *Cluster) {
			fair(c)
			c.State.Queues[1].FairWeight = quota.WeightOf(0.01)
		}, "", ""},

		{"no-effect", "nothing", nil, "", ""},
		{"rules", "nothing", nil, "", ""},
		{"rules", "rules that are not there", func(c *Cluster) { c.State.Queues[0].Rules = "gone" }, `queue "a"`, `it refers to the rules "gone", which are not there`},
		{"no-effect", "a weight without fair sharing", func(c *Cluster) {
			c.State.Queues[1].FairWeight = quota.WeightOf(2)
		}, `queue "b"`, "fair sharing, which does not decide here"},
		{"no-effect", "a weight of a root", func(c *Cluster) {
			fair(c)
			c.State.Cohorts[0].FairWeight = quota.WeightOf(2)
		}, `cohort "root"`, "it is in no cohort"},
		{"no-effect", "reclaim of one that is alone", func(c *Cluster) {
			c.State.Queues[1].Cohort = ""
			c.State.Queues[1].Preemption.ReclaimWithinCohort = queue.Never
			c.State.Admitted = c.State.Admitted[:1]
		}, `queue "a"`, "reclaimWithinCohort is LowerPriority, and no other queue is in its cohort tree"},
		{"no-effect", "borrowWithinCohort in fair sharing", func(c *Cluster) {
			fair(c)
			c.State.Queues[0].Preemption.BorrowWithinCohort.Policy = queue.LowerPriority
		}, `queue "a"`, "fair sharing does not read it"},
		{"no-effect", "borrowWithinCohort", func(c *Cluster) {
			c.State.Queues[0].Preemption.BorrowWithinCohort.Policy = queue.LowerPriority
		}, "", ""},
		{"no-effect", "a threshold without policy", func(c *Cluster) {
			c.State.Queues[0].Preemption.BorrowWithinCohort.MaxPriorityThreshold = quota.Some(int64(7))
		}, `queue "a"`, "a maxPriorityThreshold of 7, and its policy is Never"},
		{"no-effect", "fungibility of one flavor", func(c *Cluster) {
			c.State.Queues[0].FlavorFungibility.WhenCanBorrow = queue.TryNextFlavor
		}, `queue "a"`, "no resource has two"},
		{"no-effect", "fungibility of two flavors", func(c *Cluster) {
			c.State.Queues[0].FlavorFungibility.WhenCanBorrow = queue.TryNextFlavor
			c.State.Queues[0].Quotas = append(c.State.Queues[0].Quotas, quota.Quota{Flavor: "g", Resource: "gpu"})
		}, "", ""},
		{"no-effect", "a minimum runtime against nobody", func(c *Cluster) {
			c.State.Queues[0].MinRuntime.Preempt = hour
			c.State.Queues[0].Preemption.WithinClusterQueue = queue.Never
		}, `queue "a"`, "withinClusterQueue is Never"},
		{"no-effect", "a minimum runtime against no reclaim", func(c *Cluster) {
			c.State.Queues[0].MinRuntime.Reclaim = hour
			c.State.Queues[1].Preemption.ReclaimWithinCohort = queue.Never
		}, `queue "a"`, "no other queue of its cohort tree reclaims"},
		{"no-effect", "a minimum runtime against reclaims", func(c *Cluster) {
			c.State.Queues[0].MinRuntime = minruntime.Settings{Preempt: hour, Reclaim: hour}
		}, "", ""},
		{"leaving", "told to leave two hours ago", func(c *Cluster) {
			c.State.Admitted[0].Evicted = true
			c.LeavingSince = map[string]time.Time{c.State.Admitted[0].ID: c.Now.Add(-2 * time.Hour)}
		}, `workload "runs-a"`, "it was told to leave 120m ago and still holds quota"},
		{"leaving", "told to leave a minute ago", func(c *Cluster) {
			c.State.Admitted[0].Evicted = true
			c.LeavingSince = map[string]time.Time{c.State.Admitted[0].ID: c.Now.Add(-time.Minute)}
		}, "", ""},
		{"too-large", "more than the queue may have", func(c *Cluster) { ask(c, job("large", "a", 17)) }, `queue "a"`,
			"1 workload asks for more than the queue can ever have, with all that it may borrow: large"},
		{"too-large", "more than it may borrow", func(c *Cluster) {
			c.State.Queues[0].Quotas[0].BorrowingLimit = quota.Some(int64(2))
			ask(c, job("b", "a", 11), job("c", "a", 12), job("d", "a", 13), job("a", "a", 14), job("within", "a", 10))
		}, `queue "a"`, "4 workloads ask for more than the queue can ever have, with all that it may borrow: a, b, c and 1 more"},
		{"too-large", "in any flavor", func(c *Cluster) {
			ask(c, job("large", "a", 17))
			c.Waiting[0].Workload.PodSets[0].Requests[0].Flavor = ""
		}, `queue "a"`, "1 workload asks for more"},
		{"too-large", "without a flavor", func(c *Cluster) {
			ask(c, job("other", "a", 1))
			c.Waiting[0].Workload.PodSets[0].Requests[0] = quota.Amount{Resource: "tpu", Amount: 1}
		}, `queue "a"`, "1 workload gets no flavor of the queue: other"},
		{"too-large", "as much as there is", func(c *Cluster) { ask(c, job("large", "a", 16)) }, "", ""},
		{"too-large", "fewer would do", func(c *Cluster) {
			ask(c, job("large", "a", 17))
			c.Waiting[0].MinCounts = []preemption.Replicas{{PodSet: "main"}}
		}, "", ""},
		{"too-large", "for every node", func(c *Cluster) { ask(c, job("large", "a", 9)); tooLargeFor(c, "f") }, `queue "a"`,
			"1 workload has pods that no node of a flavor of the queue takes now: large"},
		{"too-large", "for nodes of another flavor", func(c *Cluster) { ask(c, job("large", "a", 9)); tooLargeFor(c, "g") }, "", ""},
		{"no-effect", "left out by the bridge", func(c *Cluster) {
			c.Notes = []bridge.Note{
				{Object: "ClusterQueue a", Path: "spec.preemption.borrowWithinCohort", Text: "ClusterQueue a: borrowWithinCohort is left out: reclaimWithinCohort is Never"},
				{Object: "ClusterQueue a", Path: "spec.stopPolicy", Text: "ClusterQueue a is stopped"},
			}
		}, `queue "a"`, "borrowWithinCohort is left out: reclaimWithinCohort is Never"},
	}
	finds, silent := map[string]bool{"circle": true, "mutual": true}, map[string]bool{"circle": true, "mutual": true} // see TestCircles, TestMutualRules
	for _, c := range cases {
		found, err := Run(clusterOf(t, c.change))
		if err != nil {
			t.Fatal(err)
		}
		if c.place == "" {
			if silent[c.rule] = true; len(found) > 0 {
				t.Errorf("%s, %s: %+v", c.rule, c.name, found)
			}
			continue
		}
		finds[c.rule] = true
		if len(found) != 1 || found[0].Rule != c.rule || found[0].Place != c.place || !strings.Contains(found[0].Problem, c.problem) {
			t.Errorf("%s, %s: want %s, %s: %+v", c.rule, c.name, c.place, c.problem, found)
		}
	}
	for _, r := range Rules() {
		if slices.Contains(sharesRules, r.Name) { // see TestFairShares
			continue
		}
		if !finds[r.Name] || !silent[r.Name] {
			t.Errorf("rule %s: a case that finds %v, one that does not %v", r.Name, finds[r.Name], silent[r.Name])
		}
	}
}

// timed gives queue a a minAdmitDuration of an hour.
func timed(c *Cluster) {
	c.State.Queues[0].Preemption.WithinClusterQueue = queue.LowerOrNewerEqualPriority
	c.State.Queues[0].Preemption.MinAdmitDuration = quota.Some(time.Hour)
}

// Clusters in which workloads were seen to evict each other are found, those who wait as well
// as those who could; without the switch that makes the circle nothing is.
func TestCircles(t *testing.T) {
	shares := preemption.Config{Sharing: preemption.Fair}
	for _, c := range []struct {
		record string
		config preemption.Config
		waits  bool
		place  string
		loop   string
	}{
		{"loop-2-fair", shares, true, `queues "q0" and "q3"`, "pending preempts w00 (InCohortFairSharing) and w01 (InCohortFairSharing); w01 preempts pending (InCohortReclamation)"},
		{"loop-2-fair", shares, false, `queues "q0" and "q3"`, "the new one"},
		{"loop-2-fair", preemption.Config{}, true, "", ""},
	} {
		data, err := os.ReadFile("../../../preemption/testdata/" + c.record + ".json")
		if err != nil {
			t.Fatal(err)
		}
		record, err := preemption.ParseRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		cluster := &Cluster{State: record.State, Config: c.config, Now: record.Request.Now}
		if c.waits {
			cluster.Pending = []workload.Workload{record.Request.Workload}
		}
		if cluster.Snapshot, err = preemption.NewSnapshot(record.State); err != nil {
			t.Fatal(err)
		}
		steps := 0
		cluster.Progress = func() { steps++ }
		found, err := Run(cluster, "circle")
		if err != nil || steps == 0 {
			t.Fatal(err, steps)
		}
		if c.place == "" {
			if len(found) > 0 {
				t.Errorf("%s: %+v", c.record, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Place != c.place || !strings.Contains(found[0].Example, c.loop) || strings.ContainsRune(found[0].Example, 0) {
			t.Errorf("%s: want %s, %s: %+v", c.record, c.place, c.loop, found)
		}
	}
}

// Rules are run by name, in their order, and an unknown name is an error.
func TestRun(t *testing.T) {
	c := clusterOf(t, func(c *Cluster) {
		fair(c)
		c.State.Queues[1].FairWeight = quota.WeightOf(0)
		c.State.Queues[0].Preemption.BorrowWithinCohort.Policy = queue.LowerPriority
	})
	all, err := Run(c)
	if err != nil || len(all) != 2 || all[0].Rule != "weight" || all[1].Rule != "no-effect" {
		t.Errorf("%v, %+v", err, all)
	}
	one, err := Run(c, "no-effect")
	if err != nil || !slices.Equal(one, all[1:]) {
		t.Errorf("%v, %+v", err, one)
	}
	if _, err := Run(c, "waste"); err == nil || !strings.Contains(err.Error(), `there is no rule "waste": want lending, unreachable,`) {
		t.Error(err)
	}
	if again, _ := Run(c); !slices.Equal(again, all) {
		t.Errorf("%+v, then %+v", all, again)
	}
}

// The search for circles ends with many victims of different kinds that may all return, and
// says that it was not to the end.
func TestCirclesEnd(t *testing.T) {
	for n, want := range map[int64]int{20: 0, 5000: 1} {
		c := clusterOf(t, func(c *Cluster) {
			c.State.Admitted, c.Pending = nil, []workload.Workload{job("waits", "a", n)}
			c.Pending[0].Priority = n
			for i := range c.State.Queues {
				c.State.Queues[i].Preemption.ReclaimWithinCohort = queue.Any
			}
			c.State.Queues[0].Quotas[0].Nominal, c.State.Queues[1].Quotas[0].Nominal = n, 0
			for i := range n {
				w := job(fmt.Sprint("b", i), "b", 1)
				w.Priority, w.ReservedAt = i, now.Add(-time.Hour)
				c.State.Admitted = append(c.State.Admitted, w)
			}
		})
		found, err := Run(c, "circle")
		if err != nil || len(found) > 0 || (len(c.Unfinished) > 0) != (want > 0) {
			t.Errorf("%d victims: %v, %+v, unfinished %q", n, err, found, c.Unfinished)
		}
	}
}

// The larger the cluster, the fewer decisions are made for circles: they go over at most so many workloads.
func TestCirclesEndInALargeCluster(t *testing.T) {
	c := clusterOf(t, func(c *Cluster) {
		c.State.Admitted = nil
		for i := range 20_000 {
			w := job(fmt.Sprint("b", i), "b", 1)
			w.ReservedAt = now.Add(-time.Hour)
			c.State.Admitted = append(c.State.Admitted, w)
		}
		for i := range 500 {
			c.Pending = append(c.Pending, job(fmt.Sprint("waits", i), "a", 1))
		}
	})
	if _, err := Run(c, "circle"); err != nil {
		t.Fatal(err)
	}
	if len(c.Unfinished) != 1 || !strings.HasPrefix(c.Unfinished[0], "circles were looked for to the end for ") {
		t.Errorf("unfinished: %q", c.Unfinished)
	}
}
