package nodes_test

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// answers is a question with the decisions of both.
type answers struct {
	question
	engine, witness placement.Decision
}

// alsoBy reports whether the engine answers as the witness does to another request, which may also be exactly at the end of a wait.
func (a answers) alsoBy(r placement.Request) bool {
	same := cmp.Equal(told(r, a.engine), told(r, nodes.Decide(a.Config, a.State, r)))
	if !same && r.TerminationTimeout > 0 && r.TerminationTimeout == a.Request.TerminationTimeout {
		r.TerminationTimeout--
		return a.alsoBy(r)
	}
	return same
}

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(answers) bool
}{
	{"exactly at the end of the wait", timedOutAtTheEnd},
	{"the order of all domains together", domainAfterDomain},
	{"rounded shares of capacity", equallyLeft},
	{"what leaves is overlooked", overlooksLeaving},
}

// domainAfterDomain: DomainsPreferred, "the group may be on the nodes of all of them"; Prefer, "the others follow by name". The engine
// tries the nodes of all domains together domain after domain: as if they were preferred so.
func domainAfterDomain(a answers) bool {
	r := a.Request
	if !r.DomainsPreferred {
		return false
	}
	r.Prefer = nil
	for _, d := range a.Request.Domains {
		for _, name := range slices.Concat(a.Request.Prefer, slices.Sorted(slices.Values(d.Nodes))) {
			if slices.Contains(d.Nodes, name) && !slices.Contains(r.Prefer, name) {
				r.Prefer = append(r.Prefer, name)
			}
		}
	}
	return a.alsoBy(r)
}

// overlooksLeaving: SkipFit, a node where no unit has to yield "is then no candidate", and "if the request fits once terminating
// pods are gone, it waits for them". The engine does not wait for them if another node, with room now, comes first.
func overlooksLeaving(a answers) bool {
	r := a.Request
	r.SkipFit = false
	return a.Request.SkipFit && a.witness.Outcome == preemption.Wait && a.witness.Reason == 0 &&
		nodes.Decide(a.Config, a.State, r).Outcome == preemption.Fits
}

// equallyLeft: BestFit chooses "the smallest sum, over the requested resources, of the free part of the capacity". The engine rounds
// each part: of equal sums it may not take the first in order, and of large capacities not the smallest: as if another one were
// preferred.
func equallyLeft(a answers) bool {
	two := slices.ContainsFunc(a.Request.Pods, func(p workload.Pod) bool { return len(p.Requests) > 1 })
	large := slices.ContainsFunc(a.State.Nodes, func(n workload.Node) bool { return n.Capacity["cpu"] > 1<<53 })
	if a.Config.Order != placement.BestFit || !two && !large {
		return false
	}
	var names []string
	for _, n := range a.State.Nodes {
		names = append(names, n.Name)
	}
	return large || permuted(names, nil, func(prefer []string) bool {
		r := a.Request
		r.Prefer = prefer
		return a.alsoBy(r)
	})
}

// permuted reports whether something holds of some order of the names.
func permuted(left, before []string, holds func([]string) bool) bool {
	if len(left) == 0 {
		return holds(before)
	}
	for i, name := range left {
		if permuted(slices.Delete(slices.Clone(left), i, i+1), append(slices.Clone(before), name), holds) {
			return true
		}
	}
	return false
}

// timedOutAtTheEnd: RuleTerminating, "a pod of the unit was told to stop longer ago than the termination timeout"; a pod is waited
// for "at most for" that time. The engine waits no more at exactly the end: as if the time were a nanosecond shorter.
func timedOutAtTheEnd(a answers) bool {
	return a.Request.TerminationTimeout > 0 && a.alsoBy(a.Request)
}

// failsOfItself: Decide "fails only on a malformed request". For the pods of a Basic group the engine makes edits between them, and
// fails if one of these would use more than 2^62 of a node.
func failsOfItself(q question, err error) bool {
	basic := func(g workload.PodGroup) bool { return g.ID == q.Request.Group && g.Basic }
	return slices.ContainsFunc(q.State.Groups, basic) && strings.Contains(err.Error(), "more than 2^62 of a resource is used of node")
}
