package minruntime

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/fault"
)

// Node is a queue, or a group of queues, with its name, the name of its parent (empty: a
// root) and its settings.
type Node struct {
	Name   string
	Parent string
	Settings
}

// Resolution is a minimum runtime and where it was set.
type Resolution struct {
	MinRuntime time.Duration
	// Node is the name of the node that says so. Empty: the default.
	Node string
}

// Tree resolves settings by name. It is immutable.
type Tree struct {
	at       map[string]int
	names    []string
	parents  []int
	preempt  []int // by node: the nearest at or above it that is set, -1 for none
	reclaim  []int
	settings []Settings
	defaults Settings
	method   Method
}

// NewTree builds a tree. Unset defaults are zero. It fails with every fault and its path:
// an empty or doubled name, an unknown parent, a cycle, a negative duration, an unknown
// method.
func NewTree(nodes []Node, defaults Settings, method Method) (*Tree, error) {
	var faults fault.List
	t := &Tree{at: make(map[string]int, len(nodes)), defaults: defaults, method: method}
	validate(&faults, "defaults", defaults)
	if method > Queue {
		faults.Add("method", "%v is unknown", method)
	}
	for i, n := range nodes {
		if _, taken := t.at[n.Name]; taken || n.Name == "" {
			faults.Add(fmt.Sprintf("nodes[%d].name", i), "%q is empty or taken", n.Name)
		} else {
			t.at[n.Name] = i
		}
		validate(&faults, fmt.Sprintf("nodes[%d]", i), n.Settings)
	}
	for i, n := range nodes {
		parent, known := t.at[n.Parent]
		if n.Parent == "" {
			parent = -1
		} else if !known {
			faults.Add(fmt.Sprintf("nodes[%d].parent", i), "unknown node %q (node %q)", n.Parent, n.Name)
		}
		t.names, t.parents, t.settings = append(t.names, n.Name), append(t.parents, parent), append(t.settings, n.Settings)
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	for i := range nodes {
		steps := 0
		for n := i; n >= 0; n = t.parents[n] {
			if steps++; steps > len(nodes) {
				faults.Add(fmt.Sprintf("nodes[%d].parent", i), "the ancestors of %q are a cycle", nodes[i].Name)
				return nil, faults
			}
		}
	}
	t.preempt = Inherit(t.parents, func(n int) Setting { return t.settings[n].Preempt })
	t.reclaim = Inherit(t.parents, func(n int) Setting { return t.settings[n].Reclaim })
	return t, nil
}

// validate adds a fault for each negative duration.
func validate(faults *fault.List, path string, s Settings) {
	for _, f := range [...]struct {
		name    string
		setting Setting
	}{{"preempt", s.Preempt}, {"reclaim", s.Reclaim}} {
		if d, _ := f.setting.Get(); d < 0 {
			faults.Add(path+"."+f.name, "%v is negative", d)
		}
	}
}

// Inherit returns, for each node, the nearest at or above it whose setting is set; -1
// where none is. parents[n] is the parent of n, -1 for a root; there is no cycle.
func Inherit(parents []int, setting func(node int) Setting) []int {
	const unknown = -2
	nearest := make([]int, len(parents))
	for i := range nearest {
		nearest[i] = unknown
	}
	for i := range nearest {
		n := i
		for n >= 0 && nearest[n] == unknown && setting(n).IsZero() {
			n = parents[n]
		}
		found := -1
		if n >= 0 {
			if found = nearest[n]; found == unknown {
				found = n
			}
		}
		for m := i; m >= 0 && nearest[m] == unknown; m = parents[m] {
			nearest[m] = found
			if m == found {
				break
			}
		}
	}
	return nearest
}

// Preempt resolves the minimum runtime of a victim against workloads of its own queue:
// the first set value from the queue up, else the default. ok is false for an unknown
// queue.
func (t *Tree) Preempt(victim string) (r Resolution, ok bool) {
	n, ok := t.at[victim]
	if !ok {
		return Resolution{}, false
	}
	return t.resolution(t.preempt[n], func(s Settings) Setting { return s.Preempt }), true
}

// Reclaim resolves the minimum runtime of a victim against a workload of another queue,
// by the tree's method; else the default. ok is false for an unknown queue.
func (t *Tree) Reclaim(preemptor, victim string) (r Resolution, ok bool) {
	p, known := t.at[preemptor]
	n, ok := t.at[victim]
	if !ok || !known {
		return Resolution{}, false
	}
	if t.method == LCA {
		n = t.underLCA(p, n)
	}
	return t.resolution(t.reclaim[n], func(s Settings) Setting { return s.Reclaim }), true
}

// underLCA is one step down from the lowest common ancestor of both, on the victim's
// side; the victim itself where it is that ancestor.
func (t *Tree) underLCA(preemptor, victim int) int {
	above := map[int]bool{}
	for n := preemptor; n >= 0; n = t.parents[n] {
		above[n] = true
	}
	n := victim
	for !above[n] && t.parents[n] >= 0 && !above[t.parents[n]] {
		n = t.parents[n]
	}
	return n
}

func (t *Tree) resolution(node int, of func(Settings) Setting) Resolution {
	if node < 0 {
		d, _ := of(t.defaults).Get()
		return Resolution{MinRuntime: d}
	}
	d, _ := of(t.settings[node]).Get()
	return Resolution{d, t.names[node]}
}
