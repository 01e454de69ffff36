package foreign

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// stories says of suites why no decision answers them.
var stories = map[string]string{
	"metric":       "asks what the scheduler counts",
	"unit_new":     "asks for the facts of a unit that no cluster has",
	"resize_queue": "asks which events make the scheduler try again",
}

func (g *groupCase) convert(c *recorded.Case) error {
	c.Source = fmt.Sprintf("%s %s, %s", g.Source.Repo, g.Source.Version, g.Source.Test)
	q := recorded.OnNodes{Mode: placement.ModeInPlace, Order: placement.RoundRobin}
	if story := stories[g.Suite]; story != "" {
		c.Story = story
		return nil
	}
	if g.Suite == "topology" || g.Suite == "topology_preemption" {
		list, story, err := g.steps()
		c.Nodes, c.Story = list, story
		return err
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
	if c.Nodes = []recorded.OnNodes{q}; g.Input.Options.Then != "" {
		after, err := g.then(q)
		c.Nodes = append(c.Nodes, after)
		return err
	}
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
	g.state(q)
	if q.Want.Refused = g.Want.Error; q.Want.Refused { // a pod on a node that is not there
		return "", nil
	}
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
