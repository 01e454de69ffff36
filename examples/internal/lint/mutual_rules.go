package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// maxMutual limits the workloads that are compared, each with each: those that selectors cannot tell
// apart are one.
const maxMutual = 250

// mutualRules finds rules that accept two workloads of the state for each other, or one of them while a
// policy permits the other. What is proven is what the selectors say of these two: when they accept
// them (times, triggers) and whether the quota lets them is another question. Two that cannot hold one
// after the other, whatever the quota is, are no finding: see [exclude].
func mutualRules(c *Cluster) []Finding {
	s, err := preemption.NewSnapshot(preemption.State{Cohorts: c.State.Cohorts, Queues: c.State.Queues, Rules: c.State.Rules})
	if err != nil || len(c.State.Rules) == 0 {
		return nil
	}
	kinds, several := c.kinds()
	by := make([][][]right, len(kinds)) // by preemptor: by what it may preempt each of the others
	for i := range kinds {
		by[i] = c.rights(s, &kinds[i], kinds)
	}
	var found []Finding
	said := map[[2]string]bool{}
	for i := range kinds {
		for j := i; j < len(kinds); j++ {
			there, back, is := mutual(by[i][j], by[j][i])
			if i == j && !several[i] || !is {
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

// right is by what one workload may preempt another.
type right struct {
	config, rule string
	selector     int
	policy       string // if rule is empty
	needs        needs
}

// needs is what a right asks for that may exclude another right. The zero value: nothing.
type needs struct {
	quota   int // how much it asks for on both sides: see [strength]
	created rules.Comparison
}

// strength orders constraints on quota: of two whose sum is over 3 one cannot hold right after the
// other did, for the two sides the other way round.
//
// Each needs a candidate whose queue borrows. By the strongest the preemptor's side does not borrow
// afterwards, so that none of them accepts it. Two shares cannot each be the smaller one.
func strength(q rules.QuotaConstraint) int {
	switch q {
	case rules.BorrowingCapacityFromPreemptor:
		return 3
	case rules.DRSLessThanOrEqualToFinalShare, rules.DRSLessThanInitialShare, rules.DRSAllStrategies:
		return 2
	case rules.Borrowing:
		return 1
	}
	return 0
}

// exclude reports whether two rights exclude each other: the quota cannot be so that the one holds and then
// the other, or each asks for a candidate that was created later.
func exclude(a, b *right) bool {
	strict := func(one, other rules.Comparison) bool {
		return one == rules.LessThan && (other == rules.LessThan || other == rules.LessThanOrEqual) ||
			one == rules.GreaterThan && (other == rules.GreaterThan || other == rules.GreaterThanOrEqual)
	}
	return a.needs.quota > 0 && b.needs.quota > 0 && a.needs.quota+b.needs.quota > 3 ||
		strict(a.needs.created, b.needs.created) || strict(b.needs.created, a.needs.created)
}

// mutual returns the first two rights that do not exclude each other, and of which one is a rule's.
func mutual(there, back []right) (a, b right, is bool) {
	for i := range there {
		for j := range back {
			if (there[i].rule != "" || back[j].rule != "") && !exclude(&there[i], &back[j]) {
				return there[i], back[j], true
			}
		}
	}
	return right{}, right{}, false
}

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

// rights returns by what a workload may preempt each of the others: by rules, and by a policy. Of those
// that ask for the same it returns the first.
func (c *Cluster) rights(s *preemption.Snapshot, preemptor *workload.Workload, others []workload.Workload) [][]right {
	list := make([][]right, len(others))
	add := func(i int, r right) {
		if !slices.ContainsFunc(list[i], func(o right) bool { return o.needs == r.needs }) {
			list[i] = append(list[i], r)
		}
	}
	of := c.queue(preemptor.Queue)
	config := c.config(of.Rules)
	for _, trigger := range rules.Triggers() {
		verdicts, err := s.RuleVerdicts(trigger, *preemptor)
		if err != nil || config == nil {
			break
		}
		for i := range others {
			for _, v := range verdicts(others[i], c.Now, time.Time{}) {
				s := &config.Rules[v.Rule].CandidateSelectors[v.Selector]
				sometime := v.Refuses == "" || v.Refuses == rules.PartTrigger || v.Refuses == rules.PartTime && len(never(&s.Time)) == 0
				if sometime && (s.Quota == "" || c.beside(of, others[i].Queue)) {
					add(i, right{config: config.Name, rule: config.Rules[v.Rule].Name, selector: v.Selector, needs: needs{strength(s.Quota), s.Time.TimeFromCreationRelation}})
				}
			}
		}
	}
	if c.Config.Compat.RulesAlone && s.HasRules(preemptor.Queue) {
		return list
	}
	for i := range others {
		if policy, needs := c.policy(of, preemptor, &others[i]); policy != "" {
			add(i, right{policy: policy, needs: needs})
		}
	}
	return list
}

// beside reports whether a queue is another one of the same tree.
func (c *Cluster) beside(of *queue.Queue, name string) bool {
	theirs := c.queue(name)
	return of.Name != name && of.Cohort != "" && theirs.Cohort != "" && c.trees[of.Cohort] == c.trees[theirs.Cohort]
}

// policy returns the policy that permits a workload, by its priority, and what it needs; empty: none does.
func (c *Cluster) policy(of *queue.Queue, preemptor, other *workload.Workload) (string, needs) {
	lower := other.EffectivePriority() < preemptor.EffectivePriority()
	p := &of.Preemption
	if preemptor.Queue == other.Queue {
		if p.WithinClusterQueue != queue.Never && lower {
			return fmt.Sprintf("withinClusterQueue %v of queue %q", p.WithinClusterQueue, of.Name), needs{}
		}
		return "", needs{}
	}
	if r := p.ReclaimWithinCohort; c.beside(of, other.Queue) && (r == queue.Any || r != queue.Never && lower) {
		by := needs{quota: strength(rules.BorrowingCapacityFromPreemptor)}
		switch borrow := &p.BorrowWithinCohort; {
		case c.fair():
			by.quota = strength(rules.DRSAllStrategies)
		case borrow.Policy != queue.Never && lower && other.EffectivePriority() <= borrow.MaxPriorityThreshold.Or(math.MaxInt64):
			by.quota = strength(rules.Borrowing)
		}
		return fmt.Sprintf("reclaimWithinCohort %v of queue %q", r, of.Name), by
	}
	return "", needs{}
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
