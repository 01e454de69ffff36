package room

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/budget"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Most units that a budget covers violate it and share no node with the members that are placed first. All of these
// stay. They are not listed: whether a unit is one of them follows from where the allowances of its budgets end, and
// is asked only on the nodes that a placement looks at.
//
// (Listing them took nine tenths of a decision about a gang. Sums of covered units, kept by the nodes, would not know
// which units are within an allowance, nor groups over several nodes.)

// Over knows which units stay because they violate a budget and run elsewhere.
type Over struct {
	Rows

	begun     bool        // these units stay
	domain    Domain      // in which units are charged to the budgets
	isUsed    []bool      // by node: a member is placed there
	fixedUpTo []int64     // by node: the pods of these units up to this priority count as fixed
	counted   []cells     // of these pods
	ends      []allowance // by slot of budget
	asked     *state.Unit // the last unit asked about: pods of a group often run on nodes next to each other
	answer    bool        // about it
}

// allowance is where the allowance of a budget ends.
type allowance struct {
	known bool
	unit  *state.Unit // the most important unit that violates the budget; nil: none does
	pod   int         // the index of its first pod that does
}

// prepare sets up the budgets for a domain with members on the used nodes.
func (o *Over) prepare(d Domain, used []int32) {
	o.domain, o.ends = d, Resize(o.ends, len(o.Cluster.Budgets))
	o.isUsed, o.fixedUpTo = Resize(o.isUsed, len(o.Nodes)), Resize(o.fixedUpTo, len(o.Nodes))
	clear(o.ends)
	clear(o.isUsed)
	for i := range o.fixedUpTo {
		o.fixedUpTo[i] = NoFloor
	}
	for _, i := range used {
		o.isUsed[i] = true
	}
}

// keepOver keeps the units in place that violate a budget and run on no used node.
func (o *Over) keepOver() { o.begun, o.asked = true, nil }

// violations counts the pods of a unit that violate a budget.
func (o *Over) violations(u *state.Unit) (violations int) {
	for k, p := range u.Pods {
		violates := func(slot int32) bool { return o.Cluster.Budgets[slot].Charges(p) && o.isOver(slot, u, k) }
		if slices.ContainsFunc(p.Budgets, violates) {
			violations++
		}
	}
	return violations
}

// isOver reports whether a pod of a unit violates a budget that is charged for it.
func (o *Over) isOver(slot int32, u *state.Unit, pod int) bool {
	if o.Cluster.Budgets[slot].Facts.Allowed <= 0 {
		return true
	}
	end := o.endOf(slot)
	if end.unit == nil {
		return false
	}
	order := state.CompareUnits(end.unit, u)
	return order < 0 || order == 0 && end.pod <= pod
}

// endOf finds where the allowance of a budget ends: it is charged for the most important units first.
func (o *Over) endOf(slot int32) *allowance {
	end := &o.ends[slot]
	if end.known {
		return end
	}
	end.known = true
	b, left := &o.Cluster.Budgets[slot], o.Cluster.Budgets[slot].Facts.Allowed
	o.Cluster.CoveredBy(slot, o.Priority, func(u *state.Unit) bool {
		o.Cost.Looked++
		if !o.isCharged(u) {
			return true
		}
		for k, p := range u.Pods {
			if !slices.Contains(p.Budgets, slot) || !b.Charges(p) {
				continue
			}
			if left--; left < 0 {
				end.unit, end.pod = u, k
				return false
			}
		}
		return true
	})
	return end
}

// isCharged reports whether a unit is charged to the budgets before less important ones.
func (o *Over) isCharged(u *state.Unit) bool {
	if o.Config.DecidesTogether(o.Request) {
		return o.mayYieldAnywhere(u)
	}
	return o.IsCurrent(u) && o.Within(o.domain, u)
}

// mayYieldAnywhere reports whether no rule keeps a unit of the indexes of the cluster from yielding.
func (g *Grid) mayYieldAnywhere(u *state.Unit) bool {
	return g.IsCurrent(u) && (!g.AnyRule() || g.Verdict(u, g.Now).Rule == 0)
}

// staysOver reports whether a unit stays because it violates a budget and runs on no used node.
func (o *Over) staysOver(u *state.Unit) bool {
	if !o.begun || !u.Covered {
		return false
	}
	if o.asked != u {
		o.asked = u
		o.answer = !slices.ContainsFunc(u.Pods, o.runsOnUsed) && o.violations(u) > 0
	}
	return o.answer
}

func (o *Over) runsOnUsed(p *state.Pod) bool {
	i := o.Of(p)
	return i >= 0 && o.isUsed[i]
}

// fixOver counts the pods on a node of units that stay as fixed, up to a priority: at that floor the pods of higher
// priority stay in any case.
func (o *Over) fixOver(i int, priority int64) {
	if !o.begun || o.isUsed[i] || o.fixedUpTo[i] >= priority {
		return
	}
	done := o.fixedUpTo[i]
	o.fixedUpTo[i] = priority
	if !slices.ContainsFunc(o.Classes(i), func(c state.Class) bool {
		return (c.Covered || c.Grouped) && int64(c.Priority) > done && int64(c.Priority) <= priority
	}) {
		return
	}
	n := o.Nodes[i]
	for k, b := range n.Briefs {
		if int64(b.Priority) <= done || int64(b.Priority) > priority || !b.Whole && !b.IsCovered() {
			continue
		}
		o.Cost.Looked++
		p := n.Pods[k]
		stays := budget.ExhaustsAlone(o.Cluster, b)
		if !stays {
			u := o.UnitOf(p)
			stays = u != nil && o.staysOver(u)
		}
		if stays {
			o.Cost.Elsewhere++
			c := o.cellsOf(i, b.Class(), p.Takes)
			o.fix(c, 1)
			o.counted = append(o.counted, c)
		}
	}
}

// forgetOver undoes prepare and all that followed.
func (o *Over) forgetOver() {
	o.begun = false
	for _, c := range o.counted {
		o.fix(c, -1)
	}
	o.counted = o.counted[:0]
}

// end drops the references to the cluster.
func (o *Over) end() {
	o.begun, o.asked = false, nil
	clear(o.counted[:cap(o.counted)])
	clear(o.ends)
	o.counted = o.counted[:0]
	o.Rows.end()
}
