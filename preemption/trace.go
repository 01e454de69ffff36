package preemption

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/best"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/selectors"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
)

// record makes the decision of [Preemptor.DecideCounting] and records its steps. It sets the recorder's Names first, which are
// asked after the decision, too: so the working memory is not shared.
func (p *Preemptor) record(s *Snapshot, r Request, to *trace.Recorder) (d Decision, looked int, err error) {
	var sc scratch
	if s, err = sc.begin(s, &p.config, &r); err != nil {
		return d, 0, err
	}
	sc.request.Trace, to.Names = to, sc.traceNames(s, &r)
	looked = sc.answer(s, &p.config, &r, &d)
	return d, looked, nil
}

func (sc *scratch) traceNames(s *Snapshot, r *Request) trace.Names {
	c := s.inside()
	return trace.Names{
		Node:         c.NodeName,
		QueueName:    func(node int) string { return c.Queue(node).Name },
		MinimumSetBy: func(node int) string { return minimumSetBy(c, node) },
		Slot:         func(slot int) quota.FlavorResource { return sc.names[slot] },
		PodSet: func(id string, podSet int) string {
			w, _ := c.Find(id)
			return w.PodSets[podSet].Name
		},
		Needs: func() (list []trace.Need) {
			d := &sc.request
			for slot, fr := range sc.names {
				need := trace.Need{FlavorResource: fr, Amount: d.Amounts[slot]}
				if missing, bound := c.Usage.Missing(d.Queue, d.Columns[slot], need.Amount); missing > 0 {
					need.Missing, need.Node = missing, c.NodeName(bound)
				}
				list = append(list, need)
			}
			return list
		},
		Taken: func(id string) (list []trace.ByRule) {
			w, _ := c.Find(id)
			named := []Victim{{Workload: id}}
			sc.nameRules([]right.Victim{{Workload: w, Set: -1, ByRules: true, Taking: sc.rules.LastTaking()}}, named)
			for _, by := range named[0].Rules {
				list = append(list, trace.ByRule(by))
			}
			return list
		},
		Groups: func(most int) (list []trace.Group) {
			for _, g := range s.plans.Of(c, sc.request.Queue).Groups {
				named := trace.Group{Resources: g.Resources}
				for i, flavor := range g.Flavors[:min(most, len(g.Flavors))] {
					suits := true
					for j := range r.Workload.PodSets {
						m := g.Mismatch(i, r.Workload.PodSets[j].NodeConstraints)
						suits = suits && m.None()
					}
					if suits {
						named.Flavors = append(named.Flavors, flavor)
					}
				}
				list = append(list, named)
			}
			return list
		},
		Better: sc.better,
		Tier: func(trigger rules.Trigger) (*selectors.Tier, []string) {
			waiting := r.waiting()
			tier, err := s.evaluator().Tier(trigger, &waiting)
			return tier, faultTexts(err)
		},
	}
}

// better names the units of the history that the search Best keeps.
func (sc *scratch) better() *trace.Better {
	h := sc.history
	if h == nil {
		return nil
	}
	out := &trace.Better{Before: unitNames(h.Before), Victims: h.Victims, Lost: h.Lost, TooMany: h.TooMany}
	for _, c := range h.Changes {
		out.Changes = append(out.Changes, trace.Change{
			Taken: unitNames(c.Taken), PutBack: unitNames(c.PutBack), Victims: c.Victims, Lost: c.Lost,
		})
	}
	return out
}

func unitNames(units []best.Unit) []trace.Unit {
	list := slices.Grow([]trace.Unit(nil), len(units))
	for _, u := range units {
		f := u.Workload.Facts
		list = append(list, trace.Unit{Workload: f.ID, Queue: f.Queue(), PodSet: u.PodSet(), Replicas: u.Replicas(), Leaving: f.Evicted})
	}
	return list
}
