package placement

import (
	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/engine/nodes"
)

// scratch is the working memory of a decision. Names become numbers in enter and names again
// in the result.
type scratch struct {
	searcher nodes.Searcher
	request  nodes.Request
	units    map[*nodes.Unit]Unit // units that guards or Importance were asked about
}

// enter checks a request and passes it to the engine.
func (p *Preemptor) enter(sc *scratch, c *nodes.Cluster, r *Request) error {
	var faults fault.List
	if !policyNames.Valid(r.Policy) {
		faults.Add("request.policy", "%v is unknown", r.Policy)
	}
	domains := sc.request.Domains[:0]
	for _, d := range r.Domains {
		domains = append(domains, nodes.Domain(d))
	}
	sc.request = nodes.Request{
		Group: r.Group, Priority: r.Priority, Never: r.Policy == PreemptNever, MinCount: r.MinCount,
		Pods: r.Pods, Domains: domains, Prefer: r.Prefer, SkipFit: r.SkipFit,
		Now: r.Now, TerminationTimeout: r.TerminationTimeout,
		MaxBlockers: p.config.maxBlockers(), MaxRetrySteps: p.config.maxRetrySteps(), SkipRetryAt: p.config.SkipRetryAt,
	}
	faults = append(faults, c.ValidateRequest(&sc.request)...)
	if r.Now.IsZero() && (p.inside.MinRuntime > 0 || c.HasMinimums()) {
		faults.Add("request.now", "is needed for minimum runtimes")
	}
	if err := faults.Err(); err != nil {
		return err
	}
	p.addRules(sc, r)
	return nil
}

// addRules adds the caller's guards and Importance.
func (p *Preemptor) addRules(sc *scratch, r *Request) {
	if p.config.Importance == nil && len(p.config.Guards) == 0 {
		return
	}
	sc.units = map[*nodes.Unit]Unit{}
	unit := func(u *nodes.Unit) Unit { // made once
		out, ok := sc.units[u]
		if !ok {
			out = unitOf(u)
			sc.units[u] = out
		}
		return out
	}
	if p.config.Importance != nil {
		sc.request.Importance = func(a, b *nodes.Unit) int { return p.config.Importance(unit(a), unit(b)) }
	}
	if len(p.config.Guards) == 0 {
		return
	}
	request := *r // so that a request is not moved to the heap if there are no guards
	sc.request.Guard = func(u *nodes.Unit) int64 { return p.config.guard(unit(u), &request) }
}

// borrow returns a scratch, which the caller must return to the pool.
func (p *Preemptor) borrow() *scratch {
	sc, _ := p.scratch.Get().(*scratch)
	if sc == nil {
		sc = new(scratch)
	}
	return sc
}

func (p *Preemptor) giveBack(sc *scratch) {
	domains := sc.request.Domains
	clear(domains[:cap(domains)])
	sc.request, sc.units = nodes.Request{Domains: domains[:0]}, nil
	p.scratch.Put(sc)
}
