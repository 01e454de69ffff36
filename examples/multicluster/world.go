package main

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/multicluster/internal/sim"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// world returns clusters of 16 GPUs shared by two teams, almost full of work that can be
// preempted, and urgent work for any of them.
func world(o options, length time.Duration) sim.Config {
	gpu := quota.FlavorResource{Flavor: "h100", Resource: "gpu"}
	quotas := []quota.Quota{{Flavor: gpu.Flavor, Resource: gpu.Resource, Nominal: 8}}
	policy := queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any}
	teams := []string{"team-a", "team-b"}
	between := func(low, high time.Duration) [2]time.Duration { return [2]time.Duration{low, high} }
	config := sim.Config{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	streams := []sim.Stream{{Name: "urgent", Queues: teams, Priority: 100, Of: gpu, Amount: [2]int64{2, 8},
		Every: between(20*time.Minute, 80*time.Minute), Runs: between(20*time.Minute, 2*time.Hour), Grace: between(0, 30*time.Second)}}
	for i := range o.clusters {
		name := fmt.Sprintf("worker-%d", i+1)
		cluster := sim.ClusterConfig{Name: name, Cohorts: []queue.Cohort{{Name: "research"}}}
		for _, team := range teams {
			cluster.Queues = append(cluster.Queues, queue.Queue{Name: team, Cohort: "research", Quotas: quotas, Preemption: policy})
		}
		config.Clusters = append(config.Clusters, cluster)
		streams = append(streams, sim.Stream{Name: name, Cluster: name, Queues: teams, Of: gpu, Amount: [2]int64{1, 4},
			Every: between(2*time.Minute, 30*time.Minute), Runs: between(10*time.Minute, 110*time.Minute), Grace: between(30*time.Second, 3*time.Minute)})
	}
	config.Jobs = sim.Draw(o.seed, config.Start, length, streams...)
	return config
}
