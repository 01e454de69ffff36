package nodes_test

import (
	"slices"

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

// knownDisagreements are those in which the engine is not what the words say, each with a predicate
// outside of which none is excused.
var knownDisagreements = []struct {
	name  string
	holds func(answers) bool
}{
	{"the order of all domains together", domainAfterDomain},
	{"rounded shares of capacity", equallyLeft},
	{"what leaves is overlooked", overlooksLeaving},
	{"what claims are short of", shortOfClaims},
	{"exactly at the end of the wait", timedOutAtTheEnd},
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
		slices.Sort(d.Nodes)
		for _, name := range slices.Concat(a.Request.Prefer, d.Nodes) {
			if slices.Contains(d.Nodes, name) && !slices.Contains(r.Prefer, name) {
				r.Prefer = append(r.Prefer, name)
			}
		}
	}
	return cmp.Equal(told(a.engine), told(nodes.Decide(a.Config, a.State, r)))
}

// overlooksLeaving: SkipFit, a node where no unit has to yield "is then no candidate", and "if the request fits once terminating
// pods are gone, it waits for them". The engine does not wait for them if another node, with room now, comes first.
func overlooksLeaving(a answers) bool {
	r := a.Request
	r.SkipFit = false
	return a.Request.SkipFit && a.witness.Outcome == preemption.Wait && a.witness.Reason == 0 &&
		nodes.Decide(a.Config, a.State, r).Outcome == preemption.Fits
}

// shortOfClaims: "Shortage lists the resources that are missing". The words do not say how a claim counts there that others hold.
func shortOfClaims(a answers) bool {
	holds := slices.ContainsFunc(a.Request.Pods, func(p workload.Pod) bool { return len(p.Claims) > 0 })
	a.engine.Shortage, a.witness.Shortage = nil, nil
	return holds && cmp.Equal(told(a.engine), told(a.witness))
}

// equallyLeft: BestFit chooses "the smallest sum, over the requested resources, of the free part of the capacity". The engine rounds
// each part, so of equal sums it may not take the first in order: as if another one were preferred.
func equallyLeft(a answers) bool {
	two := slices.ContainsFunc(a.Request.Pods, func(p workload.Pod) bool { return len(p.Requests) > 1 })
	if a.Config.Order != placement.BestFit || !two {
		return false
	}
	var names []string
	for _, n := range a.State.Nodes {
		names = append(names, n.Name)
	}
	return permuted(names, nil, func(prefer []string) bool {
		r := a.Request
		r.Prefer = prefer
		return cmp.Equal(told(a.engine), told(nodes.Decide(a.Config, a.State, r)))
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
	r := a.Request
	if r.TerminationTimeout == 0 {
		return false
	}
	r.TerminationTimeout--
	return cmp.Equal(told(a.engine), told(nodes.Decide(a.Config, a.State, r)))
}
