package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
)

// keeps says of each rule how it keeps a unit.
var keeps = map[placement.Rule]string{
	placement.RulePriority:    "its priority is not lower",
	placement.RuleTerminating: "it was told to stop long ago",
	placement.RuleMinRuntime:  "its minimum runtime is not over",
	placement.RuleGuarded:     "a guard protects it",
}

// podIDs lists the pods of a unit, sorted.
func podIDs(u placement.Unit) (list []string) {
	for _, p := range u.Pods {
		list = append(list, p.ID)
	}
	slices.Sort(list)
	return list
}

// victims judges the victims: whole units that may yield, charged to budgets, in order.
func (j *placementJudge) victims(domain placement.Domain) (found []placement.Unit) {
	all, potential, charged := j.Units(), j.Candidates(domain), 0
	for i, v := range j.d.Victims {
		at := fmt.Sprintf("victims[%d]", i)
		is := func(u placement.Unit) bool {
			return len(v.Pods) > 0 && u.Group == v.Group && slices.Equal(podIDs(u), v.Pods)
		}
		n := slices.IndexFunc(all, is)
		if n < 0 {
			j.wrong(at, "group %q, pods %v: no unit that runs, or not all of one", v.Group, v.Pods)
			continue
		}
		if before := j.d.Victims[max(i, 1)-1].Pods; i > 0 && len(before) > 0 && v.Pods[0] <= before[0] {
			j.wrong(at, "%v do not come after %v", v.Pods, before)
			continue
		}
		if v.Priority != all[n].Priority {
			j.wrong(at+".priority", "%d, want %d", v.Priority, all[n].Priority)
		}
		violations := 0
		p := slices.IndexFunc(potential, func(u placement.PotentialVictim) bool { return is(u.Unit) })
		switch rule := j.KeptBy(all[n]).Rule; {
		case rule != 0:
			j.wrong(at, "%v may not yield: %s", v.Pods, keeps[rule])
		case p >= 0:
			violations = potential[p].Violations
		case !j.each:
			j.wrong(at, "%v are not in the domain", v.Pods)
		}
		charged += v.Violations
		if j.c.Budgets == placement.Soft && !j.each && v.Violations != violations {
			j.wrong(at+".violations", "%d, want %d", v.Violations, violations)
		}
		found = append(found, all[n])
	}
	if j.d.Violations != charged {
		j.wrong("violations", "%d, want %d", j.d.Violations, charged)
	}
	if j.c.Budgets == placement.Hard && j.Violate(found) {
		j.wrong("victims", "they violate a budget")
	}
	j.order(all)
	return found
}

// order judges the numbers: the most important first.
func (j *placementJudge) order(all []placement.Unit) {
	list := j.d.InOrderOfChoice()
	if len(list) == 0 || list[len(list)-1].Order == 0 {
		return
	}
	rank := func(v placement.Victim) int {
		return slices.IndexFunc(all, func(u placement.Unit) bool { return slices.Equal(podIDs(u), v.Pods) })
	}
	for i, v := range list {
		if v.Order != i+1 {
			j.wrong("victims", "number %d in place of %d", v.Order, i+1)
			return
		}
		if i == 0 || j.each {
			continue
		}
		if before := list[i-1]; rank(before) > rank(v) {
			j.wrong("victims", "%v are chosen before %v", before.Pods, v.Pods)
		}
	}
}
