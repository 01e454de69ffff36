package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/replay/internal/records"
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
		t.note("QOS that %s does not have, so that they neither preempt nor yield: %s.", file, told(sortedKeys(used)))
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
	for _, exempt := range sortedKeys(byTime) {
		r.CandidateSelectors = append(r.CandidateSelectors, selector(byTime[exempt], exempt))
	}
	if q.Within && q.Exempt >= 0 && !slices.Contains(q.Preempts, q.Name) {
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

func sortedKeys[K cmp.Ordered, V any](of map[K]V) (keys []K) {
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// maxTold is how many parts of a note are told.
const maxTold = 8

func told(parts []string) string {
	if n := len(parts) - maxTold; n > 0 {
		parts = append(slices.Clone(parts[:maxTold]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}

// rank is a QOS or a partition, with what its jobs say of its rank.
type rank struct {
	name       string
	priorities []int64
	preempted  bool
}

// ranks gives the jobs of each QOS, or of each partition if there is one QOS, one priority: the records have the names, and not who may
// preempt whom. Those whose jobs were preempted are below the others; then the medians of the jobs' priorities count, then the names. It
// reports whether there are several.
func (w *World) ranks() bool {
	kind, of := "QOS", func(j *Job) string { return j.QOS }
	list := w.ranked(of)
	if len(list) < 2 {
		kind, of = "partition", func(j *Job) string { return j.Partition }
		if list = w.ranked(of); len(list) < 2 {
			return false
		}
	}
	slices.SortFunc(list, func(a, b *rank) int {
		if a.preempted != b.preempted {
			return map[bool]int{true: -1, false: 1}[a.preempted]
		}
		return cmp.Or(cmp.Compare(a.median(), b.median()), strings.Compare(a.name, b.name))
	})
	priority, names := map[string]int64{}, []string{}
	for i, r := range list {
		priority[r.name] = int64(i)
		names = append(names, fmt.Sprintf("%s %d", cmp.Or(r.name, "none"), i))
	}
	slices.Reverse(names)
	w.Jobs = slices.Clone(w.Jobs)
	for i := range w.Jobs {
		w.Jobs[i].Priority = priority[of(&w.Jobs[i])]
	}
	by := "the medians of Slurm's priorities"
	if list[0].preempted {
		by = "which were preempted, then by " + by
	}
	hint := ""
	if kind == "QOS" {
		hint = "; -qos has the rights"
	}
	w.Invented = append(slices.Clip(w.Invented), fmt.Sprintf("priorities by %s (%s), ordered by %s (bands=N divides Slurm's priorities%s)", kind, told(names), by, hint))
	return true
}

func (w *World) ranked(of func(*Job) string) (list []*rank) {
	by := map[string]*rank{}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		r := by[of(j)]
		if r == nil {
			r = &rank{name: of(j)}
			by[r.name] = r
			list = append(list, r)
		}
		r.priorities, r.preempted = append(r.priorities, j.Priority), r.preempted || j.Preempted > 0
	}
	return list
}

func (r *rank) median() int64 {
	slices.Sort(r.priorities)
	return r.priorities[len(r.priorities)/2]
}

// recorded notes the preemptions that happened.
func (w *World) recorded() {
	var runs, most, held int64
	for i := range w.Jobs {
		j := &w.Jobs[i]
		runs, most, held = runs+j.Preempted, max(most, j.Preempted), held+j.PreemptedFor*j.GPU
	}
	if runs > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("Preempted runs in the records: %d, of one job %d at most; they held %d.%d %s-hours. The columns evicted, one job and lost are of the replay.",
			runs, most, held/3600_000, held/360_000%10, w.Unit))
	}
}
