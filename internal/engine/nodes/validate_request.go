package nodes

import (
	"fmt"

	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/workload"
)

// ValidateRequest finds everything that is wrong with a request.
func (c *Cluster) ValidateRequest(r *Request) fault.List {
	var f validator
	switch {
	case len(r.Pods) == 0:
		f.Add("request.pods", "is empty")
	case r.Group == "" && len(r.Pods) > 1:
		f.Add("request.pods", "%d pods without a group", len(r.Pods))
	case r.MinCount > len(r.Pods):
		f.Add("request.minCount", "%d of %d pods", r.MinCount, len(r.Pods))
	}
	if r.MinCount < 0 {
		f.Add("request.minCount", "%d is negative", r.MinCount)
	}
	if r.MaxDomains < 0 {
		f.Add("request.maxDomains", "%d is negative", r.MaxDomains)
	}
	if r.FirstNode < 0 {
		f.Add("request.firstNode", "%d is negative", r.FirstNode)
	}
	f.instant("request.now", r.Now)
	switch {
	case r.TerminationTimeout < 0:
		f.Add("request.terminationTimeout", "%v is negative", r.TerminationTimeout)
	case r.TerminationTimeout > 0 && r.Now.IsZero():
		f.Add("request.now", "is needed for the termination timeout")
	}
	c.validateGroup(&f, r)
	unique(&f, "request.pods", r.Pods, func(p *workload.Pod) string { return p.ID })
	resources := map[string]bool{}
	for i := range r.Pods {
		p, path := &r.Pods[i], fmt.Sprintf("request.pods[%d]", i)
		f.all(p.Validate(path))
		if c.pod(c.pods, p.ID) != nil {
			f.Add(path+".id", "%q runs already", p.ID)
		}
		if p.Node != "" {
			f.Add(path+".node", "%q: a pod that waits is on no node", p.Node)
		}
		if p.Terminating || p.Preempted {
			f.Add(path+".terminating", "a pod that waits does not terminate")
		}
		if g := c.group(r.groupOf(p)); r.Group == "" && (g == nil || !g.known) && p.Priority != 0 && p.Priority != r.Priority {
			f.Add(path+".priority", "%d differs from %d of the request", p.Priority, r.Priority)
		}
		if g := c.group(r.groupOf(p)); r.Group == "" && (g == nil || !g.known) && p.Queue != "" && p.Queue != r.Queue {
			f.Add(path+".queue", "%q differs from %q of the request", p.Queue, r.Queue)
		}
		if r.Group != "" && p.Group != "" && p.Group != r.Group {
			f.Add(path+".group", "%q differs from %q of the request", p.Group, r.Group)
		}
		for name := range p.Requests {
			if c.columns.of(name) < 0 {
				resources[name] = true
			}
		}
	}
	if n := len(resources) + len(c.columns.names) - 1; n > MaxResources {
		f.Add("request.pods", "%d different resources with those of the snapshot, more than %d", n, MaxResources)
	}
	if r.Group == "" && len(r.Domains) > 0 {
		f.Add("request.domains", "are for groups: for a single pod every node is one")
	}
	unique(&f, "request.domains", r.Domains, func(d *Domain) string { return d.Name })
	in := map[string]int{}
	for i, d := range r.Domains {
		if d.Name == "" {
			f.Add(fmt.Sprintf("request.domains[%d].name", i), "is empty")
		}
		for j, name := range d.Nodes {
			path := fmt.Sprintf("request.domains[%d].nodes[%d]", i, j)
			if other, again := in[name]; again {
				f.Add(path, "node %q is in request.domains[%d] already", name, other)
			} else if c.nodeNumber(name) < 0 {
				f.Add(path, "unknown node %q", name)
			}
			in[name] = i
		}
	}
	preferred := map[string]bool{}
	for i, name := range r.Prefer {
		path := fmt.Sprintf("request.prefer[%d]", i)
		if preferred[name] {
			f.Add(path, "%q is there already", name)
		} else if c.nodeNumber(name) < 0 {
			f.Add(path, "unknown node %q", name)
		}
		preferred[name] = true
	}
	return f.List
}

// validateGroup compares a request with its group, if the snapshot has the group.
func (c *Cluster) validateGroup(f *validator, r *Request) {
	id := r.Group
	if id == "" && len(r.Pods) > 0 {
		id = r.Pods[0].Group
	}
	g := c.group(id)
	if g == nil || !g.known {
		return
	}
	if g.Facts.Priority != r.Priority {
		f.Add("request.priority", "%d differs from %d of group %q", r.Priority, g.Facts.Priority, id)
	}
	if g.Facts.Queue != r.Queue {
		f.Add("request.queue", "%q differs from %q of group %q", r.Queue, g.Facts.Queue, id)
	}
	if r.Group == "" || !g.Facts.Basic {
		return
	}
	if r.MinCount > 1 {
		f.Add("request.minCount", "%d: group %q is basic, each of its pods is placed by itself", r.MinCount, id)
	}
	if len(r.Domains) > 0 {
		f.Add("request.domains", "are for gangs: for each pod of the basic group %q every node is one", id)
	}
}

// HasMinimums reports whether a running pod has a minimum runtime, its own or its group's.
func (c *Cluster) HasMinimums() bool { return c.minimums > 0 }

// Size returns the number of running pods.
func (c *Cluster) Size() int { return c.pods.Len() }
