package foreign

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
)

// step is one of these.
type step struct {
	Nodes []groupNode `json:"create_nodes"`
	Group *podGroup   `json:"create_group"`
	Pods  []groupPod  `json:"create_pods"`
	Other any         `json:"update_group"`
}

// check is what holds after some steps.
type check struct {
	After         int      `json:"after_step"`
	Scheduled     []string `json:"scheduled"`
	Unschedulable []string `json:"unschedulable"`
	Removed       []string `json:"removed"`
	OnNodes       *struct {
		Pods, Nodes []string
	} `json:"on_nodes"`
	InOneDomain *struct {
		Pods []string `json:"pods"`
		Key  string   `json:"topology_key"`
	} `json:"in_one_domain"`
}

// steps asks a question for each step that brings waiting pods of a group. Pods of earlier steps are where they were at the end of one
// whole run, or where a check says.
func (g *groupCase) steps() (list []recorded.OnNodes, story string, err error) {
	in := &groupInput{Gates: maps.Clone(g.Input.Gates)}
	if in.Gates["CompositePodGroup"] == "both" {
		in.Gates["CompositePodGroup"] = true
	}
	var waiting []groupPod
	for i, s := range g.Input.Steps {
		in.Nodes = append(in.Nodes, s.Nodes...)
		if s.Group != nil {
			in.List = append(in.List, *s.Group)
		}
		asks := false
		for _, p := range s.Pods {
			if p.Node != "" {
				in.Pods = append(in.Pods, p)
			} else {
				waiting, asks = append(waiting, p), true
			}
		}
		if !asks {
			continue
		}
		one := groupCase{Suite: g.Suite, Input: *in}
		one.Input.Waiting = slices.Clone(waiting)
		one.wantOf(g.Want.Checks, i+1)
		q := recorded.OnNodes{Mode: placement.ModeInPlace, Order: placement.RoundRobin}
		if story, err = one.cycle(&q); story != "" || err != nil {
			break
		}
		list = append(list, q)
		in.Pods = slices.DeleteFunc(slices.Clone(in.Pods), func(p groupPod) bool { return slices.Contains(one.Want.Preempted, p.Name) })
		for _, p := range waiting {
			if !slices.Contains(one.Want.Scheduled, p.Name) {
				continue
			}
			if p.Node = g.nodeOf(&one, p.Name); p.Node == "" {
				return list, "", nil // where it runs is not recorded
			}
			in.Pods = append(in.Pods, p)
		}
		waiting = slices.DeleteFunc(slices.Clone(waiting), func(p groupPod) bool { return slices.Contains(one.Want.Scheduled, p.Name) })
	}
	if len(list) > 0 {
		story = ""
	}
	return list, story, err
}

// wantOf sets what the checks after a step say.
func (g *groupCase) wantOf(checks []check, after int) {
	w := &g.Want
	for _, c := range checks {
		if c.After != after {
			continue
		}
		w.Scheduled, w.Unschedulable = append(w.Scheduled, c.Scheduled...), append(w.Unschedulable, c.Unschedulable...)
		w.Preempted = append(w.Preempted, c.Removed...)
		if c.OnNodes != nil {
			w.within = append(w.within, recorded.Within{Pods: c.OnNodes.Pods, Nodes: [][]string{c.OnNodes.Nodes}})
		}
		if of := c.InOneDomain; of != nil {
			in := recorded.Within{Pods: of.Pods}
			for _, d := range g.splitBy(of.Key) {
				in.Nodes = append(in.Nodes, d.Nodes)
			}
			w.within = append(w.within, in)
		}
	}
}

// nodeOf returns where a scheduled pod runs; empty: that is not recorded.
func (g *groupCase) nodeOf(one *groupCase, name string) string {
	for _, w := range one.Want.within {
		if len(w.Nodes) == 1 && len(w.Nodes[0]) == 1 && slices.Contains(w.Pods, name) {
			return w.Nodes[0][0]
		}
	}
	return g.Observed.Pods[name].Node
}
