// Package topology answers quota and topology together, as an example to copy: may this workload
// run with all its pods in one rack, who would yield, and where do its pods go?
//
// Quota decides who may yield; a [placement.Fit] over the domains of a level is its
// [preemption.Request.Room]. So a victim is taken only where its quota or its place helps, and
// the answer holds for both at once. A workload is one pod group on nodes: its ID is the ID of the
// group.
package topology

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Cluster is quota and nodes. All fields but PodSet are required.
type Cluster struct {
	Quota *preemption.Snapshot
	Nodes *placement.Snapshot
	// Machines are the nodes of the snapshot.
	Machines []workload.Node
	// Levels are the labels that make the tree of the nodes, the widest first: block, rack, host.
	Levels []string
	// PodSet returns the name of the pod set of a running pod. Of an elastic workload single replicas
	// then make room, the last by ID first. Nil: they free quota alone.
	PodSet func(workload.Pod) string
}

// Answer is a decision, and where the pods go when its victims are gone. Nominations are empty
// where it neither fits nor preempts.
type Answer struct {
	preemption.Decision
	Nominations []placement.Nomination
}

// Domains are the nodes in one place at a level, sorted by name. The name is the path in the tree,
// "block-1/rack-2": racks of one name in two blocks are two. A node that lacks a label of the path
// is in none. It fails on a level that the tree does not have.
func (c *Cluster) Domains(level string) ([]placement.Domain, error) {
	depth := slices.Index(c.Levels, level)
	if depth < 0 {
		return nil, fmt.Errorf("level %q: want one of %s", level, strings.Join(c.Levels, ", "))
	}
	nodes := map[string][]string{}
	for _, n := range c.Machines {
		var path []string
		for _, label := range c.Levels[:depth+1] {
			if value := n.Labels[label]; value != "" {
				path = append(path, value)
			}
		}
		if len(path) > depth {
			name := strings.Join(path, "/")
			nodes[name] = append(nodes[name], n.Name)
		}
	}
	domains := []placement.Domain{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		domains = append(domains, placement.Domain{Name: name, Nodes: nodes[name]})
	}
	if len(domains) == 0 { // one without nodes is no place at all
		domains = append(domains, placement.Domain{Name: level})
	}
	return domains, nil
}

// Decide asks for a workload with all its pods in one place at a level. Errors are those of
// Domains and of the two packages.
func (c *Cluster) Decide(quota *preemption.Preemptor, nodes *placement.Preemptor, w workload.Workload, level string, now time.Time) (Answer, error) {
	domains, err := c.Domains(level)
	if err != nil {
		return Answer{}, err
	}
	ask := placement.Request{Group: w.ID, Priority: int32(w.EffectivePriority()), Pods: podsOf(&w), Domains: domains}
	ask.MinCount = len(ask.Pods)
	fit, err := nodes.Fit(c.Nodes, ask)
	if err != nil {
		return Answer{}, err
	}
	if c.PodSet != nil {
		fit.PodSets(c.PodSet, nil)
	}
	d, err := quota.Decide(c.Quota, preemption.Request{Workload: w, Now: now, Room: fit})
	if err != nil || !d.Outcome.Succeeds() && len(d.Victims) == 0 {
		return Answer{Decision: d}, err
	}
	for _, v := range d.Victims { // they are back in the fit: take them away to see who goes where
		if len(v.Replicas) == 0 {
			fit.Remove(v.Workload)
		}
		for _, r := range v.Replicas {
			fit.SetRemoved(v.Workload, r.PodSet, r.Count)
		}
	}
	if !fit.Fits() {
		return Answer{Decision: d}, fmt.Errorf("workload %s: its victims were enough, and are not", w.ID)
	}
	return Answer{d, fit.Nominations()}, nil
}

// podsOf is the pods of a workload: one a replica.
func podsOf(w *workload.Workload) (pods []workload.Pod) {
	for _, set := range w.PodSets {
		for i := range set.Count {
			requests := workload.Resources{}
			for _, a := range set.Requests {
				requests[a.Resource] = a.Amount
			}
			pods = append(pods, workload.Pod{ID: fmt.Sprintf("%s-%s-%d", w.ID, set.Name, i), Requests: requests})
		}
	}
	return pods
}
