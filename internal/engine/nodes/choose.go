package nodes

import "github.com/cedesched/cede/internal/base/instant"

// Choose scores choices that were made outside and returns the result for the best; of equal
// ones it is the first. Where has the cluster's numbers, and every one is schedulable.
func (s *Searcher) Choose(config *Config, c *Cluster, r *Request, list []Placement) Result {
	s.begin(config, c, r)
	defer s.end()
	for i := range list {
		list[i].score = rate(list[i].Victims, list[i].Violations)
		list[i].isNumbered = true
	}
	best := &list[0]
	for i := range list {
		if list[i].score.compare(best.score) < 0 {
			best = &list[i]
		}
	}
	found := Result{Outcome: Preempt, Placement: *best, RetryAt: instant.Unset}
	if len(best.Victims) == 0 {
		found.Outcome = Fits
	}
	found.Withdrawn = s.withdrawn(&found.Placement)
	return found
}

// NewPlacement returns a placement in a domain with nobody in it.
func (c *Cluster) NewPlacement(domain string, members int) Placement {
	choice := Placement{Domain: domain, Where: make([]int32, members)}
	for m := range choice.Where {
		choice.Where[m] = -1
	}
	return choice
}

// Place places a member on a node and reports whether the node exists.
func (x *Placement) Place(c *Cluster, member int, node string) bool {
	at := c.nodeNumber(node)
	x.Where[member] = int32(at)
	return at >= 0
}

// Evict adds a victim: those of the pods that run.
func (x *Placement) Evict(c *Cluster, group string, ids []string, violations int) {
	var pods []*Pod
	for _, id := range ids {
		if p := c.pod(c.pods, id); p != nil {
			pods = append(pods, p)
		}
	}
	if len(pods) > 0 {
		x.Victims, x.Violations = append(x.Victims, newUnit(group, pods)), append(x.Violations, violations)
	}
}

// Runs reports whether a pod runs.
func (c *Cluster) Runs(id string) bool { return c.pod(c.pods, id) != nil }
