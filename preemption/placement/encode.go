package placement

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/search"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// scratch is the working memory of a decision. Names become numbers in enter and names again in the result.
type scratch struct {
	search  search.Search
	several place.Units
	request ask.Request
	units   map[*state.Unit]Unit // units that guards or Importance were asked about
}

// enter checks a request and passes it to the engine.
func (p *Preemptor) enter(sc *scratch, c *state.Cluster, r *Request) error {
	return p.enterAs(sc, c, r, nil)
}

// enterAs is enter. If gone is not nil, the pods are of several units, and no priority, queue or group of the request counts; gone has
// the IDs of running pods that count as gone.
func (p *Preemptor) enterAs(sc *scratch, c *state.Cluster, r *Request, gone map[string]bool) error {
	var faults fault.List
	several := gone != nil
	if !policyNames.Valid(r.Policy) {
		faults.Add("request.policy", "%v is unknown", r.Policy)
	}
	domains := appendDomains(sc.request.Domains[:0], r.Domains)
	sc.request = ask.Request{
		Group: r.Group, Priority: r.Priority, Queue: r.Queue, Never: r.Policy == PreemptNever, MinCount: r.MinCount,
		MinGroups: r.MinGroups, Nested: nestedGroups(r.Nested), DomainsPreferred: r.DomainsPreferred,
		Pods: r.Pods, Several: several, Gone: gone, Domains: domains, Prefer: r.Prefer, SkipFit: r.SkipFit,
		Now: r.Now, TerminationTimeout: r.TerminationTimeout, MaxDomains: r.MaxDomains, FirstNode: r.FirstNode,
		Rules:       ask.Rules{Filters: appendFilters(p.filters, &faults, "request.Filters", r.Filters)},
		MaxBlockers: p.config.maxBlockers(), MaxRetrySteps: p.config.maxRetrySteps(),
	}
	validateSetFilters(&faults, "request.SetFilters", r.SetFilters)
	faults = append(faults, sc.request.Validate(&p.inside, c)...)
	if !several && r.Now.IsZero() && (max(p.inside.MinRuntime[0], p.inside.MinRuntime[1]) > 0 || c.HasMinimums()) {
		faults.Add("request.now", "is needed for minimum runtimes")
	}
	if r.Resize {
		faults.Add("request.resize", "is for Decide, Placements and Choose")
	}
	if r.Placer != nil && sc.request.IsTree() {
		faults.Add("request.nested", "are there, or minGroups, beside a placer")
	}
	if err := faults.Err(); err != nil {
		return err
	}
	if r.Group != "" {
		sc.request.MaxDomains = 0 // domains of groups are not sampled
	}
	p.addRules(sc, r)
	p.addTrials(sc, c, r)
	return nil
}

func appendDomains(list []ask.Domain, domains []Domain) []ask.Domain {
	for _, d := range domains {
		list = append(list, ask.Domain(d))
	}
	return list
}

func nestedGroups(list []NestedGroup) (out []ask.NestedGroup) {
	for _, s := range list {
		out = append(out, ask.NestedGroup{
			Group: s.Group, MinCount: s.MinCount, MinGroups: s.MinGroups,
			Domains: appendDomains(nil, s.Domains), DomainsPreferred: s.DomainsPreferred,
		})
	}
	return out
}

// appendFilters adds filters in the form of the engine. It copies a list that it adds to.
func appendFilters(list []ask.Filter, faults *fault.List, path string, filters []Filter) []ask.Filter {
	list = slices.Clip(list)
	for i, f := range filters {
		if wide, ok := isWide(faults, fmt.Sprintf("%s[%d]", path, i), f); ok {
			list = append(list, ask.Filter{Rule: f, Wide: wide})
		}
	}
	return list
}

func validateSetFilters(faults *fault.List, path string, filters []SetFilter) {
	for i, f := range filters {
		isWide(faults, fmt.Sprintf("%s[%d]", path, i), f)
	}
}

// isWide reports whether a filter reaches the cluster; ok is false if it is nil.
func isWide(faults *fault.List, path string, f interface{ Reach() Reach }) (wide, ok bool) {
	if f == nil {
		faults.Add(path, "is nil")
		return false, false
	}
	reach := f.Reach()
	if !reachNames.Valid(reach) {
		faults.Add(path+".Reach", "%v is unknown", reach)
	}
	return reach == ReachCluster, true
}

// addTrials adds the caller's set filters and placer.
func (p *Preemptor) addTrials(sc *scratch, c *state.Cluster, r *Request) {
	if len(p.config.SetFilters)+len(r.SetFilters) == 0 && r.Placer == nil {
		return
	}
	snapshot, request, rules := &Snapshot{cluster: c}, *r, &sc.request.Rules
	for _, list := range [][]SetFilter{p.config.SetFilters, r.SetFilters} {
		for _, f := range list {
			begin := func() ask.Trial { return f.Begin(snapshot, request) }
			rules.SetFilters = append(rules.SetFilters, ask.SetFilter{Begin: begin, Wide: f.Reach() == ReachCluster})
		}
	}
	if r.Placer != nil {
		rules.Placer = func() ask.PlacerTrial { return request.Placer.Begin(snapshot, request) }
	}
}

// addRules adds the caller's guards and Importance.
func (p *Preemptor) addRules(sc *scratch, r *Request) {
	if p.config.Importance == nil && len(p.config.Guards) == 0 {
		return
	}
	sc.units = map[*state.Unit]Unit{}
	unit := func(u *state.Unit) Unit { // made once
		out, ok := sc.units[u]
		if !ok {
			out = unitOf(u)
			sc.units[u] = out
		}
		return out
	}
	if p.config.Importance != nil {
		sc.request.Rules.Importance = func(a, b *state.Unit) int { return p.config.Importance(unit(a), unit(b)) }
	}
	if len(p.config.Guards) == 0 {
		return
	}
	request := *r // so that a request is not moved to the heap if there are no guards
	sc.request.Rules.Guard = func(u *state.Unit) int64 { return p.config.guard(unit(u), &request) }
}

func (p *Preemptor) release(sc *scratch) {
	domains := sc.request.Domains
	clear(domains[:cap(domains)])
	sc.request, sc.units = ask.Request{Domains: domains[:0]}, nil
	p.scratch.Give(sc)
}
