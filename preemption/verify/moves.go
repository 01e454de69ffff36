package verify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Moves judges an answer of [moves.Decide] from the state, the request and the configurations alone. It returns nil, or a
// [preemption.Faults] of everything that is wrong. A state, request or configuration that is not valid is an error.
//
//   - The decision is one that [Placement] accepts. Its victims are whole units that nothing protects.
//   - Each move is a victim as a whole, with a place for each of its pods: on a schedulable node where it may run, in one of its
//     domains, beside all that stays, all that is placed, and all nominations that are not withdrawn. It holds no claims and
//     violates no budget. What must not move stays, what must not yield moves.
//   - Where pods stop first and there are no budgets, a single pod that yields has no place.
//   - Cost is the sum of the prices.
//   - Steps: each pod stops once and starts once, a unit in one step. In each step there is room for what starts, and no budget has
//     more pods that stop than it allows. What yields stops in the first step.
//
// Elsewhere and Tried are not judged, nor an answer without victims where prices change what is possible.
func Moves(st placement.State, r placement.Request, pc placement.Config, c moves.Config, d moves.Decision) error {
	if _, err := placement.NewSnapshot(st); err != nil {
		return err
	}
	if d.Decision.Outcome != preemption.Preempt {
		j := &movesJudge{}
		if len(d.Moves)+len(d.Steps) > 0 || d.Cost != (moves.Cost{}) {
			j.wrong("decision", "is %v, with moves, steps or a cost", d.Decision.Outcome)
		}
		return j.with(j.refused(st, r, pc, c, &d))
	}
	j := newMovesJudge(st, r, pc, c)
	j.each = slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == r.Group && g.Basic })
	j.dropped = slices.Clone(d.Decision.Withdrawn)
	for _, p := range r.Pods {
		j.dropped = append(j.dropped, p.ID)
	}
	for _, p := range d.Decision.Pods {
		if p.Node != "" {
			j.members = append(j.members, p)
		}
	}
	j.leave(d.Decision.Victims, d.Moves)
	j.places()
	j.cost(d.Cost)
	j.steps(d.Steps)
	return j.with(j.decision(r, &d))
}

// refused judges a decision without victims.
func (j *movesJudge) refused(st placement.State, r placement.Request, pc placement.Config, c moves.Config, d *moves.Decision) error {
	stands := d.Decision.Outcome == preemption.Fits || len(d.Decision.Nominations) > 0
	if !stands && c.Price != nil {
		return nil
	}
	return Placement(st, r, pc, d.Decision)
}

// decision judges the decision about the request.
func (j *movesJudge) decision(r placement.Request, d *moves.Decision) error {
	pc := j.pc
	if len(d.Elsewhere) > 0 {
		pc.Importance = preferring(pc.Importance, d.Elsewhere)
	}
	return Placement(j.st, r, pc, d.Decision)
}

// preferring is the order in which, of units of equal priority, kind and number of pods, those with a place elsewhere come last.
func preferring(other func(a, b placement.Unit) int, elsewhere []string) func(a, b placement.Unit) int {
	has := func(u placement.Unit) int {
		if slices.Contains(elsewhere, cmp.Or(u.Group, u.Pods[0].ID)) {
			return 1
		}
		return 0
	}
	kind := func(u placement.Unit) (kind int) {
		for _, p := range u.Pods {
			if u.Group != "" && p.Group != u.Group {
				return 2
			} else if p.Group != "" {
				kind = 1
			}
		}
		return kind
	}
	return func(a, b placement.Unit) int {
		if other != nil {
			if order := other(a, b); order != 0 {
				return order
			}
		}
		if a.Priority != b.Priority || kind(a) != kind(b) || len(a.Pods) != len(b.Pods) {
			return 0
		}
		return has(a) - has(b)
	}
}

// leave judges who leaves, and how.
func (j *movesJudge) leave(victims []placement.Victim, list []moves.Move) {
	all := j.Units()
	for i, v := range victims {
		at := slices.IndexFunc(all, func(u placement.Unit) bool {
			return len(v.Pods) > 0 && u.Group == v.Group && slices.Equal(podIDs(j.without(u, v.Pods)), v.Pods)
		})
		if at < 0 {
			j.wrong(fmt.Sprintf("decision.victims[%d]", i), "group %q, pods %v: no unit that runs, or not all of one", v.Group, v.Pods)
			continue
		}
		if rule := j.KeptBy(j.without(all[at], v.Pods)).Rule; rule != 0 {
			j.wrong(fmt.Sprintf("decision.victims[%d]", i), "%v may not leave: %s", v.Pods, keeps[rule])
		}
		j.units, j.violations = append(j.units, j.without(all[at], v.Pods)), append(j.violations, v.Violations)
		for _, id := range v.Pods {
			j.leaves[id] = true
		}
	}
	for i, m := range list {
		path := fmt.Sprintf("moves[%d]", i)
		if i > 0 && len(m.Pods) > 0 && len(list[i-1].Pods) > 0 && m.Pods[0].Pod <= list[i-1].Pods[0].Pod {
			j.wrong(path, "is not after the one before")
		}
		at := slices.IndexFunc(j.units, func(u placement.Unit) bool {
			return u.Group == m.Group && slices.EqualFunc(podIDs(u), m.Pods, func(id string, p moves.PodMove) bool { return id == p.Pod })
		})
		if at < 0 {
			j.wrong(path, "group %q, pods %v: no victim, or not all of one", m.Group, m.Pods)
			continue
		}
		u := j.units[at]
		for _, p := range u.Pods {
			if from := m.Pods[slices.IndexFunc(m.Pods, func(o moves.PodMove) bool { return o.Pod == p.ID })]; from.From != p.Node {
				j.wrong(path, "%q runs on %q, not on %q", p.ID, p.Node, from.From)
			}
		}
		for _, p := range m.Pods {
			j.to[p.Pod] = p.To
		}
		_, price := j.price(u)
		if price < 0 || price != m.Lost {
			j.wrong(path+".lost", "%d, the price is %d", m.Lost, price)
		}
		if j.violations[at] > 0 || slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return p.Terminating || len(p.Claims) > 0 }) {
			j.wrong(path, "%v violates a budget, terminates or holds claims", podIDs(u))
		}
	}
}

// cost judges the sum of the prices, and that no unit yields which must not.
func (j *movesJudge) cost(got moves.Cost) {
	var want moves.Cost
	for i := range j.units {
		u := j.units[i]
		yield, move := j.price(u)
		want.Pods += int64(len(u.Pods))
		if _, moves := j.to[u.Pods[0].ID]; moves {
			want.Lost += move
			continue
		}
		if want.Lost += yield; yield < 0 {
			j.wrong("decision.victims", "%v must not yield", podIDs(u))
		}
	}
	if got != want {
		j.wrong("cost", "%+v, want %+v", got, want)
	}
}

// price returns what a unit loses; negative: it must not.
func (j *movesJudge) price(u placement.Unit) (yield, move int64) {
	if yield = int64(len(u.Pods)); j.config.Price != nil {
		yield, move = j.config.Price(u)
	}
	return yield, move
}
