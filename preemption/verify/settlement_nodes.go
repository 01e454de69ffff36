package verify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// NodeSettlement judges an answer of [settle.DecideNodes] from the state, the request and the configuration alone. It returns nil, or
// [preemption.Faults] of everything that is wrong.
//
//   - Excess is what is over without pods that terminate, and Remaining what is over when the victims are gone, too.
//   - Each victim is a whole unit with a pod on a node of its step, and none is in vain: if it stays, more is over.
//   - The decision of each step of which something remains is judged by [Placement], with the request that stands for the rest.
//   - Outcome and Violations are right; RetryAt is not before MoreAt. Hard budgets hold for the victims together with the pods that were
//     preempted before and still terminate.
func NodeSettlement(st placement.State, r settle.NodesRequest, c placement.Config, a settle.NodesAnswer) error {
	if _, err := placement.NewSnapshot(st); err != nil {
		return err
	}
	var faults fault.List
	leaving := func(p workload.Pod) bool {
		asked := slices.Contains(r.Empty, p.Node) || len(r.Nodes) == 0 || slices.Contains(r.Nodes, p.Node)
		return p.Terminating && asked
	}
	var told placement.Victim
	for _, p := range st.Pods {
		if p.Terminating && p.Preempted {
			told.Pods = append(told.Pods, p.ID)
		}
	}
	st = charge(st, []placement.Victim{told})
	var gone []workload.Pod
	for _, p := range st.Pods {
		if slices.ContainsFunc(a.Victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, p.ID) }) {
			gone = append(gone, p)
		}
	}
	for i := range st.Budgets {
		if b := &st.Budgets[i]; c.Budgets == placement.Hard && charges(b, gone) > b.Allowed {
			faults.Add("answer.victims", "%d pods of budget %q, which allows %d more", charges(b, gone), b.Name, b.Allowed)
		}
	}
	st.Pods = slices.DeleteFunc(slices.Clone(st.Pods), leaving)
	after := withoutPods(st, a.Victims)
	if want := nodesOver(st, &r); !slices.Equal(want, a.Excess) {
		faults.Add("answer.excess", "%v is over, not %v", want, a.Excess)
	}
	if want := nodesOver(after, &r); !slices.Equal(want, a.Remaining) {
		faults.Add("answer.remaining", "%v remains, not %v", want, a.Remaining)
	}
	violations := 0
	for i, v := range a.Victims {
		violations += v.Violations
		back := slices.Delete(slices.Clone(a.Victims), i, i+1)
		if over(nodesOver(withoutPods(st, back), &r)) <= over(nodesOver(after, &r)) {
			faults.Add(fmt.Sprintf("answer.victims[%d]", i), "%v yields in vain", v.Pods)
		}
	}
	if violations != a.Violations {
		faults.Add("answer.violations", "is %d, but the victims have %d", a.Violations, violations)
	}
	switch outcome := a.Outcome; {
	case (outcome == preemption.Fits) != (len(a.Excess) == 0), (outcome == preemption.Preempt) != (len(a.Victims) > 0),
		outcome == preemption.Wait && a.MoreAt.IsZero(), a.RetryAt.Before(a.MoreAt) && !a.RetryAt.IsZero():
		faults.Add("answer.outcome", "is %v for %d victims, %v over, more at %v, all at %v",
			outcome, len(a.Victims), a.Excess, a.MoreAt, a.RetryAt)
	}
	for i := range a.Steps {
		step := &a.Steps[i]
		path := fmt.Sprintf("answer.steps[%d]", i)
		for j, v := range step.Victims {
			if !slices.ContainsFunc(st.Pods, func(p workload.Pod) bool { return p.Node == step.Node && slices.Contains(v.Pods, p.ID) }) {
				faults.Add(fmt.Sprintf("%s.victims[%d]", path, j), "%v has no pod on node %q", v.Pods, step.Node)
			}
		}
		judged := charge(st, a.Victims)
		judged.Pods = after.Pods
		rest := slices.DeleteFunc(nodesOver(judged, &r), func(e settle.NodeExcess) bool { return e.Node != step.Node })
		if step.Decision.Outcome.Succeeds() != (len(rest) == 0) {
			faults.Add(path+".decision", "is %v, but %v remains", step.Decision.Outcome, rest)
		} else if len(rest) > 0 {
			asked, question := nodeQuestion(judged, step.Node, rest)
			question.Now = r.Now
			found, _ := Placement(asked, question, c, step.Decision).(fault.List)
			for _, f := range found {
				faults.Add(path+"."+f.Path, "%s", f.Problem)
			}
		}
	}
	return faults.Err()
}

// nodeQuestion returns the request that stands for an excess of a node, and the state in which it is made.
func nodeQuestion(st placement.State, node string, excess []settle.NodeExcess) (placement.State, placement.Request) {
	r := placement.Request{Group: "\x00", Priority: math.MaxInt32, Domains: []placement.Domain{{Name: node, Nodes: []string{node}}}}
	st.Nodes = slices.Clone(st.Nodes)
	n := &st.Nodes[slices.IndexFunc(st.Nodes, func(n workload.Node) bool { return n.Name == node })]
	used := usedOn(st, node)
	n.Unschedulable, n.Capacity = false, maps.Clone(n.Capacity)
	if n.Capacity == nil {
		n.Capacity = workload.Resources{}
	}
	if _, limited := n.Capacity[workload.PodsResource]; limited {
		n.Capacity[workload.PodsResource] = used[workload.PodsResource] + 1
	}
	asks, pods := workload.Resources{}, int64(1)
	for _, e := range excess {
		n.Capacity[e.Resource] = used[e.Resource]
		if e.Resource == workload.PodsResource {
			pods = e.Amount
		} else {
			asks[e.Resource] = e.Amount
		}
	}
	for i := range pods {
		r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprint("\x00", i), Group: r.Group, Requests: asks})
		asks = nil
	}
	r.MinCount = len(r.Pods)
	return st, r
}

// nodesOver lists what is over, by node and resource.
func nodesOver(st placement.State, r *settle.NodesRequest) (list []settle.NodeExcess) {
	for _, n := range st.Nodes {
		empty := slices.Contains(r.Empty, n.Name)
		if !empty && len(r.Nodes) > 0 && !slices.Contains(r.Nodes, n.Name) {
			continue
		}
		for resource, amount := range usedOn(st, n.Name) {
			capacity, limited := n.Capacity[resource]
			switch {
			case empty && resource == workload.PodsResource && amount > 0:
				list = append(list, settle.NodeExcess{Node: n.Name, Resource: resource, Amount: amount})
			case empty, resource == workload.PodsResource && !limited:
			case amount > capacity:
				list = append(list, settle.NodeExcess{Node: n.Name, Resource: resource, Amount: amount - capacity})
			}
		}
	}
	slices.SortFunc(list, func(a, b settle.NodeExcess) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Resource, b.Resource))
	})
	return list
}

// over adds up what is over.
func over(list []settle.NodeExcess) (sum int64) {
	for _, e := range list {
		sum = quota.Add(sum, e.Amount)
	}
	return sum
}

// usedOn returns what the pods on a node take, a claim once.
func usedOn(st placement.State, node string) workload.Resources {
	used, claims := workload.Resources{}, map[string]bool{}
	for _, p := range st.Pods {
		if p.Node != node {
			continue
		}
		used[workload.PodsResource]++
		for _, id := range p.Claims {
			claims[id] = true
		}
		for resource, amount := range p.Requests {
			used[resource] = quota.Add(used[resource], amount)
		}
	}
	for _, k := range st.Claims {
		for resource, amount := range k.Requests {
			if claims[k.ID] {
				used[resource] = quota.Add(used[resource], amount)
			}
		}
	}
	return used
}

// withoutPods returns the state without the pods of victims.
func withoutPods(st placement.State, victims []placement.Victim) placement.State {
	gone := map[string]bool{}
	for _, v := range victims {
		for _, id := range v.Pods {
			gone[id] = true
		}
	}
	st.Pods = slices.DeleteFunc(slices.Clone(st.Pods), func(p workload.Pod) bool { return gone[p.ID] })
	return st
}

// charge returns the state with what budgets allow after victims have left.
func charge(st placement.State, victims []placement.Victim) placement.State {
	st.Budgets = slices.Clone(st.Budgets)
	for i := range st.Budgets {
		b := &st.Budgets[i]
		for j := range st.Pods {
			p := &st.Pods[j]
			leaves := slices.ContainsFunc(victims, func(v placement.Victim) bool { return slices.Contains(v.Pods, p.ID) })
			if leaves && b.Covers(p) && !slices.Contains(b.Disrupted, p.ID) {
				b.Allowed = max(0, b.Allowed-1)
			}
		}
	}
	return st
}
