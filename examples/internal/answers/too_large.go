package answers

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// NodesPath is what a user accepts who knows that larger nodes come once they are needed.
const NodesPath = "nodes"

// TooLarge says that no node that a flavor has now takes a pod of a pod set. Kueue admits by quota and does not look at nodes: the pods of
// such a workload stay pending until there is such a node, whoever was preempted for it.
type TooLarge struct {
	PodSet string `json:"podSet"`
	Flavor string `json:"flavor"`
	Why    string `json:"why"`
}

// tooLarge says of which flavors the nodes are too small for a workload, or notes that the user accepts that.
func (in *Input) tooLarge(s *Standing) {
	if in.Large == nil {
		return
	}
	w := &s.Request.Workload
	list := in.Large(w)
	if len(list) == 0 {
		return
	}
	at := slices.IndexFunc(in.State.Queues, func(q queue.Queue) bool { return q.Name == w.Queue })
	if at < 0 {
		return
	}
	why := NoNode(list, w, &in.State.Queues[at])
	if n := (bridge.Note{Path: NodesPath, Text: why}); in.Found.Accepts(&n) {
		if why != "" {
			s.Notes = append(slices.Clip(s.Notes), assumed(n))
		}
		return
	}
	if s.TooLarge = list; why != "" {
		s.Notes = append(slices.Clip(s.Notes), why)
	}
}

// NoNode says why no flavor that a queue gives to some pod set of a workload has a node for its pods. Empty: one has.
func NoNode(list []TooLarge, w *workload.Workload, q *queue.Queue) string {
	for i := range w.PodSets {
		p := &w.PodSets[i]
		for _, g := range q.ResourceGroups() {
			if !slices.ContainsFunc(p.Requests, func(a quota.Amount) bool { return a.Amount > 0 && slices.Contains(g.Resources, a.Resource) }) {
				continue
			}
			why := ""
			for _, flavor := range g.Flavors {
				at := slices.IndexFunc(list, func(t TooLarge) bool { return t.PodSet == p.Name && t.Flavor == flavor })
				if at < 0 {
					why = ""
					break
				}
				why = cmp.Or(why, list[at].Why)
			}
			if why != "" {
				return why
			}
		}
	}
	return ""
}

// tooLarge says why no node takes the pods of a workload in the flavors that a decision gives it. Empty: some node does, or that is not known.
func (w *Waiting) tooLarge(d *preemption.Decision) string {
	if len(w.TooLarge) == 0 || d == nil || d.Outcome == preemption.Impossible {
		return ""
	}
	pinned := d.Assignment.Pin(w.Request.Workload)
	for _, t := range w.TooLarge {
		for i := range pinned.PodSets {
			p := &pinned.PodSets[i]
			if p.Name == t.PodSet && slices.ContainsFunc(p.Requests, func(a quota.Amount) bool { return a.Flavor == t.Flavor && a.Amount > 0 }) {
				return t.Why
			}
		}
	}
	return ""
}
