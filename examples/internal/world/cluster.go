package world

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/examples/internal/records"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// Cluster is queues with their quotas and policies, as objects of Kueue have them. Its quotas are for GPUs and CPUs, in
// thousandths.
type Cluster struct {
	Queues  []queue.Queue
	Cohorts []queue.Cohort
	Rules   []rules.Config
	Notes   []string
	local   map[string]string // queues by LocalQueue: with its namespace, and without if that is enough
}

// maxNotes is how many notes on the objects of a cluster are told.
const maxNotes = 5

// ReadCluster reads the queues in a file, in any form in which kubectl prints them; nil: there are none. It fails on what
// cannot be read.
func ReadCluster(path string) (*Cluster, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var k read.Kueue
	options := input.Options{Nameless: append([]string{"Event"}, read.Nameless...), Lost: k.Lose}
	notes, err := input.Read([]input.Source{{Name: path, Reader: f}}, options, func(o *input.Object) error {
		if o.Kind == "Workload" || o.Kind == "Event" {
			return nil
		}
		if err := k.Add(o); !errors.Is(err, input.ErrNotRead) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := read.With(k.Cluster(), notes)
	if len(all.State.Queues) == 0 {
		return nil, nil
	}
	c := &Cluster{Queues: all.State.Queues, Cohorts: all.State.Cohorts, Rules: all.State.Rules, local: map[string]string{}}
	dropped, stopped := map[string]bool{}, 0
	for i := range c.Queues {
		if c.Queues[i].Inactive {
			stopped++
			c.Queues[i].Inactive = false
		}
		c.Queues[i].Quotas = counted(c.Queues[i].Quotas, dropped)
	}
	for i := range c.Cohorts {
		c.Cohorts[i].Quotas = counted(c.Cohorts[i].Quotas, dropped)
	}
	for _, l := range all.LocalQueues {
		c.local[l.Namespace+"/"+l.Name] = l.ClusterQueue
		if had, ok := c.local[l.Name]; ok && had != l.ClusterQueue {
			c.local[l.Name] = "" // it is not known which
		} else {
			c.local[l.Name] = l.ClusterQueue
		}
	}
	note := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	note("Queues, quotas and policies: %d ClusterQueues and %d Cohorts of %s.", len(c.Queues), len(c.Cohorts), path)
	if stopped > 0 {
		note("%d of the queues are stopped, or the file lacks a ResourceFlavor of theirs: they are replayed as active.", stopped)
	}
	if len(dropped) > 0 {
		note("Quotas are for GPUs and CPUs alone, not for %s.", strings.Join(slices.Sorted(maps.Keys(dropped)), ", "))
	}
	for i, n := range all.Warnings {
		if i == maxNotes {
			note("%d more notes on the objects.", len(all.Warnings)-i)
			break
		}
		note("%s.", strings.TrimSuffix(n, "."))
	}
	return c, nil
}

// maxQuota bounds quotas, so that sums of them are no overflow.
const maxQuota = 1 << 50

// counted returns the quotas of GPUs and CPUs in thousandths. Those of several resources that count GPUs in one flavor are one.
func counted(quotas []quota.Quota, dropped map[string]bool) (out []quota.Quota) {
	for _, q := range quotas {
		unit := int64(1) // CPUs come in thousandths
		switch {
		case records.IsGPU(q.Resource):
			q.Resource, unit = GPU, 1000
		case q.Resource == CPU:
		default:
			dropped[q.Resource] = true
			continue
		}
		scale := func(n int64) int64 { return min(n, maxQuota/unit) * unit }
		limit := func(of quota.OptionalInt64) quota.OptionalInt64 {
			if n, ok := of.Get(); ok {
				return quota.AtMost(scale(n))
			}
			return of
		}
		q.Nominal, q.BorrowingLimit, q.LendingLimit = scale(q.Nominal), limit(q.BorrowingLimit), limit(q.LendingLimit)
		if i := slices.IndexFunc(out, func(had quota.Quota) bool { return had.Flavor == q.Flavor && had.Resource == q.Resource }); i >= 0 {
			out[i].Nominal += q.Nominal
			continue
		}
		out = append(out, q)
	}
	return out
}

// flavors are those in which a queue has quota for a resource, in its order.
func flavors(q *queue.Queue, resource string) (names []string) {
	for _, entry := range q.Quotas {
		if entry.Resource == resource {
			names = append(names, entry.Flavor)
		}
	}
	return names
}

// place gives the jobs the queues of the cluster that they name. A job whose queue is not there is left out.
func (t *Trace) place() error {
	c := t.Cluster
	t.Notes = append(t.Notes, c.Notes...)
	known := map[string]*queue.Queue{}
	for i := range c.Queues {
		known[c.Queues[i].Name] = &c.Queues[i]
	}
	missing, unknown, noCPU := map[string]int{}, map[string]int{}, 0
	kept := t.Jobs[:0]
	for _, j := range t.Jobs {
		q := known[j.Queue]
		if q == nil {
			q = known[c.local[j.Queue]]
		}
		if q == nil {
			missing[j.Queue]++
			continue
		}
		j.Queue = q.Name
		if j.CPU > 0 && len(flavors(q, CPU)) == 0 {
			j.CPU = 0
			noCPU++
		}
		if of := flavors(q, GPU); j.Flavor != "" && !slices.Contains(of, j.Flavor) {
			if j.GPU > 0 {
				unknown[j.Flavor]++
			}
			j.Flavor = ""
		}
		if j.GPU > 0 || j.CPU > 0 {
			kept = append(kept, j)
		}
	}
	if noCPU > 0 {
		t.note("CPUs of %d jobs do not count: their queues have no quotas for them.", noCPU)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.note("Left out: %d jobs of queue %q, which the cluster does not have.", missing[name], name)
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		t.note("%d jobs ran in flavor %q, in which their queues have no quota: they may have any.", unknown[name], name)
	}
	if t.Jobs = kept; len(kept) == 0 {
		return fmt.Errorf("%s: no job is of a queue of the cluster: want one of %s; the jobs are of %s",
			t.Name, some(slices.Sorted(maps.Keys(known))), some(slices.Sorted(maps.Keys(missing))))
	}
	return nil
}

// some names a few.
func some(names []string) string {
	if more := len(names) - maxNotes; more > 0 {
		names = append(slices.Clone(names[:maxNotes]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
