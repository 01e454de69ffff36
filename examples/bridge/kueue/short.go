package kueue

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Where Kueue 0.19.2 asks one thing when it chooses flavors and victims, and another before it tells the victims to stop, an answer
// that a workload preempts is in doubt: its victims are named, they are not enough, and nobody is told.
const (
	// The flavor assigner adds pods to what is asked for, and the search for victims does not read that (Assignment.TotalRequestsFor).
	podsUncounted = "its queue has quota for pods, which Kueue does not count when it looks for victims: those that it finds may not be enough, and then it preempts nobody"
	// The search leaves out requests of zero; the last look does not, and where more is used than there is, not even zero fits.
	zeroCounted = "it asks for zero of %s, of which some queue uses more than its nominal quota: where more is used than there is Kueue finds no room for zero, and preempts nobody"
)

// doubtPreempts doubts that a workload preempts, if Kueue may look at its requests in two ways.
func (b *builder) doubtPreempts(p *bridge.Pending, q *queue.Queue) {
	over := map[quota.FlavorResource]bool{}
	for _, fr := range b.overNominal() {
		over[fr] = true
	}
	for _, e := range q.Quotas {
		asksZero := func(s workload.PodSet) bool {
			return slices.ContainsFunc(s.Requests, func(r quota.Amount) bool { return r.Resource == e.Resource && r.Amount == 0 })
		}
		switch {
		case e.Resource == "pods":
			p.IfPreempts = podsUncounted
		case over[e.FlavorResource()] && slices.ContainsFunc(p.Workload.PodSets, asksZero):
			p.IfPreempts = fmt.Sprintf(zeroCounted, e.Resource)
		}
	}
}

// overNominal are the columns in which some queue uses more than its nominal quota.
func (b *builder) overNominal() []quota.FlavorResource {
	if b.over != nil {
		return b.over
	}
	type column struct {
		queue string
		of    quota.FlavorResource
	}
	used := map[column]int64{}
	for i := range b.c.State.Admitted {
		for _, u := range b.c.State.Admitted[i].Usage() {
			at := column{b.c.State.Admitted[i].Queue, u.FlavorResource()}
			used[at] = quota.Add(used[at], u.Amount)
		}
	}
	b.over = []quota.FlavorResource{}
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		for _, e := range q.Quotas {
			if used[column{q.Name, e.FlavorResource()}] > e.Nominal {
				b.over = append(b.over, e.FlavorResource())
			}
		}
	}
	return b.over
}

// doubtKeys doubts a workload that asks for a label of nodes that some flavors of a group have and others have not. Kueue 0.19.2 asks
// a flavor for its own keys alone (checkFlavorForPodSets), so one without the label suits; decisions ask all flavors of the group.
func (b *builder) doubtKeys(p *bridge.Pending, q *queue.Queue) {
	labels := map[string]map[string]string{}
	for i := range b.c.State.Flavors {
		labels[b.c.State.Flavors[i].Name] = b.c.State.Flavors[i].NodeLabels
	}
	for i := range p.Workload.PodSets {
		for _, key := range keysOf(p.Workload.PodSets[i].NodeConstraints) {
			has := func(flavor string) bool { _, has := labels[flavor][key]; return has }
			lacks := func(flavor string) bool { return !has(flavor) }
			for _, g := range q.ResourceGroups() {
				if !slices.ContainsFunc(g.Flavors, has) || !slices.ContainsFunc(g.Flavors, lacks) {
					continue
				}
				n := bridge.Note{Object: "Workload " + p.Workload.ID, Path: fmt.Sprintf("spec.podSets[%d].template.spec", i),
					Text: fmt.Sprintf("Workload %s asks for nodes by %s, which only some flavors of ClusterQueue %s have: Kueue 0.19.2 takes one without it, which is not modelled", p.Workload.ID, key, q.Name)}
				b.c.Notes = append(b.c.Notes, n)
				id := p.Workload.ID
				b.later = append(b.later, func() { b.doubtReach(reach{workload: id}, n) })
				return
			}
		}
	}
}

// keysOf are the labels that nodes must have by constraints, sorted; c may be nil.
func keysOf(c *workload.NodeConstraints) (keys []string) {
	if c == nil {
		return nil
	}
	keys = slices.Collect(maps.Keys(c.NodeSelector))
	for _, term := range c.NodeAffinity {
		for _, r := range term.MatchExpressions {
			if r.Operator != workload.NotIn && r.Operator != workload.DoesNotExist { // these hold without the label
				keys = append(keys, r.Key)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(keys)))
}
