package preemption

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Cost says what is lost if a running workload yields: as a whole for an empty name, else one
// replica of the surplus of that pod set. It must keep these laws, which
// preemptiontest.CheckCost checks:
//
//  1. The cost depends on the arguments alone.
//  2. It is not negative.
//  3. A whole workload costs at least as much as all its surplus replicas together.
//  4. The function changes nothing and keeps no reference to the workload.
//
// [CostByAge], [CostSinceCheckpoint] and [CostDeclared] are ready-made. By each of them a
// workload that is evicted already loses nothing.
type Cost interface {
	Lost(running workload.Workload, podSet string, now time.Time) int64
}

// CostByAge is what a workload takes × the seconds since its reservation.
type CostByAge struct {
	// Resources lists the resources that count, for instance "nvidia.com/gpu": their amounts
	// are added up, over all flavors. Empty: the seconds alone count; a replica then has an
	// equal part of them, rounded down.
	Resources []string
}

// CostSinceCheckpoint is what a workload takes × (the seconds since its last checkpoint, or
// since its reservation if that is later, plus the seconds of its restart); see
// [workload.Loss].
type CostSinceCheckpoint struct {
	// Resources is as in CostByAge.
	Resources []string
}

// CostDeclared is what the owner of the workload declares: the cost of each replica, or the
// milestones at the time that it has run ([workload.Loss]); of these a replica has an equal
// part, rounded down.
type CostDeclared struct{}

// Lost is the cost.
func (c CostByAge) Lost(running workload.Workload, podSet string, now time.Time) int64 {
	return times(c.Resources, &running, podSet, since(running.ReservedAt, now))
}

// Lost is the cost.
func (c CostSinceCheckpoint) Lost(running workload.Workload, podSet string, now time.Time) int64 {
	from := running.ReservedAt
	if !from.IsZero() && running.Loss.LastCheckpoint.After(from) {
		from = running.Loss.LastCheckpoint
	}
	return times(c.Resources, &running, podSet, quota.Add(since(from, now), int64(running.Loss.Restart.Or(0)/time.Second)))
}

// Lost is the cost.
func (CostDeclared) Lost(running workload.Workload, podSet string, now time.Time) int64 {
	all := replicasOf(&running)
	switch {
	case running.Evicted:
		return 0
	case len(running.Loss.Milestones) > 0:
		cost := running.Loss.CostAfter(time.Duration(quota.Mul(since(running.ReservedAt, now), int64(time.Second))))
		if podSet != "" {
			cost /= max(1, all)
		}
		return cost
	case podSet != "":
		return running.Loss.PerReplica
	}
	return quota.Mul(all, running.Loss.PerReplica)
}

// since returns the whole seconds from a time to now; none if the time is not set or later.
func since(at, now time.Time) int64 {
	if at.IsZero() || !at.Before(now) {
		return 0
	}
	return int64(now.Sub(at) / time.Second)
}

func replicasOf(w *workload.Workload) (n int64) {
	for i := range w.PodSets {
		n = quota.Add(n, w.PodSets[i].Count)
	}
	return n
}

// times returns what a workload, or one replica, takes of resources × seconds.
func times(resources []string, w *workload.Workload, podSet string, seconds int64) (cost int64) {
	if w.Evicted {
		return 0
	}
	if len(resources) == 0 {
		if podSet != "" {
			return seconds / max(1, replicasOf(w))
		}
		return seconds
	}
	for i := range w.PodSets {
		p := &w.PodSets[i]
		for _, a := range p.Requests {
			switch {
			case !slices.Contains(resources, a.Resource):
			case podSet == "":
				cost = quota.Add(cost, quota.Mul(p.Total(a.Amount), seconds))
			case podSet == p.Name:
				cost = quota.Add(cost, quota.Mul(a.Amount, seconds))
			}
		}
	}
	return cost
}

// enterCost turns the cost into that of the search.
func (c *Config) enterCost(now time.Time) func(*cluster.Workload, int) int64 {
	if c.Cost == nil {
		return nil
	}
	of := c.Cost
	return func(w *cluster.Workload, set int) int64 {
		podSet := ""
		if set >= 0 {
			podSet = w.PodSets[w.Surplus[set].PodSet].Name
		}
		return max(0, of.Lost(w.Workload(), podSet, now))
	}
}

// price sets what the victims lose.
func (sc *scratch) price(c *cluster.Cluster, d *Decision) {
	cost := sc.request.Better.Cost
	if cost == nil {
		return
	}
	for i := range d.Victims {
		v := &d.Victims[i]
		w, _ := c.Find(v.Workload)
		if len(v.Replicas) == 0 {
			v.Lost = cost(w, -1)
		}
		for _, r := range v.Replicas {
			for set := range w.Surplus {
				if w.PodSets[w.Surplus[set].PodSet].Name == r.PodSet {
					v.Lost = quota.Add(v.Lost, quota.Mul(r.Count-r.Leaving, cost(w, set)))
				}
			}
		}
		d.Lost = quota.Add(d.Lost, v.Lost)
	}
}
