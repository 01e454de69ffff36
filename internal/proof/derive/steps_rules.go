package derive

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// tiers prints what each tier of rules says of those who run when it begins. The zero value is
// for queues without rules.
type tiers struct {
	rules   *rules.Evaluator
	config  rules.Config
	request *preemption.Request
	running []workload.Workload

	begun   bool // a tier, of which steps still tell
	trigger rules.Trigger
	quota   map[string]rules.QuotaSet
	judged  map[string]*trace.Step
	taken   map[string]bool
}

// tierStep prints steps about rules; ok is false if the step is about something else, too.
func (p *printer) tierStep(s *trace.Step) (ok bool) {
	t := &p.tiers
	switch s.Kind {
	case trace.SurveyBegins, trace.Judged: // of policies, whose phases say the same
		return true
	case trace.TierBegins:
		p.tierEnds()
		t.begun, t.trigger = true, rules.Triggers()[s.Count]
		t.quota, t.judged = map[string]rules.QuotaSet{}, map[string]*trace.Step{}
		return true
	case trace.TierQuota:
		t.quota[s.Workload] = rules.QuotaSet(s.Count)
		return true
	case trace.TierJudged:
		t.judged[s.Workload] = s
		return true
	}
	p.tierEnds()
	switch s.Kind {
	case trace.AttemptBegins:
		t.taken = map[string]bool{}
	case trace.Taken:
		if s.PodSet < 0 {
			t.taken[s.Workload] = true
		}
	case trace.AttemptEnds:
		p.byRules = false
	case trace.Instant:
		p.rulesFail()
	}
	return false
}

// rulesFail ends an attempt by rules, of which there is no step if policies came first.
func (p *printer) rulesFail() {
	if p.tierEnds(); p.byRules {
		p.line(1, "not enough: all are put back")
	}
	p.byRules = false
}

// tierEnds prints a tier when all steps that tell of it are known. A tier without rules is left
// out.
func (p *printer) tierEnds() {
	t := &p.tiers
	if !t.begun {
		return
	}
	t.begun = false
	waiting := t.request.Workload
	if !t.request.HoldsQuota {
		waiting.ReservedAt = time.Time{}
	}
	of, err := t.rules.Tier(t.trigger, &waiting)
	if err != nil || !slices.ContainsFunc(t.config.Rules, func(r rules.Rule) bool { return r.ActivationPolicy.Trigger == t.trigger }) {
		return
	}
	p.phase, p.depth = "", 2
	p.line(1, "rules %s, tier %s", t.config.Name, t.trigger)
	for i, r := range t.config.Rules {
		if r.ActivationPolicy.Trigger == t.trigger && !of.ServesBy(i) {
			p.line(2, "%s serves other workloads", r.Name)
		}
	}
	for i := range t.running {
		w := &t.running[i]
		if t.taken[w.ID] {
			continue
		}
		why := ""
		if s := t.judged[w.ID]; s == nil {
			why = t.refused(of, w)
		} else if s.Rule != 0 {
			why = p.rule(s)
		}
		if why != "" {
			p.line(2, "pass over %s in queue %q: %s", w.ID, w.Queue, why)
		}
	}
}

// refused returns by which part each selector refuses a workload, and from when on it does not;
// empty if no rule serves the preemptor.
func (t *tiers) refused(by *rules.Tier, w *workload.Workload) string {
	moment := rules.Moment{Now: t.request.Now, Since: t.request.Now, Quota: t.quota[w.ID]}
	for _, o := range t.request.TriggersSince {
		if o.Trigger == t.trigger {
			moment.Since = o.Since
		}
	}
	var parts []string
	for _, v := range by.Verdicts(w, moment) {
		part := string(v.Refuses)
		switch {
		case v.Refuses == rules.PartQuota:
			part += " so far" // those taken later change it
		case !v.From.IsZero():
			part += ", until " + clock(v.From.Add(-1)) // the last instant, as of other rules
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", by.RuleName(v.Match), part))
	}
	if len(parts) == 0 {
		return ""
	}
	return "refused by " + strings.Join(parts, ", ")
}
