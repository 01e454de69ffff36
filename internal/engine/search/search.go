package search

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/quotatree"
	"github.com/cedesched/cede/internal/engine/usage"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Searcher searches. The zero value is ready.
type Searcher struct {
	cluster   *cluster.Cluster
	request   *Request
	running   *cluster.Running // in the own queue
	view      usage.View
	bounds    [usage.Kinds]bound
	sum       []quotatree.Load
	exceptSum []quotatree.Load
	levels    []level
	rest      []int64
	streams   []stream
	sources   []source
	heap      []item
	columns   []int // of the scratch
	taken     []Victim
	shortages []Shortage
	blockers  []Blocker
	// firstShortages is the shortages of the decision itself, not of a trial.
	firstShortages []Shortage
	noRoom         bool
	steps          int

	// For retryAt:
	donors   []donor
	runs     []run
	kept     []int64 // by run and slot: what is kept, and all before the run
	moved    []int64 // by donor and slot
	late     []late
	instants []int64
	changed  []int // donors, since the instant tried last
	draining bool

	// The tournament of fair sharing:
	brackets     []bracket
	way          []int32 // brackets from the root to the queue whose turn it is
	lineups      []lineup
	refused      []Victim // by the first strategy, one a queue
	refusers     marks    // their queues
	refusedAt    []int32  // by node, of those
	replay       []Victim
	added        []int64 // by slot, what the request adds to usage
	secondChance bool
	seen         marks

	largestFirst bool     // now
	bySize       []Victim // the candidates of a phase, the next one last
}

// Search decides about a request. At most maxBlockers blockers are listed.
func (s *Searcher) Search(c *cluster.Cluster, r *Request, maxBlockers int) Result {
	s.begin(c, r)
	var result Result
	switch {
	case s.fitsAtFirst():
		result.Fits = true
	case s.findVictims():
		result.Victims = s.taken
		s.leaveRoom()
	default:
		if s.noRoom { // in some attempt the quota was enough
			s.shortages = s.shortages[:0]
		}
		s.findBlockers(maxBlockers)
		s.firstShortages = append(s.firstShortages[:0], s.shortages...) // trials have their own
		result.Shortages, result.Blockers, result.NoRoom = s.firstShortages, s.blockers, s.noRoom
		result.RetryAt, result.Waits = s.retryAt()
	}
	result.BorrowHeight = s.borrowHeight()
	result.Steps = s.steps
	s.end()
	return result
}

// begin makes the searcher ready for a request.
func (s *Searcher) begin(c *cluster.Cluster, r *Request) {
	s.cluster, s.request, s.steps, s.noRoom = c, r, 0, false
	s.running = c.Running(r.Queue)
	s.view.Reset(c, s.columnsOf(c, r))
	s.bounds = [usage.Kinds]bound{}
	s.taken, s.shortages, s.blockers = s.taken[:0], s.shortages[:0], s.blockers[:0]
}

// end lets go of the cluster, so that a searcher at rest keeps none alive.
func (s *Searcher) end() {
	s.cluster, s.request, s.running = nil, nil, nil
	s.view.Release()
}

// columnsOf is what the scratch is about: the columns of the request and, as shares are
// of everything, in fair sharing all others of the tree.
func (s *Searcher) columnsOf(c *cluster.Cluster, r *Request) []int {
	s.columns = append(s.columns[:0], r.Columns...)
	if r.Fair.enabled() {
		root := r.Queue
		for c.Tree.Parent(root) >= 0 {
			root = c.Tree.Parent(root)
		}
		for column := range c.Tree.EachColumn(root) {
			if !slices.Contains(r.Columns, column) {
				s.columns = append(s.columns, column)
			}
		}
	}
	return s.columns
}

// findVictims looks for victims, where configured a second time with the largest first.
func (s *Searcher) findVictims() bool {
	if s.findInOrder() {
		return true
	}
	if !s.request.LargestFirst {
		return false
	}
	s.largestFirst = true
	found := s.findInOrder()
	s.largestFirst = false
	return found
}

// findInOrder runs the attempts in which the request may or may not take its queue
// over nominal, and stops at the first that succeeds, even where a later one would
// take less.
func (s *Searcher) findInOrder() bool {
	s.collectLevels()
	switch {
	case s.overPotential():
		s.boundShortages()
		return false
	case s.request.Fair.enabled():
		return s.fairAttempt()
	case s.policy().BorrowWithinCohort.Policy != queue.Never:
		return s.attempt(true) || s.attemptWithMore()
	case !s.underNominal() || !s.hasCandidate(hierarchical) && !s.hasCandidate(priority):
		return s.attempt(true)
	case !s.hasCandidate(hierarchical):
		return s.attempt(false) || s.attempt(true)
	default:
		return s.attempt(true) || s.attemptWithMore()
	}
}

// attemptWithMore tries without borrowing what failed with it. That can succeed only
// where it permits more: with the same candidates all gone the request did not fit.
func (s *Searcher) attemptWithMore() bool {
	for _, l := range s.levels {
		if s.permission(l.class, false) != s.permission(l.class, true) && l.reach.Heads.Len() > 0 {
			return s.attempt(false)
		}
	}
	return false
}

// hasCandidate reports whether a class has any candidate before anything is taken.
func (s *Searcher) hasCandidate(c class) bool {
	for phase := range phases {
		if phases[phase].class != c {
			continue
		}
		s.queueUp(phase, false)
		for len(s.streams) == 0 && len(s.heap) > 0 {
			s.expand()
		}
		if len(s.streams) > 0 { // any has a candidate, be it not the first
			return true
		}
	}
	return false
}

// attempt takes candidates in order until the request fits, then gives back what is
// not needed (KEP-83, Preemption, steps 4 and 5). When it fails it leaves the
// scratch as it was and, if borrowing is permitted, notes what was short.
//
// Before it takes much it asks whether the sums prove that it is in vain.
func (s *Searcher) attempt(borrowing bool) bool {
	for phase := range phases {
		s.queueUp(phase, borrowing)
		for {
			if s.provenInVain(borrowing) {
				s.fail(borrowing)
				return false
			}
			v, ok := s.next()
			if !ok {
				break
			}
			s.take(v)
			if s.fits(borrowing) {
				s.giveBack(borrowing)
				return true
			}
		}
	}
	s.fail(borrowing)
	return false
}

// askAt is after how many victims the sums are asked that take a look at each donor: an
// answer of few victims is found sooner without. Those that do not are asked after the
// first victim, if it does not free an askAt-th of what is short.
const askAt = 8

// provenInVain reports whether it is time to ask the sums, and they prove an attempt to fail.
func (s *Searcher) provenInVain(borrowing bool) bool {
	switch len(s.taken) {
	case 1:
		return s.freesLittle(&s.taken[0]) && s.outOf(usage.InReach, borrowing)
	case askAt:
		return s.hopeless(borrowing)
	}
	return false
}

// freesLittle reports whether many more would be needed like a victim, which is gone.
func (s *Searcher) freesLittle(v *Victim) bool {
	for slot, amount := range s.request.Amounts {
		if amount == 0 {
			continue
		}
		available, _ := s.view.Available(usage.Victims, s.request.Queue, slot)
		if quota.Sub(amount, available) > quota.Mul(askAt, v.load(s.request.Columns[slot])) {
			return true
		}
	}
	return false
}

// fail notes what is short and puts everybody back.
func (s *Searcher) fail(borrowing bool) {
	if s.request.Room != nil && s.fitsIn(usage.Victims, borrowing) {
		s.noRoom = true
	}
	if borrowing && !s.largestFirst && !s.boundShortages() {
		s.shortages = s.listShortages(usage.Victims, s.shortages[:0])
	}
	s.restore()
}

// take takes a victim out.
func (s *Searcher) take(v Victim) {
	s.move(v, -1)
	s.taken = append(s.taken, v)
}

// restore puts everything back that is taken.
func (s *Searcher) restore() {
	for len(s.taken) > 0 {
		last := len(s.taken) - 1
		v := s.taken[last]
		s.taken = s.taken[:last]
		s.move(v, 1)
	}
}

// move takes a victim out of the scratch (times -1) or puts it back (1). What leaves
// with a whole workload is what was not taken of it before.
func (s *Searcher) move(v Victim, times int64) {
	if room := s.request.Room; room != nil && v.Set < 0 {
		if times < 0 {
			room.Remove(v.Workload.Facts.ID)
		} else {
			room.Restore(v.Workload.Facts.ID)
		}
	}
	if v.Set >= 0 {
		s.view.Move(usage.Victims, v.queue, v.Workload.Surplus[v.Set].Loads, times*v.Count)
		return
	}
	s.view.Move(usage.Victims, v.queue, v.Workload.Loads, times)
	if len(v.Workload.Surplus) == 0 {
		return
	}
	for _, t := range s.taken {
		if t.Workload == v.Workload && t.Set >= 0 {
			s.view.Move(usage.Victims, v.queue, t.Workload.Surplus[t.Set].Loads, -times*t.Count)
		}
	}
}

// leaveRoom gives the room back what was taken, which stays taken of the quota.
func (s *Searcher) leaveRoom() {
	if s.request.Room == nil {
		return
	}
	for i := range s.taken {
		if s.taken[i].Set < 0 {
			s.request.Room.Restore(s.taken[i].Workload.Facts.ID)
		}
	}
}

// giveBack puts back, latest first, each victim without which the request still fits and,
// where shares are checked again, the others are justified. One look at each is enough,
// but for shares: when another one is put back, that may justify what was not before.
// In the end no part of the victims would do: of what could be put back together, those
// through the farthest cohort could be put back first, one by one, as they justify nobody
// else.
func (s *Searcher) giveBack(borrowing bool) {
	for before := len(s.taken) + 1; before > len(s.taken) && len(s.taken) > 1; {
		before = len(s.taken)
		s.giveBackOnce(borrowing)
		if !s.request.Fair.Recheck {
			return
		}
	}
}

// giveBackOnce looks once at each victim but the last one taken, which is needed: it did
// not fit without. Replicas stay taken when the rest of their workload is.
func (s *Searcher) giveBackOnce(borrowing bool) {
	needed := len(s.taken) - 1
	all := s.taken
	for i := len(all) - 2; i >= 0; i-- {
		v := all[i]
		s.taken = all[:i] // those that a whole workload left without
		if !(v.Set >= 0 && goesWhole(v.Workload, all[needed:])) {
			s.move(v, 1)
			if s.fits(borrowing) && (!s.request.Fair.Recheck || s.justified(all[:i], all[needed:])) {
				continue
			}
			s.move(v, -1)
		}
		needed--
		all[needed] = v
	}
	s.taken = append(all[:0], all[needed:]...) // keeps the room of those given back
}

func goesWhole(w *cluster.Workload, victims []Victim) bool {
	for i := range victims {
		if victims[i].Workload == w && victims[i].Set < 0 {
			return true
		}
	}
	return false
}
