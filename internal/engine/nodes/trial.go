package nodes

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/workload"
)

// SetFilter is a rule of the caller that answers for sets of pods. Begin returns a trial in
// which every running pod of the cluster is there. With Wide the answer for a node may depend
// on pods of other nodes.
type SetFilter struct {
	Begin func() Trial
	Wide  bool
}

// Trial says whether a pod may run on a node beside the pods that are there.
type Trial interface {
	Add(pod workload.Pod)
	Remove(pod workload.Pod)
	Allows(pod workload.Pod, node workload.Node) bool
}

// PlacerTrial is a trial that also places the members.
type PlacerTrial interface {
	Trial
	Place(pods []workload.Pod, nodes []string) []string
}

// trials holds the trials of a decision and what they were told. They are told as late as
// possible: most domains are left without a question.
type trials struct {
	list   []Trial
	placer PlacerTrial
	begun  bool
	stale  bool                   // a placement was opened since the trials were told
	order  []int32                // members that have a place, in the order in which they were placed
	shown  map[int32]workload.Pod // members that were added, as they were added
	away   []*Pod                 // running pods that were removed
	isAway map[*Pod]bool          // the same
	// leaving holds terminating pods that are waited for, of all nodes.
	leaving []*Pod
}

// filtered reports whether rules of the caller decide about places, too.
func (r *Request) filtered() bool { return len(r.Filters)+len(r.SetFilters) > 0 || r.Placer != nil }

func (r *Request) hasTrials() bool { return len(r.SetFilters) > 0 || r.Placer != nil }

// beginTrials begins the trials once for a decision.
func (s *Searcher) beginTrials() {
	t := &s.trials
	if t.begun {
		return
	}
	t.begun, t.stale, t.isAway, t.shown = true, true, map[*Pod]bool{}, map[int32]workload.Pod{}
	for _, f := range s.r.SetFilters {
		t.list = append(t.list, f.Begin())
	}
	if s.r.Placer != nil {
		t.placer = s.r.Placer()
		t.list = append(t.list, t.placer)
	}
	if !s.asBuilt {
		for p := range s.c.pods.All {
			if p.Facts.Terminating {
				t.leaving = append(t.leaving, p)
			}
		}
		slices.SortFunc(t.leaving, comparePods)
	}
}

func (t *trials) add(p workload.Pod) {
	for _, one := range t.list {
		one.Add(p)
	}
}

func (t *trials) remove(p workload.Pod) {
	for _, one := range t.list {
		one.Remove(p)
	}
}

// hide removes a member from the trials.
func (t *trials) hide(m int32) {
	if p, shown := t.shown[m]; shown {
		delete(t.shown, m)
		t.remove(p)
	}
}

// settle tells the trials who is there in the current placement in a domain.
func (s *Searcher) settle(d span) {
	s.beginTrials()
	t := &s.trials
	if t.stale {
		t.stale = false
		for m := range s.members {
			t.hide(int32(m))
		}
		t.away = slices.DeleteFunc(t.away, func(p *Pod) bool {
			if !s.isThere(p) && !s.isElsewhere(d, p) {
				return false
			}
			delete(t.isAway, p)
			t.add(p.Facts)
			return true
		})
		s.takeAway(d)
	}
	for _, m := range t.order {
		if _, shown := t.shown[m]; !shown {
			p := s.asPlaced(&s.members[m], int(s.where[m]))
			t.shown[m] = p
			t.add(p)
		}
	}
}

// takeAway removes from the trials who is not there.
func (s *Searcher) takeAway(d span) {
	t := &s.trials
	take := func(list []*Pod) {
		for _, p := range list {
			if !t.isAway[p] && !s.isThere(p) && !s.isElsewhere(d, p) {
				t.isAway[p] = true
				t.away = append(t.away, p)
				t.remove(p.Facts)
			}
		}
	}
	for i := d.from; i < d.to; i++ {
		for _, p := range s.nodes[i].pods {
			if p.single != nil {
				take(p.single.Pods)
			} else {
				take(s.c.group(p.Facts.Group).members) // some may run elsewhere
			}
		}
	}
	take(t.leaving)
	take(slices.SortedFunc(maps.Keys(s.taken), func(a, b *Pod) int { return cmp.Compare(a.Facts.ID, b.Facts.ID) }))
}

// trialsAllow asks the trials about a member on a node. As in kube-scheduler it is asked with
// the pods that are nominated to the node ahead of it, and without.
func (s *Searcher) trialsAllow(d span, one *member, i int) bool {
	if !s.r.hasTrials() {
		return true
	}
	s.settle(d)
	t, n, pod := &s.trials, s.nodes[i], s.asPlaced(one, i)
	allow := func() bool {
		return !slices.ContainsFunc(t.list, func(one Trial) bool { return !one.Allows(pod, n.Facts) })
	}
	var ahead []*Pod
	for _, p := range n.nominated {
		if s.isAhead(p) {
			ahead = append(ahead, p)
			t.add(p.Facts)
		}
	}
	ok := allow()
	for _, p := range slices.Backward(ahead) {
		t.remove(p.Facts)
	}
	return ok && (len(ahead) == 0 || allow())
}

// trialsAllowBack puts a unit back in the trials and reports whether the members can still be
// placed where they are, one after the other; if not, the unit is removed again. Unless a
// filter is wide, only members on nodes of the unit are asked about.
func (s *Searcher) trialsAllowBack(d span, u *Unit) bool {
	if !s.r.hasTrials() {
		return true
	}
	s.settle(d)
	t := &s.trials
	var back []*Pod
	for _, p := range u.Pods {
		if t.isAway[p] {
			back = append(back, p)
			delete(t.isAway, p)
			t.add(p.Facts)
		}
	}
	isBack := func(p *Pod) bool { return slices.Contains(back, p) }
	t.away = slices.DeleteFunc(t.away, isBack)
	beside := func(m int32) bool {
		return s.wide || slices.ContainsFunc(u.Pods, func(p *Pod) bool { return s.local[p.node] == s.where[m] })
	}
	for _, m := range t.order {
		if beside(m) {
			t.hide(m)
		}
	}
	order, ok := t.order, true
	for k, m := range order {
		if t.order = order[:k]; beside(m) && !s.trialsAllow(d, &s.members[m], int(s.where[m])) {
			ok = false
			break
		}
	}
	if t.order = order; ok {
		return true
	}
	for _, p := range back {
		t.isAway[p] = true
		t.away = append(t.away, p)
		t.remove(p.Facts)
	}
	return false
}

// placeOutside takes the placement of the caller's placer. A member is not placed where it
// has no room or where a filter refuses it.
func (s *Searcher) placeOutside(d span) (placed int) {
	s.settle(d)
	var pods []workload.Pod
	var members []int
	for m := range s.members {
		if s.where[m] < 0 {
			pods, members = append(pods, *s.members[m].Facts), append(members, m)
		}
	}
	names := make([]string, 0, d.size())
	for _, n := range s.nodes[d.from:d.to] {
		names = append(names, n.Facts.Name)
	}
	for k, name := range s.trials.placer.Place(pods, names) {
		if k == len(members) {
			break
		}
		number := s.c.nodeNumber(name)
		if number < 0 {
			continue
		}
		at := s.local[number]
		if int(at) >= d.from && int(at) < d.to && s.fits(d, &s.members[members[k]], int(at)) {
			s.put(members[k], at)
			placed++
		}
	}
	return placed
}
