package cluster_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// "It fails when it is not valid, and when a queue that is gone has workloads"; and when
// the usage of a cohort would leave its bounds. The cluster stays as it is.
func TestConfigureRefuses(t *testing.T) {
	queues := []queue.Queue{{Name: "a"}, {Name: "b"}, {Name: "empty"}}
	full := func(id string) workload.Workload {
		return workload.Workload{ID: id, Queue: id, PodSets: []workload.PodSet{
			{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: quota.MaxUsage}}}}}
	}
	c, err := cluster.New(nil, queues, []workload.Workload{full("a"), full("b")})
	if err != nil {
		t.Fatal(err)
	}
	for want, next := range map[string]struct {
		cohorts []queue.Cohort
		queues  []queue.Queue
	}{
		"": {nil, queues[:2]},
		`edit: queue "b" has 1 admitted workloads`: {nil, queues[:1]},
		`edit: queues[2].name: "a" is also`:        {nil, []queue.Queue{{Name: "a"}, {Name: "b"}, {Name: "a"}}},
		`edit: cohorts[0].name: is empty; edit: queues[2].name: is empty`: {
			[]queue.Cohort{{}}, []queue.Queue{{Name: "a"}, {Name: "b"}, {}}},
		`edit: the usage of f/cpu in cohort "root" passes 4611686018427387904`: {[]queue.Cohort{{Name: "root"}}, []queue.Queue{{Name: "a", Cohort: "root"}, {Name: "b", Cohort: "root"}}},
	} {
		d, err := c.Configure("edit", next.cohorts, next.queues)
		if want == "" && (err != nil || len(d.Queues) != 2 || d.Len() != 2) {
			t.Errorf("%v", err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		if len(c.Queues) != 3 || c.Len() != 2 {
			t.Fatal("the cluster has changed")
		}
	}
}

// The reach of a cluster that was configured anew is that of one made so.
func TestConfigureReach(t *testing.T) {
	one := workload.Workload{ID: "w", Queue: "a", PodSets: []workload.PodSet{{Count: 1, Requests: []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: 3}}}}}
	c, err := cluster.New(nil, []queue.Queue{{Name: "a"}}, []workload.Workload{one})
	if err != nil {
		t.Fatal(err)
	}
	cohorts, queues := []queue.Cohort{{Name: "root"}}, []queue.Queue{{Name: "a", Cohort: "root"}, {Name: "b", Cohort: "root"}}
	c, err = c.Configure("edit", cohorts, queues)
	if err != nil {
		t.Fatal(err)
	}
	if heads, sums := c.Reach(0).Content(); len(heads) != 1 || len(sums) != 1 || sums[0].Loads[0].Amount != 3 {
		t.Errorf("heads %v, sums %v", heads, sums)
	}
}

// So many replicas as there are can be taken, none can, and no others.
func TestShrinkBounds(t *testing.T) {
	c, err := cluster.New(nil, []queue.Queue{{Name: "q"}}, []workload.Workload{{ID: "w", Queue: "q", PodSets: []workload.PodSet{
		{Name: "other"}, {Name: "main", Count: 5, Requests: []quota.Amount{{Flavor: "f", Resource: "cpu", Amount: 2}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	usage := func(c *cluster.Cluster) int64 {
		node, _ := c.QueueNode("q")
		return c.Usage.At(node, 0)
	}
	for replicas, want := range map[int64]int64{-1: -1, 0: 10, 1: 8, 5: 0, 6: -1} {
		d, err := c.Shrink("edit", "w", []cluster.Replicas{{PodSet: "main", Count: replicas}})
		if ok := err == nil; ok != (want >= 0) || ok && usage(d) != want {
			t.Errorf("%d of 5: %v", replicas, err)
		}
		d, err = c.StartShrink("edit", "w", []cluster.Replicas{{PodSet: "main", Count: replicas}})
		if ok := err == nil; ok != (want >= 0) || ok && usage(d) != 10 {
			t.Errorf("%d of 5 begin to leave: %v", replicas, err)
		}
	}
	for _, id := range []string{"w", "nobody"} {
		if _, err := c.Shrink("edit", id, []cluster.Replicas{{PodSet: "none"}}); err == nil {
			t.Errorf("a pod set that is not there is shrunk, of %s", id)
		}
	}
}
