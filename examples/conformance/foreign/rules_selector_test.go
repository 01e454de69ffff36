package foreign

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// part returns the part of a rule that Kueue's error is about.
func (e ruleError) part() string {
	name := strings.ToLower(e.Filter[:1]) + e.Filter[1:]
	switch {
	case e.Filter == "NumericLabel":
		return "numericLabels"
	case e.Reason == "UnsupportedMode":
		return "priority.mode"
	case e.Filter == "Priority" && e.Reason == "UnsupportedComparison":
		return "priority.comparison"
	}
	return name
}

// choose asks which candidates the rules of one trigger accept: what they take if they are asked at any time and the request
// never fits.
func (k *ruleCase) choose() ([]recorded.Question, error) {
	q, err := k.question(true)
	if err != nil {
		return nil, err
	}
	for i := range q.State.Rules {
		of := &q.State.Rules[i]
		of.Ordering = []rules.Ordering{{Key: rules.ByCost}}
		of.Rules = slices.DeleteFunc(of.Rules, func(r rules.Rule) bool { return r.ActivationPolicy.Trigger != k.Settings.Trigger })
		for j := range of.Rules {
			of.Rules[j].ActivationPolicy.Trigger = rules.Always
		}
	}
	for i := range q.State.Queues {
		q.State.Queues[i].Preemption = queue.PreemptionPolicy{}
	}
	q.State.Admitted = nil
	for i := range k.Admitted {
		if k.reaches(&k.Admitted[i], q.Request.NeedsPreemption) {
			q.State.Admitted = append(q.State.Admitted, k.workload(&k.Admitted[i]))
		}
	}
	if q.Places = [][]string{}; len(k.Want.Errors) > 0 {
		for _, e := range k.Want.Errors {
			q.Want.Faults = append(q.Want.Faults, e.part())
		}
		slices.Sort(q.Want.Faults)
		return []recorded.Question{q}, nil
	}
	q.Want.Yields = []recorded.Victim{}
	for _, w := range k.Want.Candidates {
		v := recorded.Victim{Workload: w.Name}
		if w.Rules != nil {
			v.Rules = k.rules(q.State, k.Settings.Config, w.Rules)
		}
		q.Want.Yields = append(q.Want.Yields, v)
	}
	return []recorded.Question{q}, nil
}

// reaches reports whether a workload uses what needs preemption or, but for rules about quota, holds nodes of its flavor.
func (k *ruleCase) reaches(w *ruleWorkload, needs []quota.FlavorResource) bool {
	overlapping, set := k.Settings.Gates["TASHandleOverlappingFlavors"]
	for _, fr := range needs {
		if slices.ContainsFunc(w.Usage, func(a quota.Amount) bool { return a.FlavorResource() == fr }) ||
			k.Settings.Trigger != rules.InsufficientQuota && (overlapping || !set) && k.holds(w, fr.Flavor) {
			return true
		}
	}
	return false
}

// holds reports whether a workload runs on nodes of a flavor.
func (k *ruleCase) holds(w *ruleWorkload, flavor string) bool {
	for _, n := range k.Nodes {
		for _, f := range k.Flavors {
			in := f.Name == flavor && len(f.NodeLabels) > 0 && has(n.Labels, f.NodeLabels)
			for _, p := range w.PodSets {
				if in && slices.ContainsFunc(p.Domains, n.in) {
					return true
				}
			}
		}
	}
	return false
}

// selector returns the selector of a filter's case; ok is false if it has none.
func (k *ruleCase) selector() (s rules.CandidateSelector, ok bool, err error) {
	text := k.Constraint
	if k.Filter == "selector" && string(text) == "null" {
		return s, false, nil
	}
	if string(text) == "null" || len(text) == 0 {
		text = json.RawMessage("{}")
	}
	switch k.Filter {
	case "priority", "comparison": // of values, as priorities
		text = slices.Concat([]byte(`{"priority":`), text, []byte("}"))
	case "numericLabel":
		text = slices.Concat([]byte(`{"numericLabels":[`), text, []byte("]}"))
	}
	err = readRules(text, &s)
	if k.Filter == "comparison" && s.Priority.Comparison != "" {
		s.Priority.Mode = rules.Base
	}
	if s.Scope == "" {
		s.Scope = rules.AnyClusterQueue
	}
	return s, true, err
}

// filter asks whether one selector accepts one candidate, or is bad.
func (k *ruleCase) filter() ([]recorded.Question, error) {
	selector, ok, err := k.selector()
	if w := &k.Want; err != nil || !ok || w.Match == nil && w.Valid == nil && w.Error == nil {
		return nil, err
	}
	k.Settings.Config = ""
	q, err := k.question(false)
	if err != nil {
		return nil, err
	}
	q.State.Rules = []rules.Config{{Name: "config", Rules: []rules.Rule{{
		Name: "rule", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{selector},
	}}}}
	if k.Want.Valid != nil || k.Want.Error != nil {
		if q.Want.Refused = k.Want.Error == nil && !*k.Want.Valid; !q.Want.Refused {
			q.Want.Faults = []string{}
		}
		if k.Want.Error != nil {
			q.Want.Faults = []string{k.Want.Error.part()}
		}
		return []recorded.Question{q}, nil
	}
	amount := quota.Amount{Flavor: "default", Resource: "cpu", Amount: 1}
	ask := func(of *ruleWorkload, id string) workload.Workload {
		w := k.workload(of)
		w.ID, w.PodSets = id, []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{amount}}}
		at := slices.IndexFunc(q.State.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
		if at < 0 {
			at = len(q.State.Queues)
			q.State.Queues = append(q.State.Queues, queue.Queue{Name: w.Queue})
		}
		of2 := &q.State.Queues[at]
		if of2.Rules = "config"; of.ClusterQueueLabels != nil {
			of2.Labels = of.ClusterQueueLabels
		}
		of2.Quotas = []quota.Quota{{Flavor: amount.Flavor, Resource: amount.Resource, Nominal: 1}}
		return w
	}
	q.Request.Workload = ask(&k.Preemptor, "preemptor")
	q.State.Admitted = append(q.State.Admitted, ask(&k.Candidate, "candidate"))
	if q.Request.Now.IsZero() {
		q.Request.Now = someTime
	}
	q.Request.NeedsPreemption, q.Places = []quota.FlavorResource{amount.FlavorResource()}, [][]string{}
	if q.Want.Yields = []recorded.Victim{}; *k.Want.Match {
		q.Want.Yields = append(q.Want.Yields, recorded.Victim{Workload: "candidate"})
	}
	return []recorded.Question{q}, nil
}
