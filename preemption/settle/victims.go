package settle

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// chosen is a victim, and the number of the step that took it.
type chosen struct {
	preemption.Victim
	step int
}

// take takes victims for a step.
func (f *run) take(step *Step, victims []preemption.Victim) {
	if len(victims) == 0 {
		return
	}
	step.took++
	first := len(f.victims)
	for _, v := range victims {
		v.Replicas = slices.Clone(v.Replicas)
		f.victims = append(f.victims, chosen{v, step.number})
	}
	taken := f.victims[first:]
	slices.SortFunc(taken, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Workload, b.Workload))
	})
	f.pending = append(f.pending, removals(taken)...)
	if f.limited {
		f.history, _ = f.history.With(step.events(victims, f.before, f.now)...) // the names are not empty
	}
}

// removals returns the edits after which victims are gone.
func removals(victims []chosen) (edits []preemption.Edit) {
	for _, v := range victims {
		for _, r := range v.Replicas {
			edits = append(edits, preemption.Shrink(v.Workload, r.PodSet, r.Count))
		}
		if len(v.Replicas) == 0 {
			edits = append(edits, preemption.Remove(v.Workload))
		}
	}
	return edits
}

// limit leaves out the victims after the first MaxVictims.
func (f *run) limit() {
	seen := map[string]bool{}
	for i, v := range f.victims {
		if seen[v.Workload] = true; f.request.MaxVictims > 0 && len(seen) > f.request.MaxVictims {
			f.cut, f.victims = true, f.victims[:i]
			f.after, f.pending = f.before, removals(f.victims)
			return
		}
	}
}

// putBack puts back, last first, victims that are in vain because of others that were not taken in the same search: of a
// node above theirs or below it, or of the same node.
func (f *run) putBack() {
	var took []*Step
	more := false
	for i := range f.steps {
		if f.steps[i].took > 0 {
			took, more = append(took, &f.steps[i]), more || f.steps[i].took > 1
		}
	}
	if !more && (f.apart || !f.nested(took)) {
		return
	}
	for i := len(f.victims) - 1; i >= 0; i-- {
		v := &f.victims[i]
		spared := len(v.Replicas) == 0 && f.spares(preemption.Admit(f.rest(i)))
		if !spared && len(v.Replicas) == 0 {
			f.sparesMinimum(i)
		}
		if spared || len(v.Replicas) > 0 && f.sparesReplicas(v) {
			f.victims = slices.Delete(f.victims, i, i+1)
		}
	}
}

// sparesMinimum puts a workload that goes as a whole back without some of its surplus, if that is enough and the surplus may leave.
func (f *run) sparesMinimum(victim int) {
	v, w := &f.victims[victim], f.rest(victim)
	step := &f.steps[v.step]
	back, err := f.left().With(preemption.Admit(w))
	if err != nil || !slices.ContainsFunc(w.PodSets, func(p workload.PodSet) bool { return p.Surplus() > 0 }) {
		return
	}
	over, more := excessOf(back, step.Node), []quota.Amount(nil)
	for _, a := range over {
		if a.Amount -= amountIn(excessOf(f.left(), step.Node), a.FlavorResource()); a.Amount > 0 {
			more = append(more, a)
		}
	}
	if len(more) == 0 {
		return
	}
	q, err := ask(back, step.Node, over, f.request, f.history, f.now)
	if err != nil {
		return
	}
	d := f.about(q, more)
	if len(d.Victims) != 1 || d.Victims[0].Workload != v.Workload || len(d.Victims[0].Replicas) == 0 {
		return
	}
	for _, r := range d.Victims[0].Replicas {
		podSet(&w, r.PodSet).Count -= r.Count
	}
	if f.spares(preemption.Admit(w)) {
		v.Replicas = slices.Clone(d.Victims[0].Replicas)
	}
}

// rest returns the workload of a victim that goes as a whole, without replicas that were taken before it.
func (f *run) rest(victim int) workload.Workload {
	return f.without(f.victims[victim].Workload, f.victims[:victim])
}

// without returns a workload without the replicas that victims lose of it.
func (f *run) without(id string, victims []chosen) workload.Workload {
	w, _ := f.before.Find(id)
	for _, v := range victims {
		if v.Workload == id {
			for _, r := range v.Replicas {
				podSet(&w, r.PodSet).Count -= r.Count
			}
		}
	}
	return w
}

// setLost sets what victims lose by the cost, after others before them.
func (f *run) setLost(victims []preemption.Victim, before []chosen) {
	if f.cost == nil {
		return
	}
	for i := range victims {
		v, w := &victims[i], f.without(victims[i].Workload, before)
		v.Lost = 0
		for _, r := range v.Replicas {
			v.Lost = quota.Add(v.Lost, quota.Mul(r.Count, f.cost.Lost(w, r.PodSet, f.now)))
		}
		if len(v.Replicas) == 0 {
			v.Lost = f.cost.Lost(w, "", f.now)
		}
	}
}

// sparesReplicas puts back replicas of a victim one by one, as many as are in vain; all is true if none stays taken.
func (f *run) sparesReplicas(v *chosen) (all bool) {
	w, runs := f.left().Find(v.Workload)
	if !runs {
		return false // the rest of the workload was taken later
	}
	for i := len(v.Replicas) - 1; i >= 0; i-- {
		r := &v.Replicas[i]
		for p := podSet(&w, r.PodSet); r.Count > 0; r.Count-- {
			if p.Count++; !f.spares(preemption.SetWorkload(w)) {
				p.Count--
				break
			}
		}
	}
	v.Replicas = slices.DeleteFunc(v.Replicas, func(r preemption.Replicas) bool { return r.Count == 0 })
	return len(v.Replicas) == 0
}

func podSet(w *workload.Workload, name string) *workload.PodSet { return &w.PodSets[podSetAt(w, name)] }

func podSetAt(w *workload.Workload, name string) int {
	return slices.IndexFunc(w.PodSets, func(p workload.PodSet) bool { return p.Name == name })
}

// spares makes an edit that puts a victim back, if no node that was settled is then more over than without it.
func (f *run) spares(edit preemption.Edit) bool {
	trial, err := f.left().With(edit)
	if err != nil {
		return false
	}
	for i := range f.steps {
		if n := f.steps[i].Node; f.steps[i].Delayed.IsZero() && !noMore(excessOf(trial, n), excessOf(f.left(), n)) {
			return false
		}
	}
	for _, e := range f.excess { // a node without a step is within what it may use
		n := Node{e.Queue, e.Cohort}
		if !slices.ContainsFunc(f.steps, func(s Step) bool { return s.Node == n }) && len(excessOf(trial, n)) > 0 {
			return false
		}
	}
	f.after = trial
	return true
}

// noMore reports whether no amount is more than the other one.
func noMore(a, b []quota.Amount) bool {
	return !slices.ContainsFunc(a, func(a quota.Amount) bool { return a.Amount > amountIn(b, a.FlavorResource()) })
}

// merged returns victims in order of choice as one for each workload, by ID; a workload that goes as a whole is one victim
// with the replicas taken before.
func (f *run) merged(list []chosen) (out []preemption.Victim) {
	at := make(map[string]int, len(list))
	for _, v := range list {
		i, known := at[v.Workload]
		if !known {
			at[v.Workload] = len(out)
			v.Replicas = slices.Clone(v.Replicas)
			out = append(out, v.Victim)
			continue
		}
		first := &out[i]
		if len(v.Replicas) == 0 {
			first.Replicas = nil
		}
		for _, r := range v.Replicas {
			if j := slices.IndexFunc(first.Replicas, func(o preemption.Replicas) bool { return o.PodSet == r.PodSet }); j >= 0 {
				first.Replicas[j].Count += r.Count
			} else {
				first.Replicas = append(first.Replicas, r)
			}
		}
	}
	for i := range out {
		if len(out[i].Replicas) < 2 {
			continue
		}
		w, _ := f.before.Find(out[i].Workload)
		slices.SortFunc(out[i].Replicas, func(a, b preemption.Replicas) int {
			return cmp.Compare(podSetAt(&w, a.PodSet), podSetAt(&w, b.PodSet))
		})
	}
	slices.SortFunc(out, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return out
}
