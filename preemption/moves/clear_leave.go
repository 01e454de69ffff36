package moves

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// leaves returns the units that have to leave the nodes of a domain; or, blocked, a unit that may not now, and the first instant at which
// time alone lets all of them leave. Not blocked, at is the first instant at which others may leave in their place: those may have one
// elsewhere. Units yield as to a pod of the highest priority there is: units that have it do not.
func (f *clearing) leaves(s *placement.Snapshot, d *placement.Domain, now time.Time) (list []placement.Victim, blocked *Blocked, at time.Time, err error) {
	var edits []placement.Edit
	for _, node := range d.Nodes {
		for p := range s.PodsOn(node) {
			if p.Terminating {
				edits = append(edits, placement.Remove(p.ID))
			}
		}
	}
	before, err := s.With(edits...)
	left, never, others := before, false, time.Time{}
	for _, node := range d.Nodes {
		if err != nil {
			return nil, nil, at, err
		}
		snapshot, ask, err := f.question(left, node, now)
		if err != nil {
			return nil, nil, at, err
		}
		if len(ask.Pods) == 0 {
			continue
		}
		found, err := f.preemptor.Decide(snapshot, ask)
		if err != nil {
			return nil, nil, at, err
		}
		if found.Outcome != preemption.Preempt {
			if blocked == nil {
				blocked = protected(d.Name, &found)
			}
			if never = never || found.RetryAt.IsZero(); found.RetryAt.After(at) {
				at = found.RetryAt
			}
			continue
		}
		if f.within { // else all leave
			instants, err := f.preemptor.Instants(snapshot, ask)
			if err != nil {
				return nil, nil, at, err
			}
			if len(instants) > 0 && (others.IsZero() || instants[0].Before(others)) {
				others = instants[0]
			}
		}
		list = append(list, found.Victims...)
		if left, err = left.With(gone(found.Victims)...); err != nil {
			return nil, nil, at, err
		}
	}
	if never {
		at = time.Time{}
	}
	if blocked == nil && f.within {
		list, at = f.needed(left, before, d, list), others
	}
	slices.SortFunc(list, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	return list, blocked, at, err
}

// question returns the request that stands for what is to leave a node: its victims leave. Without pods: nothing has to. To empty it, one pod asks where no
// other may be. To be within the capacity, it asks for as much as is over, where there is as much as is used.
func (f *clearing) question(s *placement.Snapshot, node string, now time.Time) (*placement.Snapshot, placement.Request, error) {
	n, _ := s.Node(node)
	used := s.UsedOn(node)
	n.Unschedulable, n.Capacity = false, maps.Clone(n.Capacity)
	if n.Capacity == nil {
		n.Capacity = workload.Resources{}
	}
	asks := workload.Resources{}
	if f.within {
		for resource, free := range s.FreeOn(node) {
			if free < 0 {
				asks[resource], n.Capacity[resource] = -free, used[resource]
			}
		}
		if _, limited := n.Capacity[workload.PodsResource]; limited && asks[workload.PodsResource] == 0 {
			n.Capacity[workload.PodsResource] = used[workload.PodsResource] + 1 // for the pod that asks
		}
	} else if asks[workload.PodsResource] = used[workload.PodsResource]; asks[workload.PodsResource] > 0 {
		n.Capacity = workload.Resources{workload.PodsResource: 1}
	}
	pods := asks[workload.PodsResource]
	if delete(asks, workload.PodsResource); pods <= 0 && len(asks) == 0 {
		return s, placement.Request{}, nil
	}
	if pods > 0 && f.within { // the pod that asks is one of those that may be there
		n.Capacity[workload.PodsResource] -= pods - 1
	}
	id := unused(s, "leave "+node)
	r := placement.Request{Group: id, Priority: math.MaxInt32, MinCount: 1, Now: now}
	r.Domains = []placement.Domain{{Name: node, Nodes: []string{node}}}
	r.Pods = []workload.Pod{{ID: id, Group: id, Requests: asks}}
	asked, err := s.With(placement.SetNode(n))
	return asked, r, err
}

// unused returns a name that no pod and no group has.
func unused(s *placement.Snapshot, name string) string {
	_, runs := s.Find(name)
	_, isGroup := s.Group(name)
	if runs || isGroup {
		return unused(s, name+"'")
	}
	return name
}

// needed returns the victims without those that can stay because units of other nodes leave, last first.
func (f *clearing) needed(left, before *placement.Snapshot, d *placement.Domain, list []placement.Victim) []placement.Victim {
	for i := len(list) - 1; i >= 0; i-- {
		var back []placement.Edit
		for _, id := range list[i].Pods {
			p, _ := before.Find(id)
			back = append(back, placement.Run(p))
		}
		trial, err := left.With(back...)
		if err == nil && !slices.ContainsFunc(d.Nodes, func(node string) bool { return isOver(trial, node) }) {
			left, list = trial, slices.Delete(list, i, i+1)
		}
	}
	return list
}

// isOver reports whether the pods on a node take more than its capacity.
func isOver(s *placement.Snapshot, node string) bool {
	for _, free := range s.FreeOn(node) {
		if free < 0 {
			return true
		}
	}
	return false
}

// protected says which unit may not leave.
func protected(domain string, d *placement.Decision) *Blocked {
	out := &Blocked{Domain: domain, Cause: Protected}
	if len(d.Blockers) > 0 {
		b := d.Blockers[0]
		out.Group, out.Pod, out.Rule, out.Until = b.Group, b.Pod, b.Rule, b.Until
	}
	return out
}
