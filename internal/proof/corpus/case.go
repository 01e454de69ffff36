package corpus

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Case is one decision of Kueue: a cluster, a pending workload, the answers.
type Case struct {
	Name          string         `json:"id"`
	Mode          string         `json:"mode"`
	Strategies    []string       `json:"strategies"`
	Gates         Gates          `json:"gates"`
	Now           time.Time      `json:"now"`
	Cohorts       []Cohort       `json:"cohorts"`
	ClusterQueues []ClusterQueue `json:"clusterQueues"`
	Admitted      []Workload     `json:"admitted"`
	Incoming      Workload       `json:"incoming"`
	Want          Want           `json:"want"`
}

// Gates are the feature gates that change the answer.
type Gates struct {
	FairSharingPreemptWithinNominal *bool
}

// ID returns the case's name.
func (c *Case) ID() string { return c.Name }

// Cohort is an inner node of the case's quota tree.
type Cohort struct {
	Name   string                `json:"name"`
	Parent string                `json:"parent"`
	Weight quota.OptionalFloat64 `json:"weight"`
	Quotas []quota.Quota         `json:"quotas"`
}

// ClusterQueue is a leaf of the case's quota tree.
type ClusterQueue struct {
	Name       string                 `json:"name"`
	Cohort     string                 `json:"cohort"`
	Weight     quota.OptionalFloat64  `json:"weight"`
	Quotas     []quota.Quota          `json:"quotas"`
	Preemption queue.PreemptionPolicy `json:"preemption"`
}

// Workload is an admitted workload, with its usage, or the incoming one, with its
// requests.
type Workload struct {
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

// Want holds Kueue's answers.
type Want struct {
	Victims []Victim    `json:"victims"`
	Quota   QuotaRows   `json:"quota"`
	Oracle  []OracleRow `json:"oracle"`
}

// Victim is a workload that Kueue preempts.
type Victim struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// QuotaRows holds the numbers of Kueue's quota tree.
type QuotaRows struct {
	ClusterQueues []QuotaRow `json:"clusterQueues"`
	Cohorts       []QuotaRow `json:"cohorts"`
	Share         []ShareRow `json:"share"`
}

// ShareRow is the dominant resource share of a node.
type ShareRow struct {
	Name             string `json:"name"`
	Kind             string `json:"kind"` // ClusterQueue or Cohort
	WeightedShare    string `json:"weightedShare"`
	DominantResource string `json:"dominantResource"`
}

// QuotaRow holds the numbers of one node in one column; cohorts have no available and no
// potential available amount.
type QuotaRow struct {
	Name string `json:"name"`
	quota.FlavorResource
	Usage              int64 `json:"usage"`
	Available          int64 `json:"available"`
	PotentialAvailable int64 `json:"potentialAvailable"`
	SubtreeQuota       int64 `json:"subtreeQuota"`
}

// OracleRow is Kueue's forecast for one column of the request by itself.
type OracleRow struct {
	quota.Amount
	Possibility  string `json:"possibility"`
	BorrowHeight int    `json:"borrowHeight"`
}

// check fails on a line that is JSON but no case that can be asked.
func (c *Case) check() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("no case: it has no id")
	case c.Mode != "classical" && c.Mode != "fair":
		return fmt.Errorf("case %q: unknown mode %q", c.Name, c.Mode)
	case c.Incoming.Name == "":
		return fmt.Errorf("case %q: no incoming workload", c.Name)
	}
	for _, r := range c.Incoming.Requests {
		if r.Mode != "Preempt" && r.Mode != "Fit" {
			return fmt.Errorf("case %q: request for %v: unknown mode %q", c.Name, r.FlavorResource(), r.Mode)
		}
	}
	return nil
}
