package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/records"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// rights lets jobs preempt by their QOS, as the file says; Slurm's priority then orders the queues and nothing else.
func (t *Trace) rights(file string) error {
	list, err := records.ReadQOS(file)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for i := range t.Jobs {
		used[t.Jobs[i].QOS] = true
	}
	if len(used) == 1 && used[""] {
		return fmt.Errorf("%s: no job has a QOS, which -qos %s is about: sacct prints it with --format QOS", t.Name, file)
	}
	c := rules.Config{Name: "qos"}
	var says []string
	for _, q := range list {
		delete(used, q.Name)
		if r := rightOf(q, list); len(r.CandidateSelectors) > 0 {
			r.Name = fmt.Sprintf("qos-%d", len(c.Rules)+1)
			c.Rules = append(c.Rules, r)
			whom := slices.Sorted(slices.Values(q.Preempts))
			if q.Within {
				whom = append(whom, "lower priorities of its own")
			}
			says = append(says, fmt.Sprintf("%s preempts %s", q.Name, strings.Join(whom, ", ")))
		}
	}
	if len(c.Rules) > rules.MaxRules {
		return fmt.Errorf("%s: %d QOS may preempt: want %d at most", file, len(c.Rules), rules.MaxRules)
	}
	t.Rights = &c
	t.note("Rights by %s: %s.", file, cmp.Or(told(says), "no QOS may preempt another"))
	if delete(used, ""); len(used) > 0 {
		t.note("QOS that %s does not have, so that they neither preempt nor yield: %s.", file, told(slices.Sorted(maps.Keys(used))))
	}
	if slices.ContainsFunc(list, func(q records.QOS) bool { return q.Grace > 0 }) {
		t.note("GraceTime of QOS is not replayed: the setting grace holds for all jobs.")
	}
	return nil
}

// rightOf is whom the jobs of a QOS may preempt: those in its list, each once it has run for the time in which it is exempt.
func rightOf(q records.QOS, list []records.QOS) rules.Rule {
	r := rules.Rule{PreemptorPriorityClass: rules.ClassSelector{MatchNames: []string{q.Name}}, ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}}
	byTime := map[int64][]string{}
	for _, name := range q.Preempts {
		i := slices.IndexFunc(list, func(other records.QOS) bool { return other.Name == name })
		if i >= 0 && list[i].Exempt >= 0 && !slices.Contains(byTime[list[i].Exempt], name) {
			byTime[list[i].Exempt] = append(byTime[list[i].Exempt], name)
		}
	}
	for _, exempt := range slices.Sorted(maps.Keys(byTime)) {
		r.CandidateSelectors = append(r.CandidateSelectors, selector(byTime[exempt], exempt))
	}
	if q.Within && q.Exempt >= 0 && !q.MayPreempt(q.Name) {
		s := selector([]string{q.Name}, q.Exempt)
		s.Priority.Mode, s.Priority.Comparison = rules.Base, rules.LessThan
		r.CandidateSelectors = append(r.CandidateSelectors, s)
	}
	return r
}

// selector accepts jobs of some QOS wherever they run: Slurm asks for no account's quota.
func selector(names []string, exempt int64) rules.CandidateSelector {
	s := rules.CandidateSelector{Scope: rules.AnyClusterQueue, Priority: rules.Priority{ClassSelector: rules.ClassSelector{MatchNames: names}}}
	if exempt > 0 {
		s.Time.MinExecutionDuration = quota.Some(time.Duration(exempt) * time.Second)
	}
	return s
}

// maxTold is how many parts of a note are told.
const maxTold = 8

func told(parts []string) string {
	if n := len(parts) - maxTold; n > 0 {
		parts = append(slices.Clone(parts[:maxTold]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}
