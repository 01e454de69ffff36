package corpus

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Departures from KAI, by name. Each is a predicate on the case.
const (
	NegativeDuration  = "a negative duration is refused"
	ExactlyAtTheEnd   = "exactly at the end of its time a workload is still protected"
	StartInTheFuture  = "a start in the future does not protect without a minimum"
	OnlyRunningCounts = "only replicas that run count: not those that are terminating, waiting or done"
)

// kaiTree is a tree of KAI's queues and its defaults.
type kaiTree struct {
	Name     string `json:"id"`
	Defaults struct {
		Preempt text `json:"preempt"`
		Reclaim text `json:"reclaim"`
	} `json:"defaults"`
	Queues []struct {
		Name              string `json:"name"`
		Parent            string `json:"parent"`
		PreemptMinRuntime *text  `json:"preemptMinRuntime"`
		ReclaimMinRuntime *text  `json:"reclaimMinRuntime"`
	} `json:"queues"`
}

// text is a Go duration in JSON.
type text time.Duration

func (d *text) UnmarshalText(data []byte) error {
	parsed, err := time.ParseDuration(string(data))
	*d = text(parsed)
	return err
}

// ID returns the case's name.
func (c *kaiTree) ID() string { return c.Name }

func (c *kaiTree) check() error {
	if c.Name == "" {
		return fmt.Errorf("no case: it has no id")
	}
	return nil
}

// negative is the predicate of NegativeDuration.
func (c *kaiTree) negative() bool {
	if c.Defaults.Preempt < 0 || c.Defaults.Reclaim < 0 {
		return true
	}
	for _, q := range c.Queues {
		if q.PreemptMinRuntime != nil && *q.PreemptMinRuntime < 0 || q.ReclaimMinRuntime != nil && *q.ReclaimMinRuntime < 0 {
			return true
		}
	}
	return false
}

// resolver resolves the minimum runtimes of a case as the engine does. The queues of the
// case are cohorts here, because they need not be leaves.
type resolver struct {
	shape  *cluster.Shape
	config minimum.Config
}

// resolver builds the tree. A missing parent makes its child a root, as in KAI's resolver.
func (c *kaiTree) resolver(method minruntime.Method) (resolver, error) {
	known := map[string]bool{}
	for _, q := range c.Queues {
		known[q.Name] = true
	}
	var cohorts []queue.Cohort
	for _, q := range c.Queues {
		made := queue.Cohort{Name: q.Name, MinRuntime: minruntime.Settings{Preempt: setting(q.PreemptMinRuntime), Reclaim: setting(q.ReclaimMinRuntime)}}
		if known[q.Parent] {
			made.Parent = q.Parent
		}
		cohorts = append(cohorts, made)
	}
	defaults := minruntime.Settings{
		Preempt: quota.Some(time.Duration(c.Defaults.Preempt)), Reclaim: quota.Some(time.Duration(c.Defaults.Reclaim)),
	}
	if _, err := preemption.New(preemption.Config{MinRuntime: defaults, ReclaimMethod: method}); err != nil {
		return resolver{}, err
	}
	made, err := cluster.New(cohorts, nil, nil)
	if err != nil {
		return resolver{}, err
	}
	return resolver{made.Shape, minimum.Config{Defaults: defaults, Method: method}}, nil
}

func setting(d *text) quota.OptionalDuration {
	if d == nil {
		return quota.OptionalDuration{}
	}
	return quota.Some(time.Duration(*d))
}

// preempt resolves against workloads of the same queue; ok is false for an unknown one.
func (r resolver) preempt(victim string) (d time.Duration, ok bool) {
	node, ok := r.shape.CohortNode(victim)
	if !ok {
		return 0, false
	}
	return r.shape.Minimum.Preempt(&r.config, node).For, true
}

// reclaim resolves against workloads of another queue; ok is false when one is unknown.
func (r resolver) reclaim(preemptor, victim string) (d time.Duration, ok bool) {
	p, known := r.shape.CohortNode(preemptor)
	v, ok := r.shape.CohortNode(victim)
	if !known || !ok {
		return 0, false
	}
	above := map[int]bool{}
	for n := v; n >= 0; n = r.shape.Tree.Parent(n) {
		above[n] = true
	}
	lca := p
	for lca >= 0 && !above[lca] {
		lca = r.shape.Tree.Parent(lca)
	}
	return r.shape.Minimum.Reclaim(&r.config, v, lca).For, true
}

// refused asks for the tree of a case with a negative duration, which must be an error.
func (c *kaiTree) refused() (Report, error) {
	if _, err := c.resolver(minruntime.LCA); err == nil {
		return Report{Differences: []Difference{{What: "a negative duration", Want: []string{"an error"}, Got: []string{"none"}}}}, nil
	}
	return Report{Departures: []string{NegativeDuration}}, nil
}

// ResolverCase is a record of minimum runtimes that KAI resolved.
type ResolverCase struct {
	kaiTree
	Want []struct {
		Preemptor    *string `json:"preemptor"`
		Preemptee    *string `json:"preemptee"`
		Preempt      *text   `json:"preempt"`
		PreemptError bool    `json:"preemptError"`
		ReclaimLCA   *text   `json:"reclaimLCA"`
		LCAError     bool    `json:"reclaimLCAError"`
		ReclaimQueue *text   `json:"reclaimQueue"`
		QueueError   bool    `json:"reclaimQueueError"`
	} `json:"want"`
}

// Check compares the minimum runtime of every pair, by both methods. Where KAI has an
// error, the queue must be unknown here.
func (c *ResolverCase) Check(*preemption.Preemptor) (Report, error) {
	if c.negative() {
		return c.refused()
	}
	lca, err := c.resolver(minruntime.LCA)
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	byQueue, err := c.resolver(minruntime.Queue)
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	var r Report
	for _, w := range c.Want {
		preemptor, victim := orNobody(w.Preemptor), orNobody(w.Preemptee)
		compare := func(what string, want *text, failed bool, got time.Duration, ok bool) {
			if want == nil && !failed {
				return
			}
			expected := "an error"
			if !failed {
				expected = time.Duration(*want).String()
			}
			actual := "an error"
			if ok {
				actual = got.String()
			}
			r.compare(fmt.Sprintf("%s of %q against %q", what, victim, preemptor), []string{expected}, []string{actual})
		}
		got, ok := lca.preempt(victim)
		compare("preempt", w.Preempt, w.PreemptError, got, ok)
		got, ok = lca.reclaim(preemptor, victim)
		compare("reclaim by lca", w.ReclaimLCA, w.LCAError, got, ok)
		got, ok = byQueue.reclaim(preemptor, victim)
		compare("reclaim by queue", w.ReclaimQueue, w.QueueError, got, ok)
	}
	return r, nil
}

func orNobody(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}
