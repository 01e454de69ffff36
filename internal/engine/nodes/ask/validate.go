package ask

import (
	"fmt"
	"strconv"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Validate finds everything that is wrong with a request about a cluster.
func (r *Request) Validate(config *Config, c *state.Cluster) fault.List {
	f := checker{c: c, r: r, mode: config.Mode}
	f.limits()
	f.group()
	f.pods()
	if r.Group == "" && len(r.Domains) > 0 {
		f.Add("request.domains", "are for groups: for a single pod every node is one")
	}
	f.domains("request.domains", r.Domains)
	f.nested()
	f.prefer()
	return f.List
}

// checker collects the faults of a request.
type checker struct {
	c    *state.Cluster
	r    *Request
	mode Mode
	state.Check
}

// limits checks the numbers and times of the request.
func (f *checker) limits() {
	r := f.r
	switch {
	case len(r.Pods) == 0:
		f.Add("request.pods", "is empty")
	case r.Group == "" && len(r.Pods) > 1 && !r.Several:
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
	f.Instant("request.now", r.Now)
	switch {
	case r.TerminationTimeout < 0:
		f.Add("request.terminationTimeout", "%v is negative", r.TerminationTimeout)
	case r.TerminationTimeout > 0 && r.Now.IsZero():
		f.Add("request.now", "is needed for the termination timeout")
	}
}

// group compares the request with its group, if the cluster has the group.
func (f *checker) group() {
	r, id := f.r, f.r.Group
	if id == "" && len(r.Pods) > 0 {
		id = r.Pods[0].Group
	}
	g := f.c.KnownGroup(id)
	if g == nil || r.Several {
		return
	}
	if g.Priority() != r.Priority {
		f.Add("request.priority", "%d differs from %d of group %q", r.Priority, g.Priority(), id)
	}
	if g.Queue() != r.Queue {
		f.Add("request.queue", "%q differs from %q of group %q", r.Queue, g.Queue(), id)
	}
	if r.Group == "" || !g.Facts.Basic {
		return
	}
	if r.MinCount > 1 {
		f.Add("request.minCount", "%d: group %q is basic, each of its pods is placed by itself", r.MinCount, id)
	}
	if len(r.Domains) > 0 && f.mode != InPlace {
		f.Add("request.domains", "are for gangs: for each pod of the basic group %q every node is one", id)
	}
	if r.IsTree() && f.mode != InPlace {
		f.Add("request.nested", "are for gangs: each pod of the basic group %q is placed by itself", id)
	}
}

// pods checks the pods, and that there are not too many resources together with the cluster.
func (f *checker) pods() {
	r := f.r
	state.Unique(&f.Check, "request.pods", r.Pods, func(p *workload.Pod) string { return p.ID })
	resources := map[string]bool{}
	for i := range r.Pods {
		p := &r.Pods[i]
		f.pod("request.pods["+strconv.Itoa(i)+"]", p)
		for name := range p.Requests {
			if f.c.Columns.Of(name) < 0 {
				resources[name] = true
			}
		}
	}
	if n := len(resources) + len(f.c.Columns.Names) - 1; n > state.MaxResources {
		f.Add("request.pods", "%d different resources with those of the snapshot, more than %d", n, state.MaxResources)
	}
}

func (f *checker) pod(path string, p *workload.Pod) {
	r := f.r
	f.All(p.Validate(path))
	f.KnownClaims(path, p, func(id string) bool { return f.c.Claim(id) != nil })
	if f.c.Pod(p.ID) != nil && !r.Gone[p.ID] {
		f.Add(path+".id", "%q runs already", p.ID)
	}
	if p.Node != "" {
		f.Add(path+".node", "%q: a pod that waits is on no node", p.Node)
	}
	if p.Terminating || p.Preempted {
		f.Add(path+".terminating", "a pod that waits does not terminate")
	}
	if r.Group == "" && !r.Several && f.c.KnownGroup(p.Group) == nil {
		if p.Priority != 0 && p.Priority != r.Priority {
			f.Add(path+".priority", "%d differs from %d of the request", p.Priority, r.Priority)
		}
		if p.Queue != "" && p.Queue != r.Queue {
			f.Add(path+".queue", "%q differs from %q of the request", p.Queue, r.Queue)
		}
	}
	if r.Group != "" && p.Group != "" && p.Group != r.Group && !f.c.IsBelow(p.Group, r.Group) {
		f.Add(path+".group", "%q is neither %q nor below it", p.Group, r.Group)
	}
}

// nested checks the needs of the groups below that of the request.
func (f *checker) nested() {
	r := f.r
	if !r.IsTree() {
		return
	}
	root := r.Tree(f.c)
	f.need("request", root, r.MinGroups)
	trees := map[string]*Tree{}
	var note func(t *Tree)
	note = func(t *Tree) {
		trees[t.Need.Group] = t
		for _, below := range t.Below {
			note(below)
		}
	}
	note(root)
	state.Unique(&f.Check, "request.nested", r.Nested, func(s *NestedGroup) string { return s.Group })
	for i := range r.Nested {
		s, path := &r.Nested[i], fmt.Sprintf("request.nested[%d]", i)
		if s.Group == r.Group || r.Group == "" || !f.c.IsBelow(s.Group, r.Group) {
			f.Add(path+".group", "%q is not below %q", s.Group, r.Group)
			continue
		}
		t := trees[s.Group]
		if t == nil {
			t = &Tree{}
		}
		if pods := t.CountPods(); s.MinCount > pods {
			f.Add(path+".minCount", "%d of %d pods", s.MinCount, pods)
		}
		if s.MinCount < 0 {
			f.Add(path+".minCount", "%d is negative", s.MinCount)
		}
		f.need(path, t, s.MinGroups)
		f.domains(path+".domains", s.Domains)
	}
}

// need checks a number of groups.
func (f *checker) need(path string, t *Tree, groups int) {
	if groups > len(t.Below) {
		f.Add(path+".minGroups", "%d of %d groups", groups, len(t.Below))
	}
	if groups < 0 {
		f.Add(path+".minGroups", "%d is negative", groups)
	}
}

// domains checks that each node of a list of domains is known and in one domain.
func (f *checker) domains(at string, domains []Domain) {
	if len(domains) == 0 {
		return
	}
	state.Unique(&f.Check, at, domains, func(d *Domain) string { return d.Name })
	in, unknown := make([]int32, f.c.Numbers()), map[string]int{} // the domain of a node, from 1
	for i, d := range domains {
		if d.Name == "" {
			f.Add(fmt.Sprintf("%s[%d].name", at, i), "is empty")
		}
		for j, name := range d.Nodes {
			number := f.c.NodeNumber(name)
			path := func() string { return fmt.Sprintf("%s[%d].nodes[%d]", at, i, j) }
			if number < 0 {
				if other, met := unknown[name]; met {
					f.Add(path(), "node %q is in %s[%d] already", name, at, other)
				} else {
					f.Add(path(), "unknown node %q", name)
				}
				unknown[name] = i
				continue
			}
			if in[number] > 0 {
				f.Add(path(), "node %q is in %s[%d] already", name, at, in[number]-1)
			}
			in[number] = int32(i + 1)
		}
	}
}

// prefer checks that each preferred node is known and there once.
func (f *checker) prefer() {
	preferred := map[string]bool{}
	for i, name := range f.r.Prefer {
		path := fmt.Sprintf("request.prefer[%d]", i)
		if preferred[name] {
			f.Add(path, "%q is there already", name)
		} else if f.c.NodeNumber(name) < 0 {
			f.Add(path, "unknown node %q", name)
		}
		preferred[name] = true
	}
}
