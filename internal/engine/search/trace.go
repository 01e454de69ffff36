package search

import (
	"math"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/quota"
)

// What the hooks of the recorder write down. It is called where somebody wants to know only,
// and may take its time.

// nodeSamples is how many nodes a step names.
const nodeSamples = 4

var (
	traceClass = [...]trace.Class{Hierarchical: trace.Hierarchical, Priority: trace.Priority, Own: trace.Own}
	traceTier  = [...]trace.Tier{everybody: trace.Everybody, expiredEquals: trace.Expired, newerEquals: trace.Newer}
	traceBound = [...]trace.Bound{usage.InReach: trace.InReach, usage.InNeed: trace.InNeed}
)

// missing is what the request lacks with some gone.
func (s *Search) missing(gone usage.Gone, borrowing bool) []trace.Missing {
	return s.short(gone, func(slot int) bool { return s.StaysNominal(slot, borrowing) })
}

// short is missing where the queue must stay within its nominal quota in some slots.
func (s *Search) short(gone usage.Gone, staysNominal func(slot int) bool) (list []trace.Missing) {
	queue := s.Request.Queue
	for slot, amount := range s.Request.Amounts {
		if amount == 0 {
			continue
		}
		if a, bound := s.View.Available(gone, queue, slot); amount > a {
			list = append(list, trace.Missing{Slot: slot, Amount: quota.Sub(amount, a), Node: bound})
		} else if over := s.overNominal(gone, slot); staysNominal(slot) && over > 0 {
			list = append(list, trace.Missing{Slot: slot, Amount: over, Node: queue})
		}
	}
	return list
}

// TraceAsked notes whether the request fits with nobody gone.
func (s *Search) TraceAsked(t *trace.Recorder, fits bool) {
	t.Add(trace.Step{Kind: trace.Asked, Fits: fits, Missing: s.short(usage.Victims, func(int) bool { return false })})
}

// TraceLevels notes by which right the queues at each level are candidates, and which of
// them borrow nothing.
func (s *Search) TraceLevels(t *trace.Recorder) {
	parent := s.View.Tree.Parent(s.Request.Queue)
	if len(s.Levels) == 0 && parent >= 0 {
		t.Skip(trace.Step{Rule: trace.ReclaimWithinCohort, Node: parent})
	}
	for _, l := range s.Levels {
		step := trace.Step{Kind: trace.Level, Node: l.Cohort, Class: traceClass[l.Class]}
		s.traceIdle(&step, l.Cohort, l.Except)
		t.Add(step)
	}
}

// traceIdle adds the children of a cohort that run something and borrow nothing of what
// needs preemption.
func (s *Search) traceIdle(step *trace.Step, cohort, except int) {
	idle := func(node int) {
		step.Count++
		if len(step.Nodes) < nodeSamples {
			step.Nodes = append(step.Nodes, node)
		}
	}
	for _, q := range s.Cluster.ChildQueues[cohort] {
		if int(q) != except && s.Cluster.Running(int(q)).Len() > 0 && s.View.WithinNominalAtFirst(int(q), s.Needs) {
			idle(int(q))
		}
	}
	for _, c := range s.Cluster.ChildCohorts[cohort] {
		switch {
		case int(c) == except:
		case s.View.WithinNominalAtFirst(int(c), s.Needs) && !s.Request.Fair.Enabled():
			idle(int(c))
		default:
			s.traceIdle(step, int(c), -1)
		}
	}
}

// TraceHopeless notes the first sum that refuses the request.
func (s *Search) TraceHopeless(t *trace.Recorder, borrowing bool) {
	if s.OverPotential() {
		t.Add(trace.Step{Kind: trace.Hopeless, Bound: trace.Potential})
		return
	}
	for gone := usage.InReach; gone <= usage.InNeed; gone++ {
		if s.HopelessIn(gone, borrowing) {
			t.Add(trace.Step{Kind: trace.Hopeless, Bound: traceBound[gone], Missing: s.missing(gone, borrowing)})
			return
		}
	}
}

// tracePhase notes that a phase begins; of one in which nobody may yield, whom the policy
// keeps.
func (s *Search) tracePhase(t *trace.Recorder, ph *phase, p Permission) {
	evicted := ph.lanes[0] == cluster.Evicted
	t.Add(trace.Step{Kind: trace.PhaseBegins, Class: traceClass[ph.class], Tier: traceTier[ph.tier], Evicted: evicted})
	if p != Nobody || evicted || ph.tier != everybody {
		return
	}
	if ph.class == Own {
		running := s.Cluster.Running(s.Request.Queue)
		w := s.FirstWhole(func(lane cluster.Lane) *cluster.Workload { return firstOf(running.Lane(lane)) })
		if w != nil {
			t.Skip(trace.Step{Rule: trace.WithinClusterQueue, Node: s.Request.Queue, Workload: w.Facts.ID, Count: int64(running.Len())})
		}
		return
	}
	for _, l := range s.Levels {
		if l.Class == ph.class && l.Reach.Heads.Len() > 0 {
			t.Skip(trace.Step{Rule: trace.BorrowWithinCohort, Node: l.Cohort})
		}
	}
}

func firstOf(lane *cluster.LaneSet) *cluster.Workload {
	var cursor cluster.LaneCursor
	cursor.First(*lane)
	w, _ := cursor.Item()
	return w
}

// traceWithinNominal records that a queue is skipped from one of its workloads on, because
// it, or a cohort above it, is now within its nominal quota.
func (s *Search) traceWithinNominal(t *trace.Recorder, d *Donor, w *cluster.Workload) {
	for n := d.Queue; n != d.LCA; n = s.View.Tree.Parent(n) {
		if s.View.WithinNominal(n, s.Needs) {
			t.Skip(trace.Step{Rule: trace.WithinNominal, Node: n, Workload: w.Facts.ID, Count: 1})
			return
		}
	}
}

// traceRefusedIn notes those at the cursor of a stream and after it, whom the policy keeps. Of
// the own queue, equals come in tiers of their own.
func (s *Search) traceRefusedIn(t *trace.Recorder, st *stream) {
	if st.surplus {
		return // they are in another lane too
	}
	for cursor := st.cursor; ; cursor.Next() {
		w, ok := cursor.Item()
		if !ok {
			return
		}
		rule := trace.ReclaimWithinCohort
		switch {
		case !s.UsesNeeded(w.Loads), st.donor.Class == Own && s.EqualsMayYield() && w.Priority == s.Request.Priority:
			continue
		case st.donor.Class == Own:
			rule = trace.WithinClusterQueue
		case s.Permission(st.donor.Class, false).Permits(w):
			rule = trace.BorrowWithinCohort
		}
		t.Skip(trace.Step{Rule: rule, Node: st.donor.Queue, Workload: w.Facts.ID, Count: 1})
	}
}

// TraceRefused notes those in the children of a cohort from a cursor on, of none of whom
// the policy permits the first.
func (s *Search) TraceRefused(t *trace.Recorder, cursor cluster.HeadCursor, c Class, except int, lane cluster.Lane) {
	for ; ; cursor.Next() {
		head, ok := cursor.Item()
		if !ok || head.Lane != lane {
			return
		}
		child := int(head.Node)
		switch {
		case child == except || s.View.WithinNominal(child, s.Needs):
		case s.Cluster.IsQueue(child):
			st := stream{surplus: lane.Surplus(), donor: Donor{Queue: child, Class: c}}
			st.cursor.First(*s.Cluster.Running(child).Lane(lane))
			s.traceRefusedIn(t, &st)
		default:
			var below cluster.HeadCursor
			cluster.SeekLane(&below, s.Cluster.Reach(child).Heads, lane)
			s.TraceRefused(t, below, c, -1, lane)
		}
	}
}

// traceVerdict records the rule, if any, that refuses a workload in the range of priorities
// that the policy permits, and the others that are skipped with it.
func (s *Search) traceVerdict(t *trace.Recorder, st *stream, w *cluster.Workload, mayYield bool) {
	if st.surplus {
		return
	}
	step := trace.Step{Node: st.donor.Queue, Workload: w.Facts.ID, Count: 1}
	until, protected := st.donor.Protects(w)
	switch {
	case !mayYield && s.expired(w): // of another tier
		return
	case !mayYield:
		step.Rule, step.Until = trace.NotNewer, math.MaxInt64
		if held, ends := s.Request.HeldUntil(w); ends {
			step.Until = held
		}
	case !s.UsesNeeded(w.Loads):
		step.Rule = trace.NotUsed
		step.Count = passed(st, func(w *cluster.Workload) bool { return !s.UsesNeeded(w.Loads) })
	case protected && s.Now <= until:
		step.Rule, step.Until, step.SetBy = trace.MinRuntime, until, st.donor.setByFor(w)
		if st.tier != expiredEquals && st.donor.byReservation(w, s.Now) {
			others := int64(0) // that use nothing of what is needed
			step.Count = passed(st, func(o *cluster.Workload) bool {
				kept := o.Priority == w.Priority && st.donor.byReservation(o, s.Now)
				if kept && !s.UsesNeeded(o.Loads) {
					others++
				}
				return kept
			}) - others
		}
	case s.guarded(w):
		step.Rule, step.Until = trace.Guarded, s.Request.Guard(w)
	case s.refuses(st.donor.Queue, w):
		step.Rule = trace.Unstable
	default:
		return
	}
	t.Skip(step)
}

// passed counts those at the cursor of a stream and after it that pass the test, one after
// the other.
func passed(st *stream, test func(*cluster.Workload) bool) (n int64) {
	for cursor := st.cursor; ; cursor.Next() {
		w, ok := cursor.Item()
		if !ok || !test(w) {
			return n
		}
		n++
	}
}

// StepOf is a step about a victim.
func StepOf(kind trace.Kind, v *Victim) trace.Step {
	step := trace.Step{Kind: kind, Workload: v.Workload.Facts.ID, Node: v.Queue, PodSet: -1, Evicted: v.Workload.Facts.Evicted}
	switch w := v.Workload; {
	case v.Set >= 0:
		step.PodSet, step.Replicas = w.Surplus[v.Set].PodSet, v.Count
	case w.Leaving > 0:
		step.PodSet, step.Replicas = w.Leaving-1, w.PodSets[0].Count
	}
	return step
}

// TraceTaken notes the victim taken last, and what is still short.
func (s *Search) TraceTaken(t *trace.Recorder, borrowing, fits bool) {
	step := StepOf(trace.Taken, &s.Taken[len(s.Taken)-1])
	step.Missing, step.Fits = s.missing(usage.Victims, borrowing), fits
	t.Add(step)
	if s.Request.Room != nil && len(step.Missing) == 0 {
		t.Add(trace.Step{Kind: trace.RoomAsked, Fits: fits})
	}
}

// putBack is whether a victim is put back.
func putBack(v *Victim, fits, spared bool) trace.Step {
	step := StepOf(trace.PutBack, v)
	if !spared {
		step.Kind, step.Reason = trace.Kept, trace.DoesNotFit
		if fits {
			step.Reason = trace.Unjustified
		}
	}
	return step
}
