package corpus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// RuleCase is a case of Kueue's tables about configurable preemption. Cases of other kinds
// than those below are read but not asked.
type RuleCase struct {
	Name     string `json:"id"`
	Kind     string `json:"kind"`
	Settings struct {
		Now       time.Time       `json:"now"`
		Gates     map[string]bool `json:"gates"`
		Trigger   rules.Trigger   `json:"trigger"`
		Config    string          `json:"config"`
		Policies  string          `json:"policies"`
		NeverFits bool            `json:"neverFits"`
		Order     string          `json:"order"`     // "name": nothing else orders candidates
		Borrowing *bool           `json:"borrowing"` // absent: the request may borrow
		Keeps     *bool           `json:"keeps"`     // absent: a tracker keeps what it skips
		// Mode and Strategies are those of a [Case].
		Mode        string         `json:"mode"`
		Strategies  []string       `json:"strategies"`
		Consumption map[string]int `json:"consumption"` // when a consumer of candidates stops
		Protection  ruleProtection `json:"protection"`
	} `json:"settings"`
	Cohorts       []Cohort               `json:"cohorts"`
	ClusterQueues []ruleQueue            `json:"clusterQueues"`
	Configs       []json.RawMessage      `json:"configs"`
	Flavors       []ruleFlavor           `json:"flavors"`
	Nodes         []ruleNode             `json:"nodes"`
	Admitted      []ruleWorkload         `json:"admitted"`
	Incoming      ruleWorkload           `json:"incoming"`
	Needs         []quota.FlavorResource `json:"needs"`

	// Of a filter.
	Filter     string          `json:"filter"`
	Constraint json.RawMessage `json:"constraint"`
	Preemptor  ruleWorkload    `json:"preemptor"`
	Candidate  ruleWorkload    `json:"candidate"`

	// Of a case about protection.
	Rule     *protectedFor      `json:"rule"`
	Steps    []protectionStep   `json:"steps"`
	Reclaims queue.VictimPolicy `json:"reclaimWithinCohort"`

	Want struct {
		Candidates  []ruleCandidate `json:"candidates"`
		Errors      []ruleError     `json:"errors"`
		Yielded     []string        `json:"yielded"`
		Interrupted *bool           `json:"interrupted"`
		Victims     []ruleVictim    `json:"victims"`
		Fits        *bool           `json:"fits"`
		Match       *bool           `json:"match"`
		Valid       *bool           `json:"valid"`
		Error       *ruleError      `json:"error"`

		Attempts         []ruleAttempt   `json:"attempts"`
		RetryAt          optionalInstant `json:"retryAt"`
		Oracle           []OracleRow     `json:"oracle"`
		Protected        bool            `json:"protected"`
		Expiry           *time.Time      `json:"expiry"`
		CanAlwaysReclaim bool            `json:"canAlwaysReclaim"`
	} `json:"want"`
}

type ruleCandidate struct {
	Name  string           `json:"name"`
	Rules map[string][]int `json:"rules"` // nil: not asserted
}

type ruleVictim struct {
	Victim
	Cause *ruleCause `json:"cause"` // nil: not asserted
}

type ruleCause struct {
	Config string           `json:"config"`
	Rules  map[string][]int `json:"rules"`
}

type ruleError struct {
	Filter string `json:"filter"`
	Reason string `json:"reason"`
}

// builtInto says why a case is not asked.
const builtInto = "it says what upstream builds a selector into, which is no answer"

// ID returns the case's name.
func (c *RuleCase) ID() string { return c.Name }

// check fails on a line that is JSON but no case that can be asked.
func (c *RuleCase) check() error {
	if c.Name == "" || c.Kind == "" {
		return fmt.Errorf("no case: it has no id or no kind")
	}
	return knownKind(c.Name, c.Kind,
		"filter", "select", "find", "sequence", "search", "oracle", "protected", "expiry", "tracker", "canAlwaysReclaim")
}

// Check asks the case.
func (c *RuleCase) Check(p *preemption.Preemptor) (Report, error) {
	switch c.Kind {
	case "filter":
		return c.checkFilter()
	case "select":
		return c.checkSelect()
	case "find":
		return c.checkFind(p)
	}
	switch {
	case c.Kind == "sequence":
		return c.checkSequence()
	case c.Settings.Gates["ConfigurablePreemptions"] && c.Kind == "search":
		return c.checkSearch()
	case c.Settings.Gates["ConfigurablePreemptions"]:
		return c.checkOracle()
	}
	return c.checkProtection()
}

// checkFilter asks whether one selector accepts one candidate, or is bad.
func (c *RuleCase) checkFilter() (r Report, err error) {
	selector, ok, err := c.selector()
	if err != nil || !ok {
		return Report{NotAsked: builtInto}, err
	}
	config := rules.Config{Name: "config", Rules: []rules.Rule{{
		Name: "rule", ActivationPolicy: rules.ActivationPolicy{Trigger: rules.Always}, CandidateSelectors: []rules.CandidateSelector{selector},
	}}}
	faults, _ := rules.Validate([]rules.Config{config}).(fault.List)
	if c.Want.Valid != nil {
		r.compare("valid", []string{fmt.Sprint(*c.Want.Valid)}, []string{fmt.Sprint(len(faults) == 0)})
	}
	if want := c.Want.Error; want != nil || len(faults) > 0 && c.Want.Valid == nil && c.Want.Match == nil {
		r.compare("error", errorTexts(want), errorTexts(ruleErrors(faults)...))
	}
	if c.Want.Match == nil {
		if c.Want.Valid == nil && c.Want.Error == nil && len(faults) == 0 {
			r.NotAsked = builtInto
		}
		return r, nil
	}
	st := c.filterState()
	e, err := rules.New(st.Cohorts, st.Queues, []rules.Config{config})
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	preemptor, candidate := c.workload(&c.Preemptor), c.workload(&c.Candidate)
	tier, err := e.Tier(rules.Always, &preemptor)
	accepts := err == nil && tier.Accepts(&candidate, rules.Moment{Now: c.Settings.Now}) // by a bad selector nobody is
	r.compare("match", []string{fmt.Sprint(*c.Want.Match)}, []string{fmt.Sprint(accepts)})
	return r, nil
}

// checkSelect asks whom the rules of a tier accept.
func (c *RuleCase) checkSelect() (r Report, err error) {
	e, names, err := c.evaluator()
	if err != nil {
		return r, err
	}
	preemptor := c.workload(&c.Incoming)
	tier, err := e.Tier(c.Settings.Trigger, &preemptor)
	faults, _ := err.(fault.List)
	if len(c.Want.Errors) > 0 || len(faults) > 0 {
		want := make([]*ruleError, len(c.Want.Errors))
		for i := range c.Want.Errors {
			want[i] = &c.Want.Errors[i]
		}
		r.compare("errors", errorTexts(want...), errorTexts(ruleErrors(faults)...))
		return r, nil
	}
	asserted := slices.ContainsFunc(c.Want.Candidates, func(w ruleCandidate) bool { return w.Rules != nil })
	var want, got, holders []string
	for _, w := range c.Want.Candidates {
		want = append(want, w.text())
	}
	for _, w := range c.running() {
		matches := tier.Select(w.Workload, rules.Moment{Now: c.Settings.Now})
		if len(matches) == 0 || w.nodesOnly && c.Settings.Trigger == rules.InsufficientQuota {
			continue
		}
		found := ruleCandidate{Name: w.ID}
		if asserted {
			found.Rules = map[string][]int{}
			for _, m := range matches {
				name := names[c.Settings.Config][m.Rule]
				found.Rules[name] = append(found.Rules[name], m.Selector)
			}
		}
		got = append(got, found.text())
		if w.nodesOnly {
			holders = append(holders, found.text())
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	departs := excuse{}
	overlapping, set := c.Settings.Gates["TASHandleOverlappingFlavors"]
	all := slices.Sorted(slices.Values(slices.Concat(want, holders)))
	switch {
	case len(holders) == 0:
	case set && !overlapping:
		departs = excuse{HoldersWithoutGate, all}
	case c.Settings.Trigger == rules.Always:
		departs = excuse{AlwaysTakesHolders, all}
	}
	r.compareUnless(departs, "candidates", want, got)
	return r, nil
}

// AlwaysTakesHolders is the departure for rules of the trigger Always and workloads that hold
// the flavor's nodes without using the flavor and resource: two versions of Kueue contradict
// each other, and the later one, which takes them, is followed.
const AlwaysTakesHolders = "rules of the trigger Always reach workloads of other flavors on the flavor's nodes"

// HoldersWithoutGate is the departure for a Kueue that does not look at overlapping flavors: it selects
// only workloads that use the flavor and resource. Here there is no such gate.
const HoldersWithoutGate = "rules reach workloads of other flavors on the flavor's nodes, whatever TASHandleOverlappingFlavors says"

func (w *ruleCandidate) text() string {
	text := w.Name
	for _, name := range slices.Sorted(maps.Keys(w.Rules)) {
		text += fmt.Sprintf(" %s%v", name, w.Rules[name])
	}
	return text
}

// checkFind asks who is taken, tier by tier.
func (c *RuleCase) checkFind(p *preemption.Preemptor) (r Report, err error) {
	st := c.state()
	if st.Rules, _, err = c.configs(); err != nil {
		return r, err
	}
	for i := range st.Rules {
		if c.Settings.Order == "name" {
			st.Rules[i].Ordering = []rules.Ordering{{Key: rules.ByCost}} // all cost nothing
		}
	}
	for i := range st.Queues {
		if q := &st.Queues[i]; q.Name == c.Incoming.ClusterQueue && q.Cohort != "" && c.Settings.Borrowing != nil && !*c.Settings.Borrowing {
			for j := range q.Quotas {
				q.Quotas[j].BorrowingLimit = quota.AtMost(0)
			}
		}
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	request := preemption.Request{Workload: c.workload(&c.Incoming), Now: c.Settings.Now, NeedsPreemption: c.Needs}
	if c.Settings.NeverFits {
		request.Room = neverFits{}
	}
	e, err := explain.Explain(p, s, request)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	got := []string{}
	for _, a := range e.Attempts {
		for _, w := range a.Taken {
			got = append(got, w.Workload)
		}
		if int(a.TakenCount) > len(got) {
			return r, fmt.Errorf("case %q: an explanation names only %d of %d", c.Name, len(got), a.TakenCount)
		}
	}
	r.compare("taken", c.Want.Yielded, got)
	for _, want := range []*bool{c.Want.Fits, c.Want.Interrupted} {
		if want != nil {
			r.compare("fits", []string{fmt.Sprint(*want)}, []string{fmt.Sprint(e.Decision.Outcome.Succeeds())})
		}
	}
	return r, nil
}

// neverFits is a room without places.
type neverFits struct{}

func (neverFits) Remove(string)  {}
func (neverFits) Restore(string) {}
func (neverFits) Fits() bool     { return false }

// partErrors are Kueue's words for faults, by a part of their paths.
var partErrors = []struct {
	part string
	ruleError
}{
	{".preemptorSelector", ruleError{"PreemptorSelector", "InvalidSelector"}}, {".clusterQueueSelector", ruleError{"ClusterQueueSelector", "InvalidSelector"}},
	{".labelSelector", ruleError{"LabelSelector", "InvalidSelector"}}, {".scope", ruleError{"Scope", "UnsupportedScope"}},
	{".priority.mode", ruleError{"Priority", "UnsupportedMode"}}, {".priority.comparison", ruleError{"Priority", "UnsupportedComparison"}},
	{".numericLabels", ruleError{"NumericLabel", "UnsupportedComparison"}}, {".priority", ruleError{"Priority", "MissingModeOrComparison"}},
}

// ruleErrors returns faults in Kueue's words: one for each part of a selector.
func ruleErrors(faults fault.List) (list []*ruleError) {
	var seen []string
	for _, f := range faults {
		e, where := ruleError{"other", f.Path}, f.Path
		for _, p := range partErrors {
			if before, _, is := strings.Cut(f.Path, p.part); is {
				e, where = p.ruleError, before+p.part
				break
			}
		}
		if !slices.Contains(seen, where) {
			seen, list = append(seen, where), append(list, &e)
		}
	}
	return list
}

func errorTexts(list ...*ruleError) []string {
	texts := []string{}
	for _, e := range list {
		if e != nil {
			texts = append(texts, strings.TrimSuffix(e.Filter, "s")+" "+e.Reason)
		}
	}
	slices.Sort(texts)
	return texts
}
