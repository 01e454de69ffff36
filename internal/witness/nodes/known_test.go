package nodes_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption/placement"
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
