package world

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/cedesched/cede/examples/internal/records"
)

// Job is a job as it is submitted.
type Job = records.Job

// Read reads a trace. quotas is a file with the columns "vc" and "node num"; empty: the file vc_nodes.csv in the same
// directory, if there is one, else equal shares. cluster is a file with objects of Kueue, whose ClusterQueues and Cohorts
// take the place of quotas; empty: those that are among the records, if there are any. qos is a file with the QOS of Slurm;
// empty: the policies of the queues say who may preempt whom.
func Read(path, quotas, cluster, qos string) (Trace, error) {
	f, err := records.Read(path)
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Name: path, Jobs: f.Jobs, CountsCPU: f.CountsCPU, Ordered: f.Ordered}
	t.note("Records: %s.", strings.Join(append([]string{"read as those of " + f.Format}, f.Notes...), "; "))
	if f.Unranked {
		t.invent(inventedPriorities)
		for i := range t.Jobs {
			t.Jobs[i].Priority = invented(t.Jobs[i].ID)
		}
	}
	if f.Unowned {
		t.invent("the queues of the jobs")
	}
	if qos != "" {
		if err := t.rights(qos); err != nil {
			return t, err
		}
	}
	switch {
	case cluster != "":
		t.Cluster, err = ReadCluster(cluster)
		if err == nil && t.Cluster == nil {
			err = fmt.Errorf("%s: there is no ClusterQueue", cluster)
		}
	case f.Format == "Kueue":
		t.Cluster, err = ReadCluster(path)
	}
	if err != nil {
		return t, err
	}
	if t.Cluster != nil {
		return t, t.place()
	}
	return t, t.shares(quotas, f.Unowned)
}

// invented is a priority for a job that has none: the same one each time.
func invented(id string) int64 {
	switch records.Hash("prio/"+id) % 10 {
	case 0, 1, 2:
		return 0
	case 9:
		return 1000
	}
	return 100
}

const inventedPriorities = "priorities (0 for 30 % of the jobs, 100 for 60 %, 1000 for 10 %)"

func (t *Trace) invent(what string) { t.Invented = append(t.Invented, what) }

func (t *Trace) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// beside returns the file with the quotas that is beside a trace; empty: there is none.
func beside(trace string) string {
	file := filepath.Join(filepath.Dir(trace), "vc_nodes.csv")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// shares sets the shares of the queues of the jobs.
func (t *Trace) shares(quotas string, unowned bool) error {
	weight, named := map[string]int64{}, map[string]bool{}
	for i := range t.Jobs {
		weight[t.Jobs[i].Queue], named[t.Jobs[i].Queue] = 0, true
	}
	given := quotas != ""
	if !given && !unowned {
		quotas = beside(t.Name)
	}
	equal := quotas == ""
	if !equal {
		var sum, ours int64
		err := records.Columns(quotas, []string{"vc", "node num"}, func(text func(string) string, number func(string, int64, int64) int64) {
			n := number("node num", 0, 1<<31)
			if named[text("vc")] {
				ours += n
			}
			weight[text("vc")] = n
			sum += n
		})
		if err != nil {
			return err
		}
		if sum == 0 {
			return fmt.Errorf("%s: all quotas are zero", quotas)
		}
		if equal = !given && ours == 0; equal {
			maps.DeleteFunc(weight, func(name string, _ int64) bool { return !named[name] })
			t.note("Quotas: those of %s are of other queues.", quotas)
		} else {
			t.note("Quotas: parts of the capacity by %s.", quotas)
		}
	}
	for name, n := range weight {
		if equal {
			n = 1
		}
		t.Shares = append(t.Shares, Share{name, n})
	}
	t.sortShares()
	if equal && len(t.Shares) > 1 {
		t.invent(fmt.Sprintf("quotas, equal for all %d queues", len(t.Shares)))
	}
	return nil
}
