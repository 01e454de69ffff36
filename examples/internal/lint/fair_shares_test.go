package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// sharesCluster is a department with two queues that nothing is wrong with, after a change.
func sharesCluster(t *testing.T, change func(*Cluster, map[string]*fairshare.Queue)) *Cluster {
	t.Helper()
	claims := func(gpus int64) []fairshare.Claim {
		return []fairshare.Claim{{Resource: "cpu", Quota: quota.Unlimited}, {Resource: "GPU", Quota: gpus, OverQuotaWeight: 1}, {Resource: "memory", Quota: quota.Unlimited}}
	}
	tree := fairshare.Tree{
		Resources: []fairshare.Resource{{Name: "cpu", Total: 64000}, {Name: "GPU", Total: 8000}, {Name: "memory", Total: 1 << 30}},
		Queues:    []fairshare.Queue{{Name: "dept", Claims: claims(8000)}, {Name: "a", Parent: "dept", Claims: claims(4000)}, {Name: "b", Parent: "dept", Claims: claims(4000)}},
	}
	c := &Cluster{Now: now, Config: preemption.Config{Sharing: preemption.KAI}}
	for _, id := range []string{"n/serve", "n/train"} {
		c.Pending = append(c.Pending, workload.Workload{ID: id, Queue: "a", NeverYields: id == "n/serve",
			PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: 1}, {Flavor: "f", Resource: "GPU", Amount: 1000}}}}})
	}
	by := map[string]*fairshare.Queue{}
	for i := range tree.Queues {
		by[tree.Queues[i].Name] = &tree.Queues[i]
	}
	change(c, by)
	c.State.FairShares = tree
	c.State.Cohorts, c.State.Queues = preemption.QueuesOf(tree, "all", "f")
	var err error
	if c.Snapshot, err = preemption.NewSnapshot(c.State); err != nil {
		t.Fatal(err)
	}
	return c
}

// What hurts where fair shares decide.
func TestFairShares(t *testing.T) {
	const cpu, gpu = 0, 1
	for _, w := range []struct {
		name   string
		change func(*Cluster, map[string]*fairshare.Queue)
		want   []string // rule, place and the beginning of the problem
	}{
		{"nothing", func(*Cluster, map[string]*fairshare.Queue) {}, nil},
		{"no limit", func(_ *Cluster, q map[string]*fairshare.Queue) { q["a"].Claims[gpu].Limit = quota.Some(int64(0)) },
			[]string{`zero-limit queue "a": its limit of GPU is 0`}},
		{"a limit", func(_ *Cluster, q map[string]*fairshare.Queue) { q["a"].Claims[gpu].Limit = quota.Some(int64(1)) }, nil},
		{"CPU quota 0", func(_ *Cluster, q map[string]*fairshare.Queue) { q["b"].Claims[cpu].Quota = 0 },
			[]string{`guarantee queue "b": its quota of GPU (4) takes nothing back`}},
		{"CPU quota 0, no GPU quota", func(_ *Cluster, q map[string]*fairshare.Queue) {
			q["b"].Claims[cpu].Quota, q["b"].Claims[gpu].Quota = 0, 0
		}, nil},
		{"a parent that is not there", func(c *Cluster, _ map[string]*fairshare.Queue) { c.Dropped = map[string]string{"x": "gone"} },
			[]string{`parent queue "x": the parent queue gone is not there`}},
		{"more than the parent", func(_ *Cluster, q map[string]*fairshare.Queue) { q["a"].Claims[gpu].Quota = 5000 },
			[]string{`children queue "dept": the quotas of GPU of the queues below it are 9 together, and its own is 8`}},
		{"unlimited below", func(_ *Cluster, q map[string]*fairshare.Queue) { q["dept"].Claims[cpu].Quota = 4000 },
			[]string{`children queue "dept": the quotas of cpu of the queues below it are unlimited together, and its own is 4:`}},
		{"not preemptible without quota", func(_ *Cluster, q map[string]*fairshare.Queue) { q["a"].Claims[gpu].Quota = 0 },
			[]string{`no-quota queue "a": its quota of GPU is 0, and 1 workload that would need some of it is not preemptible`}},
		{"nor above", func(_ *Cluster, q map[string]*fairshare.Queue) {
			for _, of := range q {
				of.Claims[gpu].Quota = 0
			}
		}, []string{`no-quota queue "a": its quota`, `no-quota queue "dept": its quota`}},
	} {
		found, err := Run(sharesCluster(t, w.change))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != len(w.want) {
			t.Errorf("%s: %+v", w.name, found)
			continue
		}
		for i, f := range found {
			if text := f.Rule + " " + f.Place + ": " + f.Problem; !strings.HasPrefix(text, w.want[i]) {
				t.Errorf("%s: %s, want %s", w.name, text, w.want[i])
			}
		}
	}
	c := sharesCluster(t, func(*Cluster, map[string]*fairshare.Queue) {})
	if found, err := Run(c, "circle", "zero-limit"); err != nil || len(found) != 0 || !slices.Equal(c.Unfinished, []string{"rule circle is about another scheduler"}) {
		t.Errorf("%v, %v, %q", found, err, c.Unfinished)
	}
}
