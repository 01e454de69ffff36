package foreign

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// kueueCase is one decision of Kueue: a cluster, a pending workload, the answers.
type kueueCase struct {
	Now time.Time `json:"now"`
	sharing
	Gates         map[string]bool `json:"gates"`
	Cohorts       []kueueCohort   `json:"cohorts"`
	ClusterQueues []kueueQueue    `json:"clusterQueues"`
	Admitted      []kueueWorkload `json:"admitted"`
	Incoming      kueueWorkload   `json:"incoming"`
	Want          struct {
		Victims []kueueVictim `json:"victims"`
		Oracle  []kueueOracle `json:"oracle"`
		Quota   struct {
			ClusterQueues []kueueRow `json:"clusterQueues"`
			Cohorts       []kueueRow `json:"cohorts"`
			Share         []struct {
				Name     string `json:"name"`
				Kind     string `json:"kind"`
				Weighted string `json:"weightedShare"`
				Resource string `json:"dominantResource"`
			} `json:"share"`
		} `json:"quota"`
	} `json:"want"`
}

// sharing is how quota is shared.
type sharing struct {
	Mode       string                    `json:"mode"`
	Strategies []preemption.FairStrategy `json:"strategies"`
}

type kueueCohort struct {
	Name   string                `json:"name"`
	Parent string                `json:"parent"`
	Weight quota.OptionalFloat64 `json:"weight"`
	Quotas []quota.Quota         `json:"quotas"`
}

type kueueQueue struct {
	Name       string                 `json:"name"`
	Cohort     string                 `json:"cohort"`
	Weight     quota.OptionalFloat64  `json:"weight"`
	Quotas     []quota.Quota          `json:"quotas"`
	Preemption queue.PreemptionPolicy `json:"preemption"`
	Rules      string                 `json:"rules"`
	Labels     map[string]string      `json:"labels"`
}

type kueueWorkload struct {
	Name            string         `json:"name"`
	UID             string         `json:"uid"`
	ClusterQueue    string         `json:"clusterQueue"`
	Priority        int64          `json:"priority"`
	CreatedAt       time.Time      `json:"createdAt"`
	QueueOrderAt    time.Time      `json:"queueOrderAt"`
	QuotaReservedAt time.Time      `json:"quotaReservedAt"`
	Evicted         bool           `json:"evicted"`
	Usage           []quota.Amount `json:"usage"`
	Requests        []struct {
		quota.Amount
		Mode string `json:"mode"`
	} `json:"requests"`
}

type kueueVictim struct {
	Name   string                  `json:"name"`
	Reason preemption.VictimReason `json:"reason"`
}

type kueueRow struct {
	Name string `json:"name"`
	quota.FlavorResource
	Usage        int64 `json:"usage"`
	Available    int64 `json:"available"`
	Potential    int64 `json:"potentialAvailable"`
	SubtreeQuota int64 `json:"subtreeQuota"`
}

type kueueOracle struct {
	quota.Amount
	Possibility  preemption.Possibility `json:"possibility"`
	BorrowHeight int64                  `json:"borrowHeight"`
}

func (k *kueueCase) convert(c *recorded.Case) error {
	if k.Incoming.Name == "" {
		return fmt.Errorf("no incoming workload")
	}
	config, err := k.config(k.Gates)
	if err != nil {
		return err
	}
	st := stateOf(k.Cohorts, k.ClusterQueues)
	for _, w := range k.Admitted {
		st.Admitted = append(st.Admitted, w.workload())
	}
	q := recorded.Question{Config: config, State: &st, Request: preemption.Request{Workload: k.Incoming.workload(), Now: k.Now}}
	for _, r := range k.Incoming.Requests {
		if err := known("mode", r.Mode, "Preempt", "Fit"); err != nil {
			return err
		}
		if r.Mode == "Preempt" {
			q.Request.NeedsPreemption = append(q.Request.NeedsPreemption, r.FlavorResource())
		}
	}
	q.Request.Workload.NeverPreempts = len(q.Request.NeedsPreemption) == 0 // nothing needs preemption, so nothing is taken
	q.Want.Victims = victimsOf(k.Want.Victims)
	for _, o := range k.Want.Oracle {
		q.Want.Forecasts = append(q.Want.Forecasts, recorded.Forecast{Amount: o.Amount, Possibility: o.Possibility, BorrowHeight: quota.Some(o.BorrowHeight)})
	}
	for _, r := range k.Want.Quota.ClusterQueues {
		q.Want.Queues = append(q.Want.Queues, recorded.Row(r))
	}
	for _, r := range k.Want.Quota.Cohorts {
		q.Want.Cohorts = append(q.Want.Cohorts, recorded.Row(r))
	}
	for _, s := range k.Want.Quota.Share {
		share := recorded.Share{Queue: s.Name, Weighted: s.Weighted, Resource: s.Resource}
		if s.Kind == "Cohort" {
			share.Queue, share.Cohort = "", s.Name
		}
		q.Want.Shares = append(q.Want.Shares, share)
	}
	c.Quota = []recorded.Question{q}
	return nil
}

// config returns the configuration that a case was asked under; nil for the default.
func (s *sharing) config(gates map[string]bool) (*preemption.Config, error) {
	if s.Mode != "fair" {
		return nil, known("mode", s.Mode, "classical", "")
	}
	within, set := gates["FairSharingPreemptWithinNominal"]
	c := &preemption.Config{Sharing: preemption.Fair, Strategies: s.Strategies, Compat: preemption.Compat{Kueue016: set && !within}}
	if gates["FairSharingReevaluatePreemptionCandidates"] {
		c.Sharing = preemption.Reevaluated
	}
	return c, nil
}

// stateOf returns a cluster in which nothing runs.
func stateOf(cohorts []kueueCohort, queues []kueueQueue) (st preemption.State) {
	for _, co := range cohorts {
		st.Cohorts = append(st.Cohorts, queue.Cohort{
			Name: co.Name, Parent: co.Parent, FairWeight: co.Weight, Quotas: effective(co.Quotas, co.Parent != "", false),
		})
	}
	for _, q := range queues {
		st.Queues = append(st.Queues, queue.Queue{
			Name: q.Name, Cohort: q.Cohort, FairWeight: q.Weight, Quotas: effective(q.Quotas, q.Cohort != "", true),
			Preemption: q.Preemption, Rules: q.Rules, Labels: q.Labels,
		})
	}
	return st
}

// effective leaves out limits that Kueue accepts in a test table but ignores, and that a valid configuration does not have:
// those of a node without parent, and lending limits over the nominal quota.
func effective(quotas []quota.Quota, hasParent, isQueue bool) []quota.Quota {
	out := make([]quota.Quota, len(quotas))
	for i, q := range quotas {
		if limit, ok := q.LendingLimit.Get(); ok && isQueue && limit > q.Nominal {
			q.LendingLimit = quota.AtMost(q.Nominal)
		}
		if !hasParent {
			q.BorrowingLimit, q.LendingLimit = quota.OptionalInt64{}, quota.OptionalInt64{}
		}
		out[i] = q
	}
	return out
}

// workload returns the workload with its usage or, if it waits, its requests.
func (w *kueueWorkload) workload() workload.Workload {
	amounts := append([]quota.Amount{}, w.Usage...)
	for _, r := range w.Requests {
		amounts = append(amounts, r.Amount)
	}
	return workload.Workload{
		ID: w.Name, UID: w.UID, Queue: w.ClusterQueue, Priority: w.Priority,
		Created: w.CreatedAt, Queued: w.QueueOrderAt, ReservedAt: w.QuotaReservedAt, Evicted: w.Evicted,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: amounts}},
	}
}

func victimsOf(list []kueueVictim) []recorded.Victim {
	out := make([]recorded.Victim, len(list))
	for i, v := range list {
		out[i] = recorded.Victim{Workload: v.Name, Reason: v.Reason}
	}
	return out
}
