package explain

import (
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// maxNodes is how many nodes are tried with more capacity: each costs some decisions.
const maxNodes = 16

// placementWays returns the changes that make a request about nodes succeed.
func placementWays(config *placement.Config, s *placement.Snapshot, r *placement.Request, d *placement.Decision) []Way {
	quick := *config
	quick.MaxBlockers, quick.MaxRetrySteps = -1, -1
	p, err := placement.New(quick)
	if err != nil {
		return nil // the configuration was valid
	}
	f := finder{try: func(w Way) (Way, bool) {
		s, r, err := w.ApplyToPlacement(s, *r)
		if err != nil {
			return w, false
		}
		d, err := p.Decide(s, r)
		if w.Outcome, w.Victims = d.Outcome, len(d.Victims); w.Victims == 1 {
			w.Victim = nameOfUnit(d.Victims[0].Group, d.Victims[0].Pods[0])
		}
		return w, err == nil && d.Outcome.Succeeds()
	}}
	if r.Policy == placement.PreemptNever {
		f.add(f.try(Way{Kind: WayMayPreempt}))
	}
	if !d.RetryAt.IsZero() {
		f.add(f.try(Way{Kind: WayTime, At: d.RetryAt}))
	}
	f.addPriority(int64(r.Priority), unitPriorities(s))
	f.addSmallest(int64(r.MinCount-1), func(n int64) Way { return Way{Kind: WayMinCount, MinCount: r.MinCount - int(n)} })
	f.add(f.capacity(s, r, d))
	return f.list
}

// unitPriorities lists where the answer may change: the priorities of pods and groups, and just above each.
func unitPriorities(s *placement.Snapshot) (list []int64) {
	note := func(p int32) {
		if list = append(list, int64(p)); p < math.MaxInt32 {
			list = append(list, int64(p)+1)
		}
	}
	st := s.State()
	for i := range st.Groups {
		note(st.Groups[i].Priority)
	}
	for _, pods := range [...][]workload.Pod{st.Pods, st.Nominated} {
		for i := range pods {
			note(pods[i].Priority)
		}
	}
	return list
}

// capacity finds the node to which least has to be added of the one resource that is short; of several resources, the
// first node.
func (f *finder) capacity(s *placement.Snapshot, r *placement.Request, d *placement.Decision) (best Way, ok bool) {
	needs := workload.Resources{}
	for _, s := range d.Shortage {
		for i := range r.Pods {
			if n := r.Pods[i].Requests[s.Resource]; n > 0 {
				needs[s.Resource] = quota.Add(needs[s.Resource], n)
			}
		}
	}
	if len(needs) == 0 {
		return Way{}, false
	}
	nodes, total := 0, int64(math.MaxInt64)
	for node := range s.Nodes() {
		if nodes++; nodes > maxNodes || ok && len(needs) > 1 {
			continue
		}
		var amounts []quota.Amount
		for _, resource := range slices.Sorted(maps.Keys(needs)) {
			amounts = append(amounts, quota.Amount{Resource: resource, Amount: needs[resource]})
		}
		w, found := f.more(amounts, func(list []quota.Amount) Way {
			w := Way{Kind: WayCapacity, Node: node.Name, Capacity: workload.Resources{}}
			for _, a := range list {
				if a.Amount > 0 {
					w.Capacity[a.Resource] = a.Amount
				}
			}
			return w
		})
		if sum := amounts[0].Amount; found && (!ok || sum < total) {
			best, ok, total = w, true, sum
		}
	}
	return best, ok
}

// ApplyToPlacement returns the snapshot of nodes and the request after the change. It changes neither s nor r. It
// fails if the way changes nothing, does not match them, or is not about nodes.
func (w Way) ApplyToPlacement(s *placement.Snapshot, r placement.Request) (*placement.Snapshot, placement.Request, error) {
	applies := false
	switch w.Kind {
	case WayTime:
		applies = w.At.After(r.Now)
		r.Now = w.At
	case WayMinCount:
		applies = w.MinCount != r.MinCount
		r.MinCount = w.MinCount
	case WayMayPreempt:
		applies = r.Policy != placement.PreemptLowerPriority
		r.Policy = placement.PreemptLowerPriority
	case WayPriority:
		if applies = w.Priority != int64(r.Priority) && w.Priority == int64(int32(w.Priority)); applies {
			return w.raise(s, r)
		}
	case WayCapacity:
		n, ok := s.Node(w.Node)
		if applies = ok && len(w.Capacity) > 0; applies {
			capacity := maps.Clone(n.Capacity)
			if capacity == nil {
				capacity = workload.Resources{}
			}
			for resource, more := range w.Capacity {
				capacity[resource] = quota.Add(capacity[resource], more)
			}
			n.Capacity = capacity
			next, err := s.With(placement.SetNode(n))
			return next, r, err
		}
	}
	if !applies {
		return s, r, w.fault(r.Group)
	}
	return s, r, nil
}

// raise sets the priority of the request, of its pods that state one, and of the root of its group.
func (w *Way) raise(s *placement.Snapshot, r placement.Request) (*placement.Snapshot, placement.Request, error) {
	priority := int32(w.Priority)
	r.Priority, r.Pods = priority, slices.Clone(r.Pods)
	for i := range r.Pods {
		if r.Pods[i].Priority != 0 {
			r.Pods[i].Priority = priority
		}
	}
	if g, known := s.Group(r.Group); known && r.Group != "" {
		for g.Parent != "" { // the priority of the root counts
			g, _ = s.Group(g.Parent)
		}
		g.Priority = priority
		next, err := s.With(placement.SetGroup(g))
		return next, r, err
	}
	return s, r, nil
}
