// Package lint finds what will hurt in the configuration of a cluster, although it is valid.
// It asks package preemption as any other program does.
package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Cluster is what is looked at.
type Cluster struct {
	State preemption.State
	// Snapshot is of the State.
	Snapshot *preemption.Snapshot
	// Config is how decisions are made.
	Config preemption.Config
	// Pending is who waits and is considered.
	Pending []workload.Workload
	// Waiting is what is asked of quota for who waits and whose answer is known: those of Pending, and those that need room on nodes besides.
	Waiting []preemption.Request
	// TooLarge says, by the ID of a workload that waits, for the nodes of which flavors its pods are too large.
	TooLarge map[string][]answers.TooLarge
	// LocalQueues lead to the queues. Nil: it is not known who submits where.
	LocalQueues []bridge.LocalQueue
	// Topologies are the names of the flavors' topologies, by flavor. Nil: they are not known.
	Topologies map[string]string
	// Dropped are queues that are left out, by name, with the parent that is not there.
	Dropped map[string]string
	// LeavingSince says since when workloads have been leaving, by ID. Nil: it is not known.
	LeavingSince map[string]time.Time
	// Notes are what a bridge could not take over.
	Notes []bridge.Note
	Now   time.Time
	// Unlimited: what may take long has no limit.
	Unlimited bool
	// Ended says that Run is to end with what it has found so far, and by what; empty: it goes on. Nil: it always does.
	Ended func() string
	// Unfinished is set by Run: what it did not look at, or not to the end, and why; sentences without full stop.
	Unfinished []string
	// Progress is told about each step of what may take long. Nil: nobody.
	Progress func()
	// Found is told about each finding as soon as it is made: by rule. Circles come in the order in which they are found,
	// the findings of other rules in the order of the result. Nil: nobody.
	Found func(Finding)

	trees     map[string]string // root by cohort
	preemptor *preemption.Preemptor
}

// Finding is one thing that will hurt.
type Finding struct {
	Rule    string `json:"rule"`
	Place   string `json:"place"`   // as in `queue "a"`
	Problem string `json:"problem"` // a sentence without full stop
	Example string `json:"example,omitempty"`
}

// Rule is one kind of findings.
type Rule struct {
	Name  string
	Means string // a sentence without full stop
	find  func(*Cluster) []Finding
}

// Rules returns all rules, in the order in which they are reported.
func Rules() []Rule {
	return []Rule{
		{"lending", "a lending limit is more than there is to lend", lending},
		{"unreachable", "nobody can use the quota", unreachable},
		{"min-runtime", "a minimum runtime ends no earlier than the minAdmitDuration, which then means nothing", minRuntimes},
		{"gate", "a workload waits for a gate that nobody opens", gates},
		{"leaving", "a workload was told to leave long ago and still holds quota, which others wait for", longLeaving},
		{tooLargeRule, "a workload waits that never fits, whoever yields: its queue can never have so much, or no node that there is now takes its pods", tooLarge},
		{"weight", "the weight is zero: who borrows yields first, whatever its share", weights},
		{"no-effect", "a setting changes nothing", noEffect},
		{"rules", "preemption rules are bad, are not there, or never apply", preemptionRules},
		{"limits", "a limit on preemptions counts nothing, or forbids everything", preemptionLimits},
		{"zero-limit", "the limit of a queue is 0, as one that is absent: nothing runs there (KAI)", zeroLimits},
		{"guarantee", "a quota guarantees nothing, because another quota of its queue is 0 (KAI)", guarantees},
		{"parent", "the parent of a queue is not there, so that the queue is dropped (KAI)", lostParents},
		{"children", "queues have more quota together than the queue above them (KAI)", children},
		{"no-quota", "work that is not preemptible waits where there is no quota (KAI)", unguaranteed},
		{"mutual", "preemption rules accept two workloads for each other, so that they may preempt each other in turn", mutualRules},
		{"circle", "workloads evict each other while time stands still", circles}, // last: it takes longest
	}
}

// tooLargeRule is about all clusters.
const tooLargeRule = "too-large"

// sharesRules are those about clusters in which fair shares decide; all others are about those in which they do not.
var sharesRules = []string{"zero-limit", "guarantee", "parent", "children", "no-quota"}

// Run returns what the named rules find, or all rules if none is named: by rule, then by place
// and problem. It fails on an unknown rule.
func Run(c *Cluster, names ...string) ([]Finding, error) {
	rules := Rules()
	for _, name := range names {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == name }) {
			return nil, fmt.Errorf("there is no rule %q: want %s", name, strings.Join(Names(), ", "))
		}
	}
	c.trees, c.Unfinished = map[string]string{}, nil
	var err error
	if c.preemptor, err = preemption.New(c.Config); err != nil {
		return nil, err
	}
	for _, n := range answers.Tree(c.Snapshot) {
		if n.Cohort {
			c.trees[n.Name] = n.Root
		}
	}
	found := []Finding{}
	for _, r := range rules {
		if len(names) > 0 && !slices.Contains(names, r.Name) {
			continue
		}
		if ofShares := slices.Contains(sharesRules, r.Name); ofShares != c.byShares() && r.Name != tooLargeRule {
			if len(names) > 0 {
				c.Unfinished = append(c.Unfinished, fmt.Sprintf("rule %s is about another scheduler", r.Name))
			}
			continue
		}
		list := r.find(c)
		for i := range list {
			list[i].Rule = r.Name
		}
		slices.SortFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Example, b.Example))
		})
		list = slices.Compact(list)
		for _, f := range list {
			if r.Name != "circle" { // which tells itself
				c.report(r.Name, f)
			}
		}
		found = append(found, list...)
	}
	return found, nil
}

// report tells about a finding of a rule.
func (c *Cluster) report(rule string, f Finding) {
	if f.Rule = rule; c.Found != nil {
		c.Found(f)
	}
}

// ended says by what Run is to end; empty: it goes on.
func (c *Cluster) ended() string {
	if c.Ended == nil {
		return ""
	}
	return c.Ended()
}

// unfinished notes what was not looked at, or not to the end: because Run was to end, or by a limit of workloads that searches
// go over.
func (c *Cluster) unfinished(what string, limit int) {
	why := c.ended()
	switch {
	case why != "":
		why += " ended it"
	case c.Unlimited:
		why = fmt.Sprintf("the steps of one search may go over %d million workloads", maxLooksOfOne/1_000_000)
	default:
		why = fmt.Sprintf("all searches together may go over %d million workloads; with -all there is no such limit", limit/1_000_000)
	}
	c.Unfinished = append(c.Unfinished, what+": "+why)
}

// shape returns a text that is equal for waiting workloads only if each decision about them is; empty: it has to be asked
// about alone.
func (c *Cluster) shape(w *workload.Workload) string {
	return c.preemptor.Shape(c.Snapshot, preemption.Request{Workload: *w, Now: c.Now})
}

// tell tells about a step.
func (c *Cluster) tell() {
	if c.Progress != nil {
		c.Progress()
	}
}

// Names returns the names of all rules.
func Names() []string {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
	}
	return names
}

// peers returns the other queues of a queue's tree.
func (c *Cluster) peers(q *queue.Queue) []*queue.Queue {
	var list []*queue.Queue
	for i := range c.State.Queues {
		o := &c.State.Queues[i]
		if q.Cohort != "" && o.Name != q.Name && o.Cohort != "" && c.trees[o.Cohort] == c.trees[q.Cohort] {
			list = append(list, o)
		}
	}
	return list
}

// workloads prints a number of workloads.
func workloads(n int) string {
	if n == 1 {
		return "1 workload"
	}
	return fmt.Sprintf("%d workloads", n)
}

func placeOf(kind, name string) string { return fmt.Sprintf("%s %q", kind, name) }

// fair reports whether shares decide.
func (c *Cluster) fair() bool { return c.Config.Sharing != preemption.Classical }

// runs returns a workload that runs in a queue, for examples.
func (c *Cluster) runs(queueName string) string {
	first := ""
	for i := range c.State.Admitted {
		if w := &c.State.Admitted[i]; w.Queue == queueName && (first == "" || w.ID < first) {
			first = w.ID
		}
	}
	return first
}

// row returns the numbers of a queue in a column.
func row(rows []preemption.QuotaStatus, column quota.FlavorResource) preemption.QuotaStatus {
	for _, r := range rows {
		if r.FlavorResource == column {
			return r
		}
	}
	return preemption.QuotaStatus{}
}
