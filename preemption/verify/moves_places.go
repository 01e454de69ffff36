package verify

import (
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// movesJudge holds a question about moves, and what is wrong with the answer.
type movesJudge struct {
	*nodes.World
	st         placement.State
	pc         placement.Config
	config     moves.Config
	units      []placement.Unit        // that leave
	violations []int                   // by unit
	leaves     map[string]bool         // pods
	to         map[string]string       // of pods that move
	members    []workload.Pod          // pods of the request, where they are placed
	dropped    []string                // pods of which the nominations do not stay
	each       bool                    // the pods of the request are decided about one by one
	stays      func(workload.Pod) bool // need not leave with its unit; nil: all leave
	isLater    bool                    // room may have come about after a unit yielded
	closed     []string                // nodes that are to be empty
	faults     fault.List
}

func newMovesJudge(st placement.State, r placement.Request, pc placement.Config, c moves.Config) *movesJudge {
	return &movesJudge{World: nodes.New(pc, st, r), st: st, pc: pc, config: c, leaves: map[string]bool{}, to: map[string]string{}}
}

func (j *movesJudge) wrong(path, problem string, args ...any) { j.faults.Add(path, problem, args...) }

// with returns all that is wrong, with what another judge found.
func (j *movesJudge) with(err error) error {
	list, ok := err.(fault.List)
	if err != nil && !ok {
		return err
	}
	return append(j.faults, list...).Err()
}

// kept are the nominations that stay.
func (j *movesJudge) kept() (list []workload.Pod) {
	for _, p := range j.st.Nominated {
		if !slices.Contains(j.dropped, p.ID) {
			list = append(list, p)
		}
	}
	return list
}

// after are the pods that run when all is done, and what is promised.
func (j *movesJudge) after() []workload.Pod { return slices.Concat(j.running(), j.members, j.kept()) }

// running are the pods of the state that run when all is done, those that move on their new nodes.
func (j *movesJudge) running() (list []workload.Pod) {
	for _, p := range j.st.Pods {
		to, moves := j.to[p.ID]
		if moves {
			p.Node = to
		}
		if moves || !j.leaves[p.ID] {
			list = append(list, p)
		}
	}
	return list
}

// places judges where units move.
func (j *movesJudge) places() {
	after := j.after()
	for i := range j.units {
		u := j.units[i]
		_, moves := j.to[u.Pods[0].ID]
		if !moves {
			j.hasNone(i, after)
			continue
		}
		var on []string
		for _, p := range u.Pods {
			to := j.to[p.ID]
			on = append(on, to)
			if p.Node = to; !j.mayBe(p, after) {
				j.wrong("moves", "%q may not be on %q", p.ID, to)
			}
			if len(u.Pods) == 1 && to == u.Pods[0].Node && !j.each {
				j.wrong("moves", "%q need not leave %q", p.ID, to)
			}
			if !j.isWithin(to, p.Requests, after) {
				j.wrong("moves", "there is no room for %q on %q", p.ID, to)
			}
		}
		if !j.inDomain(u, on) {
			j.wrong("moves", "%v are in no domain of theirs: %v", podIDs(u), on)
		}
	}
}

// hasNone judges a single pod that yields: it has no place beside all that is placed.
func (j *movesJudge) hasNone(i int, after []workload.Pod) {
	u := j.units[i]
	_, move := j.price(u)
	p := u.Pods[0]
	switch {
	case len(u.Pods) > 1 || move < 0 || p.Terminating || len(p.Claims) > 0 || j.HasTrials(),
		j.config.Start == moves.BeforeStop, len(j.st.Budgets) > 0, j.isLater:
		return
	}
	for _, n := range j.st.Nodes {
		at := p
		at.Node = n.Name
		if beside := append(slices.Clone(after), at); j.mayBe(at, beside) && j.isWithin(n.Name, p.Requests, beside) && j.inDomain(u, []string{n.Name}) {
			j.wrong("moves", "%q yields, but has a place on %q", p.ID, n.Name)
		}
	}
}

// mayBe reports whether a pod may run on its node beside others, as far as its own nodes and filters go.
func (j *movesJudge) mayBe(p workload.Pod, others []workload.Pod) bool {
	at := slices.IndexFunc(j.st.Nodes, func(n workload.Node) bool { return n.Name == p.Node })
	if at < 0 || j.st.Nodes[at].Unschedulable || p.Nowhere || len(p.Nodes) > 0 && !slices.Contains(p.Nodes, p.Node) || slices.Contains(j.closed, p.Node) {
		return false
	}
	p.Terminating = false
	return !slices.ContainsFunc(j.pc.Filters, func(f placement.Filter) bool {
		return !f.Feasible(p, j.st.Nodes[at]) || slices.ContainsFunc(others, func(o workload.Pod) bool {
			_, isPlaced := j.to[o.ID]
			return o.ID != p.ID && (o.Node == p.Node || f.Reach() == placement.ReachCluster) && f.Conflict(p, o) &&
				(!isPlaced || f.Conflict(o, p)) // the first of both to be placed did not see the other
		})
	})
}

// isWithin reports whether a node holds what its pods take, of the resources in requests.
func (j *movesJudge) isWithin(node string, requests workload.Resources, pods []workload.Pod) bool {
	at := slices.IndexFunc(j.st.Nodes, func(n workload.Node) bool { return n.Name == node })
	if at < 0 {
		return false
	}
	capacity, used := j.st.Nodes[at].Capacity, usedOn(placement.State{Pods: pods, Claims: j.st.Claims}, node)
	most, limited := capacity[workload.PodsResource]
	if limited && used[workload.PodsResource] > most {
		return false
	}
	for resource, amount := range requests {
		if amount > 0 && used[resource] > capacity[resource] {
			return false
		}
	}
	return true
}

// inDomain reports whether all nodes are in one of the domains of a unit.
func (j *movesJudge) inDomain(u placement.Unit, on []string) bool {
	if j.config.Domains == nil {
		return true
	}
	list := j.config.Domains(u)
	return len(list) == 0 || slices.ContainsFunc(list, func(d placement.Domain) bool {
		return !slices.ContainsFunc(on, func(n string) bool { return !slices.Contains(d.Nodes, n) })
	})
}

// charges returns how many of the pods a budget counts.
func charges(b *workload.DisruptionBudget, pods []workload.Pod) (n int64) {
	for i := range pods {
		if b.Covers(&pods[i]) && !slices.Contains(b.Disrupted, pods[i].ID) {
			n = quota.Add(n, 1)
		}
	}
	return n
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
