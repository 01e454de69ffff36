package placement

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/nodes/place"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Choose returns the decision for the best of the placements that the caller gives: the list of
// [Preemptor.Placements] after others, such as the extenders of kube-scheduler, have left some out or changed their
// victims. It scores them by step 8 in the comment of the package, with the violations that the victims name; of
// equal placements the first is best. It checks neither room nor policies. The outcome is Preempt, or Fits for a
// placement without victims.
//
// Its errors are those of [Preemptor.Decide], and: no placements, an unknown node, a nomination of another pod, a pod
// twice in a placement, a victim without pods or with a pod that does not run, negative violations.
func (p *Preemptor) Choose(snapshot *Snapshot, r Request, placements []Placement) (Decision, error) {
	if p == nil {
		p = &standard
	}
	if r.Resize {
		without, request, pod, err := snapshot.resize(r)
		if err != nil {
			return Decision{}, err
		}
		d, err := p.Choose(without, request, placements)
		d.resized(pod)
		return d, err
	}
	c := snapshot.inside()
	sc := p.scratch.Take()
	defer p.release(sc)
	if err := p.enter(sc, c, &r); err != nil {
		return Decision{}, err
	}
	var faults fault.List
	var choices []place.Placement
	for i := range placements {
		choices = append(choices, choiceOf(c, &faults, fmt.Sprintf("placements[%d]", i), r.Pods, &placements[i]))
	}
	if len(placements) == 0 {
		faults.Add("placements", "is empty")
	}
	if err := faults.Err(); err != nil {
		return Decision{}, err
	}
	found := sc.search.Choose(&p.inside, c, &sc.request, choices)
	return decision(c, &r, &found), nil
}

// choiceOf returns a placement in the form of the engine.
func choiceOf(c *state.Cluster, faults *fault.List, path string, pods []workload.Pod, from *Placement) place.Placement {
	choice := place.NewPlacement(from.Domain, len(pods))
	for j, n := range from.Nominations {
		at := fmt.Sprintf("%s.nominations[%d]", path, j)
		m := slices.IndexFunc(pods, func(p workload.Pod) bool { return p.ID == n.Pod })
		number := c.NodeNumber(n.Node)
		switch {
		case m < 0:
			faults.Add(at+".pod", "%q is not in the request", n.Pod)
		case choice.Where[m] >= 0:
			faults.Add(at+".pod", "%q is there already", n.Pod)
		case number < 0:
			faults.Add(at+".node", "unknown node %q", n.Node)
		default:
			choice.Where[m] = number
		}
	}
	seen := map[string]bool{}
	for j, v := range from.Victims {
		at := fmt.Sprintf("%s.victims[%d]", path, j)
		if len(v.Pods) == 0 {
			faults.Add(at+".pods", "is empty")
		}
		if v.Violations < 0 {
			faults.Add(at+".violations", "%d is negative", v.Violations)
		}
		for k, id := range v.Pods {
			if seen[id] {
				faults.Add(fmt.Sprintf("%s.pods[%d]", at, k), "%q is there already", id)
			}
			if seen[id] = true; c.Pod(id) == nil {
				faults.Add(fmt.Sprintf("%s.pods[%d]", at, k), "no pod %q runs", id)
			}
		}
	}
	for _, v := range from.InOrderOfChoice() {
		choice.Evict(c, v.Group, v.Pods, v.Violations)
	}
	return choice
}
