package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// ruleCase is a case of Kueue's tables about configurable preemption and preemption protection.
type ruleCase struct {
	kind     string
	Settings struct {
		sharing
		Now         time.Time       `json:"now"`
		Gates       map[string]bool `json:"gates"`
		Trigger     rules.Trigger   `json:"trigger"`
		Config      string          `json:"config"`
		Policies    string          `json:"policies"`
		NeverFits   bool            `json:"neverFits"`
		Order       string          `json:"order"`     // "name": nothing else orders candidates
		Borrowing   *bool           `json:"borrowing"` // absent: the request may borrow
		Keeps       *bool           `json:"keeps"`     // absent: a tracker keeps what it skips
		Consumption map[string]int  `json:"consumption"`
		Protection  struct {
			Reclaim *minAdmit `json:"reclaimWithinCohort"`
			Fair    *minAdmit `json:"fairSharing"`
		} `json:"protection"`
	} `json:"settings"`
	Cohorts       []kueueCohort     `json:"cohorts"`
	ClusterQueues []kueueQueue      `json:"clusterQueues"`
	Configs       []json.RawMessage `json:"configs"`
	Flavors       []struct {
		Name       string            `json:"name"`
		NodeLabels map[string]string `json:"nodeLabels"`
	} `json:"flavors"`
	Nodes    []ruleNode             `json:"nodes"`
	Admitted []ruleWorkload         `json:"admitted"`
	Incoming ruleWorkload           `json:"incoming"`
	Needs    []quota.FlavorResource `json:"needs"`

	Filter     string          `json:"filter"`
	Constraint json.RawMessage `json:"constraint"`
	Preemptor  ruleWorkload    `json:"preemptor"`
	Candidate  ruleWorkload    `json:"candidate"`

	Rule  *minAdmit `json:"rule"`
	Steps []struct {
		Candidate ruleWorkload `json:"candidate"`
		Want      struct {
			Skipped        *bool           `json:"skipped"`
			EarliestExpiry json.RawMessage `json:"earliestExpiry"`
		} `json:"want"`
	} `json:"steps"`
	Reclaims queue.VictimPolicy `json:"reclaimWithinCohort"`

	Want struct {
		Candidates []struct {
			Name  string           `json:"name"`
			Rules map[string][]int `json:"rules"` // nil: not asserted
		} `json:"candidates"`
		Errors      []ruleError `json:"errors"`
		Yielded     []string    `json:"yielded"`
		Interrupted *bool       `json:"interrupted"`
		Victims     []struct {
			kueueVictim
			Cause *struct {
				Config string           `json:"config"`
				Rules  map[string][]int `json:"rules"`
			} `json:"cause"` // nil: not asserted
		} `json:"victims"`
		Fits     *bool      `json:"fits"`
		Match    *bool      `json:"match"`
		Valid    *bool      `json:"valid"`
		Error    *ruleError `json:"error"`
		Attempts []struct {
			Borrowing  bool          `json:"borrowing"`
			Candidates []kueueVictim `json:"candidates"`
		} `json:"attempts"`
		RetryAt          json.RawMessage `json:"retryAt"`
		Oracle           []kueueOracle   `json:"oracle"`
		Protected        bool            `json:"protected"`
		Expiry           time.Time       `json:"expiry"`
		CanAlwaysReclaim bool            `json:"canAlwaysReclaim"`
	} `json:"want"`
}

type ruleError struct {
	Filter string `json:"filter"`
	Reason string `json:"reason"`
}

type minAdmit struct {
	Duration text `json:"minAdmitDuration"`
}

func (m *minAdmit) duration() time.Duration {
	if m == nil {
		return 0
	}
	return time.Duration(m.Duration)
}

type ruleNode struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Allocatable []quota.Amount    `json:"allocatable"` // without flavors
}

type ruleWorkload struct {
	kueueWorkload
	ClusterQueueLabels map[string]string `json:"clusterQueueLabels"`
	LocalQueue         string            `json:"localQueue"`
	Labels             map[string]string `json:"labels"`
	Boost              string            `json:"boost"`
	PriorityClass      struct {
		Name string `json:"name"`
	} `json:"priorityClass"`
	Value      int64        `json:"value"` // of a bare comparison
	AdmittedAt time.Time    `json:"admittedAt"`
	PodSets    []rulePodSet `json:"podSets"`
}

// rulePodSet is a pod set with what its pods ask for and, if it runs, where they are.
type rulePodSet struct {
	Count           int64          `json:"count"`
	Requests        []quota.Amount `json:"requests"` // of one pod, without flavors
	TopologyRequest struct {
		Required string `json:"required"`
	} `json:"topologyRequest"`
	NodeSelector map[string]string `json:"nodeSelector"`
	Domains      []domain          `json:"domains"`
}

// domain is a place in a topology, with how many pods are there.
type domain struct {
	Levels []string `json:"levels"`
	Values []string `json:"values"`
	Count  int64    `json:"count"`
}

// in reports whether a node is in a domain.
func (n *ruleNode) in(d domain) bool {
	for i, level := range d.Levels {
		if n.Labels[level] != d.Values[i] {
			return false
		}
	}
	return true
}

// has reports whether labels include others.
func has(labels, others map[string]string) bool {
	for key, value := range others {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func (k *ruleCase) convert(c *recorded.Case) (err error) {
	var list []recorded.Question
	switch k.kind {
	case "filter":
		list, err = k.filter()
	case "select":
		list, err = k.choose()
	case "find":
		list, err = k.find()
	case "sequence":
		list, err = k.sequence()
	case "search", "oracle":
		list, err = k.search()
	case "protected", "expiry", "tracker":
		list, err = k.protection()
	case "canAlwaysReclaim":
		list, err = k.alwaysReclaims()
	default:
		return known("kind", k.kind)
	}
	if c.Quota = list; err == nil && len(list) == 0 {
		c.Story = "it says what upstream builds a selector into, which is no answer"
	}
	return err
}

// workload returns a workload of the case. Boosts count with the gate alone.
func (k *ruleCase) workload(of *ruleWorkload) workload.Workload {
	w := of.kueueWorkload.workload()
	w.Labels, w.PriorityClass, w.AdmittedAt = of.Labels, of.PriorityClass.Name, of.AdmittedAt
	w.Priority += of.Value
	if w.Queue == "" {
		w.Queue = "some queue"
	}
	namespace, _, _ := strings.Cut(of.Name, "/")
	w.LocalQueue = namespace + "/" + of.LocalQueue // without one Kueue compares namespaces
	if k.Settings.Gates["PriorityBoost"] {
		w.PriorityBoost, _ = strconv.ParseInt(of.Boost, 10, 64) // a boost that is no number is none
	}
	return w
}

// question returns the question of the case, with the rules or without.
func (k *ruleCase) question(byRules bool) (q recorded.Question, err error) {
	if q.Config, err = k.Settings.config(k.Settings.Gates); err != nil {
		return q, err
	}
	if p := &k.Settings.Protection; k.Settings.Gates["PreemptionProtection"] {
		if q.Config == nil {
			q.Config = new(preemption.Config)
		}
		q.Config.Protection.Reclaim, q.Config.Protection.FairSharing = p.Reclaim.duration(), p.Fair.duration()
	}
	st := stateOf(k.Cohorts, k.ClusterQueues)
	for i := range st.Queues {
		of := &st.Queues[i]
		if of.Name == k.Incoming.ClusterQueue && k.Settings.Config != "" {
			of.Rules = k.Settings.Config
		}
		// Any, which the API refuses, means any priority, the same included. No workload of the queue has a higher one, so it
		// is the policy on lower and newer equal priorities for a preemptor that is older than all.
		if p := &of.Preemption; p.WithinClusterQueue == queue.Any {
			p.WithinClusterQueue = queue.LowerOrNewerEqualPriority
			if of.Name == k.Incoming.ClusterQueue {
				k.Incoming.QueueOrderAt = k.Settings.Now
			}
		}
		if k.Settings.Policies == "ignored" {
			of.Preemption = queue.PreemptionPolicy{}
		}
	}
	for i := range k.Admitted {
		st.Admitted = append(st.Admitted, k.workload(&k.Admitted[i]))
	}
	if byRules {
		st.Rules, err = k.configs()
	}
	q.State = &st
	q.Request = preemption.Request{Workload: k.workload(&k.Incoming), Now: k.Settings.Now, NeedsPreemption: k.Needs}
	if k.Needs == nil {
		for _, r := range k.Incoming.Requests {
			q.Request.NeedsPreemption = append(q.Request.NeedsPreemption, r.FlavorResource())
		}
	}
	q.Places = k.places()
	return q, err
}

// configs returns the configurations of the case. Of two rules of one name, which upstream's own API refuses, the second has
// its index in its name.
func (k *ruleCase) configs() (list []rules.Config, err error) {
	for _, data := range k.Configs {
		var config rules.Config
		if err := readRules(data, &config); err != nil {
			return nil, err
		}
		for i := range config.Rules {
			if slices.ContainsFunc(config.Rules[:i], func(r rules.Rule) bool { return r.Name == config.Rules[i].Name }) {
				config.Rules[i].Name += "-" + strconv.Itoa(i)
			}
		}
		list = append(list, config)
	}
	return list, nil
}

// readRules reads rules. In place of an operator that does not exist comes Gt, which selectors of labels refuse as well.
func readRules(data []byte, into any) error {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	knowOperators(v)
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func knowOperators(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			knowOperators(e)
		}
	case map[string]any:
		if name, is := v["operator"].(string); is && new(workload.LabelOperator).UnmarshalText([]byte(name)) != nil {
			v["operator"] = workload.Gt.String()
		}
		for _, e := range v {
			knowOperators(e)
		}
	}
}

// search asks for victims, when to ask again, and forecasts.
func (k *ruleCase) search() ([]recorded.Question, error) {
	q, err := k.question(k.Settings.Gates["ConfigurablePreemptions"])
	if err != nil {
		return nil, err
	}
	for _, o := range k.Want.Oracle {
		q.Want.Forecasts = append(q.Want.Forecasts, recorded.Forecast{Amount: o.Amount, Possibility: o.Possibility})
	}
	if k.kind == "oracle" {
		return []recorded.Question{q}, nil
	}
	q.Want.Victims = []recorded.Victim{}
	for _, v := range k.Want.Victims {
		to := recorded.Victim{Workload: v.Name, Reason: v.Reason}
		if v.Cause != nil {
			to.Rules = k.rules(q.State, v.Cause.Config, v.Cause.Rules)
		}
		q.Want.Victims = append(q.Want.Victims, to)
	}
	if len(k.Want.RetryAt) > 0 {
		q.Want.RetryAt = new(time.Time)
		err = q.Want.RetryAt.UnmarshalJSON(k.Want.RetryAt)
	}
	return []recorded.Question{q}, err
}

// rules returns the rules of a configuration that accept a candidate, in its order; nil if two rules have one name.
func (k *ruleCase) rules(st *preemption.State, config string, accepts map[string][]int) []preemption.VictimRule {
	list := []preemption.VictimRule{}
	for _, c := range st.Rules {
		for i, r := range c.Rules {
			name := strings.TrimSuffix(r.Name, "-"+strconv.Itoa(i))
			if name != r.Name {
				return nil
			}
			if s, does := accepts[name]; c.Name == config && does {
				list = append(list, preemption.VictimRule{Config: config, Rule: name, Selectors: s})
			}
		}
	}
	return list
}

// find asks what is taken, attempt by attempt, until the request fits.
func (k *ruleCase) find() ([]recorded.Question, error) {
	q, err := k.question(true)
	for i := range q.State.Rules {
		if k.Settings.Order == "name" {
			q.State.Rules[i].Ordering = []rules.Ordering{{Key: rules.ByCost}} // all cost nothing
		}
	}
	for _, of := range q.State.Queues {
		for j := range of.Quotas {
			if of.Name == k.Incoming.ClusterQueue && of.Cohort != "" && k.Settings.Borrowing != nil && !*k.Settings.Borrowing {
				of.Quotas[j].BorrowingLimit = quota.AtMost(0)
			}
		}
	}
	if q.Places = nil; k.Settings.NeverFits {
		q.Places = [][]string{}
	}
	q.Want.Yields = []recorded.Victim{}
	for _, name := range k.Want.Yielded {
		q.Want.Yields = append(q.Want.Yields, recorded.Victim{Workload: name})
	}
	if q.Want.Possible = k.Want.Fits; k.Want.Interrupted != nil {
		q.Want.Possible = k.Want.Interrupted
	}
	return []recorded.Question{q}, err
}

// sequence asks for the candidates of each attempt, if the request never fits.
func (k *ruleCase) sequence() ([]recorded.Question, error) {
	q, err := k.question(false)
	q.Places, q.Want.Taken = [][]string{}, []recorded.Attempt{}
	_, stops := k.Settings.Consumption["stopAfterFirstAttemptCandidates"]
	for i, a := range k.Want.Attempts {
		to := recorded.Attempt{WithinNominal: !a.Borrowing, More: i == 0 && stops}
		for _, v := range a.Candidates {
			to.Victims = append(to.Victims, recorded.Victim{Workload: v.Name})
		}
		q.Want.Taken = append(q.Want.Taken, to)
	}
	return []recorded.Question{q}, err
}

// places returns the smallest sets of workloads that have to go so that each pod set of the request has a place on the nodes;
// nil without a topology request.
func (k *ruleCase) places() (sets [][]string) {
	if len(k.Nodes) == 0 || len(k.Incoming.PodSets) == 0 {
		return nil
	}
	sets = [][]string{}
	n := len(k.Admitted)
	for size := 0; size <= n; size++ {
		for bits := range 1 << n {
			gone, names := map[string]bool{}, []string{}
			for i := range n {
				if bits>>i&1 > 0 {
					gone[k.Admitted[i].Name], names = true, append(names, k.Admitted[i].Name)
				}
			}
			larger := slices.ContainsFunc(sets, func(s []string) bool {
				return !slices.ContainsFunc(s, func(w string) bool { return !gone[w] })
			})
			if len(names) == size && !larger && k.fits(gone) {
				sets = append(sets, names)
			}
		}
	}
	return sets
}

// fits reports whether each pod set has a place: for a required level in one domain of that level.
func (k *ruleCase) fits(gone map[string]bool) bool {
	for i := range k.Incoming.PodSets {
		p := &k.Incoming.PodSets[i]
		fit, most := map[string]int64{}, int64(0) // pods, by domain
		for _, n := range k.Nodes {
			if k.eligible(&n, p) {
				domain := n.Labels[p.TopologyRequest.Required]
				fit[domain] += k.podsOn(&n, p, gone)
				most = max(most, fit[domain])
			}
		}
		if most < p.Count {
			return false
		}
	}
	return true
}

// eligible reports whether a node has the labels that the flavors and the pod set ask for.
func (k *ruleCase) eligible(n *ruleNode, p *rulePodSet) bool {
	for _, a := range k.Incoming.Requests {
		for _, f := range k.Flavors {
			if f.Name == a.Flavor && !has(n.Labels, f.NodeLabels) {
				return false
			}
		}
	}
	return has(n.Labels, p.NodeSelector)
}

// podsOn returns how many pods of a pod set a node has room for.
func (k *ruleCase) podsOn(n *ruleNode, p *rulePodSet, gone map[string]bool) int64 {
	free := map[string]int64{}
	for _, a := range n.Allocatable {
		free[a.Resource] = a.Amount
	}
	for i := range k.Admitted {
		w := &k.Admitted[i]
		for j := range w.PodSets {
			for _, d := range w.PodSets[j].Domains {
				if !gone[w.Name] && n.in(d) {
					free["pods"] -= d.Count
					for _, a := range w.PodSets[j].Requests {
						free[a.Resource] -= d.Count * a.Amount
					}
				}
			}
		}
	}
	pods := max(0, free["pods"])
	for _, a := range p.Requests {
		if a.Amount > 0 {
			pods = min(pods, max(0, free[a.Resource])/a.Amount)
		}
	}
	return pods
}

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

// reclaim returns a request that any one of the candidates is enough for, if it may be reclaimed.
func (k *ruleCase) reclaim(candidates ...ruleWorkload) recorded.Question {
	q := recorded.Question{Config: new(preemption.Config), State: lending(queue.Any, int64(len(candidates)))}
	for i, of := range candidates {
		w := k.workload(&of)
		w.ID = fmt.Sprintf("%s %d", w.ID, i) // a case may have a name twice
		w.Queue, w.PodSets = "borrower", cpu("borrower", 1).PodSets
		if w.ReservedAt.IsZero() {
			w.ReservedAt = w.AdmittedAt
		}
		q.State.Admitted = append(q.State.Admitted, w)
	}
	if on, set := k.Settings.Gates["PreemptionProtection"]; on || !set {
		q.Config.Protection.Reclaim = k.Rule.duration()
	}
	q.Request = preemption.Request{Workload: cpu("owner", 1), Now: k.Settings.Now}
	return q
}

// cpu returns a workload of a queue.
func cpu(queue string, amount int64) workload.Workload {
	return workload.Workload{ID: "of " + queue, Queue: queue, PodSets: []workload.PodSet{
		{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: amount}}},
	}}
}

// lending has a queue with all the quota, which reclaims by a policy, and one with none.
func lending(policy queue.VictimPolicy, nominal int64) *preemption.State {
	return &preemption.State{
		Cohorts: []queue.Cohort{{Name: "all"}},
		Queues: []queue.Queue{
			{Name: "owner", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: nominal}},
				Preemption: queue.PreemptionPolicy{ReclaimWithinCohort: policy}},
			{Name: "borrower", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu"}}},
		},
	}
}

// protection asks about a workload that is to be reclaimed: whether it is protected, and when it may yield.
func (k *ruleCase) protection() (list []recorded.Question, err error) {
	switch k.kind {
	case "protected":
		q := k.reclaim(k.Candidate)
		q.Want.Possible = ptr(!k.Want.Protected)
		return []recorded.Question{q}, nil
	case "expiry":
		if at := k.Candidate.AdmittedAt; !at.IsZero() && at.Before(k.Settings.Now) {
			k.Settings.Now = at // when it may be over is the same at any time
		}
		q := k.reclaim(k.Candidate)
		q.Want.RetryAt = &k.Want.Expiry
		return []recorded.Question{q}, nil
	}
	var skipped []ruleWorkload
	for _, step := range k.Steps {
		if skips := step.Want.Skipped; skips != nil {
			q := k.reclaim(step.Candidate)
			q.Want.Possible = ptr(!*skips)
			list = append(list, q)
			if *skips && (k.Settings.Keeps == nil || *k.Settings.Keeps) {
				skipped = append(skipped, step.Candidate)
			}
		}
		if len(step.Want.EarliestExpiry) > 0 && len(skipped) > 0 {
			q := k.reclaim(skipped...)
			q.Want.RetryAt = new(time.Time)
			if err := q.Want.RetryAt.UnmarshalJSON(step.Want.EarliestExpiry); err != nil {
				return nil, err
			}
			list = append(list, q)
		}
	}
	return list, nil
}

// alwaysReclaims asks whether a queue gets back at any time what others borrow. If it does not, a cycle reserves, for a head
// without candidates, what its queue could hold.
func (k *ruleCase) alwaysReclaims() ([]recorded.Question, error) {
	k.Settings.Now = someTime
	q, err := k.question(false)
	q.State = lending(k.Reclaims, 2)
	q.State.Queues = append(q.State.Queues, queue.Queue{Name: "other", Cohort: "all", Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: 1}}})
	q.State.Admitted = []workload.Workload{cpu("other", 1)} // so that 3 of the owner never fit
	first, later := cpu("owner", 3), cpu("borrower", 2)
	first.Priority, first.Queued, later.Queued = 1, someTime, someTime
	q.Heads, q.Request = []queue.Head{{Workload: first}, {Workload: later}}, preemption.Request{Now: someTime}
	if q.Want.Admits = []string{}; k.Want.CanAlwaysReclaim {
		q.Want.Admits = append(q.Want.Admits, later.ID)
	}
	return []recorded.Question{q}, err
}
