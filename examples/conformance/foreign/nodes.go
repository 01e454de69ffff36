package foreign

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// nodeCase is a decision about room on nodes, from the tests of kube-scheduler or worked out from KEP-5710.
type nodeCase struct {
	Suite string `json:"suite"`
	Era   string `json:"era"`
	Nodes []struct {
		Name         string             `json:"name"`
		Capacity     workload.Resources `json:"capacity"`
		Unresolvable bool               `json:"unresolvable"`
	} `json:"nodes"`
	Pods   []podOf `json:"pods"`
	Groups []struct {
		Name     string `json:"name"`
		Mode     string `json:"mode"`
		Priority *int32 `json:"priority"`
	} `json:"groups"`
	Budgets []struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Selector  map[string]string `json:"selector"`
		Allowed   int64             `json:"allowed"`
		Disrupted []string          `json:"disrupted"`
	} `json:"pdbs"`
	Conflicts [][]string `json:"conflicts"`
	Preemptor *struct {
		Kind     string  `json:"kind"`
		Name     string  `json:"name"`
		Priority int32   `json:"priority"`
		Policy   string  `json:"policy"`
		MinCount *int    `json:"min_count"`
		Pods     []podOf `json:"pods"`
	} `json:"preemptor"`
	Units   [][]string `json:"units"`
	A       *unitFacts `json:"a"`
	B       *unitFacts `json:"b"`
	Options struct {
		Mode           string   `json:"mode"`
		Placement      string   `json:"placement"`
		NodePreference []string `json:"node_preference"`
		Importance     string   `json:"importance"`
		Offset         int      `json:"offset"`
		NumCandidates  int      `json:"num_candidates"`
		MaxReprieves   *int     `json:"max_reprieves"`
		Sampling       *struct {
			Percent  int `json:"percent"`
			Absolute int `json:"absolute"`
		} `json:"sampling"`
	} `json:"options"`
	Expect  nodeExpect        `json:"expect"`
	Derived map[string]answer `json:"derived"` // by mode, of a simulation beside the cases
}

type podOf struct {
	Name          string             `json:"name"`
	Namespace     string             `json:"namespace"`
	Node          string             `json:"node"`
	Group         string             `json:"group"`
	Priority      int32              `json:"priority"`
	Requests      workload.Resources `json:"requests"`
	Labels        map[string]string  `json:"labels"`
	Start         *int64             `json:"start"`
	Terminating   bool               `json:"terminating"`
	Preempted     bool               `json:"preempted"`
	Protected     bool               `json:"protected"`
	Policy        string             `json:"policy"`
	EligibleNodes []string           `json:"eligible_nodes"`
	NominatedNode string             `json:"nominated_node"`
}

// unitFacts is a unit in the suite of importance.
type unitFacts struct {
	Priority int32  `json:"priority"`
	Kind     string `json:"kind"`
	Size     int    `json:"size"`
	Start    *int64 `json:"start"`
	UID      string `json:"uid"`
}

type answer struct {
	Outcome   string            `json:"outcome"`
	Victims   []string          `json:"victims"`
	Placement map[string]string `json:"placement"`
}

type nodeExpect struct {
	answer
	Node           *string    `json:"node"`
	NodeAnyOf      []string   `json:"node_any_of"`
	VictimCount    int        `json:"victim_count"`
	VictimsOneOf   []string   `json:"victims_one_of"`
	Violations     *int       `json:"pdb_violations"`
	Eligible       *bool      `json:"eligible"`
	AMoreImportant *bool      `json:"a_more_important"`
	Violating      [][]string `json:"violating"`
	Counts         []int      `json:"counts"`
	NonViolating   [][]string `json:"non_violating"`
	Candidates     []struct {
		Node       string   `json:"node"`
		Victims    []string `json:"victims"`
		Violations int      `json:"pdb_violations"`
	} `json:"candidates"`
	LeastImportant []struct {
		Pods       []string `json:"pods"`
		Violations int      `json:"pdb_violations"`
	} `json:"least_to_most_important"`
	Units []struct {
		Pods     []string `json:"pods"`
		Nodes    []string `json:"nodes"`
		Priority int32    `json:"priority"`
	} `json:"units"`
}

var modes = map[string]placement.Mode{
	"": placement.ModeInPlace, "in_place": placement.ModeInPlace, "seed": placement.ModeDesign,
}

// maxUnit bounds the pods of a unit that a case gives by its size.
const maxUnit = 10_000

func (n *nodeCase) convert(c *recorded.Case) error {
	mode, known := modes[n.Options.Mode]
	asks := slices.Contains([]string{"pod", "group", "group_integration", "eligibility", "victim_order"}, n.Suite)
	switch {
	case !asks && !slices.Contains([]string{"importance", "pdb_split", "victim_units"}, n.Suite):
		return fmt.Errorf("unknown suite %q", n.Suite)
	case !known && n.Options.Mode != "reschedule":
		return fmt.Errorf("unknown mode %q", n.Options.Mode)
	case n.Options.Mode == "reschedule":
		c.Story = "asked in the mode of kube-scheduler v1.36"
		return nil
	case asks && n.Preemptor == nil:
		return fmt.Errorf("no preemptor")
	case len(n.Expect.Violating) != len(n.Expect.Counts):
		return fmt.Errorf("%d violating units with %d counts", len(n.Expect.Violating), len(n.Expect.Counts))
	case n.Suite == "importance" && (n.A == nil || n.B == nil || n.Expect.AMoreImportant == nil || max(n.A.Size, n.B.Size) > maxUnit):
		return fmt.Errorf("a or b is missing, or the answer, or one is of more than %d pods", maxUnit)
	}
	q := recorded.OnNodes{
		Mode: mode, Order: placement.RoundRobin, Conflicts: n.Conflicts, Reprieves: n.Options.MaxReprieves, State: n.state(),
		Importance: map[string]string{"name": "name", "oldest_start": "start"}[n.Options.Importance],
	}
	if n.Options.Placement == "prefer" {
		q.Order = placement.FirstFit
	}
	for _, p := range n.Pods {
		if p.Protected {
			q.Protected = append(q.Protected, p.Name)
		}
	}
	if n.Preemptor != nil {
		q.Request = n.request()
	}
	q.Want = n.want()
	c.Nodes = []recorded.OnNodes{q}
	for _, name := range []string{"in_place", "seed"} {
		as, derived := n.Derived[name]
		terminates := slices.ContainsFunc(n.Pods, func(p podOf) bool { return p.Terminating })
		if !derived || terminates && name == "seed" { // there what terminates was not gone yet
			continue
		}
		q.Mode = modes[name]
		q.Want = recorded.WantOnNodes{Victims: append([]string{}, as.Victims...)}
		if len(as.Placement) > 0 {
			q.Want.Nominated = as.Placement
		}
		c.Nodes = append(c.Nodes, q)
	}
	return nil
}

// started returns a start time; a larger number is later.
func started(start *int64) time.Time {
	if start == nil {
		return time.Time{}
	}
	return time.Unix(*start, 0).UTC()
}

func (n *nodeCase) state() (st placement.State) {
	if n.Suite == "importance" {
		return n.twoUnits()
	}
	for _, of := range n.Nodes {
		st.Nodes = append(st.Nodes, workload.Node{Name: of.Name, Capacity: of.Capacity, Unschedulable: of.Unresolvable})
	}
	for i, p := range n.Pods {
		st.Pods = append(st.Pods, workload.Pod{ // of equals the pod that is listed earlier is more important
			ID: p.Name, UID: fmt.Sprintf("%08d", i), Namespace: p.Namespace, Labels: p.Labels, Group: p.Group, Priority: p.Priority,
			Requests: p.Requests, Node: p.Node, Started: started(p.Start), Terminating: p.Terminating, Preempted: p.Preempted,
		})
	}
	for _, g := range n.Groups {
		out := workload.PodGroup{ID: g.Name, DisruptionMode: workload.DisruptionModePod}
		if g.Mode == "all" {
			out.DisruptionMode = workload.DisruptionModePodGroup
		}
		if g.Priority != nil {
			out.Priority = *g.Priority
		} else if g.Mode != "all" {
			continue // its pods count by themselves, with their own priority
		}
		st.Groups = append(st.Groups, out)
	}
	for i, b := range n.Budgets { // in the order of the list
		budget := workload.DisruptionBudget{Namespace: b.Namespace, Name: fmt.Sprintf("%04d %s", i, b.Name), Allowed: b.Allowed, Disrupted: b.Disrupted}
		if b.Selector != nil {
			budget.Selector = &workload.LabelSelector{MatchLabels: b.Selector}
		}
		st.Budgets = append(st.Budgets, budget)
	}
	if n.Suite == "pdb_split" { // the list of units begins with the most important
		st.Nodes = []workload.Node{{Name: "node"}}
		for i, unit := range n.Units {
			id := fmt.Sprintf("unit %d", i)
			st.Groups = append(st.Groups, workload.PodGroup{ID: id, DisruptionMode: workload.DisruptionModePodGroup, Priority: int32(len(n.Units) - i)})
			for j := range st.Pods {
				if slices.Contains(unit, st.Pods[j].ID) {
					st.Pods[j].Group, st.Pods[j].Node = id, "node"
				}
			}
		}
	}
	if n.Preemptor != nil {
		for _, p := range n.Preemptor.Pods {
			if p.NominatedNode != "" {
				st.Nominated = append(st.Nominated, workload.Pod{ID: p.Name, Requests: p.Requests, Node: p.NominatedNode, Priority: n.Preemptor.Priority})
			}
		}
	}
	return st
}

// twoUnits makes the units a and b of the suite of importance.
func (n *nodeCase) twoUnits() placement.State {
	st := placement.State{Nodes: []workload.Node{{Name: "node"}}}
	for i, u := range []*unitFacts{n.A, n.B} {
		name := string(rune('a' + i))
		group := ""
		if u.Kind != "pod" {
			group = name
			st.Groups = append(st.Groups, workload.PodGroup{ID: name, Priority: u.Priority, DisruptionMode: workload.DisruptionModePodGroup})
		}
		for j := range max(1, u.Size) {
			st.Pods = append(st.Pods, workload.Pod{
				ID: fmt.Sprintf("%s%d", name, j), UID: u.UID, Group: group, Priority: u.Priority, Node: "node", Started: started(u.Start),
			})
		}
	}
	return st
}

// request returns a request for preemption alone: kube-scheduler preempts once scheduling failed.
func (n *nodeCase) request() placement.Request {
	p := n.Preemptor
	r := placement.Request{Priority: p.Priority, SkipFit: true, Prefer: n.Options.NodePreference}
	if p.Kind == "group" {
		r.Group = p.Name
	}
	// In v1.36 the policy of any member counted for its group.
	member := func(of podOf) bool { return of.Policy == "Never" && n.Era == "alpha-1.36" }
	if p.Policy == "Never" || slices.ContainsFunc(p.Pods, member) {
		r.Policy = placement.PreemptNever
	}
	if p.MinCount != nil {
		r.MinCount = *p.MinCount
	}
	for _, of := range p.Pods {
		r.Pods = append(r.Pods, workload.Pod{ID: of.Name, Labels: of.Labels, Namespace: of.Namespace, Requests: of.Requests, Nodes: of.EligibleNodes})
	}
	r.MaxDomains, r.FirstNode = n.Options.NumCandidates, n.Options.Offset
	resolvable := 0
	for _, of := range n.Nodes { // their order is that of the case
		if !slices.Contains(r.Prefer, of.Name) {
			r.Prefer = append(r.Prefer, of.Name)
		}
		if !of.Unresolvable {
			resolvable++
		}
	}
	if s := n.Options.Sampling; r.MaxDomains == 0 && s != nil {
		r.MaxDomains = min(resolvable, max(resolvable*s.Percent/100, s.Absolute))
	}
	return r
}

// want translates the answers. kube-scheduler has no word of its own for a success without victims, and does not always say why
// preemption is impossible.
func (n *nodeCase) want() (w recorded.WantOnNodes) {
	e := &n.Expect
	unit := func(pods []string, violations int) recorded.Unit {
		return recorded.Unit{Pods: pods, Violations: violations}
	}
	switch n.Suite {
	case "importance":
		if w.First = "b0"; *e.AMoreImportant {
			w.First = "a0"
		}
		return w
	case "pdb_split":
		w.Split = []recorded.Unit{}
		for i, pods := range e.Violating {
			w.Split = append(w.Split, unit(pods, e.Counts[i]))
		}
		for _, pods := range e.NonViolating {
			w.Split = append(w.Split, unit(pods, 0))
		}
		return w
	case "victim_order":
		w.Potential = []recorded.Unit{}
		for _, p := range e.LeastImportant {
			w.Potential = append(w.Potential, unit(p.Pods, p.Violations))
		}
		return w
	case "victim_units":
		w.Units = []recorded.Unit{}
		for _, u := range e.Units {
			w.Units = append(w.Units, recorded.Unit{Pods: u.Pods, Nodes: u.Nodes, Priority: u.Priority})
		}
		return w
	}
	if w.Eligible = e.Eligible; w.Eligible != nil {
		return w
	}
	switch e.Outcome {
	case "preempt":
		w.Possible = ptr(true)
	case "waiting":
		w.Outcome = preemption.Wait
	case "not_eligible":
		w.Reason = placement.ReasonPolicyNever
	case "no_victims":
		w.Reason = placement.ReasonNoVictims
	default:
		w.Outcome = preemption.Impossible
	}
	w.Victims, w.VictimsOf, w.Count = e.Victims, e.VictimsOneOf, e.VictimCount
	w.Domain, w.DomainOf, w.Violations = e.Node, e.NodeAnyOf, e.Violations
	if e.Candidates != nil {
		w.Candidates = []recorded.Candidate{}
		for _, of := range e.Candidates {
			w.Candidates = append(w.Candidates, recorded.Candidate{Domain: of.Node, Victims: of.Victims, Violations: of.Violations})
		}
	}
	return w
}
