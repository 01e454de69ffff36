package foreign

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// namespace returns the namespace of an object. In decisions an empty one is the default; elsewhere it is another one.
func (g *groupCase) namespace(of string) string {
	if of == "" && !slices.Contains([]string{"victim_units", "unit_nodes", "unit_key", "pod_priority", "walk_up", "pdb_split"}, g.Suite) {
		return "default"
	}
	return of
}

// id returns the ID of a group: PodGroups and CompositePodGroups of one name are different groups.
func (g *groupCase) id(kind, namespace, name string) string {
	id := name
	if namespace = g.namespace(namespace); namespace != "" && namespace != "default" {
		id = namespace + "/" + name
	} else if namespace == "" {
		id = "/" + name
	}
	if kind == "CompositePodGroup" {
		id += " (composite)"
	}
	return id
}

// state sets the state of the question: nodes, running pods, groups and budgets, each in the order of the case.
func (g *groupCase) state(q *recorded.OnNodes) {
	st := &q.State
	for _, of := range g.Input.Nodes {
		st.Nodes = append(st.Nodes, workload.Node{Name: of.Name, Capacity: of.Capacity, Labels: of.Labels})
	}
	for i, of := range g.Input.Pods {
		st.Pods = append(st.Pods, g.pod(i, &of))
	}
	g.groups(st)
	for i, b := range g.Input.Budgets {
		budget := workload.DisruptionBudget{
			Namespace: g.namespace(b.Namespace), Name: fmt.Sprintf("%04d %s", i, b.Name), Allowed: b.Allowed, Disrupted: b.Disrupted,
		}
		if len(b.Selector) > 0 { // an empty selector selects nothing there
			budget.Selector = &workload.LabelSelector{MatchLabels: b.Selector}
		}
		st.Budgets = append(st.Budgets, budget)
	}
}

// pod returns a running pod. Of equals the pod that is listed earlier is more important.
func (g *groupCase) pod(i int, of *groupPod) workload.Pod {
	p := workload.Pod{
		ID: of.Name, UID: fmt.Sprintf("%08d", i), Namespace: g.namespace(of.Namespace), Labels: of.Labels, Priority: of.Priority,
		Requests: of.Requests, Node: of.Node, Started: of.Start.Time, Terminating: of.Terminating,
	}
	if of.Group != "" {
		p.Group = g.id("PodGroup", of.Namespace, of.Group)
	}
	for _, c := range of.Conditions {
		p.Preempted = p.Preempted || p.Terminating && c.Type == "DisruptionTarget" && c.Status == "True" && c.Reason == "PreemptionByScheduler"
	}
	return p
}

// composite reports whether composite groups are known.
func (in *groupInput) composite() bool {
	if gate, given := in.Gates["CompositePodGroup"].(bool); given {
		return gate
	}
	return in.Composite != nil && *in.Composite
}

// groups adds the groups. With a parent that is missing, or that is below its group, the way to the root ends there; without composite
// groups it ends at the first group.
func (g *groupCase) groups(st *placement.State) {
	in := &g.Input
	if in.Groups != nil && !*in.Groups {
		return
	}
	composite := in.composite()
	known := map[string]bool{}
	for _, of := range in.List {
		if of.Kind != "CompositePodGroup" || composite {
			known[g.id(of.Kind, of.Namespace, of.Name)] = true
		}
	}
	at := map[string]int{}
	for _, of := range in.List {
		id := g.id(of.Kind, of.Namespace, of.Name)
		if !known[id] {
			continue
		}
		out := workload.PodGroup{ID: id, Priority: of.Priority}
		if of.Mode == "all" {
			out.DisruptionMode = workload.DisruptionModePodGroup
		}
		if parent := g.id("CompositePodGroup", of.Namespace, of.Parent); of.Parent != "" && known[parent] {
			out.Parent = parent
		}
		at[id] = len(st.Groups)
		st.Groups = append(st.Groups, out)
	}
	for i := range st.Groups { // PodGroups come first on each way
		if slices.ContainsFunc(st.Groups, func(o workload.PodGroup) bool { return o.Parent == st.Groups[i].ID }) {
			continue
		}
		met := map[int]bool{}
		for k := i; ; k = at[st.Groups[k].Parent] {
			met[k] = true
			if parent := st.Groups[k].Parent; parent == "" || met[at[parent]] {
				st.Groups[k].Parent = ""
				break
			}
		}
	}
}

// runs sets the state of the question to the groups and one pod.
func (g *groupCase) runs(q *recorded.OnNodes, p groupPod) {
	q.State.Nodes = []workload.Node{{Name: "node"}}
	g.groups(&q.State)
	p.Node = "node"
	q.State.Pods = []workload.Pod{g.pod(0, &p)}
}

// importance asks which of two units is more important.
func (g *groupCase) importance(q *recorded.OnNodes) (string, error) {
	a, b := g.Input.A, g.Input.B
	if a == nil || b == nil || g.Want.MoreImportant == nil || max(a.Size, b.Size) > maxUnit {
		return "", fmt.Errorf("a or b is missing, or the answer, or one is of more than %d pods", maxUnit)
	}
	st := &q.State
	st.Nodes = []workload.Node{{Name: "node"}}
	for i, u := range []*groupUnit{a, b} {
		name := string(rune('a' + i))
		of := workload.PodGroup{ID: name, Priority: u.Priority, DisruptionMode: workload.DisruptionModePodGroup}
		group := ""
		switch u.Kind {
		case "podgroup":
			group, st.Groups = name, append(st.Groups, of)
		case "compositepodgroup":
			group = name + " below"
			st.Groups = append(st.Groups, of, workload.PodGroup{ID: group, Parent: name})
		}
		for j := range max(1, u.Size) {
			st.Pods = append(st.Pods, workload.Pod{
				ID: fmt.Sprintf("%s%d", name, j), Group: group, Priority: u.Priority, Node: "node", Started: u.Start.Time,
			})
		}
	}
	if q.Want.First = "b0"; *g.Want.MoreImportant {
		q.Want.First = "a0"
	}
	return "", nil
}

// split asks which units violate a budget. The list of units begins with the most important.
func (g *groupCase) split(q *recorded.OnNodes) (string, error) {
	if len(g.Want.Violating) != len(g.Want.Counts) {
		return "", fmt.Errorf("%d violating units with %d counts", len(g.Want.Violating), len(g.Want.Counts))
	}
	g.state(q)
	st := &q.State
	st.Nodes = []workload.Node{{Name: "node"}}
	names := make([][]string, len(g.Input.Units))
	for i, u := range g.Input.Units {
		group := workload.PodGroup{
			ID: fmt.Sprintf("unit %d", i), DisruptionMode: workload.DisruptionModePodGroup, Priority: int32(len(g.Input.Units) - i),
		}
		st.Groups = append(st.Groups, group)
		for _, of := range u.Pods {
			p := g.pod(len(st.Pods), &of)
			p.Group, p.Node = group.ID, "node"
			st.Pods, names[i] = append(st.Pods, p), append(names[i], p.ID)
		}
	}
	q.Want.Split = []recorded.Unit{}
	for k, i := range slices.Concat(g.Want.Violating, g.Want.NonViolating) {
		if i < 0 || i >= len(names) {
			return "", fmt.Errorf("no unit %d", i)
		}
		u := recorded.Unit{Pods: names[i]}
		if k < len(g.Want.Counts) {
			u.Violations = g.Want.Counts[k]
		}
		q.Want.Split = append(q.Want.Split, u)
	}
	return "", nil
}

// resize asks for the victims of a running pod that wants more on its node.
func (g *groupCase) resize(q *recorded.OnNodes) (string, error) {
	of := g.Input.Resizing
	if of == nil {
		return "", fmt.Errorf("no pod that is resized")
	}
	g.state(q)
	running := g.pod(len(q.State.Pods), of)
	running.Requests = of.Allocated
	q.State.Pods = append(q.State.Pods, running)
	q.Request = placement.Request{Resize: true, Priority: of.Priority, Pods: []workload.Pod{{ID: of.Name, Requests: of.Requests}}}
	closed := func(n groupNode) bool { return n.Name == of.Node && len(n.DisableResize) > 0 }
	if of.Policy == "Never" || slices.ContainsFunc(g.Input.Nodes, closed) {
		q.Request.Policy = placement.PreemptNever
	}
	q.Want.Victims = append([]string{}, g.Want.Victims...)
	return "", nil
}
