package search

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Class is the right by which the workloads of a queue may be preempted.
type Class uint8

const (
	// Hierarchical: the request fits in the quota of a subtree with the preemptor's queue but
	// without the donor's queue. In fair sharing: any other queue.
	Hierarchical Class = iota
	// Priority: it does not fit there, so the policies on borrowing decide.
	Priority
	// Own: the preemptor's own queue.
	Own
)

// Level is a cohort above the preemptor's queue. Its queues may be donors by one right,
// except those under the child above the preemptor's queue.
type Level struct {
	Cohort int
	Except int // that child
	Class  Class
	Reach  *cluster.Reach
}

// Donor is a queue whose workloads are candidates.
type Donor struct {
	Queue int
	LCA   int // the lowest cohort above it and the preemptor's queue; -1 for the own queue
	Class Class
	guarantee
}

// OwnDonor returns the preemptor's own queue; ok is false if its policy permits nobody.
func (s *Search) OwnDonor() (d Donor, ok bool) {
	q := s.Request.Queue
	return Donor{q, -1, Own, s.guaranteeOf(q, -1)}, s.policy().WithinClusterQueue != queue.Never
}

// DonorAt returns another queue as a donor at a level.
func (s *Search) DonorAt(l *Level, q int) Donor {
	return Donor{q, l.Cohort, l.Class, s.guaranteeOf(q, l.Cohort)}
}

// CollectLevels collects the levels from which the policy permits the queue to reclaim: all
// or none.
func (s *Search) CollectLevels() {
	s.Levels = s.Levels[:0]
	s.noteEntitled()
	if s.policy().ReclaimWithinCohort == queue.Never {
		return
	}
	for l := range s.eachLevel {
		l.Reach = s.Cluster.Reach(l.Cohort)
		s.Levels = append(s.Levels, l)
	}
}

// eachLevel walks from the preemptor's cohort to the root. The class is Hierarchical above
// the first level at which the rest of the request fits in the quota of the subtree. In fair
// sharing it is Hierarchical at every level: shares decide.
func (s *Search) eachLevel(yield func(Level) bool) {
	s.rest = append(s.rest[:0], s.Request.Amounts...)
	from := s.Request.Queue
	advantage := s.restFits(usage.Victims, from) || s.Request.Fair.Enabled()
	for n := s.View.Tree.Parent(from); n >= 0; n = s.View.Tree.Parent(n) {
		class := Priority
		if advantage {
			class = Hierarchical
		}
		if !yield(Level{Cohort: n, Except: from, Class: class}) {
			return
		}
		advantage = s.restFits(usage.Victims, n) || advantage
		from = n
	}
}

// Advantage reports whether the request fits, without those gone, in the quota of the queue, or of a
// cohort above it that is below another cohort.
func (s *Search) Advantage(gone usage.Gone, cohort int) bool {
	s.rest = append(s.rest[:0], s.Request.Amounts...)
	for n := s.Request.Queue; n != cohort; n = s.View.Tree.Parent(n) {
		if s.restFits(gone, n) {
			return true
		}
	}
	return false
}

// restFits reports whether the rest of the request fits, without those gone, in the quota of the
// node's subtree, and subtracts from the rest what the node's local quota can hold.
func (s *Search) restFits(gone usage.Gone, node int) bool {
	fits := true
	cells := s.View.Cells(node)
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		c := &cells[slot]
		if quota.Add(c.Used(gone), s.rest[slot]) > c.SubtreeQuota {
			fits = false
		}
		s.rest[slot] = max(0, quota.Sub(s.rest[slot], c.LocalAvailable(c.Used(gone))))
	}
	return fits
}

// AppendDonors appends all donors, the own queue first. It leaves out queues that borrow
// nothing of what needs preemption and, except in fair sharing, whole such subtrees.
func (s *Search) AppendDonors(list []Donor) []Donor {
	if d, ok := s.OwnDonor(); ok {
		list = append(list, d)
	}
	borrows := func(node int) bool { return !s.View.WithinNominal(node, s.Needs) }
	enter := func(cohort int) bool { return s.Request.Fair.Enabled() || borrows(cohort) }
	for i := range s.Levels {
		l := &s.Levels[i]
		s.Cluster.EachQueueUnder(l.Cohort, l.Except, enter, func(q int) bool {
			if borrows(q) && !s.Cluster.Queue(q).Inactive {
				list = append(list, s.DonorAt(l, q))
			}
			return true
		})
	}
	return list
}

// nothingToReclaim reports whether a donor in another queue, or a cohort between it and the
// common one, is now within its quota. While workloads are only removed, that stays so.
func (s *Search) nothingToReclaim(d *Donor) bool {
	if d.Class == Own {
		return false
	}
	for n := d.Queue; n != d.LCA; n = s.View.Tree.Parent(n) {
		if s.View.WithinNominal(n, s.Needs) {
			return true
		}
	}
	return false
}
