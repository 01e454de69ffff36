package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// groupCase is a decision about pod groups as kube-scheduler v1.37 makes it, from its tests or of generated clusters.
type groupCase struct {
	Suite  string `json:"suite"`
	Source struct {
		Repo    string `json:"repo"`
		Version string `json:"version"`
		Test    string `json:"test"`
	} `json:"source"`
	Input groupInput `json:"input"`
	Want  groupWant  `json:"want"`
}

type groupInput struct {
	Composite *bool       `json:"composite_enabled"`
	Groups    *bool       `json:"groups_enabled"`
	Nodes     []groupNode `json:"nodes"`
	Pods      []groupPod  `json:"pods"`
	List      []podGroup  `json:"groups"`
	Budgets   []struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Selector  map[string]string `json:"selector"`
		Allowed   int64             `json:"allowed"`
		Disrupted []string          `json:"disrupted"`
	} `json:"pdbs"`
	Preemptor *struct {
		Name     string     `json:"name"`
		Priority int32      `json:"priority"`
		Policy   string     `json:"policy"`
		MinCount int        `json:"min_count"`
		Pods     []groupPod `json:"pods"`
	} `json:"preemptor"`
	Waiting []groupPod `json:"preemptor_pods"`
	Options struct {
		Placement    string            `json:"placement"`
		Fixed        map[string]string `json:"fixed"`
		NodeScores   json.RawMessage   `json:"node_scores"`
		ReserveLimit json.RawMessage   `json:"reserve_limit"`
		Then         json.RawMessage   `json:"then"`
		RemoveGroup  *string           `json:"remove_group_before_preemption"`
	} `json:"options"`
	Units []struct {
		Pods []groupPod `json:"pods"`
	} `json:"units"`
	A        *groupUnit      `json:"a"`
	B        *groupUnit      `json:"b"`
	Pod      *groupPod       `json:"pod"`
	Group    *podGroup       `json:"group"`
	Start    *podGroup       `json:"start"`
	StopAt   string          `json:"stop_at"`
	Gates    map[string]any  `json:"gates"`
	Priority int32           `json:"priority"`
	Resizing *groupPod       `json:"resizing"`
	Steps    json.RawMessage `json:"steps"`
}

type groupNode struct {
	Name          string             `json:"name"`
	Capacity      workload.Resources `json:"capacity"`
	Labels        map[string]string  `json:"labels"`
	DisableResize []string           `json:"disable_resize_preemption"`
	Taints        json.RawMessage    `json:"taints"`
}

type groupPod struct {
	Name             string             `json:"name"`
	Namespace        string             `json:"namespace"`
	Node             string             `json:"node"`
	Group            string             `json:"group"`
	Priority         int32              `json:"priority"`
	Requests         workload.Resources `json:"requests"`
	Allocated        workload.Resources `json:"allocated"`
	Labels           map[string]string  `json:"labels"`
	Start            start              `json:"start"`
	Terminating      bool               `json:"terminating"`
	NominatedNode    string             `json:"nominated_node"`
	PreemptionPolicy string             `json:"preemption_policy"`
	Policy           string             `json:"policy"`
	Selector         map[string]string  `json:"node_selector"`
	Affinity         json.RawMessage    `json:"affinity"`
	Spread           json.RawMessage    `json:"topology_spread"`
	Containers       json.RawMessage    `json:"containers"`
	PodLevel         json.RawMessage    `json:"pod_level_resources"`
	Tolerations      json.RawMessage    `json:"tolerations"`
	Conditions       []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"conditions"`
}

// podGroup is a PodGroup or a CompositePodGroup.
type podGroup struct {
	Kind             string `json:"kind"`
	Name             string `json:"name"`
	Namespace        string `json:"namespace"`
	Parent           string `json:"parent"`
	Priority         int32  `json:"priority"`
	Mode             string `json:"mode"`
	Policy           string `json:"policy"`
	MinCount         int    `json:"min_count"`
	PreemptionPolicy string `json:"preemption_policy"`
	Constraints      struct {
		Topology []struct {
			Key string `json:"key"`
		} `json:"topology"`
	} `json:"constraints"`
}

// groupUnit is a unit in the suite of importance.
type groupUnit struct {
	Kind     string `json:"kind"`
	Priority int32  `json:"priority"`
	Size     int    `json:"size"`
	Start    start  `json:"start"`
}

type groupWant struct {
	Outcome       string             `json:"outcome"`
	Victims       []string           `json:"victims"`
	Violations    *int               `json:"violations"`
	Disruptions   *int               `json:"group_disruptions"`
	Nominated     *map[string]string `json:"nominated"`
	Units         []groupUnitWant    `json:"units"`
	Violating     []int              `json:"violating"`
	Counts        []int              `json:"counts"`
	NonViolating  []int              `json:"non_violating"`
	MoreImportant *bool              `json:"a_more_important"`
	HasAll        *bool              `json:"has_all"`
	Unit          podGroup           `json:"unit"`
	Nodes         []string           `json:"nodes"`
	Error         bool               `json:"error"`
	Policy        string             `json:"policy"`
	Eligible      *bool              `json:"eligible"`
	Priority      *int32             `json:"priority"`
	Terminating   *bool              `json:"terminating_by_preemption"`
	Visited       []podGroup         `json:"visited"`
	Preempted     []string           `json:"preempted"`
	Scheduled     []string           `json:"scheduled"`
	Unschedulable []string           `json:"unschedulable"`
	EventOrder    json.RawMessage    `json:"event_order"`
}

type groupUnitWant struct {
	Pods      []string `json:"pods"`
	Nodes     []string `json:"nodes"`
	Priority  int32    `json:"priority"`
	Violating int      `json:"violating"`
}

// start is a number, of which a larger one is later, or a time.
type start struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *start) UnmarshalJSON(data []byte) error {
	var seconds int64
	if json.Unmarshal(data, &seconds) == nil {
		s.Time = time.Unix(seconds, 0).UTC()
		return nil
	}
	return json.Unmarshal(data, &s.Time)
}

// stories says of suites why no decision answers them.
var stories = map[string]string{
	"metric":              "asks what the scheduler counts",
	"unit_new":            "asks for the facts of a unit that no cluster has",
	"topology":            "asks for the end of several cycles of a whole scheduler",
	"topology_preemption": "asks for the end of several cycles of a whole scheduler",
	"resize_queue":        "asks which events make the scheduler try again",
}

func (g *groupCase) convert(c *recorded.Case) error {
	c.Source = fmt.Sprintf("%s %s, %s", g.Source.Repo, g.Source.Version, g.Source.Test)
	q := recorded.OnNodes{Mode: placement.ModeInPlace, Order: placement.RoundRobin}
	if story := stories[g.Suite]; story != "" {
		c.Story = story
		return nil
	}
	asks, known := g.questions()[g.Suite]
	if !known {
		return fmt.Errorf("unknown suite %q", g.Suite)
	}
	story, err := asks(&q)
	if err != nil || story != "" {
		c.Story = story
		return err
	}
	c.Nodes = []recorded.OnNodes{q}
	return nil
}

// questions says how each suite makes a question, or a story.
func (g *groupCase) questions() map[string]func(q *recorded.OnNodes) (story string, err error) {
	return map[string]func(q *recorded.OnNodes) (string, error){
		"group": g.decision, "group_random": g.decision, "nominated": g.decision, "eligibility": g.decision,
		"group_integration": g.cycle, "composite_integration": g.cycle,
		"victim_units": g.units, "unit_nodes": g.units, "unit_key": g.unitKey, "pod_priority": g.priority, "walk_up": g.walk,
		"importance": g.importance, "pdb_split": g.split, "terminating": g.terminating, "group_policy": g.policy, "resize": g.resize,
	}
}

// decision asks for the victims and nominations of a group that the scheduler could not place.
func (g *groupCase) decision(q *recorded.OnNodes) (string, error) {
	in := &g.Input
	if in.Preemptor == nil {
		return "", fmt.Errorf("no preemptor")
	}
	g.state(q)
	q.Request = placement.Request{
		Group: in.Preemptor.Name, Priority: in.Preemptor.Priority, MinCount: in.Preemptor.MinCount, SkipFit: true, Prefer: g.nodeNames(),
	}
	if in.Preemptor.Policy == "Never" {
		q.Request.Policy = placement.PreemptNever
	}
	for _, p := range in.Preemptor.Pods {
		of := workload.Pod{ID: p.Name, Namespace: g.namespace(p.Namespace), Labels: p.Labels, Requests: p.Requests}
		if in.Options.Placement == "fixed" {
			if node := in.Options.Fixed[p.Name]; node != "" {
				of.Nodes = []string{node}
			} else {
				of.Nowhere = true
			}
		}
		q.Request.Pods = append(q.Request.Pods, of)
		if p.NominatedNode != "" {
			of.Node, of.Nodes, of.Nowhere, of.Priority = p.NominatedNode, nil, false, in.Preemptor.Priority
			q.State.Nominated = append(q.State.Nominated, of)
		}
	}
	w := &q.Want
	if g.Suite == "eligibility" && g.Want.Eligible != nil {
		w.Eligible = g.Want.Eligible
		return "", nil
	}
	switch g.Want.Outcome {
	case "preempt":
		w.Possible = ptr(true)
		w.Victims = append([]string{}, g.Want.Victims...)
	case "waiting":
		w.Outcome = preemption.Wait
	case "not_eligible":
		w.Reason = placement.ReasonPolicyNever
	case "no_victims":
		w.Reason = placement.ReasonNoVictims
	case "unschedulable":
		w.Reason = placement.ReasonNoRoom
	default:
		return "", fmt.Errorf("unknown outcome %q", g.Want.Outcome)
	}
	w.Violations, w.Disruptions = g.Want.Violations, g.Want.Disruptions
	if g.Want.Nominated != nil {
		w.Nominated = *g.Want.Nominated
	}
	if g.Want.Units != nil {
		w.Ordered = g.wantedUnits()
	}
	return "", nil
}

func (g *groupCase) wantedUnits() []recorded.Unit {
	list := []recorded.Unit{}
	for _, u := range g.Want.Units {
		list = append(list, recorded.Unit{Pods: u.Pods, Nodes: u.Nodes, Priority: u.Priority, Violations: u.Violating})
	}
	return list
}

// units asks for the units that run.
func (g *groupCase) units(q *recorded.OnNodes) (string, error) {
	if g.Want.Error {
		return "asks about a pod on a node that is not there, which a snapshot refuses", nil
	}
	g.state(q)
	if g.Suite == "victim_units" {
		q.Want.Units = g.wantedUnits()
		return "", nil
	}
	u := recorded.Unit{Nodes: g.Want.Nodes, Priority: g.Input.Priority}
	q.State.Groups = []workload.PodGroup{{ID: "unit", Priority: u.Priority, DisruptionMode: workload.DisruptionModePodGroup}}
	for i := range q.State.Pods {
		q.State.Pods[i].Group = "unit"
		u.Pods = append(u.Pods, q.State.Pods[i].ID)
	}
	q.Want.Units = []recorded.Unit{u}
	return "", nil
}

// unitKey asks which group a pod yields with.
func (g *groupCase) unitKey(q *recorded.OnNodes) (string, error) {
	if g.Want.HasAll == nil || g.Input.Pod == nil {
		return "", fmt.Errorf("no pod, or no answer")
	}
	g.runs(q, *g.Input.Pod)
	if q.Want.Group = ptr(""); *g.Want.HasAll {
		q.Want.Group = ptr(g.id(g.Want.Unit.Kind, g.Want.Unit.Namespace, g.Want.Unit.Name))
	}
	return "", nil
}

// priority asks for the priority that counts for a pod.
func (g *groupCase) priority(q *recorded.OnNodes) (string, error) {
	if g.Want.Priority == nil || g.Input.Pod == nil {
		return "", fmt.Errorf("no pod, or no answer")
	}
	g.runs(q, *g.Input.Pod)
	q.Want.Units = []recorded.Unit{{Pods: []string{g.Input.Pod.Name}, Nodes: []string{"node"}, Priority: *g.Want.Priority}}
	return "", nil
}

// walk asks where the way from a group to the root ends: each group has another priority, and a pod of the first has that of the last.
func (g *groupCase) walk(q *recorded.OnNodes) (string, error) {
	if g.Input.Start == nil {
		return "", fmt.Errorf("no start")
	}
	if g.Input.StopAt != "" {
		return "asks for a part of the way to the root", nil
	}
	const none = 1000
	priority := int32(none)
	for i := range g.Input.List {
		of := &g.Input.List[i]
		of.Priority = int32(i)
		if n := len(g.Want.Visited); n > 0 {
			if last := g.Want.Visited[n-1]; of.Kind == last.Kind && of.Name == last.Name && of.Namespace == last.Namespace {
				priority = of.Priority
			}
		}
	}
	from := g.Input.Start
	p := groupPod{Name: "pod", Namespace: from.Namespace, Group: from.Name, Priority: none}
	g.runs(q, p)
	q.State.Pods[0].Group = g.id(from.Kind, from.Namespace, from.Name)
	q.Want.Units = []recorded.Unit{{Pods: []string{p.Name}, Nodes: []string{"node"}, Priority: priority}}
	return "", nil
}

// terminating asks whether a group that is nominated to the node of a pod waits for the pod.
func (g *groupCase) terminating(q *recorded.OnNodes) (string, error) {
	if g.Want.Terminating == nil || g.Input.Pod == nil {
		return "", fmt.Errorf("no pod, or no answer")
	}
	g.runs(q, *g.Input.Pod)
	in := workload.Pod{ID: "in", Priority: 1}
	q.Request = placement.Request{Group: "pending", Priority: 1, SkipFit: true, Pods: []workload.Pod{in}}
	in.Node = "node"
	q.State.Nominated = []workload.Pod{in}
	q.Want.Eligible = ptr(!*g.Want.Terminating)
	return "", nil
}

// policy asks whether a group may preempt. Without the gate one pod of policy Never is enough that it may not; with it the group alone
// says it.
func (g *groupCase) policy(q *recorded.OnNodes) (string, error) {
	if g.Input.Group == nil {
		return "", fmt.Errorf("no group")
	}
	never := g.Input.Group.PreemptionPolicy == "Never"
	if gate, _ := g.Input.Gates["PodGroupPreemptionPolicy"].(bool); !gate {
		never = slices.ContainsFunc(g.Input.Pods, func(p groupPod) bool { return p.PreemptionPolicy == "Never" })
	}
	q.State.Nodes = []workload.Node{{Name: "node"}}
	q.Request = placement.Request{Group: g.Input.Group.Name, SkipFit: true, Pods: []workload.Pod{{ID: "in", Priority: 1}}}
	if never {
		q.Request.Policy = placement.PreemptNever
	}
	q.Want.Eligible = ptr(g.Want.Policy != "Never")
	return "", nil
}
