package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Difference is the difference between a list of workloads and those of a cluster.
type Difference struct {
	// Records holds, in the order of the list, the records of equal workloads, and nil for
	// others.
	Records []*Workload
	Changed []Changed
	New     []int // indexes in the list
	Gone    []*Workload
}

// Changed is a workload that runs, but with other facts.
type Changed struct {
	Old *Workload
	New int // index in the list
}

// near is how far ahead in the last order the next workload of a list is looked for: up to
// this many before it may be gone.
const near = 64

// Compare compares the workloads with a list. ok is false if two in the list have the same
// ID. The order of the last list is a hint: where it is unchanged, no workload is looked up
// by ID.
func (c *Cluster) Compare(admitted []workload.Workload, order []*Workload) (d Difference, ok bool) {
	n := d.inStep(admitted, order)
	if n < len(admitted) || n < c.byID.Len() {
		return c.compareRest(d, n, admitted, order)
	}
	return d, true
}

// inStep compares the workloads at the front that list and order have in the same places, and
// returns their number. Their records are those of order, without a copy if none changed.
func (d *Difference) inStep(admitted []workload.Workload, order []*Workload) (n int) {
	for n < len(admitted) && n < len(order) && order[n] != nil && order[n].Facts.ID == admitted[n].ID {
		if !order[n].Describes(&admitted[n]) {
			d.Changed = append(d.Changed, Changed{order[n], n})
		}
		n++
	}
	d.Records = order[:n:n]
	if len(d.Changed) > 0 {
		d.Records = slices.Clone(d.Records)
		for _, changed := range d.Changed {
			d.Records[changed.New] = nil
		}
	}
	return n
}

// compareRest continues after the first n in a list.
func (c *Cluster) compareRest(d Difference, n int, admitted []workload.Workload, order []*Workload) (Difference, bool) {
	if n < len(admitted) {
		d.Records = append(make([]*Workload, 0, len(admitted)), d.Records...)[:len(admitted)]
	}
	seen := make([]bool, len(order)) // the workloads of order found in the list
	for i := range n {
		seen[i] = true
	}
	elsewhere := make(map[*Workload]bool, max(0, len(admitted)-len(order)))
	added := map[string]bool{}
	met, next := n, n
	for i := n; i < len(admitted); i++ {
		w := &admitted[i]
		var old *Workload
		for next < len(order) && order[next] == nil {
			next++
		}
		if next < len(order) && order[next].Facts.ID == w.ID {
			old, seen[next] = order[next], true
			next++
		} else if found, running := c.byID.Get(w.ID); running {
			old = found
			if at := slices.Index(order[next:min(len(order), next+near)], found); at >= 0 {
				next += at
				seen[next] = true
				next++
			} else if elsewhere[found] {
				return d, false
			} else {
				elsewhere[found] = true
			}
		}
		switch {
		case old == nil:
			if added[w.ID] {
				return d, false
			}
			added[w.ID] = true
			d.New = append(d.New, i)
			continue
		case old.Describes(w):
			d.Records[i] = old
		default:
			d.Changed = append(d.Changed, Changed{old, i})
		}
		met++
	}
	for i, w := range order {
		if seen[i] && elsewhere[w] {
			return d, false
		}
	}
	if met < c.byID.Len() {
		d.Gone = c.notMet(order, seen, elsewhere)
	}
	return d, true
}

// Current returns an order of workloads after edits of those with the given IDs; nil in place
// of those that are gone.
func (c *Cluster) Current(order []*Workload, edited []string) []*Workload {
	if len(edited) == 0 || len(order) == 0 {
		return order
	}
	was := make(map[string]bool, len(edited))
	for _, id := range edited {
		was[id] = true
	}
	order = slices.Clone(order)
	for i, w := range order {
		if w != nil && was[w.Facts.ID] {
			order[i], _ = c.byID.Get(w.Facts.ID)
		}
	}
	return order
}

// notMet returns the workloads that were not found, neither in the order nor elsewhere.
func (c *Cluster) notMet(order []*Workload, seen []bool, elsewhere map[*Workload]bool) (list []*Workload) {
	running := 0
	for i, w := range order {
		if w == nil {
			continue
		}
		if running++; !seen[i] && !elsewhere[w] {
			list = append(list, w)
		}
	}
	if running == c.byID.Len() { // all were found
		return list
	}
	list = nil
	for i, w := range order {
		if seen[i] {
			elsewhere[w] = true
		}
	}
	for w := range c.byID.All {
		if !elsewhere[w] {
			list = append(list, w)
		}
	}
	return list
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
