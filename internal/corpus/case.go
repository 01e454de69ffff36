// Package corpus reads decisions that other schedulers made and asks them again.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Case is one decision of Kueue's: a cluster, a pending workload, the answers.
type Case struct {
	ID            string         `json:"id"`
	Mode          string         `json:"mode"`
	Now           time.Time      `json:"now"`
	Cohorts       []Cohort       `json:"cohorts"`
	ClusterQueues []ClusterQueue `json:"clusterQueues"`
	Admitted      []Workload     `json:"admitted"`
	Incoming      Workload       `json:"incoming"`
	Want          Want           `json:"want"`
}

// Cohort is an inner node of the case's quota tree.
type Cohort struct {
	Name   string        `json:"name"`
	Parent string        `json:"parent"`
	Quotas []quota.Quota `json:"quotas"`
}

// ClusterQueue is a leaf of the case's quota tree.
type ClusterQueue struct {
	Name       string           `json:"name"`
	Cohort     string           `json:"cohort"`
	Quotas     []quota.Quota    `json:"quotas"`
	Preemption queue.Preemption `json:"preemption"`
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

// Want is Kueue's answers.
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

// QuotaRows is the numbers of Kueue's quota tree.
type QuotaRows struct {
	ClusterQueues []QuotaRow `json:"clusterQueues"`
	Cohorts       []QuotaRow `json:"cohorts"`
}

// QuotaRow is the numbers of one node in one column; cohorts have no available and
// potential available.
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

// maxLine bounds a line of a file of cases.
const maxLine = 64 << 20

// Read calls yield for each case of a file of JSON Lines, plain or gzip, with its
// line number; empty lines are passed over. It stops at the first error, which
// names the file and line.
func Read(name string, r io.Reader, yield func(line int, c *Case) error) error {
	buffered := bufio.NewReader(r)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		buffered = bufio.NewReader(unzipped)
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	line := 0
	for lines.Scan() {
		line++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c := new(Case)
		if err := json.Unmarshal(lines.Bytes(), c); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if err := yield(line, c); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	return nil
}

// check refuses lines that are JSON but no case that can be asked.
func (c *Case) check() error {
	switch {
	case c.ID == "":
		return fmt.Errorf("no case: it has no id")
	case c.Mode == "fair":
		return fmt.Errorf("case %q: mode \"fair\" is not supported yet", c.ID)
	case c.Mode != "classical":
		return fmt.Errorf("case %q: unknown mode %q", c.ID, c.Mode)
	case c.Incoming.Name == "":
		return fmt.Errorf("case %q: no incoming workload", c.ID)
	}
	for _, r := range c.Incoming.Requests {
		if r.Mode != "Preempt" && r.Mode != "Fit" {
			return fmt.Errorf("case %q: request for %v: unknown mode %q", c.ID, r.FlavorResource(), r.Mode)
		}
	}
	return nil
}
