package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

func (t *trials) add(p workload.Pod) {
	for _, trial := range t.list {
		trial.Add(p)
	}
}

func (t *trials) remove(p workload.Pod) {
	for _, trial := range t.list {
		trial.Remove(p)
	}
}

// takeAway removes a running pod.
func (t *trials) takeAway(p *state.Pod) {
	t.isAway[p] = true
	t.away = append(t.away, p)
	t.remove(p.Facts)
}

// bring adds a pod that was taken away; the caller removes it from the list.
func (t *trials) bring(p *state.Pod) {
	delete(t.isAway, p)
	t.add(p.Facts)
}

// hide removes a member.
func (t *trials) hide(m int32) {
	if p, shown := t.shown[m]; shown {
		delete(t.shown, m)
		t.remove(p)
	}
}

// beginTrials begins the trials once for a decision.
func (b *Board) beginTrials() {
	t, rules := b.trials, &b.Request.Rules
	if t.begun {
		return
	}
	t.begun, t.stale, t.isAway, t.shown = true, true, map[*state.Pod]bool{}, map[int32]workload.Pod{}
	for _, f := range rules.SetFilters {
		t.list = append(t.list, f.Begin())
	}
	if rules.Placer != nil {
		t.placer = rules.Placer()
		t.list = append(t.list, t.placer)
	}
	if !b.AsBuilt {
		for p := range b.Cluster.Running.All {
			if p.Facts.Terminating {
				t.leaving = append(t.leaving, p)
			}
		}
		slices.SortFunc(t.leaving, state.ComparePods)
	}
}

// settle tells the trials which pods are there in the current placement in a domain.
func (b *Board) settle(d room.Domain) {
	b.beginTrials()
	t := b.trials
	if t.stale {
		t.stale = false
		for m := range b.Members {
			t.hide(int32(m))
		}
		t.away = slices.DeleteFunc(t.away, func(p *state.Pod) bool {
			if !b.Stands(d, p) {
				return false
			}
			t.bring(p)
			return true
		})
		b.takeAway(d)
	}
	for _, m := range b.order {
		if _, shown := t.shown[m]; !shown {
			p := b.AsPlaced(&b.Members[m], int(b.Where[m]))
			t.shown[m] = p
			t.add(p)
		}
	}
}

// takeAway removes from the trials the pods that are not there.
func (b *Board) takeAway(d room.Domain) {
	t := b.trials
	take := func(list []*state.Pod) {
		for _, p := range list {
			if !t.isAway[p] && !b.Stands(d, p) {
				t.takeAway(p)
			}
		}
	}
	for i := d.From; i < d.To; i++ {
		for _, p := range b.Nodes[i].Pods {
			take(b.Cluster.UnitOf(p).Pods) // some may run elsewhere
		}
	}
	take(t.leaving)
	take(b.Removed())
}

// trialsAllow asks the trials about a member on a node. As in kube-scheduler it is asked with the pods that are
// nominated to the node ahead of it, and without.
func (b *Board) trialsAllow(d room.Domain, m *Member, i int) bool {
	if !b.Request.Rules.HaveTrials() {
		return true
	}
	b.settle(d)
	t, n, pod := b.trials, b.Nodes[i], b.AsPlaced(m, i)
	allow := func() bool {
		return !slices.ContainsFunc(t.list, func(trial ask.Trial) bool { return !trial.Allows(pod, n.Facts) })
	}
	var ahead []*state.Pod
	for _, p := range n.Promised {
		if b.IsAhead(p) {
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

// trialsAllowBack puts a unit back in the trials and reports whether the members can still be placed where they are,
// one after the other; if not, the unit is removed again. Unless a rule is wide, only members on nodes of the unit
// are asked about.
func (b *Board) trialsAllowBack(d room.Domain, u *state.Unit) bool {
	if !b.Request.Rules.HaveTrials() {
		return true
	}
	b.settle(d)
	t := b.trials
	var back []*state.Pod
	for _, p := range u.Pods {
		if t.isAway[p] {
			back = append(back, p)
			t.bring(p)
		}
	}
	t.away = slices.DeleteFunc(t.away, func(p *state.Pod) bool { return slices.Contains(back, p) })
	beside := func(m int32) bool {
		return b.isWide || slices.ContainsFunc(u.Pods, func(p *state.Pod) bool { return b.Of(p) == int(b.Where[m]) })
	}
	for _, m := range b.order {
		if beside(m) {
			t.hide(m)
		}
	}
	order, ok := b.order, true
	for k, m := range order {
		if b.order = order[:k]; beside(m) && !b.trialsAllow(d, &b.Members[m], int(b.Where[m])) {
			ok = false
			break
		}
	}
	if b.order = order; ok {
		return true
	}
	for _, p := range back {
		t.takeAway(p)
	}
	return false
}
