package moves

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// planner orders what stops and starts.
type planner struct {
	start   Start
	before  *placement.Snapshot
	free    map[string]workload.Resources // by node; a resource without a limit is missing
	kept    map[string][]workload.Pod     // by node: nominations that stay
	budgets []workload.DisruptionBudget   // their allowances are those of the next step
}

// newPlanner returns a planner. Pods with the given IDs are those of the request: their nominations are not kept.
func (c *Config) newPlanner(before *placement.Snapshot, dropped func(id string) bool) *planner {
	f := &planner{start: c.Start, before: before, free: map[string]workload.Resources{}, kept: map[string][]workload.Pod{}}
	for p := range before.NominatedPods() {
		if !dropped(p.ID) {
			f.kept[p.Node] = append(f.kept[p.Node], p)
		}
	}
	if f.budgets = slices.Collect(before.Budgets()); len(f.budgets) == 0 {
		return f
	}
	for _, id := range before.Terminating() {
		p, _ := before.Find(id)
		for i := range f.budgets { // what was told to stop before counts
			if b := &f.budgets[i]; p.Preempted && b.Charges(&p) {
				b.Allowed, b.Disrupted = max(0, b.Allowed-1), append(slices.Clone(b.Disrupted), id)
			}
		}
	}
	return f
}

// plan returns the steps in which victims stop and start, and pods of a request start; stuck are the moves that never have their
// turn.
func (f *planner) plan(list []victim, starts []workload.Pod) (steps []Step, stuck []*victim) {
	var step Step
	var wait []*victim
	starts = slices.DeleteFunc(slices.Clone(starts), func(p workload.Pod) bool { return p.Node == "" })
	for i := range list {
		l := &list[i]
		if l.to != nil {
			wait = append(wait, l)
			continue
		}
		f.stop(&step, l)
		for j := range f.budgets {
			f.budgets[j].Allowed = max(0, f.budgets[j].Allowed-f.charge(j, l))
		}
	}
	slices.SortFunc(wait, func(a, b *victim) int { return cmp.Compare(a.ID(), b.ID()) })
	for {
		// With BeforeStop, what stops in a step leaves room in the next one alone.
		if f.start == AfterStop || len(step.Stop) == 0 {
			wait = f.next(&step, wait)
		}
		if f.start == AfterStop || len(step.Stop) == 0 {
			starts = f.begin(&step, starts, len(wait) == 0)
		}
		if len(step.Stop)+len(step.Start) == 0 {
			return steps, wait
		}
		slices.Sort(step.Stop)
		slices.SortFunc(step.Start, func(a, b placement.Nomination) int { return cmp.Compare(a.Pod, b.Pod) })
		steps, step = append(steps, step), Step{}
	}
}

// next adds the moves to a step that have room now whatever else happens in the step, and returns the others. If none has, and pods
// stop first, moves go together that have room once all of them have stopped.
func (f *planner) next(step *Step, wait []*victim) []*victim {
	used := make([]int64, len(f.budgets))
	var went []*victim
	for _, l := range wait {
		if f.mayStop(l, used) && f.hasRoom(l) {
			f.spend(l, used)
			f.arrive(step, l)
			went = append(went, l)
		}
	}
	if len(went) == 0 && len(step.Stop) == 0 && f.start == AfterStop {
		went = f.together(wait)
		for _, l := range went {
			f.arrive(step, l)
		}
	}
	for _, l := range went {
		f.stop(step, l)
	}
	return without(wait, went)
}

// without returns the moves of a list that are not among some of them, which are in the same order.
func without(list, some []*victim) (rest []*victim) {
	for _, l := range list {
		if len(some) > 0 && some[0] == l {
			some = some[1:]
			continue
		}
		rest = append(rest, l)
	}
	return rest
}

// together returns moves that have room once all of them have stopped.
func (f *planner) together(wait []*victim) (set []*victim) {
	used := make([]int64, len(f.budgets))
	for _, l := range wait {
		if f.mayStop(l, used) {
			f.spend(l, used)
			set = append(set, l)
		}
	}
	for {
		var unused Step
		for _, l := range set {
			f.stop(&unused, l)
		}
		var fit, rest []*victim
		for _, l := range set {
			if f.mayArrive(l) {
				f.arrive(&unused, l)
				fit = append(fit, l)
			} else {
				rest = append(rest, l)
			}
		}
		for _, l := range fit {
			f.change(l, l.to, 1)
		}
		for _, l := range set {
			f.change(l, nil, -1)
		}
		if set = fit; len(rest) == 0 {
			return set
		}
	}
}

// begin adds the pods of the request to a step that have room now; when nothing else is left, all of them. If pods start before
// they stop, the moves come first: they may need that room in between.
func (f *planner) begin(step *Step, starts []workload.Pod, last bool) (rest []workload.Pod) {
	for _, p := range starts {
		if !last && (f.start == BeforeStop || !f.holds(p.Node, p.Requests)) {
			rest = append(rest, p)
			continue
		}
		f.take(p.Node, p.Requests, -1)
		step.Start = append(step.Start, placement.Nomination{Pod: p.ID, Node: p.Node})
	}
	return rest
}

// stop makes the pods of a unit stop.
func (f *planner) stop(step *Step, l *victim) {
	f.change(l, nil, 1)
	for _, p := range l.Pods {
		step.Stop = append(step.Stop, p.ID)
	}
}

// arrive makes the pods of a unit start.
func (f *planner) arrive(step *Step, l *victim) {
	f.change(l, l.to, -1)
	for k, p := range l.Pods {
		step.Start = append(step.Start, placement.Nomination{Pod: p.ID, Node: l.to[k]})
	}
}

// change changes what is free by the pods of a unit, on the given nodes; nil: where they run.
func (f *planner) change(l *victim, nodes []string, sign int64) {
	for k, p := range l.Pods {
		if nodes != nil {
			p.Node = nodes[k]
		}
		f.take(p.Node, p.Requests, sign)
	}
}

// hasRoom reports whether the pods of a unit have room now where they go. Pods that stop first leave room to their own unit.
func (f *planner) hasRoom(l *victim) bool {
	stays := func(p workload.Pod) bool { return slices.Contains(l.to, p.Node) }
	if f.start == BeforeStop || !slices.ContainsFunc(l.Pods, stays) {
		return f.mayArrive(l)
	}
	f.change(l, nil, 1)
	ok := f.mayArrive(l)
	f.change(l, nil, -1)
	return ok
}

// mayArrive reports whether the pods of a unit have room where they go.
func (f *planner) mayArrive(l *victim) bool {
	placed, ok := 0, true
	for k, p := range l.Pods {
		if ok = f.holds(l.to[k], p.Requests); !ok || k == len(l.Pods)-1 {
			break
		}
		f.take(l.to[k], p.Requests, -1)
		placed++
	}
	for k, p := range l.Pods[:placed] {
		f.take(l.to[k], p.Requests, 1)
	}
	return ok
}

// holds reports whether a node has room for requests.
func (f *planner) holds(node string, requests workload.Resources) bool {
	free := f.freeOn(node)
	for name, amount := range requests {
		if left, limited := free[name]; limited && amount > 0 && amount > left {
			return false
		}
	}
	pods, limited := free[workload.PodsResource]
	return !limited || pods > 0
}

// take changes what is free on a node by a pod.
func (f *planner) take(node string, requests workload.Resources, sign int64) {
	free := f.freeOn(node)
	change := func(name string, amount int64) {
		if left, limited := free[name]; limited {
			free[name] = quota.Add(left, sign*amount)
		}
	}
	for name, amount := range requests {
		change(name, amount)
	}
	change(workload.PodsResource, 1)
}

// freeOn returns what is free on a node beside all that runs and the nominations that stay.
func (f *planner) freeOn(node string) workload.Resources {
	if free, known := f.free[node]; known {
		return free
	}
	free := f.before.FreeOn(node)
	f.free[node] = free
	for _, p := range f.kept[node] {
		f.take(node, p.Requests, -1)
	}
	return free
}

// charge returns the number of pods of a unit that a budget counts.
func (f *planner) charge(budget int, l *victim) (pods int64) {
	for i := range l.Pods {
		if f.budgets[budget].Charges(&l.Pods[i]) {
			pods++
		}
	}
	return pods
}

// mayStop reports whether the budgets let the pods of a unit stop in a step beside those that stop already; with nil, alone.
func (f *planner) mayStop(l *victim, used []int64) bool {
	for j := range f.budgets {
		n, before := f.charge(j, l), int64(0)
		if used != nil {
			before = used[j]
		}
		if n > 0 && before+n > f.budgets[j].Allowed {
			return false
		}
	}
	return true
}

// spend counts the pods of a unit as stopping in a step.
func (f *planner) spend(l *victim, used []int64) {
	for j := range f.budgets {
		used[j] += f.charge(j, l)
	}
}

// overBudget returns a victim that yields although those before it have used up a budget: its pods are not there again.
func (f *planner) overBudget(list []victim) *victim {
	used := make([]int64, len(f.budgets))
	for i := range list {
		if list[i].to != nil {
			continue
		}
		if !f.mayStop(&list[i], used) {
			return &list[i]
		}
		f.spend(&list[i], used)
	}
	return nil
}
