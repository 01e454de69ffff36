package foreign

import (
	"encoding/json"
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
			to.Victims = append(to.Victims, recorded.Victim{Workload: v.Name, Reason: v.Reason})
		}
		q.Want.Taken = append(q.Want.Taken, to)
	}
	return []recorded.Question{q}, err
}
