package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/search"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/internal/engine/nodes/unit"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// decision turns a result into names.
func decision(c *state.Cluster, r *Request, found *search.Result) Decision {
	d := Decision{
		Outcome: outcomes[found.Outcome], Reason: Reason(found.Reason), Withdrawn: found.Withdrawn, Now: r.Now,
		Placement: placement(c, r.Pods, &found.Placement),
	}
	d.Placeable = max(d.Placeable, found.Placeable)
	d.Pods = podsAfter(r, d.Nominations)
	d.RetryAt = instant.Time(found.RetryAt)
	for _, b := range found.Blockers {
		d.Blockers = append(d.Blockers, blocker(&b))
	}
	for _, sh := range found.Shortages {
		d.Shortage = append(d.Shortage, Shortage{sh.Resource, sh.Missing, sh.Domains})
	}
	slices.SortFunc(d.Shortage, func(a, b Shortage) int { return cmp.Compare(a.Resource, b.Resource) })
	return d
}

// outcomes maps the outcomes of the engine.
var outcomes = [...]preemption.Outcome{
	search.Fits: preemption.Fits, search.Preempt: preemption.Preempt,
	search.Wait: preemption.Wait, search.Impossible: preemption.Impossible,
}

func blocker(b *search.Blocker) Blocker {
	out := Blocker{Rule: Rule(b.Rule), Group: b.Unit.Group, Pod: b.Unit.Pods[0].Facts.ID, Priority: b.Unit.Priority}
	if b.Until != math.MaxInt64 {
		out.Until = instant.Time(b.Until)
	}
	switch {
	case b.Rule != unit.MinRuntime:
	case b.Source == unit.OwnPod:
		out.SetBy = fmt.Sprintf("pod %q", b.SetBy)
	case b.Source == unit.OwnGroup:
		out.SetBy = fmt.Sprintf("group %q", b.SetBy)
	default:
		out.SetBy = "default"
	}
	return out
}

func placement(c *state.Cluster, pods []workload.Pod, from *place.Placement) Placement {
	out := Placement{Domain: from.Domain, Violations: int(from.Score.Violations), Nominations: nominations(c, pods, from.Where)}
	out.Placeable = len(out.Nominations)
	for i, u := range from.Victims {
		v := Victim{Group: u.Group, Priority: u.Priority, Violations: from.Violations[i], Order: i + 1}
		for _, p := range u.Pods {
			v.Pods = append(v.Pods, p.Facts.ID)
		}
		slices.Sort(v.Pods)
		out.Victims = append(out.Victims, v)
	}
	slices.SortFunc(out.Victims, func(a, b Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return out
}

func nominations(c *state.Cluster, pods []workload.Pod, where []int32) []Nomination {
	var list []Nomination
	for m, at := range where {
		if at >= 0 {
			list = append(list, Nomination{pods[m].ID, c.NodeName(at)})
		}
	}
	return list
}

// podsAfter returns the pods of a request after a decision with these nominations.
func podsAfter(r *Request, nominations []Nomination) []workload.Pod {
	pods, placed := make([]workload.Pod, len(r.Pods)), 0
	for i := range r.Pods {
		p := r.Pods[i].Clone()
		p.Priority, p.Queue = r.Priority, r.Queue
		if p.Group == "" {
			p.Group = r.Group
		}
		if placed < len(nominations) && nominations[placed].Pod == p.ID {
			p.Node = nominations[placed].Node
			placed++
		}
		pods[i] = p
	}
	return pods
}
