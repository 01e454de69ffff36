package answers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
)

// Node is a cohort or queue in its tree.
type Node struct {
	Cohort bool
	Name   string
	Parent string // the cohort above; empty: none
	Root   string // the cohort at the top; empty: a queue without one
	Depth  int
}

// String is the node as explanations name it, as in `cohort "research"`.
func (n Node) String() string {
	if n.Cohort {
		return fmt.Sprintf("cohort %q", n.Name)
	}
	return fmt.Sprintf("queue %q", n.Name)
}

// Tree lists the trees: the queues of a cohort before its child cohorts, each by name; queues without a cohort last.
func Tree(s *preemption.Snapshot) (nodes []Node) {
	queues, cohorts := map[string][]string{}, map[string][]string{} // by the cohort above
	for c := range s.Cohorts() {
		cohorts[c.Parent] = append(cohorts[c.Parent], c.Name)
	}
	for q := range s.Queues() {
		queues[q.Cohort] = append(queues[q.Cohort], q.Name)
	}
	var open []Node // the next one last
	push := func(below Node) {
		for _, name := range slices.Backward(cohorts[below.Name]) {
			open = append(open, Node{Cohort: true, Name: name, Parent: below.Name, Root: cmp.Or(below.Root, name), Depth: below.Depth + 1})
		}
	}
	for push(Node{Depth: -1}); len(open) > 0; {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		nodes = append(nodes, c)
		for _, q := range queues[c.Name] {
			nodes = append(nodes, Node{Name: q, Parent: c.Name, Root: c.Root, Depth: c.Depth + 1})
		}
		push(c)
	}
	for _, q := range queues[""] {
		nodes = append(nodes, Node{Name: q})
	}
	return nodes
}
