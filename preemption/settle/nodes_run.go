package settle

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// NodeQuestion is the request that stands for the excess of one node: whatever [placement.Preemptor.Decide] answers to it are the
// victims. In Snapshot the node has as much capacity, in what is over, as its pods take, and anything may be placed there. A group of
// pods of the highest priority asks for as much as is over, one pod for each pod that has to leave.
type NodeQuestion struct {
	Snapshot *placement.Snapshot
	Request  placement.Request
}

// askNode returns the question about an excess of a node.
func askNode(s *placement.Snapshot, name string, excess []NodeExcess, now time.Time) (q NodeQuestion, err error) {
	n, _ := s.Node(name)
	used := s.UsedOn(name)
	n.Unschedulable, n.Capacity = false, maps.Clone(n.Capacity)
	if n.Capacity == nil {
		n.Capacity = workload.Resources{}
	}
	for _, e := range excess {
		n.Capacity[e.Resource] = used[e.Resource]
	}
	if _, limited := n.Capacity[workload.PodsResource]; limited && amountIn(amountsOf(excess), podsColumn) == 0 {
		n.Capacity[workload.PodsResource] = used[workload.PodsResource] + 1 // for the pod that asks
	}
	q.Request = placement.Request{Priority: math.MaxInt32, Domains: []placement.Domain{{Name: name, Nodes: []string{name}}}, Now: now}
	q.Request.Group = unused("excess of "+name, func(id string) bool { _, taken := s.Group(id); return taken })
	if q.Snapshot, err = s.With(placement.SetNode(n)); err != nil {
		return q, err
	}
	return q.asking(amountsOf(excess)), nil
}

// asking returns the same question about other amounts.
func (q NodeQuestion) asking(amounts []quota.Amount) NodeQuestion {
	requests := workload.Resources{}
	for _, a := range amounts {
		if a.Resource != workload.PodsResource {
			requests[a.Resource] = a.Amount
		}
	}
	q.Request.Pods = nil
	for i := range max(1, amountIn(amounts, podsColumn)) {
		id := unused(fmt.Sprintf("%s/%d", q.Request.Group, i), func(id string) bool { _, taken := q.Snapshot.Find(id); return taken })
		q.Request.Pods = append(q.Request.Pods, workload.Pod{ID: id, Group: q.Request.Group, Requests: requests})
		requests = nil // of the first pod
	}
	q.Request.MinCount = len(q.Request.Pods)
	return q
}

var podsColumn = quota.FlavorResource{Resource: workload.PodsResource}

func amountsOf(excess []NodeExcess) (list []quota.Amount) {
	for _, e := range excess {
		list = append(list, quota.Amount{Resource: e.Resource, Amount: e.Amount})
	}
	return list
}

// nodesRun is one settling of all nodes, at one instant.
type nodesRun struct {
	preemptor *placement.Preemptor
	request   *NodesRequest
	now       time.Time
	before    *placement.Snapshot // without what terminates
	left      *placement.Snapshot // without the victims so far, too
	steps     []NodeStep
	searches  int // that took victims
}

func (f *nodesRun) run() error {
	for _, name := range f.request.names(f.left) {
		excess := f.request.over(f.left, name)
		if len(excess) == 0 {
			continue
		}
		step := NodeStep{Node: name, Excess: excess}
		_, err := f.take(&step, excess)
		if f.steps = append(f.steps, step); err != nil {
			return err
		}
	}
	if err := f.putBack(); err != nil {
		return err
	}
	return f.conclude()
}

// conclude brings the decisions of the steps up to what remains in the end. What still may leave then is taken.
func (f *nodesRun) conclude() error {
	for i := 0; i < len(f.steps); i++ {
		step := &f.steps[i]
		rest := f.request.over(f.left, step.Node)
		if len(rest) == 0 {
			if step.Decision.Outcome != preemption.Preempt {
				step.Decision = placement.Decision{Outcome: preemption.Fits} // victims of other nodes suffice
			}
			continue
		}
		took, err := f.take(step, rest)
		if err == nil && took {
			err = f.putBack()
			i = -1 // once more: the rest is less
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putBack puts back, last first, units that leave in vain because of others that were not taken in the same search. Budgets
// then allow what the others leave.
func (f *nodesRun) putBack() error {
	if f.searches < 2 {
		return nil
	}
	var rest []placement.Victim
	for i := len(f.steps) - 1; i >= 0; i-- {
		step := &f.steps[i]
		for j := len(step.Victims) - 1; j >= 0; j-- {
			if f.spares(&step.Victims[j]) {
				step.Victims = slices.Delete(step.Victims, j, j+1)
			}
		}
		rest = append(rest, step.Victims...)
	}
	f.left = f.before
	return f.remove(rest)
}

// remove removes victims, which budgets count.
func (f *nodesRun) remove(victims []placement.Victim) (err error) {
	edits := f.charges(victims)
	for _, v := range victims {
		edits = append(edits, removePods(v.Pods)...)
	}
	f.left, err = f.left.With(edits...)
	return err
}

// spares puts a unit back if no node is then more over than without it.
func (f *nodesRun) spares(v *placement.Victim) bool {
	var edits []placement.Edit
	on := map[string]bool{}
	for _, id := range v.Pods {
		p, _ := f.before.Find(id)
		edits, on[p.Node] = append(edits, placement.Run(p)), true
	}
	trial, err := f.left.With(edits...)
	if err != nil {
		return false
	}
	for node := range on {
		if f.request.asks(node) && !noMore(amountsOf(f.request.over(trial, node)), amountsOf(f.request.over(f.left, node))) {
			return false
		}
	}
	f.left = trial
	return true
}

// take takes all of an excess if it may leave now, else as much as may; took: some may.
func (f *nodesRun) take(step *NodeStep, excess []NodeExcess) (took bool, err error) {
	if step.question, err = askNode(f.left, step.Node, excess, f.now); err != nil {
		return false, err
	}
	d, err := f.preemptor.Decide(step.question.Snapshot, step.question.Request)
	if step.Decision = d; err != nil {
		return false, err
	}
	amounts := amountsOf(excess)
	found := d.Outcome == preemption.Preempt || part(amounts, f.missing(&d, amounts), func(amounts []quota.Amount) (bool, []quota.Amount) {
		d = f.about(step.question, amounts)
		return d.Outcome == preemption.Preempt, f.missing(&d, amounts)
	})
	if !found {
		return false, nil
	}
	f.searches++
	step.Victims = append(step.Victims, d.Victims...)
	step.withdrawn = append(step.withdrawn, d.Withdrawn...)
	return true, f.remove(d.Victims)
}

// charges returns the edits by which budgets allow less, for the victims that they cover.
func (f *nodesRun) charges(victims []placement.Victim) (edits []placement.Edit) {
	var pods []workload.Pod
	for _, v := range victims {
		for _, id := range v.Pods {
			p, _ := f.left.Find(id)
			pods = append(pods, p)
		}
	}
	return chargesOf(f.left, pods)
}

// chargesOf returns the edits by which budgets allow less, for the pods that they cover.
func chargesOf(s *placement.Snapshot, pods []workload.Pod) (edits []placement.Edit) {
	for b := range s.Budgets() {
		before := b.Allowed
		for i := range pods {
			if b.Charges(&pods[i]) {
				b.Allowed = max(0, b.Allowed-1)
			}
		}
		if b.Allowed != before {
			edits = append(edits, placement.SetBudget(b))
		}
	}
	return edits
}

// about asks for other amounts. What can fail was asked before.
func (f *nodesRun) about(q NodeQuestion, amounts []quota.Amount) placement.Decision {
	q = q.asking(amounts)
	d, _ := f.preemptor.Decide(q.Snapshot, q.Request)
	return d
}

// missing returns what a refusal is short of: by its shortage or, if pods ask for a place, by how many have one.
func (f *nodesRun) missing(d *placement.Decision, amounts []quota.Amount) (list []quota.Amount) {
	for _, s := range d.Shortage {
		if s.Resource != workload.PodsResource {
			list = append(list, quota.Amount{Resource: s.Resource, Amount: s.Missing})
		}
	}
	pods := amountIn(amounts, podsColumn)
	if pods > 0 && len(list) == 0 {
		list = append(list, quota.Amount{Resource: workload.PodsResource, Amount: quota.Sub(pods, int64(d.Placeable))})
	}
	return list
}

// moreAt returns the first instant at which more may leave; zero if there is none.
func (f *nodesRun) moreAt() (first time.Time) {
	for i := range f.steps {
		step := &f.steps[i]
		for _, e := range f.request.over(f.left, step.Node) {
			d := f.about(step.question, []quota.Amount{{Resource: e.Resource, Amount: 1}})
			first = earlier(first, d.RetryAt)
		}
	}
	return first
}

// answer puts the run together.
func (f *nodesRun) answer(excess []NodeExcess) NodesAnswer {
	a := NodesAnswer{
		Outcome: preemption.Fits, Excess: excess, Remaining: f.request.overAll(f.left), MoreAt: f.moreAt(), Steps: f.steps, now: f.now,
	}
	for _, step := range f.steps {
		if len(step.Victims) > 0 { // else they were put back
			a.Withdrawn = append(a.Withdrawn, step.withdrawn...)
		}
		for _, v := range step.Victims {
			a.Violations += v.Violations
			v.Order = len(a.Victims) + 1
			a.Victims = append(a.Victims, v)
		}
	}
	slices.SortFunc(a.Victims, func(a, b placement.Victim) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	slices.Sort(a.Withdrawn)
	a.Withdrawn = slices.Compact(a.Withdrawn)
	switch {
	case len(a.Victims) > 0:
		a.Outcome = preemption.Preempt
	case len(excess) > 0 && !a.MoreAt.IsZero():
		a.Outcome = preemption.Wait
	case len(excess) > 0:
		a.Outcome = preemption.Impossible
	}
	return a
}
