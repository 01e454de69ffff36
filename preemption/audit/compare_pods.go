package audit

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// same reports whether a decision chooses the victims, beside pods that were told before, and the nodes of Placed.
func (j *podJudge) same(d *placement.Decision) bool {
	var chosen, done []string
	for _, v := range d.Victims {
		if u := j.unitOf(v); len(u.Pods) > 0 {
			chosen = append(chosen, idsOf(u)...)
		}
	}
	for i := range j.victims {
		done = append(done, idsOf(j.unitOf(j.victims[i].Victim))...)
	}
	slices.Sort(chosen)
	slices.Sort(done)
	elsewhere := func(n placement.Nomination) bool {
		return !slices.ContainsFunc(j.placed.Pods, func(p workload.Pod) bool { return p.ID == n.Pod && p.Nodes[0] == n.Node })
	}
	placed := len(d.Nominations) == j.wanted && !slices.ContainsFunc(d.Nominations, elsewhere)
	return slices.Equal(chosen, done) && (j.wanted == 0 || placed)
}

// compare says what would have lost less, and whether the scheduler's own order prefers something.
func (j *podJudge) compare(f *PodFinding) error {
	slices.SortFunc(f.Victims, func(a, b PodVictim) int { return cmp.Or(cmp.Compare(a.Group, b.Group), slices.Compare(a.Pods, b.Pods)) })
	if f.Verdict == NotEnough {
		return nil
	}
	if f.Avoidable = f.Lost; f.Verdict == Fitted || f.Instead.Outcome != preemption.Preempt {
		return nil
	}
	ways := []placement.Placement{f.Instead.Placement}
	if j.request.Group == "" {
		all, err := j.by.Placements(j.snapshot, j.request)
		if err != nil {
			return err
		}
		ways = append(ways, all...)
	}
	least := int64(-1)
	for _, way := range ways {
		var units []placement.Unit
		for _, v := range way.Victims {
			units = append(units, j.unitOf(v))
		}
		if lost := j.lost(units); least < 0 || lost < least {
			least, f.Least = lost, way
		}
	}
	f.Avoidable = max(0, f.Lost-least)
	for _, v := range f.Victims {
		if v.CouldStay {
			f.Avoidable = max(f.Avoidable, v.Lost)
		}
	}
	if f.Verdict != Right || j.same(&f.Instead) {
		return nil
	}
	done := placement.Placement{Domain: "done"}
	for _, v := range f.Victims {
		done.Victims = append(done.Victims, v.Victim)
		done.Violations += v.Violations
	}
	best, err := j.by.Choose(j.snapshot, j.request, []placement.Placement{done, f.Instead.Placement})
	f.Better = err == nil && best.Domain != done.Domain
	return err
}

// unitOf is a victim of a decision, without the pods that were told to stop before.
func (j *podJudge) unitOf(v placement.Victim) placement.Unit {
	u := placement.Unit{Group: v.Group, Priority: v.Priority}
	for _, id := range v.Pods {
		if p, _ := j.snapshot.Find(id); !p.Terminating {
			u.Pods = append(u.Pods, p)
		}
	}
	return u
}

// lost is what units lose.
func (j *podJudge) lost(units []placement.Unit) (n int64) {
	for _, u := range units {
		if j.cost == nil {
			n += int64(len(u.Pods))
		} else if len(u.Pods) > 0 {
			n = quota.Add(n, j.cost(u))
		}
	}
	return n
}

// idsOf lists the pods of a unit, sorted.
func idsOf(u placement.Unit) (list []string) {
	for _, p := range u.Pods {
		list = append(list, p.ID)
	}
	slices.Sort(list)
	return list
}
