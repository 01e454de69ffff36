package placement

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/least"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// maxNodes is how many nodes are tried with more capacity: each costs some decisions.
const maxNodes = 16

// finder tries changes of a question that is answered with no. Each try is a decision.
type finder struct {
	p *Preemptor
	s *Snapshot
	r Request
}

// ways returns the changes that make a request succeed.
func (p *Preemptor) ways(s *Snapshot, r Request, d *Decision) (list []Way) {
	config := p.config
	config.SkipBlockers, config.SkipRetryAt = true, true
	quick, err := New(config)
	if err != nil {
		return nil // the configuration was valid
	}
	f := finder{quick, s, r}
	note := func(w Way, ok bool) {
		if ok {
			list = append(list, w)
		}
	}
	if r.Policy == PreemptNever {
		note(f.try(Way{Kind: WayPolicy, Least: true}))
	}
	if !d.RetryAt.IsZero() {
		note(f.try(Way{Kind: WayTime, At: d.RetryAt, Least: true}))
	}
	note(f.priority())
	note(f.smallest(int64(r.MinCount-1), func(n int64) Way {
		return Way{Kind: WayMinCount, MinCount: r.MinCount - int(n)}
	}))
	note(f.capacity(d))
	return list
}

// try returns the way with its outcome; ok is false if the request does not succeed.
func (f *finder) try(w Way) (tried Way, ok bool) {
	s, r, err := w.Apply(f.s, f.r)
	if err != nil {
		return w, false
	}
	d, err := f.p.Decide(s, r)
	w.Outcome, w.Victims = d.Outcome, len(d.Victims)
	return w, err == nil && d.Outcome.Succeeds()
}

// smallest returns the way with the smallest step that succeeds.
func (f *finder) smallest(most int64, step func(int64) Way) (w Way, ok bool) {
	w, exact, ok := least.Step(most, func(n int64) (Way, bool) { return f.try(step(n)) })
	w.Least = exact
	return w, ok
}

// priority finds the smallest higher priority. The answer changes only at the priorities of running units and
// nominated pods, and just above each.
func (f *finder) priority() (Way, bool) {
	var at []int32
	note := func(p int32) {
		if p > f.r.Priority {
			at = append(at, p)
		}
		if p >= f.r.Priority && p < math.MaxInt32 {
			at = append(at, p+1)
		}
	}
	c := f.s.inside()
	for _, u := range c.Units() {
		note(u.Priority)
	}
	for p := range c.Promised.All {
		note(p.Priority)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	return f.smallest(int64(len(at)), func(n int64) Way { return Way{Kind: WayPriority, Priority: at[n-1]} })
}

// capacity finds the node to which least has to be added of the one resource that is short; of several resources, the
// first node.
func (f *finder) capacity(d *Decision) (best Way, ok bool) {
	needs := workload.Resources{}
	for _, s := range d.Shortage {
		for i := range f.r.Pods {
			if n := f.r.Pods[i].Requests[s.Resource]; n > 0 {
				needs[s.Resource] = quota.Add(needs[s.Resource], n)
			}
		}
	}
	if len(needs) == 0 {
		return Way{}, false
	}
	c := f.s.inside()
	for _, number := range c.Order[:min(len(c.Order), maxNodes)] {
		w, found := f.more(c.NodeName(number), needs)
		if found && (!ok || len(needs) == 1 && total(w) < total(best)) {
			best, ok = w, true
		}
		if ok && len(needs) > 1 {
			break
		}
	}
	best.Least = best.Least && len(needs) == 1 && len(c.Order) <= maxNodes
	return best, ok
}

func total(w Way) (sum int64) {
	for _, n := range w.Capacity {
		sum = quota.Add(sum, n)
	}
	return sum
}

// maxPasses is how often the amounts of a way are lowered in turn; see package preemption.
const maxPasses = 8

// more finds what has to be added to a node: one amount after the other is lowered as long as the request succeeds,
// until none can be lowered by one.
func (f *finder) more(node string, needs workload.Resources) (w Way, ok bool) {
	if w, ok = f.try(Way{Kind: WayCapacity, Node: node, Capacity: needs}); !ok {
		return w, false
	}
	resources := slices.Sorted(maps.Keys(needs))
	for range maxPasses {
		before := w.Capacity
		for _, resource := range resources {
			with := func(n int64) Way {
				next := w
				next.Capacity = maps.Clone(w.Capacity)
				if next.Capacity[resource] = n; n == 0 {
					delete(next.Capacity, resource)
				}
				return next
			}
			if w.Capacity[resource] == 0 {
				continue
			}
			if none, ok := f.try(with(0)); ok && len(w.Capacity) > 1 {
				w = none
			} else if w, ok = f.smallest(w.Capacity[resource], with); !ok {
				return w, false // what succeeded a moment ago: a guard or a filter breaks its laws
			}
		}
		if len(resources) == 1 || maps.Equal(before, w.Capacity) {
			return w, true
		}
	}
	return w, false
}

// Apply returns the snapshot and the request after the change. It changes neither s nor r. It fails if the way
// changes nothing or does not match them.
func (w Way) Apply(s *Snapshot, r Request) (*Snapshot, Request, error) {
	applies := false
	switch w.Kind {
	case WayTime:
		applies = w.At.After(r.Now)
		r.Now = w.At
	case WayMinCount:
		applies = w.MinCount != r.MinCount
		r.MinCount = w.MinCount
	case WayPolicy:
		applies = r.Policy != PreemptLowerPriority
		r.Policy = PreemptLowerPriority
	case WayPriority:
		applies = w.Priority != r.Priority
		return w.raise(s, r, applies)
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
			next, err := s.With(SetNode(n))
			return next, r, err
		}
	}
	return s, r, w.fault(applies)
}

func (w *Way) fault(applies bool) error {
	if applies {
		return nil
	}
	return fmt.Errorf("placement: the change of %v does not apply to the request", w.Kind)
}

// raise sets the priority of the request, of its pods that state one, and of its group.
func (w *Way) raise(s *Snapshot, r Request, applies bool) (*Snapshot, Request, error) {
	r.Priority, r.Pods = w.Priority, slices.Clone(r.Pods)
	for i := range r.Pods {
		if r.Pods[i].Priority != 0 {
			r.Pods[i].Priority = w.Priority
		}
	}
	if g, known := s.Group(r.Group); known && r.Group != "" {
		g.Priority = w.Priority
		next, err := s.With(SetGroup(g))
		return next, r, err
	}
	return s, r, w.fault(applies)
}
