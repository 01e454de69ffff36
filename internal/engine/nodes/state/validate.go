package state

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/workload"
)

// MaxResources limits the number of different resources in a cluster and a request together: each costs memory on
// every node.
const MaxResources = 256

// Check collects faults.
type Check struct{ fault.List }

// All adds the faults of an error.
func (f *Check) All(err error) {
	if err != nil {
		f.List = append(f.List, err.(fault.List)...)
	}
}

// Instant checks that a time is within the range of instants.
func (f *Check) Instant(path string, t time.Time) {
	if !instant.Valid(t) {
		f.Add(path, "%v is not within %s", t, instant.Range)
	}
}

// pod checks a pod on a node; known reports whether a node exists.
func (f *Check) pod(path string, p *workload.Pod, known func(node string) bool) {
	f.All(p.Validate(path))
	if p.Node == "" {
		f.Add(path+".node", "is empty")
	} else if !known(p.Node) {
		f.Add(path+".node", "unknown node %q", p.Node)
	}
}

// Unique reports duplicates. It returns the index of each key.
func Unique[T any, K comparable](f *Check, field string, list []T, key func(*T) K) map[K]int {
	first := make(map[K]int, len(list))
	var none K
	for i := range list {
		k := key(&list[i])
		if at, known := first[k]; known && k != none {
			f.Add(fmt.Sprintf("%s[%d]", field, i), "%v is there already: %s[%d]", k, field, at)
			continue
		}
		first[k] = i
	}
	return first
}

// validate finds everything that is wrong with a state except too much usage of a node, which New finds when it
// builds the node.
func validate(st *State) fault.List {
	var f Check
	nodes := Unique(&f, "nodes", st.Nodes, func(n *workload.Node) string { return n.Name })
	known := func(name string) bool { _, ok := nodes[name]; return ok }
	for i := range st.Nodes {
		f.All(st.Nodes[i].Validate(fmt.Sprintf("nodes[%d]", i)))
	}
	pods := Unique(&f, "pods", st.Pods, func(p *workload.Pod) string { return p.ID })
	for i := range st.Pods {
		f.pod(fmt.Sprintf("pods[%d]", i), &st.Pods[i], known)
	}
	Unique(&f, "nominated", st.Nominated, func(p *workload.Pod) string { return p.ID })
	for i := range st.Nominated {
		path := fmt.Sprintf("nominated[%d]", i)
		f.pod(path, &st.Nominated[i], known)
		if at, runs := pods[st.Nominated[i].ID]; runs && st.Nominated[i].ID != "" {
			f.Add(path+".id", "%q runs: pods[%d]", st.Nominated[i].ID, at)
		}
		if st.Nominated[i].Terminating {
			f.Add(path+".terminating", "a pod that waits does not terminate")
		}
	}
	claims := Unique(&f, "claims", st.Claims, claimID)
	for i := range st.Claims {
		f.All(st.Claims[i].Validate(fmt.Sprintf("claims[%d]", i)))
	}
	hasClaim := func(id string) bool { _, ok := claims[id]; return ok }
	for i := range st.Pods {
		f.KnownClaims(fmt.Sprintf("pods[%d]", i), &st.Pods[i], hasClaim)
	}
	for i := range st.Nominated {
		f.KnownClaims(fmt.Sprintf("nominated[%d]", i), &st.Nominated[i], hasClaim)
	}
	Unique(&f, "groups", st.Groups, func(g *workload.PodGroup) string { return g.ID })
	for i := range st.Groups {
		f.All(st.Groups[i].Validate(fmt.Sprintf("groups[%d]", i)))
	}
	validateParents(&f.List, st.Groups)
	type key struct { // the zero value: a budget without its name
		budgetKey
		valid bool
	}
	Unique(&f, "budgets", st.Budgets, func(b *workload.DisruptionBudget) key {
		return key{keyOf(b), b.Name != "" || b.LabelledOnly}
	})
	for i := range st.Budgets {
		f.All(st.Budgets[i].Validate(fmt.Sprintf("budgets[%d]", i)))
	}
	return f.List
}
