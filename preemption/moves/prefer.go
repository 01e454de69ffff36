package moves

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// prefer decides again in the domain of a decision: of units that are alike those with a place elsewhere yield first.
func (f *finder) prefer(r placement.Request, d placement.Decision) (placement.Decision, error) {
	if f.elsewhere = nil; !f.config.Prefer {
		return d, nil
	}
	within(&r, &d)
	movable, err := f.findMovable(r, &d)
	if err != nil || len(movable) == 0 {
		return d, err
	}
	c := f.preemptor.Config()
	other := c.Importance
	c.Importance = func(a, b placement.Unit) int {
		if other != nil {
			if order := other(a, b); order != 0 {
				return order
			}
		}
		if !a.IsAlike(&b) {
			return 0
		}
		return first(!movable[a.ID()], !movable[b.ID()])
	}
	p, err := placement.New(c)
	if err != nil {
		return d, err
	}
	again, err := p.Decide(f.before, r)
	if err != nil || again.Outcome != preemption.Preempt {
		return d, err
	}
	f.elsewhere = slices.Sorted(maps.Keys(movable))
	return again, nil
}

// findMovable returns the units that have a place on other nodes, of those that are like a victim: the least important first, at
// most MaxTries.
func (f *finder) findMovable(r placement.Request, d *placement.Decision) (map[string]bool, error) {
	units, err := f.preemptor.Candidates(f.before, r)
	if err != nil {
		return nil, err
	}
	victims := f.config.victimsOf(f.before, d.Victims)
	after, beside, err := f.after(d)
	if err != nil {
		return nil, err
	}
	asked, list := 0, []victim(nil)
	for u := range units {
		if !slices.ContainsFunc(victims, func(v victim) bool { return v.IsAlike(&u) }) || !f.isAround(&u, d, &r) {
			continue
		}
		if l := f.config.victim(u); !l.terminates() {
			list = append(list, l)
		}
		if asked++; asked == f.config.maxTries() {
			break
		}
	}
	f.tried += asked
	beside.Apart = true
	if _, err := f.config.findPlaces(f.preemptor, after, beside, list); err != nil {
		return nil, err
	}
	movable := map[string]bool{}
	for i := range list {
		if list[i].to != nil {
			movable[list[i].ID()] = true
		}
	}
	return movable, nil
}

// isAround reports whether a pod of a unit runs where the request is placed.
func (f *finder) isAround(u *placement.Unit, d *placement.Decision, r *placement.Request) bool {
	return slices.ContainsFunc(u.Pods, func(p workload.Pod) bool {
		return r.Group == "" && p.Node == d.Domain || r.Group != "" && (len(r.Domains) == 0 ||
			slices.ContainsFunc(r.Domains, func(x placement.Domain) bool { return slices.Contains(x.Nodes, p.Node) }))
	})
}
