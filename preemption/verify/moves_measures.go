package verify

import (
	"slices"
	"time"

	"github.com/cedesched/cede/internal/reference/nodes"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// measures judges how fragmented the measured resource is before and after.
func (j *movesJudge) measures(r *moves.ClearRequest, a *moves.ClearAnswer) {
	if r.Measure == "" {
		if a.Before != nil || a.After != nil || a.TimeLost != 0 {
			j.wrong("before", "no resource is measured")
		}
		return
	}
	if want := fragmentation(&j.State, r); a.Before == nil || *a.Before != want {
		j.wrong("before", "%+v, want %+v", a.Before, want)
	}
	after := j.State
	after.Pods = j.running()
	if want := fragmentation(&after, r); a.After == nil || *a.After != want {
		j.wrong("after", "%+v, want %+v", a.After, want)
	}
	var lost int64
	for _, p := range j.State.Pods {
		if j.leaves[p.ID] && !p.Started.IsZero() && p.Started.Before(r.Now) {
			lost = quota.Add(lost, quota.Mul(int64(r.Now.Sub(p.Started)/time.Second), p.Requests[r.Measure]))
		}
	}
	if lost != a.TimeLost {
		j.wrong("timeLost", "%d, want %d", a.TimeLost, lost)
	}
}

// fragmentation measures a resource, question by question.
func fragmentation(st *placement.State, r *moves.ClearRequest) moves.Fragmentation {
	f := moves.Fragmentation{Resource: r.Measure, Domains: len(r.Domains)}
	// free is what is left on a node; nil if it does not count.
	free := func(name string) (left workload.Resources) {
		for _, n := range st.Nodes {
			if n.Name == name && !n.Unschedulable {
				left = workload.Resources{}
				for resource, amount := range n.Capacity {
					left[resource] = max(0, quota.Sub(amount, usedOn(*st, name)[resource]))
				}
			}
		}
		return left
	}
	isFree := func(node string) bool {
		return free(node) != nil &&
			!slices.ContainsFunc(st.Pods, func(p workload.Pod) bool { return p.Node == node && (r.Stays == nil || !r.Stays(p)) })
	}
	var all []string
	for _, n := range st.Nodes {
		if n.Unschedulable {
			continue
		}
		all = append(all, n.Name)
		f.Nodes++
		f.Capacity, f.Free = quota.Add(f.Capacity, n.Capacity[r.Measure]), quota.Add(f.Free, free(n.Name)[r.Measure])
		f.Largest = max(f.Largest, free(n.Name)[r.Measure])
		if isFree(n.Name) {
			f.FreeNodes++
		}
	}
	gang := func(list []string) (n int64) {
		for _, node := range list {
			if f.Largest > 0 && free(node)[r.Measure] == f.Largest {
				n++
			}
		}
		return n
	}
	for _, d := range r.Domains {
		f.Gang = max(f.Gang, gang(d.Nodes))
		if len(d.Nodes) > 0 && !slices.ContainsFunc(d.Nodes, func(node string) bool { return !isFree(node) }) {
			f.FreeDomains++
		}
	}
	if len(r.Domains) == 0 {
		f.Gang = gang(all)
	}
	waiting := slices.DeleteFunc(slices.Clone(r.Waiting), func(p workload.Pod) bool { return p.Requests[r.Measure] <= 0 })
	f.Waiting = len(waiting)
	for _, node := range all {
		most := int64(0) // of the node, that one of them can use
		for _, p := range waiting {
			usable := int64(0)
			if nodes.Names(p, node) {
				usable = free(node)[r.Measure] / p.Requests[r.Measure]
				for resource, amount := range p.Requests {
					if amount > 0 {
						usable = min(usable, free(node)[resource]/amount)
					}
				}
				if pods, isLimited := free(node)[workload.PodsResource]; isLimited {
					usable = min(usable, pods)
				}
				usable *= p.Requests[r.Measure]
			}
			f.Unusable = quota.Add(f.Unusable, free(node)[r.Measure]-usable)
			most = max(most, usable)
		}
		if len(waiting) > 0 {
			f.Stranded = quota.Add(f.Stranded, free(node)[r.Measure]-most)
		}
	}
	return f
}
