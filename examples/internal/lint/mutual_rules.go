package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/rules"
	"github.com/cedesched/cede/workload"
)

// maxMutual limits the workloads that are compared, each with each: those that selectors cannot tell
// apart are one.
const maxMutual = 250

// mutualRules finds rules that accept two workloads of the state for each other, or one of them while a
// policy permits the other. What is proven is what the selectors say of these two: when they accept
// them (times, triggers) and whether the quota lets them is another question.
func mutualRules(c *Cluster) []Finding {
	evaluator, err := rules.New(c.State.Cohorts, c.State.Queues, c.State.Rules)
	if err != nil || len(c.State.Rules) == 0 {
		return nil
	}
	kinds, several := c.kinds()
	by := make([][]right, len(kinds)) // by preemptor: whom it may preempt
	for i := range kinds {
		by[i] = c.rights(evaluator, &kinds[i], kinds)
	}
	var found []Finding
	said := map[[2]string]bool{}
	for i := range kinds {
		for j := i; j < len(kinds); j++ {
			there, back := by[i][j], by[j][i]
			if i == j && !several[i] || !there.any() || !back.any() || there.rule == "" && back.rule == "" {
				continue
			}
			a, b := kinds[i].ID, kinds[j].ID
			if there.rule == "" {
				there, back, a, b = back, there, b, a
			}
			if i == j {
				b = "another like it"
			}
			key := [2]string{there.text(), back.text()}
			if slices.Sort(key[:]); said[key] {
				continue
			}
			said[key] = true
			adder(&found, placeOf("rules", there.config))(fmt.Sprintf("%s and %s", a, b),
				"%s and %s accept two workloads for each other, whatever times, triggers and quota then say", there.text(), back.text())
		}
	}
	return found
}

// right is by what one workload may preempt another. The zero value: by nothing.
type right struct {
	config, rule string
	selector     int
	policy       string
}

func (r right) any() bool { return r.rule != "" || r.policy != "" }

func (r right) text() string {
	if r.rule == "" {
		return r.policy
	}
	return fmt.Sprintf("rule %q selector %d of %q", r.rule, r.selector, r.config)
}

// kinds returns one workload of each kind that selectors and policies can tell apart, and whether there
// are several of it. If there are more than are compared, it says so.
func (c *Cluster) kinds() (list []workload.Workload, several []bool) {
	known := slices.Concat(c.State.Admitted, c.Pending)
	slices.SortFunc(known, func(a, b workload.Workload) int { return cmp.Compare(a.ID, b.ID) })
	at := map[string]int{}
	for i := range known {
		w := &known[i]
		key, err := json.Marshal([]any{w.Queue, w.LocalQueue, w.Labels, w.PriorityClass, w.Priority, w.PriorityBoost})
		if err != nil {
			continue
		}
		if first, was := at[string(key)]; was {
			several[first] = true
		} else if !w.NeverYields {
			at[string(key)] = len(list)
			list, several = append(list, *w), append(several, false)
		}
	}
	if all := len(list); all > maxMutual {
		list, several = list[:maxMutual], several[:maxMutual]
		c.Unfinished = append(c.Unfinished, fmt.Sprintf("mutual rules were looked for between %d of the %d kinds of workloads: between all it would take too long", maxMutual, all))
	}
	return list, several
}

// rights returns by what a workload may preempt each of the others: by a rule if there is one, else by a
// policy.
func (c *Cluster) rights(e *rules.Evaluator, preemptor *workload.Workload, others []workload.Workload) []right {
	list := make([]right, len(others))
	waits := *preemptor
	waits.ReservedAt = time.Time{} // as if it waited
	of := c.queue(preemptor.Queue)
	for _, trigger := range rules.Triggers() {
		tier, err := e.Tier(trigger, &waits)
		if err != nil {
			break
		}
		config := c.config(of.Rules)
		for i := range others {
			for _, v := range tier.Verdicts(&others[i], rules.Moment{Now: c.Now, Quota: rules.AllQuota()}) {
				if accepts := v.Refuses == "" || v.Refuses == rules.PartTime || v.Refuses == rules.PartTrigger; accepts && list[i].rule == "" && config != nil {
					list[i] = right{config: config.Name, rule: config.Rules[v.Rule].Name, selector: v.Selector}
				}
			}
		}
	}
	if c.Config.RulesAlone && e.Has(preemptor.Queue) {
		return list
	}
	for i := range others {
		if !list[i].any() {
			list[i].policy = c.policy(of, preemptor, &others[i])
		}
	}
	return list
}

// policy returns the policy that permits a workload, by its priority; empty: none does.
func (c *Cluster) policy(of *queue.Queue, preemptor, other *workload.Workload) string {
	lower := other.EffectivePriority() < preemptor.EffectivePriority()
	if preemptor.Queue == other.Queue {
		if p := of.Preemption.WithinClusterQueue; p != queue.Never && lower {
			return fmt.Sprintf("withinClusterQueue %v of queue %q", p, of.Name)
		}
		return ""
	}
	theirs := c.queue(other.Queue)
	sameTree := of.Cohort != "" && theirs.Cohort != "" && c.trees[of.Cohort] == c.trees[theirs.Cohort]
	if p := of.Preemption.ReclaimWithinCohort; sameTree && (p == queue.Any || p != queue.Never && lower) {
		return fmt.Sprintf("reclaimWithinCohort %v of queue %q", p, of.Name)
	}
	return ""
}

func (c *Cluster) queue(name string) *queue.Queue {
	for i := range c.State.Queues {
		if c.State.Queues[i].Name == name {
			return &c.State.Queues[i]
		}
	}
	return &queue.Queue{Name: name}
}

func (c *Cluster) config(name string) *rules.Config {
	for i := range c.State.Rules {
		if c.State.Rules[i].Name == name {
			return &c.State.Rules[i]
		}
	}
	return nil
}
