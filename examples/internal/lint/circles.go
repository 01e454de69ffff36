package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// circles finds pairs of workloads that evict each other: one that waits and one of its
// victims, and one that could be submitted and one of its victims. Two workloads alone never
// do so by the policies and strategies as they are; who else runs makes the circle possible.
// So they are asked about with all that runs.
func circles(c *Cluster) []Finding {
	config := c.Config
	config.SkipBlockers, config.SkipRetryAt = true, true
	preemptor, err := preemption.New(config)
	if err != nil {
		return nil
	}
	p := &pairs{preemptor: preemptor, now: c.Now, left: maxWork, places: map[string]bool{}}
	var found []Finding
	look := func(w workload.Workload) {
		if f, circle := p.of(c.Snapshot, w); circle {
			found = append(found, f)
			p.places[f.Place] = true
		}
	}
	for i := range c.Pending {
		c.tell()
		look(c.Pending[i])
	}
	p.left = maxWork
	for _, q := range distinct(c.State.Queues) {
		c.tell()
		for _, w := range c.possible(q) {
			look(w)
		}
	}
	c.Unfinished = p.unfinished
	return found
}

const (
	// maxWork limits the decisions and edits for circles, once for those who wait and once
	// for those who could be submitted. 28,000 of them took 0.4 s with 1,300 victims, so all
	// take some seconds.
	maxWork = 200_000
	// maxWorkOfOne limits them for one workload, so that the first ones leave some for the rest.
	maxWorkOfOne = 4000
)

// tell tells about a step.
func (c *Cluster) tell() {
	if c.Progress != nil {
		c.Progress()
	}
}

// pairs asks about two workloads in both directions.
type pairs struct {
	preemptor  *preemption.Preemptor
	now        time.Time
	left       int             // work for all, until no more is done
	leftOfOne  int             // and for the workload that is asked about
	unfinished int             // workloads for which the work was not enough
	places     map[string]bool // where a circle was found: one circle of two queues says it
}

// spend reports whether there is work left, and takes it.
func (p *pairs) spend(work int) bool {
	p.left, p.leftOfOne = p.left-work, p.leftOfOne-work
	return p.left >= 0 && p.leftOfOne >= 0
}

// of returns the circle of a workload with one of its victims.
func (p *pairs) of(s *preemption.Snapshot, w workload.Workload) (Finding, bool) {
	d, err := p.preemptor.Decide(s, preemption.Request{Workload: w, Now: p.now})
	if err != nil || d.Outcome != preemption.Preempt {
		return Finding{}, false
	}
	p.leftOfOne = maxWorkOfOne
	tried := map[string]bool{}
	for _, v := range d.Victims {
		ran, _ := s.Find(v.Workload)
		place := queuesOf(w.Queue, v.Queue)
		kind := kindOf(&ran)
		if p.places[place] || tried[kind] || !mayReturn(s, &w, &ran) {
			continue
		}
		tried[kind] = true
		steps, circle, whole := p.circle(s, w, v.Workload)
		if !whole {
			p.unfinished++
			break
		}
		if circle {
			return Finding{
				Place:   place,
				Problem: "two workloads evict each other, for ever while nothing else changes",
				Example: said(&w) + strings.ReplaceAll(strings.TrimPrefix(strings.Join(steps, "; "), w.ID), hypothetical, "the new one"),
			}, true
		}
	}
	return Finding{}, false
}

func queuesOf(a, b string) string { return fmt.Sprintf("queues %q and %q", min(a, b), max(a, b)) }

// kindOf is the same for workloads of one queue that differ in name and times alone: one of
// them is asked about.
func kindOf(w *workload.Workload) string {
	return fmt.Sprint(w.Queue, w.EffectivePriority(), w.Usage())
}

// mayReturn reports whether the policies of the victim's queue allow it to evict the one that
// evicted it.
func mayReturn(s *preemption.Snapshot, evicts, victim *workload.Workload) bool {
	q, ok := s.Queue(victim.Queue)
	if !ok {
		return false
	}
	lower := evicts.EffectivePriority() < victim.EffectivePriority()
	policy := q.Preemption.ReclaimWithinCohort
	if evicts.Queue == victim.Queue {
		policy = q.Preemption.WithinClusterQueue
	}
	switch policy {
	case queue.Never:
		return false
	case queue.LowerPriority:
		return lower
	case queue.LowerOrNewerEqualPriority:
		return lower || evicts.EffectivePriority() == victim.EffectivePriority()
	}
	return true
}

// circle reports whether a workload that waits evicts one that runs, is evicted by it, and
// evicts it again, all at one instant. Others that were evicted return as soon as they fit.
// whole is false if there was not enough work left to know.
func (p *pairs) circle(s *preemption.Snapshot, waits workload.Workload, runs string) (steps []string, circle, whole bool) {
	others := map[string]workload.Workload{}
	for range 3 {
		d, err := p.preemptor.Decide(s, preemption.Request{Workload: waits, Now: p.now})
		if err != nil || d.Outcome != preemption.Preempt {
			return nil, false, true
		}
		var back workload.Workload
		for _, v := range d.Victims {
			if len(v.Replicas) > 0 {
				continue
			}
			ran, _ := s.Find(v.Workload)
			again, err := cycle.Requeued(v, submitted(ran), p.now)
			if err != nil {
				return nil, false, true
			}
			if others[again.ID] = again; again.ID == runs {
				back = again
			}
		}
		if back.ID == "" {
			return nil, false, true
		}
		delete(others, runs)
		if !p.spend(1 + 2*len(d.Victims) + len(others)) {
			return nil, false, false
		}
		steps = append(steps, preempts(&waits, &d))
		if s, err = p.carryOut(s, d, waits); err == nil {
			s, err = p.returnWhoFits(s, others)
		}
		if err != nil {
			return nil, false, true
		}
		waits, runs = back, waits.ID
	}
	return steps[:2], true, true
}

// preempts is a step of a circle.
func preempts(w *workload.Workload, d *preemption.Decision) string {
	var names []string
	for _, v := range d.Victims {
		names = append(names, fmt.Sprintf("%s (%v)", v.Workload, v.Reason))
	}
	return w.ID + " preempts " + strings.Join(names, " and ")
}

// carryOut lets the victims leave and admits the workload.
func (p *pairs) carryOut(s *preemption.Snapshot, d preemption.Decision, w workload.Workload) (*preemption.Snapshot, error) {
	s, err := s.With(d.Edits()...)
	if err == nil {
		s, err = s.With(s.Removals()...)
	}
	if err != nil {
		return s, err
	}
	w = d.Assignment.Pin(w)
	w.ReservedAt = p.now
	return s.With(preemption.Admit(w))
}

// returnWhoFits admits whoever fits of those who were evicted, by ID.
func (p *pairs) returnWhoFits(s *preemption.Snapshot, others map[string]workload.Workload) (*preemption.Snapshot, error) {
	var ids []string
	for id := range others {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		d, err := p.preemptor.Decide(s, preemption.Request{Workload: others[id], Now: p.now})
		if err != nil || d.Outcome != preemption.Fits {
			continue
		}
		if s, err = s.With(d.Edits()...); err != nil {
			return s, err
		}
		delete(others, id)
	}
	return s, nil
}

// submitted returns a workload that runs as it would wait again, with its flavors.
func submitted(w workload.Workload) workload.Workload {
	w.ReservedAt, w.Evicted = time.Time{}, false
	for i := range w.PodSets {
		w.PodSets[i].Terminating = 0
	}
	return w
}
