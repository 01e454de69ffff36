package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// feasible are the nodes on which GPUs are free, or all if some pod of the job asks for none.
func (p *prober) feasible() []bool {
	for i := range p.asks.Pods {
		if gpus(&p.asks.Pods[i]) == 0 {
			return p.all()
		}
	}
	among := make([]bool, len(p.search.books.nodes))
	for i := range among {
		b := &p.search.books.nodes[i]
		among[i] = b.idle[kai.GPU] > 0 || b.leaves[kai.GPU] > 0
	}
	return among
}

// reclaimer is what asks, with so many of its pods.
func (p *prober) reclaimer(pods int) fairshare.Reclaimer {
	w := &p.asks.Workload
	return fairshare.Reclaimer{Queue: w.Queue, Requests: p.sum(p.asks, p.next[:pods]), NonPreemptible: w.NeverYields}
}

// candidates lists who may yield. ok is false if nobody may yield to the job.
func (p *prober) candidates() (ok bool, err error) {
	in := p.reclaimer(len(p.next))
	refused := fairshare.Refusal{}
	switch w := &p.asks.Workload; p.action {
	case Consolidation:
		if ok = !w.NeverYields && p.enough(in.Requests); !ok {
			return false, nil
		}
	case "reclaim":
		refused, err = p.rules.May(in)
	case "preempt":
		refused, err = p.rules.MayPreempt(in)
	}
	if refused != (fairshare.Refusal{}) || err != nil {
		return false, err
	}
	for _, j := range p.jobs {
		if _, known := p.places[j.Workload.Queue]; !known || j == p.asks || j.running == 0 || j.Workload.NeverYields {
			continue
		}
		may := p.action == Consolidation
		switch p.action {
		case "reclaim":
			refused, err := p.rules.Candidate(in, j.Workload.Queue)
			if err != nil {
				return false, err
			}
			may = refused == fairshare.Refusal{} // never of the own queue
		case "preempt":
			may = j.Workload.Queue == in.Queue && j.Workload.Priority < p.asks.Workload.Priority
		}
		if may && (j.surplus() || !p.protected(j)) {
			p.may = append(p.may, j)
		}
	}
	return true, nil
}

// surplus reports whether a job has more pods than its minimum, in whatever phase.
func (j *job) surplus() bool { return j.Minimum < len(j.Pods) }

// enough reports whether as many GPUs are free on all nodes together as are asked for.
func (p *prober) enough(asks []fairshare.Amount) bool {
	free := int64(0)
	for i := range p.search.books.nodes {
		free = quota.Add(free, p.search.books.nodes[i].free(kai.GPU))
	}
	return !slices.ContainsFunc(asks, func(a fairshare.Amount) bool { return a.Resource == kai.GPU && a.Amount > free })
}

// protected reports whether the minimum runtime of a job against what asks is not over.
func (p *prober) protected(j *job) bool {
	started := j.Workload.ReservedAt
	if p.action == Consolidation || started.IsZero() {
		return false
	}
	runtime := p.minRuntime(p.action == "reclaim", p.asks.Workload.Queue, j.Workload.Queue)
	return runtime > 0 && !p.now.After(started.Add(runtime))
}

// minRuntime returns the minimum runtime of what runs in a queue against a reclaim by another one, or a preemption.
func (s *Session) minRuntime(reclaim bool, by, of string) time.Duration {
	get := func(m minruntime.Settings) quota.OptionalDuration { return m.Preempt }
	fallback := s.search.defaults.Preempt
	if reclaim {
		get, fallback = func(m minruntime.Settings) quota.OptionalDuration { return m.Reclaim }, s.search.defaults.Reclaim
	}
	if reclaim && s.search.defaults.Method == minruntime.LCA {
		for above := s.queue(of).Parent; above != "" && !s.isBelow(by, above); above = s.queue(of).Parent {
			of = above
		}
	}
	for ; of != ""; of = s.queue(of).Parent {
		if d, has := get(s.search.settings[of]).Get(); has {
			return d
		}
	}
	return cmp.Or(get(s.search.settings[s.search.root]), fallback).Or(0)
}
