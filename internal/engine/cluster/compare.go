package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/persist/listed"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Difference is the difference between a list of workloads and those of a cluster.
type Difference struct {
	Changed []Changed
	New     []int // indexes in the list
	Gone    []*Workload

	added map[string]bool // the IDs of New
}

// Changed is a workload that runs, but with other facts.
type Changed struct {
	Old *Workload
	New int // index in the list
}

// Add compares number i of a list with the workload that runs under its ID; nil: none does. ok is false
// if the list has the ID of an earlier new one.
func (d *Difference) Add(i int, w *workload.Workload, old *Workload) (ok bool) {
	switch {
	case old == nil && d.added[w.ID]:
		return false
	case old == nil:
		if d.added == nil {
			d.added = map[string]bool{}
		}
		d.added[w.ID] = true
		d.New = append(d.New, i)
	case !old.Describes(w):
		d.Changed = append(d.Changed, Changed{old, i})
	}
	return true
}

// Compare compares the workloads with a list, and returns them in its order. ok is false if two in
// the list have the same ID.
func (c *Cluster) Compare(admitted []workload.Workload) (d Difference, in *List, ok bool) {
	x := comparison{Walk: c.Listed().Walk(true), admitted: admitted}
	for i := 0; i < len(admitted); {
		if old, _, inStep := x.Next(admitted[i].ID); inStep {
			x.Add(i, &admitted[i], old)
			i++
		} else if n := min(listed.Block, len(admitted)-i); x.block(i, i+n) {
			i += n
		} else {
			return d, nil, false
		}
	}
	x.Gone = x.Missed()
	return x.Difference, x.InOrder(), true
}

// comparison is a difference in the making.
type comparison struct {
	listed.Walk[*Workload]
	Difference
	admitted []workload.Workload
	read     int64 // the sum of what was read ahead, without which the compiler would leave out the reads
}

// block compares some workloads of the list. It returns false if it met one before.
func (x *comparison) block(from, to int) (ok bool) {
	var names [listed.Block]string
	var found [listed.Block]*Workload
	var places [listed.Block]int
	next := x.admitted[from:to]
	x.read += described(next)
	for i := range next {
		names[i] = next[i].ID
	}
	if !x.Find(names[:len(next)], &found, &places) {
		return false
	}
	x.read += recorded(found[:len(next)])
	for i, old := range found[:len(next)] {
		if !x.Add(from+i, &next[i], old) {
			return false
		}
	}
	return true
}

// described reads what [Workload.Describes] will read of the next workloads of a list, and recorded
// what it will read of their records. They lie apart in memory: each loop reads one thing of all, so
// that the reads overlap. The sums mean nothing.
func described(next []workload.Workload) (sum int64) {
	var sets [listed.Block]*workload.PodSet
	for i := range next {
		w := &next[i]
		sum += first(w.ID)
		if len(w.PodSets) > 0 {
			sets[i] = &w.PodSets[0]
		}
	}
	for i := range next {
		sum += first(next[i].Queue)
		if p := sets[i]; p != nil {
			sum += int64(len(p.Name)) + p.Terminating // its ends
		}
	}
	for _, p := range sets[:len(next)] {
		if p != nil && len(p.Requests) > 0 {
			sum += int64(len(p.Requests[0].Flavor)) + p.Requests[len(p.Requests)-1].Amount
		}
	}
	return sum
}

func recorded(found []*Workload) (sum int64) {
	for _, w := range found {
		if w != nil {
			sum += first(w.Facts.UID) + w.Priority + int64(w.Facts.admitted)
		}
	}
	return sum
}

func first(s string) int64 {
	if s == "" {
		return 0
	}
	return int64(s[0])
}

// Describes reports whether other, which has the same ID, describes the workload; times are
// equal if they are the same instant.
func (w *Workload) Describes(other *workload.Workload) bool {
	f := &w.Facts
	if f.Evicted != other.Evicted || f.NeverPreempts != other.NeverPreempts || f.NeverYields != other.NeverYields ||
		!is(&other.Queued, w.Queued) || !is(&other.ReservedAt, w.Reserved) || !is(&other.Created, f.created) || !is(&other.AdmittedAt, w.Admitted()) {
		return false
	}
	if s := f.seldom; s == nil {
		if other.Priority != w.Priority || other.PriorityBoost != 0 || !noGates(&other.Gates) || !noLoss(&other.Loss) ||
			len(other.Labels) > 0 || other.PriorityClass != "" {
			return false
		}
	} else {
		if other.Priority != w.Workload().Priority || other.PriorityBoost != s.boost || !equalGates(other.Gates, s.gates) || !equalLoss(other.Loss, s.loss) ||
			!maps.Equal(other.Labels, s.labels) || other.PriorityClass != s.priorityClass {
			return false
		}
	}
	return f.UID == other.UID && f.home.queue == other.Queue && f.home.localQueue == other.LocalQueue && equalPodSets(w.PodSets, other.PodSets)
}

// is reports whether a time is the given instant.
func is(t *time.Time, at int64) bool {
	of, valid := instant.From(*t)
	return valid && of == at
}

// noGates is [gate.Gates.IsZero] without a copy.
func noGates(g *gate.Gates) bool {
	return len(g.Names) == 0 && len(g.States) == 0 && !g.Blocked.Active && g.Blocked.Reason == "" && g.Blocked.Since == time.Time{}
}

// noLoss is [workload.Loss.IsZero] without a copy.
func noLoss(l *workload.Loss) bool {
	return len(l.Milestones) == 0 && l.PerReplica == 0 && l.Restart.IsZero() && l.LastCheckpoint.IsZero()
}

func equalGates(a, b gate.Gates) bool {
	return slices.Equal(a.Names, b.Names) && a.Blocked.Active == b.Blocked.Active &&
		a.Blocked.Reason == b.Blocked.Reason && a.Blocked.Since.Equal(b.Blocked.Since) &&
		slices.EqualFunc(a.States, b.States, func(s, t gate.State) bool {
			return s.Name == t.Name && s.Position == t.Position && s.Since.Equal(t.Since)
		})
}

func equalLoss(a, b workload.Loss) bool {
	return a.LastCheckpoint.Equal(b.LastCheckpoint) && a.Restart == b.Restart && a.PerReplica == b.PerReplica &&
		slices.Equal(a.Milestones, b.Milestones)
}

func equalPodSets(a, b []workload.PodSet) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Count != y.Count || x.MinCount != y.MinCount || x.Terminating != y.Terminating || x.Totals != y.Totals || x.Name != y.Name ||
			!equalAmounts(x.Requests, y.Requests) || !equalConstraints(x.NodeConstraints, y.NodeConstraints) {
			return false
		}
	}
	return true
}

// equalAmounts is slices.Equal, but compares the amounts before the names.
func equalAmounts(a, b []quota.Amount) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Amount != y.Amount || x.Resource != y.Resource || x.Flavor != y.Flavor {
			return false
		}
	}
	return true
}

func equalConstraints(a, b *workload.NodeConstraints) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.Topology == b.Topology && maps.Equal(a.NodeSelector, b.NodeSelector) && slices.Equal(a.Tolerations, b.Tolerations) &&
		slices.EqualFunc(a.NodeAffinity, b.NodeAffinity, func(s, t workload.NodeSelectorTerm) bool {
			return slices.EqualFunc(s.MatchExpressions, t.MatchExpressions, func(p, q workload.LabelRequirement) bool {
				return p.Key == q.Key && p.Operator == q.Operator && slices.Equal(p.Values, q.Values)
			})
		})
}
