package kubernetes

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// unread says what of an object cannot be read.
type unread struct {
	why   error
	paths []string // of the fields; nil: of its head
}

// LeaveOut keeps what is known of an object of which some fields cannot be read, given with their paths,
// in place of an earlier one: a pod that runs still takes its room as far as it is known, and what depends
// on the rest is in doubt.
func (o *Objects) LeaveOut(one Object, why error, paths []string) {
	key := one.key()
	o.Add(one)
	if o.unread == nil {
		o.unread = map[string]unread{}
	}
	o.unread[key] = unread{why, paths}
}

func (n *Node) key() string                { return "Node " + n.Metadata.Name }
func (p *Pod) key() string                 { return "Pod " + p.Metadata.ID() }
func (b *PodDisruptionBudget) key() string { return "PodDisruptionBudget " + b.Metadata.ID() }
func (c *PriorityClass) key() string       { return "PriorityClass " + c.Metadata.Name }
func (g *PodGroup) key() string            { return "PodGroup " + g.Metadata.ID() }
func (g *CompositePodGroup) key() string   { return "CompositePodGroup " + g.Metadata.ID() }
func (n *Namespace) key() string           { return "Namespace " + n.Metadata.Name }

// idle are the fields of a pod that bear on nothing once it runs.
var idle = []string{
	"spec.tolerations", "spec.nodeSelector", "spec.affinity.nodeAffinity", "spec.affinity.podAffinity", "spec.preemptionPolicy",
	"spec.topologySpreadConstraints", "spec.volumes", "spec.schedulingGates",
}

// bears reports whether something that is unread bears on others while the pod runs, and whether that
// goes beyond its node.
func (u *unread) bears() (onNode, beyond bool) {
	if len(u.paths) == 0 {
		return true, false // a time
	}
	under := func(path, field string) bool {
		rest, ok := strings.CutPrefix(path, field)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	for _, path := range u.paths {
		if slices.ContainsFunc(idle, func(field string) bool { return under(path, field) }) {
			continue
		}
		onNode = true
		beyond = beyond || path == "spec" || path == "status" || path == "spec.nodeName" || path == "spec.affinity" || under(path, "spec.affinity.podAntiAffinity")
	}
	return onNode, beyond
}

// has reports whether a field is among those that cannot be read.
func (u *unread) has(path string) bool { return slices.Contains(u.paths, path) }

// doubt adds a doubt. Its text is a note already.
func (c *context) doubt(d bridge.Doubt, object, format string, args ...any) {
	d.Note = bridge.Note{Object: object, Text: fmt.Sprintf(format, args...)}
	c.out.Doubts = append(c.out.Doubts, d)
}

// doubtUnread adds the doubts about an object that cannot be read; of pods addPod does.
func (c *context) doubtUnread(key, node string) {
	if u, ok := c.unread[key]; ok {
		c.doubt(bridge.Doubt{Node: node}, key, "%s cannot be read: %v", key, u.why)
	}
}

// doubtPod adds the doubts about a pod that runs, or is nominated, and cannot be read. No API server has a
// pod without containers: of one without, or with null in their place, it is not known what it takes.
func (c *context) doubtPod(p *Pod, node string) {
	u, ok := c.unread[p.key()]
	switch {
	case !ok && len(p.Spec.Containers) == 0:
		c.doubt(bridge.Doubt{Node: node}, p.key(), "%s has no containers: what it takes is not known", p.key())
		return
	case !ok:
		return
	}
	switch onNode, beyond := u.bears(); {
	case beyond:
		c.doubt(bridge.Doubt{}, p.key(), "%s cannot be read: %v", p.key(), u.why)
	case onNode:
		c.doubt(bridge.Doubt{Node: node}, p.key(), "%s cannot be read: %v", p.key(), u.why)
	}
}

// doubtFaults adds notes and doubts on the fields of objects that are not read as they stand: of each that waits its own; of all
// others, which may have the same field on every node and every pod, one for each field.
func (c *context) doubtFaults(faults map[string][]bridge.FieldFault) {
	waits := map[string]string{} // pods that wait, and what they are asked for with
	for i := range c.out.Pending {
		p := &c.out.Pending[i]
		for _, pod := range p.Request.Pods {
			waits["Pod "+pod.ID] = p.ID
		}
		for _, g := range c.groupsOf(p) {
			waits[g.object] = p.ID
		}
	}
	where := map[string]string{}
	for _, n := range c.nodes {
		where[n.key()] = n.Metadata.Name
	}
	for _, p := range c.pods {
		where[p.key()] = p.Spec.NodeName
	}
	type field struct{ kind, path, asked string }
	at, more := map[field]int{}, map[field]int{}
	for _, key := range slices.Sorted(maps.Keys(faults)) {
		kind, _, _ := strings.Cut(key, " ")
		for _, f := range faults[key] {
			this := field{kind, indexes.ReplaceAllString(f.Path, "[]"), waits[key]}
			if i, before := at[this]; before {
				more[this]++
				c.out.Doubts[i].Node = "" // of several
				continue
			}
			n := bridge.Note{Object: key, Path: f.Path, Text: fmt.Sprintf("%s: %s %s", key, f.Path, f.Text)}
			if f.Harmless {
				c.out.Notes = append(c.out.Notes, n)
				continue
			}
			at[this] = len(c.out.Doubts)
			d := bridge.Doubt{Note: n, Workload: this.asked, OnlyYes: f.OnlyYes}
			if this.asked == "" {
				d.Node = where[key]
			}
			c.out.Doubts = append(c.out.Doubts, d)
		}
	}
	for this, i := range at {
		if n := more[this]; n > 0 {
			c.out.Doubts[i].Text += fmt.Sprintf(" (and %d more)", n)
		}
	}
	for _, d := range c.out.Doubts {
		if d.Path != "" && d.Workload == "" {
			c.out.Notes = append(c.out.Notes, d.Note)
		}
	}
	for i := range c.out.Pending {
		for _, d := range c.out.Doubts {
			if p := &c.out.Pending[i]; d.Workload == p.ID && d.Path != "" && !slices.ContainsFunc(p.Notes, func(n bridge.Note) bool { return n.Text == d.Text }) {
				p.Notes = append(p.Notes, d.Note)
			}
		}
	}
}

// indexes are those of items in paths.
var indexes = regexp.MustCompile(`\[\d+\]`)

// DoubtsOn returns what is not known and a decision about what waits depends on: sorted, each once. If
// it is not empty, the decision is no answer. That there is room on other nodes does not depend on a node in
// doubt, nor does a no on what could only stand in the way of a yes.
func (c *Cluster) DoubtsOn(p *Pending, d *placement.Decision) []bridge.Note {
	var notes []bridge.Note
	for i := range c.Doubts {
		doubt := &c.Doubts[i]
		onNode := func(n placement.Nomination) bool { return n.Node == doubt.Node }
		switch {
		case doubt.Workload != "" && doubt.Workload != p.ID:
		case doubt.OnlyYes && d.Outcome == preemption.Impossible:
		case doubt.Node != "" && !p.mayUse(doubt.Node):
		case doubt.Node != "" && d.Outcome == preemption.Fits && !slices.ContainsFunc(d.Nominations, onNode):
		default:
			notes = append(notes, doubt.Note)
		}
	}
	return bridge.SortedNotes(notes)
}

// mayUse reports whether some pod may run on the node.
func (p *Pending) mayUse(node string) bool {
	for i := range p.Request.Pods {
		if nodes := p.Request.Pods[i].Nodes; !p.Request.Pods[i].Nowhere && (nodes == nil || slices.Contains(nodes, node)) {
			return true
		}
	}
	return false
}

// Held says why what waits is not considered at all; empty: it is.
func (p *Pending) Held() string {
	if i := slices.IndexFunc(p.Notes, func(n bridge.Note) bool { return n.Stops }); i >= 0 {
		return p.Notes[i].Text
	}
	return ""
}
