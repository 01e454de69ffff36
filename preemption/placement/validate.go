package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/quota"
)

// MaxResources bounds the number of different resources in a snapshot, those of a request
// included: each costs memory on every node.
const MaxResources = 256

func (f *validator) resources(path string, r Resources, ofPod bool) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		switch amount := r[name]; {
		case name == "":
			f.Add(path, "a resource without a name")
		case amount < 0:
			f.Add(path+"."+name, "%d is negative", amount)
		case amount > quota.MaxUsage:
			f.Add(path+"."+name, "%d is more than 2^62", amount)
		case ofPod && name == PodsResource:
			f.Add(path+"."+name, "every pod takes one of it: it cannot be requested")
		}
	}
}

// validator collects faults.
type validator struct{ fault.List }

func (f *validator) node(path string, n *Node) {
	if n.Name == "" {
		f.Add(path+".name", "is empty")
	}
	f.resources(path+".capacity", n.Capacity, false)
}

func (f *validator) instant(path string, t time.Time) {
	if !instant.Valid(t) {
		f.Add(path, "%v is not within %s", t, instant.Range)
	}
}

// pod checks a pod by itself; known tells which nodes there are.
func (f *validator) pod(path string, p *Pod, known func(node string) bool) {
	if p.ID == "" {
		f.Add(path+".id", "is empty")
	}
	if p.Node == "" {
		f.Add(path+".node", "is empty")
	} else if !known(p.Node) {
		f.Add(path+".node", "unknown node %q", p.Node)
	}
	if p.Preempted && !p.Terminating {
		f.Add(path+".preempted", "the pod does not terminate")
	}
	if !p.TerminatingSince.IsZero() && !p.Terminating {
		f.Add(path+".terminatingSince", "the pod does not terminate")
	}
	f.instant(path+".started", p.Started)
	f.instant(path+".terminatingSince", p.TerminatingSince)
	f.resources(path+".requests", p.Requests, true)
}

func (f *validator) group(path string, g *Group) {
	if g.ID == "" {
		f.Add(path+".id", "is empty")
	}
	if !disruptionNames.Valid(g.DisruptionMode) {
		f.Add(path+".disruptionMode", "%v is unknown", g.DisruptionMode)
	}
	if g.Basic && g.DisruptionMode == DisruptionModePodGroup {
		f.Add(path+".disruptionMode", "PodGroup needs a gang: the group is basic")
	}
}

func (f *validator) budget(path string, b *Budget) {
	if b.Name == "" {
		f.Add(path+".name", "is empty")
	}
	if b.Allowed < 0 {
		f.Add(path+".allowed", "%d is negative", b.Allowed)
	}
	if b.Selector == nil {
		return
	}
	for i, r := range b.Selector.MatchExpressions {
		at := fmt.Sprintf("%s.selector.matchExpressions[%d]", path, i)
		switch {
		case r.Key == "":
			f.Add(at+".key", "is empty")
		case r.Operator == In || r.Operator == NotIn:
			if len(r.Values) == 0 {
				f.Add(at+".values", "%s needs a value", r.Operator)
			}
		case r.Operator != Exists && r.Operator != DoesNotExist:
			f.Add(at+".operator", "%q is unknown", r.Operator)
		case len(r.Values) > 0:
			f.Add(at+".values", "%s takes no value", r.Operator)
		}
	}
}

// unique reports what is there twice.
func unique[T any, K comparable](f *validator, field string, list []T, key func(*T) K) map[K]int {
	first := make(map[K]int, len(list))
	var none K
	for i := range list {
		k := key(&list[i])
		if at, again := first[k]; again && k != none {
			f.Add(fmt.Sprintf("%s[%d]", field, i), "%v is there already: %s[%d]", k, field, at)
			continue
		}
		first[k] = i
	}
	return first
}

// budgetKey is the name of a budget in its namespace.
type budgetKey struct{ namespace, name string }

func (k budgetKey) String() string { return fmt.Sprintf("%q of namespace %q", k.name, k.namespace) }

func (b *Budget) key() budgetKey { return budgetKey{b.Namespace, b.Name} }

func (k budgetKey) compare(other budgetKey) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name))
}

// validate finds everything that is wrong with a state but too much usage of a node,
// which only shows when it is built.
func validate(st *State) fault.List {
	var f validator
	nodes := unique(&f, "nodes", st.Nodes, func(n *Node) string { return n.Name })
	known := func(name string) bool { _, ok := nodes[name]; return ok }
	for i := range st.Nodes {
		f.node(fmt.Sprintf("nodes[%d]", i), &st.Nodes[i])
	}
	pods := unique(&f, "pods", st.Pods, func(p *Pod) string { return p.ID })
	for i := range st.Pods {
		f.pod(fmt.Sprintf("pods[%d]", i), &st.Pods[i], known)
	}
	unique(&f, "nominated", st.Nominated, func(p *Pod) string { return p.ID })
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
	unique(&f, "groups", st.Groups, func(g *Group) string { return g.ID })
	for i := range st.Groups {
		f.group(fmt.Sprintf("groups[%d]", i), &st.Groups[i])
	}
	unique(&f, "budgets", st.Budgets, func(b *Budget) budgetKey { return b.key() })
	for i := range st.Budgets {
		f.budget(fmt.Sprintf("budgets[%d]", i), &st.Budgets[i])
	}
	return f.List
}
