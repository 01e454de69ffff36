package preemption

import (
	"math"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/internal/engine/trace"
)

// Exposure says whether a running workload may yield to a request, by the rights alone: whether it is needed
// is not asked. The zero value: it may not, and no rule is named, because it uses nothing of what needs preemption.
type Exposure struct {
	// MayYield: every rule permits it now, or its surplus, while no victim is taken.
	MayYield bool
	// Keeps is the first rule that does not, in the order in which a decision asks; its Until is set where time
	// ends the rule.
	Keeps Blocker
}

// Exposure asks, for one running workload, by which rule it is kept from yielding to a request at its Now. Rules of
// operators ([queue.Queue.Rules]), limits and the strategies of fair sharing are not asked. Package safe is what asks it.
// It fails as [Preemptor.Decide] does, and if the workload does not run.
func (p *Preemptor) Exposure(s *Snapshot, r Request, running string) (e Exposure, err error) {
	err = p.expose(s, r, running, func(sc *scratch, c *cluster.Cluster, queue int, w *cluster.Workload) {
		v := sc.searcher.Keeps(c, &sc.request, queue, w)
		if e.MayYield = v.MayYield(); e.MayYield || v.Rule == trace.NotUsed {
			return
		}
		e.Keeps = Blocker{Rule: ruleOf(v.Rule), Queue: c.Queue(queue).Name, Workload: running}
		if v.Until < math.MaxInt64 {
			e.Keeps.Until = instant.Time(v.Until)
		}
		if v.Rule == trace.MinRuntime {
			e.Keeps.SetBy = minimumSetBy(c, v.SetBy)
		}
	})
	return e, err
}

// ruleOf returns the exported rule.
func ruleOf(r trace.Rule) Rule {
	if r == trace.Unstable {
		return RuleFairShare
	}
	return Rule(r)
}

// TurningAmounts lists, in any order, amounts of the first column that is requested at which the answer about
// a running workload may change, if nothing else of the request does: in classical sharing, where its turn
// comes. Empty: its turn never comes. Which of them do change it only [Preemptor.Decide] says. It fails as
// [Preemptor.Exposure] does.
func (p *Preemptor) TurningAmounts(s *Snapshot, r Request, running string) (list []int64, err error) {
	err = p.expose(s, r, running, func(sc *scratch, c *cluster.Cluster, _ int, w *cluster.Workload) {
		if len(sc.request.Columns) > 0 && !c.Queue(sc.request.Queue).Inactive {
			list = sc.searcher.AppendAmounts(nil, c, &sc.request, w)
		}
	})
	return list, err
}

// Turn is where the turn of a running workload comes, among the candidates of a request. The zero value is invalid.
type Turn struct {
	Workload string
	// Amounts are the least, by request of the pod set, at which the workload is the last that is taken, or stays taken while others are
	// put back; nil: none are known. Reason and Replicas are those of the victim.
	Amounts  []int64
	Reason   VictimReason
	Replicas bool
	// Sure: the request for the amounts names the workload, and for less of one column none does. Without amounts: no request for one
	// column does, unless another turn of the workload has amounts.
	Sure bool
	// Idle: no more fits with it, nor with those that are taken after it.
	Idle bool
	// First: it is taken in the first attempt for some amounts.
	First bool
}

// Turns yields the candidates of a request of one pod set in classical sharing, in the order in which they would yield if more and more
// were asked for of each column that it names, in attempt after attempt: some come several times, and those that are taken before others
// again once they stay taken. If running is not empty it yields that workload alone. It ends when yield returns false. It fails as
// [Preemptor.Exposure] does. Looked is how many candidates were looked at. No turn is sure where something leaves already, which would be
// taken before, or limits, rules or another search have a say.
func (p *Preemptor) Turns(s *Snapshot, r Request, running string, yield func(Turn) bool) (looked int, err error) {
	if p == nil {
		p = &standard
	}
	sc := p.scratch.Take()
	defer p.release(sc)
	if err := sc.enter(s, &p.config, &r); err != nil {
		return 0, err
	}
	c := s.inside()
	if len(sc.request.Columns) == 0 || c.Queue(sc.request.Queue).Inactive {
		return 0, nil
	}
	sc.request.Trace = nil
	sure, single := !sc.byRules && p.config.decidesInTurn() && !decide.AnyLeaving(c), len(sc.request.Columns) == 1
	t := search.Telling{PutsBack: sure && single}
	t.To = func(v *right.Victim, amounts []int64, how search.Told) bool {
		sure := sure && how != search.Cut && (single || amounts != nil)
		return yield(Turn{v.Workload.Facts.ID, amounts, VictimReason(v.Right()), v.Partial(), sure, how == search.Idle, t.First})
	}
	if running != "" {
		if w, ok := c.Find(running); ok {
			t.Only = w
		}
	}
	sc.searcher.EachTurn(c, &sc.request, &t)
	return t.Looked, nil
}

// Reached yields the running workloads of another queue, a donor, that a request could ever take of it by the policies of classical
// sharing, if it needs preemption in everything that it names: no request of its queue for these columns or some of them, of no higher
// priority, takes others of the donor, whatever it asks for and whatever other queues give. With branch it yields those of all queues that
// are with the donor below a cohort that is not above the request: no request of its queue that needs preemption in just these columns, of
// no higher priority, takes others of them. Some come several times. It fails as [Preemptor.Decide] does.
func (p *Preemptor) Reached(s *Snapshot, r Request, donor string, branch bool, yield func(id string)) error {
	if p == nil {
		p = &standard
	}
	sc := p.scratch.Take()
	defer p.release(sc)
	if err := sc.enter(s, &p.config, &r); err != nil {
		return err
	}
	sc.request.Trace = nil
	if queue, ok := s.inside().QueueNode(donor); ok && queue != sc.request.Queue {
		sc.searcher.EachReached(s.inside(), &sc.request, queue, branch, func(v *right.Victim) { yield(v.Workload.Facts.ID) })
	}
	return nil
}

// decidesInTurn reports whether nothing but the order of candidates decides.
func (c *Config) decidesInTurn() bool {
	return c.Sharing == Classical && c.Search == Greedy && len(c.Limits) == 0
}

func (p *Preemptor) expose(s *Snapshot, r Request, running string, ask func(sc *scratch, c *cluster.Cluster, queue int, w *cluster.Workload)) error {
	if p == nil {
		p = &standard
	}
	sc := p.scratch.Take()
	defer p.release(sc)
	if err := sc.enter(s, &p.config, &r); err != nil {
		return err
	}
	c := s.inside()
	w, ok := c.Find(running)
	if !ok {
		var faults fault.List
		faults.Add("running", "no workload %q is admitted", running)
		return faults.Err()
	}
	queue, _ := c.QueueNode(w.Facts.Queue())
	ask(sc, c, queue, w)
	return nil
}
