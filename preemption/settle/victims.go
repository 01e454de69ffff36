package settle

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// chosen is a victim, and the step that took it.
type chosen struct {
	preemption.Victim
	step *Step
}

// take takes the victims of a step's decision.
func (f *run) take(step *Step) {
	step.took = true
	f.searches++
	first := len(f.victims)
	for _, v := range step.Decision.Victims {
		v.Replicas = slices.Clone(v.Replicas)
		f.victims = append(f.victims, chosen{v, step})
	}
	taken := f.victims[first:]
	slices.SortFunc(taken, func(a, b chosen) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Workload, b.Workload))
	})
	f.left, _ = f.left.With(removals(taken)...) // each victim runs, and has as many replicas
	if len(f.config.Limits) > 0 {
		f.history, _ = f.history.With(step.events(step.Decision.Victims, f.before, f.request.Now)...) // the names are not empty
	}
}

// removals returns the edits after which victims are gone.
func removals(victims []chosen) (edits []preemption.Edit) {
	for _, v := range victims {
		edits = append(edits, preemption.Remove(v.Workload, v.Replicas...))
	}
	return edits
}

// limit leaves out the victims after the first MaxVictims.
func (f *run) limit() {
	seen := map[string]bool{}
	for i, v := range f.victims {
		if seen[v.Workload] = true; f.request.MaxVictims > 0 && len(seen) > f.request.MaxVictims {
			f.cut, f.victims = true, f.victims[:i]
			f.left, _ = f.before.With(removals(f.victims)...)
			f.steps = slices.DeleteFunc(f.steps, func(s *Step) bool { return !s.took })
			return
		}
	}
}

// putBack puts back, last first, victims that are in vain because of others that were not taken in the same search.
func (f *run) putBack() {
	if f.searches < 2 {
		return
	}
	parts := map[string][]preemption.Replicas{} // by workload: the replicas taken of it, which come before the rest of it
	for i := range f.victims {
		if v := &f.victims[i]; len(v.Replicas) > 0 {
			parts[v.Workload] = append(parts[v.Workload], v.Replicas...)
		}
	}
	spared, tooMuch := make([]bool, len(f.victims)), refused{}
	for i := len(f.victims) - 1; i >= 0; i-- {
		v := &f.victims[i]
		if len(v.Replicas) > 0 {
			spared[i] = f.sparesReplicas(v)
			continue
		}
		w := f.rest(v.Workload, parts[v.Workload])
		uses := w.Usage()
		if tooMuch.covers(w.Queue, uses) {
			continue
		}
		if spared[i] = f.spares(w); !spared[i] {
			tooMuch.add(w.Queue, uses)
		}
	}
	left := f.victims[:0]
	for i, v := range f.victims {
		if !spared[i] {
			left = append(left, v)
		}
	}
	f.victims = left
}

// refused is what was too much to put back, by queue: the least of it. As more is put back, it stays too much.
type refused map[string][][]quota.Amount

// maxRefused is how many amounts of a queue are kept: only few are not within each other.
const maxRefused = 16

// covers reports whether a workload uses all of what was too much before.
func (r refused) covers(queue string, uses []quota.Amount) bool {
	return slices.ContainsFunc(r[queue], func(less []quota.Amount) bool { return within(less, uses) })
}

func (r refused) add(queue string, uses []quota.Amount) {
	list := slices.DeleteFunc(r[queue], func(more []quota.Amount) bool { return within(uses, more) })
	if len(list) < maxRefused {
		list = append(list, uses)
	}
	r[queue] = list
}

// within reports whether amounts are at most others, in each column.
func within(less, more []quota.Amount) bool {
	return !slices.ContainsFunc(less, func(a quota.Amount) bool {
		return !slices.ContainsFunc(more, func(b quota.Amount) bool { return a.FlavorResource() == b.FlavorResource() && a.Amount <= b.Amount })
	})
}

// spares puts a victim, or more replicas of it, back, if no node that is settled is then more over than without it. Only its queue and the
// cohorts above it use more.
func (f *run) spares(w workload.Workload) bool {
	trial, err := f.left.With(preemption.Admit(w))
	if err != nil {
		return false
	}
	for _, e := range f.inScope(excessAbove(trial, w.Queue)) {
		has := over(f.left, e)
		if e.Amount > has && (has == 0 || !f.request.delayEnds(f.before, Node{e.Queue, e.Cohort}).After(f.request.Now)) {
			return false
		}
	}
	f.left = trial
	return true
}

// sparesReplicas puts back replicas of a victim one by one, as many as are in vain; all is true if none stays taken.
func (f *run) sparesReplicas(v *chosen) (all bool) {
	w, runs := f.left.Find(v.Workload)
	if !runs {
		return false // the rest of the workload was taken later
	}
	for i := len(v.Replicas) - 1; i >= 0; i-- {
		r := &v.Replicas[i]
		for p := podSet(&w, r.PodSet); r.Count > 0; r.Count-- {
			if p.Count++; !f.spares(w) {
				p.Count--
				break
			}
		}
	}
	v.Replicas = slices.DeleteFunc(v.Replicas, func(r preemption.Replicas) bool { return r.Count == 0 })
	return len(v.Replicas) == 0
}

// excessAbove returns the excess of a queue and of the cohorts above it.
func excessAbove(s *preemption.Snapshot, name string) (list []preemption.Excess) {
	q, _ := s.Queue(name)
	rows, _ := s.QueueStatus(name)
	for parent, of := q.Cohort, (preemption.Excess{Queue: name}); ; {
		for _, row := range rows {
			if of.FlavorResource, of.Amount = row.FlavorResource, row.Over; of.Amount > 0 {
				list = append(list, of)
			}
		}
		if parent == "" {
			return list
		}
		rows, _ = s.CohortStatus(parent)
		of = preemption.Excess{Cohort: parent}
		above, _ := s.Cohort(parent)
		parent = above.Parent
	}
}

// rest returns a workload without replicas that were taken before.
func (f *run) rest(id string, taken []preemption.Replicas) workload.Workload {
	w, _ := f.before.Find(id)
	for _, r := range taken {
		podSet(&w, r.PodSet).Count -= r.Count
	}
	return w
}

func podSet(w *workload.Workload, name string) *workload.PodSet { return &w.PodSets[podSetAt(w, name)] }

func podSetAt(w *workload.Workload, name string) int {
	return slices.IndexFunc(w.PodSets, func(p workload.PodSet) bool { return p.Name == name })
}

// merged returns the victims of a step, or of all (nil), as one for each workload, by ID, with what they lose by the cost. A workload
// that goes as a whole is one victim with the replicas taken before.
func (f *run) merged(step *Step) (out []preemption.Victim) {
	var was []workload.Workload // before they leave
	at, before := map[string]int{}, map[string][]preemption.Replicas{}
	for i := range f.victims {
		v := f.victims[i].Victim
		if step != nil && f.victims[i].step != step {
			before[v.Workload] = append(before[v.Workload], v.Replicas...)
			continue
		}
		k, known := at[v.Workload]
		if !known {
			w := f.rest(v.Workload, before[v.Workload])
			at[v.Workload], v.Replicas = len(out), slices.Clone(v.Replicas)
			out, was = append(out, v), append(was, w)
			continue
		}
		if len(v.Replicas) == 0 {
			out[k].Replicas = nil
		}
		for _, r := range v.Replicas {
			if j := slices.IndexFunc(out[k].Replicas, func(o preemption.Replicas) bool { return o.PodSet == r.PodSet }); j >= 0 {
				out[k].Replicas[j].Count += r.Count
			} else {
				out[k].Replicas = append(out[k].Replicas, r)
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Replicas, func(a, b preemption.Replicas) int {
			return cmp.Compare(podSetAt(&was[i], a.PodSet), podSetAt(&was[i], b.PodSet))
		})
		f.setLost(&out[i], was[i])
	}
	slices.SortFunc(out, func(a, b preemption.Victim) int { return cmp.Compare(a.Workload, b.Workload) })
	return out
}

// setLost sets what a victim loses by the cost.
func (f *run) setLost(v *preemption.Victim, w workload.Workload) {
	v.Lost = 0
	if f.config.Cost == nil {
		return
	}
	for _, r := range v.Replicas {
		v.Lost = quota.Add(v.Lost, quota.Mul(r.Count, f.config.Cost.Lost(w, r.PodSet, f.request.Now)))
	}
	if len(v.Replicas) == 0 {
		v.Lost = f.config.Cost.Lost(w, "", f.request.Now)
	}
}
