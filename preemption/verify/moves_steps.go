package verify

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// steps replays the steps.
func (j *movesJudge) steps(list []moves.Step) {
	here := slices.Concat(j.st.Pods, j.kept())
	left := make([]int64, len(j.st.Budgets))
	for i := range left {
		left[i] = j.st.Budgets[i].Allowed
	}
	stopped, started := map[string]int{}, map[string]int{}
	for i := range list {
		path := fmt.Sprintf("steps[%d]", i)
		var stops, starts, yields []workload.Pod
		for _, id := range list[i].Stop {
			at := slices.IndexFunc(j.st.Pods, func(p workload.Pod) bool { return p.ID == id })
			_, moves := j.to[id]
			if _, again := stopped[id]; again || at < 0 || !j.leaves[id] {
				j.wrong(path+".stop", "%q does not leave, or stopped before", id)
				continue
			}
			if stopped[id] = i; moves {
				stops = append(stops, j.st.Pods[at])
			} else if yields = append(yields, j.st.Pods[at]); i > 0 {
				j.wrong(path+".stop", "%q yields, but not in the first step", id)
			}
		}
		for _, n := range list[i].Start {
			p, known := j.starting(n)
			if _, again := started[n.Pod]; again || !known {
				j.wrong(path+".start", "%q on %q: it has no such place, or started before", n.Pod, n.Node)
				continue
			}
			started[n.Pod] = i
			starts = append(starts, p)
		}
		leave := func() { // pods that start anew where they run are there twice, before they stop
			for _, p := range slices.Concat(stops, yields) {
				if at := slices.IndexFunc(here, func(o workload.Pod) bool { return o.ID == p.ID && o.Node == p.Node }); at >= 0 {
					here = slices.Delete(here, at, at+1)
				}
			}
		}
		if j.config.Start == moves.AfterStop {
			leave()
		}
		here = append(here, starts...)
		j.rooms(path, starts, here)
		if j.config.Start == moves.BeforeStop {
			leave()
		}
		j.budgets(path, stops, yields, left)
	}
	for _, u := range j.units {
		for _, p := range u.Pods {
			at, stops := stopped[p.ID]
			first := stopped[u.Pods[0].ID]
			if !stops || at != first {
				j.wrong("steps", "%q does not stop, or not with its unit", p.ID)
			}
			if _, moves := j.to[p.ID]; moves {
				if at, starts := started[p.ID]; !starts || at != first {
					j.wrong("steps", "%q does not start in the step in which it stops", p.ID)
				}
			}
		}
	}
	for _, p := range j.members {
		if _, starts := started[p.ID]; !starts {
			j.wrong("steps", "%q does not start", p.ID)
		}
	}
}

// starting returns the pod that starts: one that moves, or one of the request.
func (j *movesJudge) starting(n placement.Nomination) (workload.Pod, bool) {
	if to, moves := j.to[n.Pod]; moves {
		at := slices.IndexFunc(j.st.Pods, func(p workload.Pod) bool { return p.ID == n.Pod })
		p := j.st.Pods[at]
		p.Node = to
		return p, to == n.Node
	}
	at := slices.IndexFunc(j.members, func(p workload.Pod) bool { return p.ID == n.Pod })
	if at < 0 {
		return workload.Pod{}, false
	}
	return j.members[at], j.members[at].Node == n.Node
}

// rooms judges that there is room for what starts. Pods of the request do not wait for pods that terminate.
func (j *movesJudge) rooms(path string, starts, here []workload.Pod) {
	leaving := j.Leaving()
	stay := slices.DeleteFunc(slices.Clone(here), func(p workload.Pod) bool { return slices.Contains(leaving, p.ID) })
	for _, p := range starts {
		beside := here
		if _, moves := j.to[p.ID]; !moves {
			if beside = stay; j.each {
				continue // pods of a Basic group wait one by one, where they are nominated
			}
		}
		if !j.isWithin(p.Node, p.Requests, beside) {
			j.wrong(path+".start", "there is no room yet for %q on %q", p.ID, p.Node)
		}
	}
}

// budgets judges how many pods stop. Pods that moved are there again in the next step, those that yielded are not.
func (j *movesJudge) budgets(path string, stops, yields []workload.Pod, left []int64) {
	for i := range j.st.Budgets {
		b := &j.st.Budgets[i]
		if n := charges(b, yields); j.stays != nil && n > left[i] { // of a decision, victims may violate budgets
			j.wrong(path+".stop", "%d pods of budget %q yield, which allows %d", n, b.Name, left[i])
		}
		left[i] = max(0, left[i]-charges(b, yields))
		if n := charges(b, stops); n > left[i] {
			j.wrong(path+".stop", "%d pods of budget %q, which allows %d", n, b.Name, left[i])
		}
	}
}
