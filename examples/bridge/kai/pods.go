package kai

import (
	"cmp"
	"slices"
	"strconv"
)

// podsOf are the pods of a group.
type podsOf struct {
	held          []*Pod // with a node
	waiting       []*Pod // without, in KAI's order
	gated, ending int
	ended         bool // some have ended
}

// readPods sorts the pods by their groups. A BindRequest gives a pod its node.
func (g *groups) readPods(o *Objects) {
	binds := map[string]*BindRequest{}
	for _, b := range o.binds.All() {
		binds[b.Metadata.Namespace+"/"+b.Spec.PodName] = b
	}
	for _, p := range o.pods.All() {
		b := binds[p.Metadata.ID()]
		if b != nil && !p.Holds() && !p.ended() && !p.ending() {
			if b.Status.Phase == "Failed" {
				g.doubtAll("BindRequest "+b.Metadata.ID(), "status.phase", "it failed, and whether its pod has room on its node or waits is not known")
			}
			bound := *p
			bound.Spec.NodeName = b.Spec.SelectedNode
			p = &bound
		}
		p = g.share(o, p, b)
		g.pods = append(g.pods, p)
		id := p.group()
		if id == "" {
			continue
		}
		of := g.of[id]
		if of == nil {
			of = new(podsOf)
			g.of[id] = of
		}
		switch {
		case p.ended():
			of.ended = true
		case p.ending():
			of.ending++
		case p.Holds():
			of.held = append(of.held, p)
		case len(p.Spec.SchedulingGates) > 0:
			of.gated++
		default:
			of.waiting = append(of.waiting, p)
		}
	}
	for _, of := range g.of {
		slices.SortFunc(of.held, comparePods)
		slices.SortFunc(of.waiting, comparePods)
	}
}

// comparePods orders the pods of a group as KAI starts them: masters of Kubeflow and heads of Ray first, then by the label for it, then the
// older.
func comparePods(a, b *Pod) int {
	is := func(p *Pod, label, value string) int {
		if p.Metadata.Labels[label] == value {
			return 0
		}
		return 1
	}
	order := func(p *Pod) int64 {
		n, _ := strconv.ParseInt(p.Metadata.Labels[orderLabel], 10, 64)
		return n
	}
	return cmp.Or(
		cmp.Compare(is(a, "training.kubeflow.org/job-role", "master"), is(b, "training.kubeflow.org/job-role", "master")),
		cmp.Compare(is(a, "ray.io/node-type", "head"), is(b, "ray.io/node-type", "head")),
		cmp.Compare(order(b), order(a)),
		a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp),
		cmp.Compare(a.Metadata.UID, b.Metadata.UID), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
}

const orderLabel = "kai.scheduler/task-priority"
