package derive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func (w *world) addNode(l *line) error {
	n := workload.Node{Name: l.name, Unschedulable: l.flag("unschedulable"), Labels: l.labels()}
	n.Capacity = l.takes(nil)
	w.nodes.Nodes = append(w.nodes.Nodes, n)
	return l.end(true)
}

func (w *world) addGroup(l *line) error {
	g := workload.PodGroup{ID: l.name, Priority: l.priority(), Basic: l.flag("basic"), MinCount: int(l.number("min")), Queue: l.text("in")}
	g.MinRuntime, g.ReclaimMinRuntime = l.minimums()
	l.constant("mode", &g.DisruptionMode)
	w.nodes.Groups = append(w.nodes.Groups, g)
	return l.end(true)
}

func (w *world) addPod(l *line) error {
	p := l.pod()
	p.Preempted = l.flag("leaving")
	p.Terminating = p.Preempted
	w.nodes.Pods = append(w.nodes.Pods, p)
	return l.end(true)
}

func (w *world) addPromise(l *line) error {
	w.nodes.Nominated = append(w.nodes.Nominated, l.pod())
	return l.end(true)
}

func (w *world) addBudget(l *line) error {
	b := workload.DisruptionBudget{Name: l.name, Allowed: l.number("allows"), Selector: &workload.LabelSelector{MatchLabels: l.labels()}}
	w.nodes.Budgets = append(w.nodes.Budgets, b)
	return l.end(true)
}

// pod reads what running and nominated pods have in common. A pod takes one slot unless the
// line says otherwise.
func (l *line) pod() workload.Pod {
	p := workload.Pod{
		ID: l.name, UID: l.name, Node: l.text("on"), Group: l.text("of"), Priority: l.priority(), Queue: l.text("in"),
		Started: l.ago("since"), Labels: l.labels(), Requests: l.takes(workload.Resources{"slots": 1}),
	}
	p.MinRuntime, p.ReclaimMinRuntime = l.minimums()
	return p
}

// minimums reads the minimum runtimes of a pod or group.
func (l *line) minimums() (preempt, reclaim quota.OptionalDuration) {
	var s minruntime.Settings
	l.minRuntime(&s.Preempt, &s.Reclaim)
	return s.Preempt, s.Reclaim
}

func (l *line) priority() int32 {
	n := l.number("priority")
	if n != int64(int32(n)) {
		l.fail("priority=%d is out of range", n)
	}
	return int32(n)
}

func (l *line) labels() map[string]string {
	var labels map[string]string
	for i := range l.options {
		o := &l.options[i]
		if key, ok := strings.CutPrefix(o.key, "label."); ok && o.set {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[key], o.used = o.value, true
		}
	}
	return labels
}

// takes reads amounts of resources.
func (l *line) takes(otherwise workload.Resources) workload.Resources {
	out := workload.Resources{}
	for i := range l.options {
		o := &l.options[i]
		if slices.Contains(resources, o.key) && o.set && !o.used {
			out[o.key], o.used = l.amount(*o), true
		}
	}
	if len(out) == 0 {
		return otherwise
	}
	return out
}

// placing reads a question about nodes.
func (l *line) placing() placement.Request {
	r := placement.Request{Priority: l.priority(), Queue: l.text("in"), Now: noon, SkipFit: l.flag("unschedulable"), Prefer: l.list("prefer")}
	l.constant("policy", &r.Policy)
	n := int(l.number("pods"))
	if n > 0 {
		r.Group, r.MinCount = "in", n
	}
	if least, ok := l.get("min"); ok {
		r.MinCount = int(l.integer("min", least))
	}
	takes := l.takes(workload.Resources{"slots": 1})
	for i := range max(n, 1) {
		id := fmt.Sprintf("in%d", i)
		r.Pods = append(r.Pods, workload.Pod{ID: id, Requests: takes, Nodes: l.list("only." + id)})
	}
	r.Domains = l.domains()
	l.end(false)
	return r
}

func (l *line) domains() (list []placement.Domain) {
	for i := range l.options {
		if name, ok := strings.CutPrefix(l.options[i].key, "domain."); ok {
			list = append(list, placement.Domain{Name: name, Nodes: l.list(l.options[i].key)})
		}
	}
	return list
}

// addRoom lets a request about quota ask for a place on the nodes, too, if there are any.
func (w *world) addRoom(r *preemption.Request, domains []placement.Domain) error {
	if len(w.nodes.Nodes) == 0 {
		return nil
	}
	asks := placement.Request{Group: r.Workload.ID, Domains: domains}
	for _, set := range r.Workload.PodSets {
		takes := workload.Resources{}
		for _, a := range set.Requests {
			takes[a.Resource] = a.Amount
		}
		for range set.Count {
			asks.Pods = append(asks.Pods, workload.Pod{ID: fmt.Sprintf("in%d", asks.MinCount), Requests: takes})
			asks.MinCount++
		}
	}
	p, err := placement.New(w.nodesConfig)
	if err != nil {
		return err
	}
	s, err := placement.NewSnapshot(w.nodes)
	if err != nil {
		return err
	}
	fit, err := p.Fit(s, asks)
	if err != nil {
		return err
	}
	fit.PodSets(func(p workload.Pod) string { return cmp.Or(p.Labels["podSet"], "main") }, nil)
	r.Room = fit
	return nil
}

// place prints the decision about a pod or a pod group.
func (w *world) place(l *line) (string, error) {
	r := l.placing()
	if l.err != nil {
		return "", l.err
	}
	r.MaxDomains, r.FirstNode = w.sampling.MaxDomains, w.sampling.FirstNode
	p, err := placement.New(w.nodesConfig)
	if err != nil {
		return faults(err), nil
	}
	s, err := placement.NewSnapshot(w.nodes)
	if err != nil {
		return faults(err), nil
	}
	e, err := explain.ExplainPlacement(p, s, r)
	if err != nil {
		return faults(err), nil
	}
	return lines(explain.Text(e.Steps)) + placed(e.Decision) + disagreements(form(e.Decision), w.nodeRoutes(p, s, r)), nil
}

func placed(d placement.Decision) string {
	var b strings.Builder
	b.WriteString(d.Outcome.String())
	if d.Reason != 0 {
		fmt.Fprintf(&b, ": %v", d.Reason)
	}
	for _, n := range d.Nominations {
		fmt.Fprintf(&b, " %s on %s", n.Pod, n.Node)
	}
	b.WriteString("\n")
	for _, v := range d.Victims {
		b.WriteString("  evict ")
		if v.Group != "" {
			fmt.Fprintf(&b, "group %s: ", v.Group)
		}
		b.WriteString(strings.Join(v.Pods, " "))
		if v.Violations > 0 {
			fmt.Fprintf(&b, ", %d against a budget", v.Violations)
		}
		b.WriteString("\n")
	}
	if len(d.Withdrawn) > 0 {
		fmt.Fprintf(&b, "  withdraw the promise to %s\n", strings.Join(d.Withdrawn, " "))
	}
	return b.String()
}

func (w *world) nodeRoutes(p *placement.Preemptor, s *placement.Snapshot, r placement.Request) []route {
	reversed := moved(w.nodes, 0)
	slices.Reverse(reversed.Nodes)
	slices.Reverse(reversed.Pods)
	slices.Reverse(reversed.Nominated)
	slices.Reverse(reversed.Groups)
	slices.Reverse(reversed.Budgets)
	backwards, err1 := placement.NewSnapshot(reversed)
	edited, err2 := w.editedNodes()
	record, err3 := again(placement.Record{State: s.State(), Request: &r})
	read, err4 := placement.NewSnapshot(record.State)
	if err3 != nil {
		err4, record.Request = err3, &r
	}
	return []route{
		{"without an explanation", decided(p.Decide, s, nil, r)},
		{"the state the other way round", decided(p.Decide, backwards, err1, r)},
		{"a snapshot made by edits", decided(p.Decide, edited, err2, r)},
		{"state and request through JSON", decided(p.Decide, read, err4, *record.Request)},
		{"shifted time", shifted(placement.NewSnapshot, p.Decide, w.nodes, r)},
		{"the witness", form(nodes.Decide(w.nodesConfig, w.nodes, r))},
	}
}

// editedNodes returns the snapshot made from the empty one by edits.
func (w *world) editedNodes() (*placement.Snapshot, error) {
	s, err := placement.NewSnapshot(placement.State{})
	if err == nil {
		s, _, err = s.Sync(w.nodes)
	}
	return s, err
}
