package kai

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/internal/graph"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// Flavor is the one flavor of all amounts, which is the name of no object, and GPU the resource of GPUs, of every vendor, in thousandths.
const (
	Flavor = "Nodes"
	GPU    = bridge.GPU
)

// wholeGPU is the amount of a GPU that is not shared.
const wholeGPU = 1000

// AllQueues is the cohort above the queues without a parent: no object of the API has such a name.
const AllQueues = "all queues"

// defaultQueuePriority is the priority of a queue that has none.
const defaultQueuePriority = 100

// resource is what a queue may have of a resource, by its name in the state.
type resource struct {
	name string
	QueueResource
}

func (s *QueueSpec) resources() [3]resource {
	return [...]resource{{"cpu", s.Resources.CPU}, {"memory", s.Resources.Memory}, {GPU, s.Resources.GPU}}
}

// tree holds the queues that KAI knows.
type tree struct {
	queues  []*Queue
	byName  map[string]*Queue
	inner   map[string]bool   // has children
	dropped map[string]string // queues that KAI leaves out, with the parent that is not there
	// minRuntime has the minimum runtimes where no queue sets one.
	minRuntime minruntime.Settings
}

// tree returns the queues without those of which a parent, or one above, is not there: KAI drops them.
func (o *Objects) tree(c *bridge.Cluster) tree {
	t := tree{queues: o.queues.All(), byName: map[string]*Queue{}, inner: map[string]bool{}, dropped: map[string]string{}}
	for _, q := range t.queues {
		t.byName[q.Metadata.Name] = q
	}
	t.cutCycles(c)
	t.drop()
	c.Dropped = t.dropped
	told := map[string]bool{}
	for _, q := range t.queues {
		name, missing := q.Metadata.Name, t.dropped[q.Metadata.Name]
		if missing != "" && q.Spec.ParentQueue == missing && !told[missing] {
			told[missing] = true
			n := note("Queue "+missing, "", "Queue %s names the parent queue %s, which is not in the input: KAI drops a queue without its parent, and all below it", name, missing)
			c.Notes, c.Doubts = append(c.Notes, n), append(c.Doubts, bridge.Doubt{Note: n, NotInInput: true})
		}
	}
	t.queues = slices.DeleteFunc(t.queues, func(q *Queue) bool { return t.dropped[q.Metadata.Name] != "" })
	for _, q := range t.queues {
		if q.Spec.ParentQueue != "" {
			t.inner[q.Spec.ParentQueue] = true
		}
	}
	return t
}

// drop finds the queues that KAI drops.
func (t *tree) drop() {
	known := map[string]string{"": ""} // what is missing above a queue; empty: nothing
	for _, q := range t.queues {
		var path []string
		name := q.Metadata.Name
		missing, is := known[name]
		for ; !is; missing, is = known[name] {
			at := t.byName[name]
			if at == nil {
				missing = name
				break
			}
			path, name = append(path, name), at.Spec.ParentQueue
		}
		for _, below := range path {
			if known[below] = missing; missing != "" {
				t.dropped[below] = missing
			}
		}
	}
}

// cutCycles takes the parents of queues that form a cycle away.
func (t *tree) cutCycles(c *bridge.Cluster) {
	names, parent := make([]string, len(t.queues)), make(map[string]string, len(t.queues))
	for i, q := range t.queues {
		names[i], parent[q.Metadata.Name] = q.Metadata.Name, q.Spec.ParentQueue
	}
	inCycle := map[string]bool{}
	for _, cycle := range graph.Cycles(names, parent) {
		for _, name := range cycle {
			inCycle[name] = true
		}
		n := note("Queue "+cycle[0], "spec.parentQueue", "Queues %s are a cycle: their parents are left out", strings.Join(cycle[:min(len(cycle), 10)], ", "))
		c.Notes, c.Doubts = append(c.Notes, n), append(c.Doubts, bridge.Doubt{Note: n})
	}
	for i, q := range t.queues {
		if inCycle[q.Metadata.Name] {
			alone := *q
			alone.Spec.ParentQueue = ""
			t.queues[i], t.byName[q.Metadata.Name] = &alone, &alone
		}
	}
}

// isLeaf reports whether groups may run in a queue.
func (t *tree) isLeaf(name string) bool {
	return t.byName[name] != nil && !t.inner[name] && t.dropped[name] == ""
}

// fairShares returns the queues with what they may have. What cannot be taken as it stands is a doubt.
func (t *tree) fairShares(total totals, c *bridge.Cluster) fairshare.Tree {
	var shares fairshare.Tree
	for _, name := range []string{"cpu", "memory", GPU} {
		shares.Resources = append(shares.Resources, fairshare.Resource{Name: name, Total: min(max(0, total[name]), quota.MaxUsage)})
	}
	shares.Resources[2].Unit = wholeGPU
	for _, q := range t.queues {
		of := fairshare.Queue{Name: q.Metadata.Name, Parent: q.Spec.ParentQueue, Priority: defaultQueuePriority, CreatedAt: q.Metadata.CreationTimestamp}
		if q.Spec.Priority != nil {
			of.Priority = *q.Spec.Priority
		}
		for _, r := range q.Spec.resources() {
			of.Claims = append(of.Claims, r.claim(q, c))
		}
		shares.Queues = append(shares.Queues, of)
	}
	return shares
}

// claim returns what a queue may have of a resource.
func (r *resource) claim(q *Queue, c *bridge.Cluster) fairshare.Claim {
	doubt := func(field, format string, args ...any) {
		object, path := "Queue "+q.Metadata.Name, "spec.resources."+strings.ToLower(r.name)+"."+field
		n := note(object, path, "%s: %s %s", object, path, fmt.Sprintf(format, args...))
		c.Notes, c.Doubts = append(c.Notes, n), append(c.Doubts, bridge.Doubt{Note: n})
	}
	read := func(field string, n float64) (amount int64, unlimited bool) {
		amount, exact := units(r.name, n)
		switch {
		case n == -1:
			return 0, true
		case !(n >= 0):
			doubt(field, "is %v, and only -1 is unlimited", n)
			return 0, false
		case !exact:
			doubt(field, "is %v, and a part of a unit is not modelled", n)
		}
		return amount, false
	}
	claim := fairshare.Claim{Resource: r.name, Limit: quota.Some(int64(0)), OverQuotaWeight: r.OverQuotaWeight}
	var unlimited bool
	if claim.Quota, unlimited = read("quota", r.Quota); unlimited {
		claim.Quota = quota.Unlimited
	}
	if r.Limit != nil {
		limit, unlimited := read("limit", *r.Limit)
		if claim.Limit = quota.Some(limit); unlimited {
			claim.Limit = quota.OptionalInt64{}
		}
	}
	if w := r.OverQuotaWeight; !(w >= 0) || math.IsInf(w, 1) {
		doubt("overQuotaWeight", "is %v: want a number that is not less than zero", w)
		claim.OverQuotaWeight = 0
	}
	return claim
}

// addQueues adds cohorts and queues for the queues, and above all of them a cohort with what there is: the total, and what is held on
// nodes that do not count for it, or counts more in queues than on nodes.
func (t *tree) addQueues(shares fairshare.Tree, beside totals, c *bridge.Cluster) {
	if len(shares.Queues) == 0 {
		return
	}
	st := &c.State
	st.FairShares = shares
	st.Cohorts, st.Queues = preemption.QueuesOf(shares, AllQueues, Flavor)
	for i := range st.Cohorts[0].Quotas {
		of := &st.Cohorts[0].Quotas[i]
		of.Nominal = min(quota.Add(of.Nominal, beside[of.Resource]), quota.MaxUsage)
	}
	settings := func(name string) minruntime.Settings {
		q := t.byName[name]
		if q == nil { // above all: KAI's default
			return t.minRuntime
		}
		return minruntime.Settings{Preempt: notNegative(c, "Queue "+name, "spec.preemptMinRuntime", q.Spec.PreemptMinRuntime),
			Reclaim: notNegative(c, "Queue "+name, "spec.reclaimMinRuntime", q.Spec.ReclaimMinRuntime)}
	}
	for i := range st.Cohorts {
		st.Cohorts[i].MinRuntime = settings(st.Cohorts[i].Name)
	}
	for i := range st.Queues {
		st.Queues[i].MinRuntime = settings(st.Queues[i].Name)
	}
}

// notNegative returns a minimum runtime; one that is negative is a doubt, and protects nothing.
func notNegative(c *bridge.Cluster, object, path string, of quota.OptionalDuration) quota.OptionalDuration {
	if of.Or(0) >= 0 {
		return of
	}
	n := note(object, path, "%s: %s is %v, and a runtime is not negative", object, path, of.Or(0))
	c.Notes, c.Doubts = append(c.Notes, n), append(c.Doubts, bridge.Doubt{Note: n})
	return quota.Some(time.Duration(0))
}

// units turns KAI's numbers into amounts: cpu is in milli-CPU in both, memory in 10^6 bytes in KAI, GPUs in devices. An amount that is not
// exact is rounded up.
func units(resource string, n float64) (amount int64, exact bool) {
	switch resource {
	case "memory":
		n *= 1e6
	case GPU:
		n *= wholeGPU
	}
	if n >= float64(quota.MaxUsage) {
		return quota.MaxUsage, true // there is less than that of everything
	}
	up := math.Ceil(n)
	return int64(max(0, up)), up == n
}

// note is a note on a field of an object; the text names the object.
func note(object, path, format string, args ...any) bridge.Note {
	return bridge.Note{Object: object, Path: path, Text: fmt.Sprintf(format, args...)}
}

// totals are amounts by resource.
type totals map[string]int64

func (t totals) add(amounts []quota.Amount) {
	for _, a := range amounts {
		t[a.Resource] = quota.Add(t[a.Resource], a.Amount)
	}
}
