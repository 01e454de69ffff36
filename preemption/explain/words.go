package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// clock prints a time in UTC: the time of day alone if it is the day of now.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	layout := "15:04:05"
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		layout = "2006-01-02 15:04:05"
	}
	if t.Nanosecond() != 0 {
		layout += ".000000000"
	}
	return t.Format(layout)
}

// count prints a number of things.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func column(fr quota.FlavorResource) string {
	if fr.Flavor == "" {
		return fr.Resource
	}
	return fr.Flavor + "/" + fr.Resource
}

// short says what is missing, and where.
func (pr Printer) short(needs []Need) string {
	var parts []string
	for _, n := range needs {
		if n.Missing > 0 {
			parts = append(parts, pr.amount(n.Missing, n.FlavorResource)+" in "+n.Node)
		}
	}
	return strings.Join(parts, ", ")
}

// leaving says behind its name that a workload was told to leave before.
func leaving(already bool) string {
	if already {
		return " (leaving already)"
	}
	return ""
}

// names lists a few of a number.
func names(c Counted) string {
	text := strings.Join(c.Samples, ", ")
	if more := c.Count - int64(len(c.Samples)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// rule says why workloads are kept at a level with a policy.
func rule(k *Kept[preemption.Rule], policy string, now time.Time) string {
	text := map[preemption.Rule]string{
		0:                                  "use nothing of what is short",
		preemption.RuleWithinClusterQueue:  notOf(policy),
		preemption.RuleReclaimWithinCohort: notOf(policy),
		preemption.RuleWithinNominal:       "are in the quota of " + k.SetBy,
		preemption.RuleBorrowWithinCohort:  "are kept by borrowWithinCohort while the queue borrows",
		preemption.RuleMinRuntime:          "have not run for their minimum runtime, set by " + setBy(k.SetBy),
		preemption.RuleGuarded:             "are kept by a guard",
		preemption.RuleFairShare:           "are not permitted to yield by fair sharing",
		preemption.RuleNeverYields:         "never yield",
	}[k.Rule] + until(k.From, k.Until, now)
	if k.Count == 1 {
		for _, verb := range [...][2]string{{"use ", "uses "}, {"are ", "is "}, {"have not run for their", "has not run for its"}, {"have ", "has "}, {"never yield", "never yields"}} {
			if rest, ok := strings.CutPrefix(text, verb[0]); ok {
				return verb[1] + rest
			}
		}
	}
	return text
}

// notOf says of workloads that the policy of a level does not permit them. The policy is the text of the
// level, as "withinClusterQueue LowerPriority".
func notOf(policy string) string {
	name, value, _ := strings.Cut(policy, " ")
	value, _, _ = strings.Cut(value, ",")
	switch value {
	case queue.LowerPriority.String():
		return "are not of lower priority"
	case queue.LowerOrNewerEqualPriority.String():
		return "are neither of lower priority nor newer of equal priority"
	}
	return "are kept by " + name
}

// until says when a rule ends for the first and for the last of a number, if it does.
func until(first, last, now time.Time) string {
	switch {
	case first.IsZero():
		return ""
	case first.Equal(last):
		return ", until " + clock(last, now)
	}
	return fmt.Sprintf(", the first until %s, the last until %s", clock(first, now), clock(last, now))
}

// texts says each of some things.
func texts[T any](list []T, say func(*T) string) []string {
	var said []string
	for i := range list {
		said = append(said, say(&list[i]))
	}
	return said
}

// flavorSkipped says why the search for a flavor went on.
var flavorSkipped = map[preemption.SkipReason]string{
	0:                          "taken",
	preemption.NoQuota:         "the queue has no quota there",
	preemption.ExceedsMaxQuota: "more than the queue could ever use",
	preemption.NotReclaimable:  "the queue would borrow, and may not preempt for that",
	preemption.NeverPreempts:   "others would have to yield, and the workload never preempts",
	preemption.NoCandidates:    "no workload may yield for it now",
	preemption.WouldPreempt:    "others would have to yield (whenCanPreempt)",
	preemption.WouldBorrow:     "the queue would borrow (whenCanBorrow)",
	preemption.NotEligible:     "its nodes are not for these pods",
}

// way says what a change is, and what follows.
func (pr Printer) way(w *Way, now time.Time) string {
	var text string
	switch w.Kind {
	case WayTime:
		text = "Wait until " + clock(w.At, now)
	case WayPriority:
		text = fmt.Sprintf("Raise the priority to %d", w.Priority)
	case WayReplicas:
		text = fmt.Sprintf("Ask for %s of pod set %s", count(w.Replicas, "replica"), w.PodSet)
	case WayFlavor:
		text = fmt.Sprintf("Ask for flavor %s (%s)", w.Flavor, strings.Join(w.Resources, ", "))
	case WayNominal:
		var parts []string
		for _, a := range w.Nominal {
			parts = append(parts, pr.amount(a.Amount, a.FlavorResource()))
		}
		text = fmt.Sprintf("Give queue %q %s more nominal quota", w.Queue, strings.Join(parts, " and "))
	case WayPolicy:
		text = fmt.Sprintf("Set %v of queue %q to %v", w.Policy, w.Queue, w.Value)
	case WayGates:
		text = "Open the gates"
	case WayMayPreempt:
		text = "Let the workload preempt"
	default:
		text = w.Kind.String()
	}
	if w.Outcome == preemption.Preempt {
		return text + ": it preempts " + count(int64(w.Victims), "workload")
	}
	return text + ": it fits"
}
