package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

type ruleQueue struct {
	ClusterQueue
	Rules  string            `json:"rules"`
	Labels map[string]string `json:"labels"`
}

type ruleFlavor struct {
	Name       string            `json:"name"`
	NodeLabels map[string]string `json:"nodeLabels"`
}

type ruleNode struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Allocatable []quota.Amount    `json:"allocatable"` // without flavors
}

// rulePodSet is a pod set with what its pods ask for and, if it runs, where they are.
type rulePodSet struct {
	Count           int64          `json:"count"`
	Requests        []quota.Amount `json:"requests"` // of one pod, without flavors
	TopologyRequest struct {
		Required string `json:"required"`
	} `json:"topologyRequest"`
	NodeSelector map[string]string `json:"nodeSelector"`
	Domains      []struct {
		Levels []string `json:"levels"`
		Values []string `json:"values"`
		Count  int64    `json:"count"`
	} `json:"domains"`
}

// ruleWorkload is an admitted workload, the incoming one, or one of a filter.
type ruleWorkload struct {
	Name               string            `json:"name"`
	UID                string            `json:"uid"`
	ClusterQueue       string            `json:"clusterQueue"`
	ClusterQueueLabels map[string]string `json:"clusterQueueLabels"`
	LocalQueue         string            `json:"localQueue"`
	Labels             map[string]string `json:"labels"`
	Priority           int64             `json:"priority"`
	Boost              string            `json:"boost"`
	PriorityClass      struct {
		Name string `json:"name"`
	} `json:"priorityClass"`
	Value           int64          `json:"value"` // of a bare comparison
	QuotaReservedAt time.Time      `json:"quotaReservedAt"`
	AdmittedAt      time.Time      `json:"admittedAt"`
	Evicted         bool           `json:"evicted"`
	Usage           []quota.Amount `json:"usage"`
	Requests        []quota.Amount `json:"requests"`
	PodSets         []rulePodSet   `json:"podSets"`
}

// someQueue is the queue of workloads of filters for which none is given.
const someQueue = "some queue"

// workload returns a workload of the case. Boosts count with the gate alone.
func (c *RuleCase) workload(of *ruleWorkload) workload.Workload {
	w := workload.Workload{
		ID: of.Name, UID: of.UID, Queue: of.ClusterQueue, Labels: of.Labels, Priority: of.Priority + of.Value,
		PriorityClass: of.PriorityClass.Name, ReservedAt: of.QuotaReservedAt, AdmittedAt: of.AdmittedAt, Evicted: of.Evicted,
		PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: slices.Concat(of.Usage, of.Requests)}},
	}
	if w.Queue == "" {
		w.Queue = someQueue
	}
	namespace, _, _ := strings.Cut(of.Name, "/")
	w.LocalQueue = namespace + "/" + of.LocalQueue // without one Kueue compares namespaces
	if c.Settings.Gates["PriorityBoost"] {
		w.PriorityBoost, _ = strconv.ParseInt(of.Boost, 10, 64) // a boost that is no number is none
	}
	return w
}

// state returns the case's cluster.
func (c *RuleCase) state() preemption.State {
	base := Case{Cohorts: c.Cohorts}
	for i := range c.ClusterQueues {
		base.ClusterQueues = append(base.ClusterQueues, c.ClusterQueues[i].ClusterQueue)
	}
	st := base.State()
	for i := range st.Queues {
		st.Queues[i].Labels, st.Queues[i].Rules = c.ClusterQueues[i].Labels, c.ClusterQueues[i].Rules
		if st.Queues[i].Name == c.Incoming.ClusterQueue && c.Settings.Config != "" {
			st.Queues[i].Rules = c.Settings.Config
		}
		if p := &st.Queues[i].Preemption; p.WithinClusterQueue == queue.Any { // which the API refuses
			p.WithinClusterQueue = queue.LowerOrNewerEqualPriority
		}
		if c.Settings.Policies == "ignored" {
			st.Queues[i].Preemption = queue.PreemptionPolicy{}
		}
	}
	for i := range c.Admitted {
		st.Admitted = append(st.Admitted, c.workload(&c.Admitted[i]))
	}
	return st
}

// filterState returns the queues of a filter's case, all with its rule.
func (c *RuleCase) filterState() preemption.State {
	st := c.state()
	for _, w := range []*ruleWorkload{&c.Preemptor, &c.Candidate} {
		name := c.workload(w).Queue
		at := slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == name })
		if at < 0 {
			at = len(st.Queues)
			st.Queues = append(st.Queues, queue.Queue{Name: name})
		}
		if w.ClusterQueueLabels != nil {
			st.Queues[at].Labels = w.ClusterQueueLabels
		}
	}
	for i := range st.Queues {
		st.Queues[i].Rules = "config"
	}
	return st
}

// runningCase is an admitted workload. nodesOnly: it uses nothing that needs preemption, but holds
// nodes of its flavor.
type runningCase struct {
	*workload.Workload
	nodesOnly bool
}

// running lists the admitted workloads that use what needs preemption, or hold nodes of its
// flavor.
func (c *RuleCase) running() (list []runningCase) {
	needs := c.Needs
	if needs == nil {
		for _, r := range c.Incoming.Requests {
			needs = append(needs, r.FlavorResource())
		}
	}
	for i := range c.Admitted {
		w := c.workload(&c.Admitted[i])
		uses := slices.ContainsFunc(c.Admitted[i].Usage, func(a quota.Amount) bool { return slices.Contains(needs, a.FlavorResource()) })
		holds := slices.ContainsFunc(needs, func(fr quota.FlavorResource) bool { return c.holdsNodesOf(&c.Admitted[i], fr.Flavor) })
		if uses || holds {
			list = append(list, runningCase{&w, !uses})
		}
	}
	return list
}

// holdsNodesOf reports whether a workload runs on nodes of a flavor.
func (c *RuleCase) holdsNodesOf(w *ruleWorkload, flavor string) bool {
	at := slices.IndexFunc(c.Flavors, func(f ruleFlavor) bool { return f.Name == flavor })
	if at < 0 || len(c.Flavors[at].NodeLabels) == 0 {
		return false
	}
	selector := workload.LabelSelector{MatchLabels: c.Flavors[at].NodeLabels}
	for _, p := range w.PodSets {
		for _, d := range p.Domains {
			for _, n := range c.Nodes {
				in := selector.Matches(n.Labels)
				for i, level := range d.Levels {
					in = in && n.Labels[level] == d.Values[i]
				}
				if in {
					return true
				}
			}
		}
	}
	return false
}

// configs returns the case's configurations, and the names of their rules as the case has them:
// there a name may occur twice.
func (c *RuleCase) configs() (configs []rules.Config, names map[string][]string, err error) {
	names = map[string][]string{}
	for _, data := range c.Configs {
		var config rules.Config
		if err := readRules(data, &config); err != nil {
			return nil, nil, fmt.Errorf("case %q: %w", c.Name, err)
		}
		for i := range config.Rules {
			r := &config.Rules[i]
			names[config.Name] = append(names[config.Name], r.Name)
			if slices.Contains(names[config.Name][:i], r.Name) { // upstream's own API refuses that
				r.Name = renamed(r.Name, i)
			}
		}
		configs = append(configs, config)
	}
	return configs, names, nil
}

// evaluator returns the evaluator of the case's configurations.
func (c *RuleCase) evaluator() (*rules.Evaluator, map[string][]string, error) {
	configs, names, err := c.configs()
	if err != nil {
		return nil, nil, err
	}
	st := c.state()
	e, err := rules.New(st.Cohorts, st.Queues, configs)
	if err != nil {
		return nil, nil, fmt.Errorf("case %q: %w", c.Name, err)
	}
	return e, names, nil
}

// renamed returns the name of a rule whose name occurred before.
func renamed(name string, index int) string { return name + "-" + strconv.Itoa(index) }

// selector returns the selector of a filter's case; ok is false if it has none.
func (c *RuleCase) selector() (s rules.CandidateSelector, ok bool, err error) {
	text := c.Constraint
	if c.Filter == "selector" && string(text) == "null" {
		return s, false, nil
	}
	if string(text) == "null" || len(text) == 0 {
		text = json.RawMessage("{}")
	}
	switch c.Filter {
	case "priority":
		text = slices.Concat([]byte(`{"priority":`), text, []byte("}"))
	case "comparison": // of values, as priorities
		text = slices.Concat([]byte(`{"priority":`), text, []byte("}"))
	case "numericLabel":
		text = slices.Concat([]byte(`{"numericLabels":[`), text, []byte("]}"))
	}
	if err := readRules(text, &s); err != nil {
		return s, false, fmt.Errorf("case %q: %w", c.Name, err)
	}
	if c.Filter == "comparison" && s.Priority.Comparison != "" {
		s.Priority.Mode = rules.Base
	}
	if s.Scope == "" {
		s.Scope = rules.AnyClusterQueue
	}
	return s, true, nil
}

// readRules reads rules in which an operator may be none that exists. In its place comes Gt,
// which selectors of labels refuse as well.
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
