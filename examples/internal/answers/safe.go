package answers

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/quota"
)

// OnNodes lists the flavors whose pods Kueue places by a topology: requests for them need room on nodes.
func (c *Cluster) OnNodes() (list []string) {
	for i := range c.State.Flavors {
		if f := &c.State.Flavors[i]; f.Topology.Name != "" || c.Found.Topologies[f.Name] != "" {
			list = append(list, f.Name)
		}
	}
	return list
}

// SafeFor is an answer in a cell.
func SafeFor(o safe.Outcome, at, now time.Time) string {
	switch o {
	case safe.Never:
		return "yes"
	case safe.Later:
		return "for " + units.Age(at, now)
	case safe.Unknown:
		return "unknown"
	case safe.Leaving:
		return "leaves"
	}
	return "no"
}

// SafeWords is an answer in a sentence.
func (c *Cluster) SafeWords(a safe.Answer, now time.Time) string {
	words := safeWords(&a, now)
	if r := a.Request; r != nil && slices.ContainsFunc(r.Asks, func(ask quota.Amount) bool { return slices.Contains(c.OnNodes(), ask.Flavor) }) {
		words += " That is by quota alone: a request that needs its room on nodes may ask for less, or come sooner."
	}
	return words
}

func safeWords(a *safe.Answer, now time.Time) string {
	switch a.Outcome {
	case safe.Never:
		return a.Workload + " is safe: while what runs stays, no request makes it yield" + because(a.Keeps) + "."
	case safe.Leaving:
		return a.Workload + " was told to leave already."
	case safe.Now:
		return fmt.Sprintf("%s is not safe: %s makes it yield now (%v).", a.Workload, leastRequest(a.Request), a.Request.Reason)
	case safe.Later:
		return fmt.Sprintf("%s is safe until %s%s; from then on %s makes it yield (%v).", a.Workload, SafeClock(a.At), because(a.Keeps), leastRequest(a.Request), a.Request.Reason)
	}
	if a.At.After(now) {
		return fmt.Sprintf("%s is safe until %s; whether anybody makes %s yield then is unknown: %s.", a.Workload, SafeClock(a.At), a.Workload, SafeDoubts(a.Doubts))
	}
	return "Whether anybody makes " + a.Workload + " yield is unknown: " + SafeDoubts(a.Doubts) + "."
}

// SafeClock is a time in a sentence, to the second after which nothing is certain.
func SafeClock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// leastRequest is the least request in words.
func leastRequest(r *safe.Request) string {
	if r == nil {
		return ""
	}
	priority := fmt.Sprintf("priority %d", r.Priority)
	if r.Priority == math.MinInt32 {
		priority = "any priority"
	}
	text := fmt.Sprintf("a request of %s with %s for %s", r.Queue, priority, SafeAsks(r, true))
	if !r.Queued.IsZero() {
		text += ", queued at " + SafeClock(r.Queued) + " or before,"
	}
	return text
}

// SafeAsks is what the least request asks for, with flavors or without.
func SafeAsks(r *safe.Request, flavors bool) string {
	var parts []string
	for _, a := range r.Asks {
		part := units.Amount(a.Resource, a.Amount) + " " + a.Resource
		if less := a.Amount - 1; less >= 1<<20 && less%(1<<20) == 0 { // of bytes one more than there are
			part = "more than " + units.Amount(a.Resource, less) + " " + a.Resource
		}
		if a.Flavor != "" && flavors {
			part += " of " + a.Flavor
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " and ")
}

// because are the rules that keep a workload.
func because(list []safe.Kept) string {
	if len(list) == 0 {
		return ""
	}
	words := map[preemption.Rule]string{
		preemption.RuleWithinClusterQueue:  "withinClusterQueue of %s",
		preemption.RuleReclaimWithinCohort: "reclaimWithinCohort of %s",
		preemption.RuleWithinNominal:       "nothing is borrowed that %s could reclaim",
		preemption.RuleBorrowWithinCohort:  "borrowWithinCohort of %s",
		preemption.RuleMinRuntime:          "its minimum runtime for %s",
		preemption.RuleNeverYields:         "it never yields",
		preemption.RuleQueueInactive:       "its queue is inactive",
		preemption.RuleGuarded:             "it is guarded from %s",
		preemption.RuleFairShare:           "the share of %s",
	}
	var parts []string
	for _, k := range list {
		if text := words[k.Rule]; strings.Contains(text, "%s") {
			parts = append(parts, fmt.Sprintf(text, k.By))
		} else {
			parts = append(parts, text)
		}
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// SafeDoubts are doubts in words.
func SafeDoubts(list []safe.Doubt) string {
	words := [...]string{
		safe.Guards: "guards may read the request", safe.Rules: "rules of operators may accept it",
		safe.Limits: "limits on preemptions refuse others before it", safe.FairSharing: "shares decide who yields",
		safe.Filters: "filters of nodes may refuse others", safe.Budgets: "disruption budgets must not be violated",
		safe.Rooms:      "to make room on nodes somebody might",
		safe.BestSearch: "another search decides who yields", safe.SeveralResources: "a request for several resources might", safe.Decisions: "too many requests would have to be asked",
	}
	var parts []string
	for _, d := range list {
		parts = append(parts, words[d])
	}
	return strings.Join(parts, "; ")
}
