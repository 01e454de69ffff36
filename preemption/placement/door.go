package placement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/fault"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/quota"
)

// member is a pod of the request inside of a search.
type member struct {
	facts   *Pod
	group   string  // that counts
	needs   []int64 // by slot
	allowed []int32 // numbers of the nodes where it may run, rising; nil: all
	same    bool    // as the member before it, for the built-in rules
	promise int32   // number of the node that it was nominated to, -1 for none
}

// validateRequest finds everything that is wrong with a request.
func (c *cluster) validateRequest(r *Request) fault.List {
	var f validator
	if !policyNames.Valid(r.Policy) {
		f.Add("request.policy", "%v is unknown", r.Policy)
	}
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
	f.instant("request.now", r.Now)
	switch {
	case r.TerminationTimeout < 0:
		f.Add("request.terminationTimeout", "%v is negative", r.TerminationTimeout)
	case r.TerminationTimeout > 0 && r.Now.IsZero():
		f.Add("request.now", "is needed for the termination timeout")
	}
	c.validateGroup(&f, r)
	unique(&f, "request.pods", r.Pods, func(p *Pod) string { return p.ID })
	resources := map[string]bool{}
	for i := range r.Pods {
		p, path := &r.Pods[i], fmt.Sprintf("request.pods[%d]", i)
		if p.ID == "" {
			f.Add(path+".id", "is empty")
		} else if c.pod(c.pods, p.ID) != nil {
			f.Add(path+".id", "%q runs already", p.ID)
		}
		if p.Node != "" {
			f.Add(path+".node", "%q: a pod that waits is on no node", p.Node)
		}
		if p.Terminating || p.Preempted {
			f.Add(path+".terminating", "a pod that waits does not terminate")
		}
		if p.Priority != 0 && p.Priority != r.Priority {
			f.Add(path+".priority", "%d differs from %d of the request", p.Priority, r.Priority)
		}
		if r.Group != "" && p.Group != "" && p.Group != r.Group {
			f.Add(path+".group", "%q differs from %q of the request", p.Group, r.Group)
		}
		f.resources(path+".requests", p.Requests, true)
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

// validateGroup compares a request with its group, where the snapshot has that.
func (c *cluster) validateGroup(f *validator, r *Request) {
	id := r.Group
	if id == "" && len(r.Pods) > 0 {
		id = r.Pods[0].Group
	}
	g := c.group(id)
	if g == nil || !g.known {
		return
	}
	if g.facts.Priority != r.Priority {
		f.Add("request.priority", "%d differs from %d of group %q", r.Priority, g.facts.Priority, id)
	}
	if r.Group == "" || !g.facts.Basic {
		return
	}
	if r.MinCount > 1 {
		f.Add("request.minCount", "%d: group %q is basic, each of its pods is placed by itself", r.MinCount, id)
	}
	if len(r.Domains) > 0 {
		f.Add("request.domains", "are for gangs: for each pod of the basic group %q every node is one", id)
	}
}

// groupOf is the group of a pod of the request.
func (r *Request) groupOf(p *Pod) string {
	if r.Group == "" {
		return p.Group
	}
	return r.Group
}

// enter puts a request into dense form.
func (s *search) enter(p *Preemptor, c *cluster, r *Request) error {
	if err := c.validateRequest(r).Err(); err != nil {
		return err
	}
	s.config, s.wide, s.c, s.r = &p.config, p.wide, c, r
	s.priority, s.asBuilt = r.Priority, p.config.Mode != Design
	s.atLeast = max(1, r.MinCount)
	s.slotsOf(r)
	s.members, s.promised = s.members[:0], false
	for i := range r.Pods {
		m := member{facts: &r.Pods[i], group: r.groupOf(&r.Pods[i]), promise: -1, allowed: s.allowed(&r.Pods[i])}
		m.needs = s.needsOf(r.Pods[i].Requests)
		if i > 0 && len(p.config.Filters) == 0 {
			last := &s.members[i-1]
			m.same = slices.Equal(m.needs, last.needs) && (m.allowed == nil) == (last.allowed == nil) && slices.Equal(m.allowed, last.allowed)
		}
		if own := c.pod(c.nominated, m.facts.ID); own != nil {
			m.promise, s.promised = own.node, true
		}
		s.members = append(s.members, m)
	}
	s.where = resize(s.where, len(s.members))
	s.levels = s.levels[:0]
	var cursor ordered.Cursor[priorityCount, none]
	cursor.First(c.levels)
	for l, ok := cursor.Item(); ok && l.priority < s.priority; l, ok = cursor.Item() {
		s.levels = append(s.levels, l.priority)
		cursor.Next()
	}
	s.buildRoom()
	return nil
}

// slotsOf numbers the resources of the request; slot 0 is PodsResource.
func (s *search) slotsOf(r *Request) {
	names := map[string]bool{}
	for i := range r.Pods {
		for name, value := range r.Pods[i].Requests {
			if value > 0 {
				names[name] = true
			}
		}
	}
	s.slots = slices.Insert(slices.Sorted(maps.Keys(names)), 0, PodsResource)
	s.columns = s.columns[:0]
	s.slotOf = resize(s.slotOf, len(s.c.columns.names))
	for i := range s.slotOf {
		s.slotOf[i] = -1
	}
	for slot, name := range s.slots {
		column := s.c.columns.of(name)
		s.columns = append(s.columns, column)
		if column >= 0 {
			s.slotOf[column] = int32(slot)
		}
	}
}

func (s *search) needsOf(r Resources) []int64 {
	needs := make([]int64, len(s.slots))
	needs[0] = 1
	for slot, name := range s.slots[1:] {
		needs[slot+1] = r[name]
	}
	return needs
}

// allowed is the numbers of the nodes where a pod may run, rising; nil: all.
func (s *search) allowed(p *Pod) []int32 {
	if p.Nowhere {
		return []int32{}
	}
	if len(p.Nodes) == 0 {
		return nil
	}
	list := make([]int32, 0, len(p.Nodes))
	for _, name := range p.Nodes {
		if n := s.c.nodeNumber(name); n >= 0 {
			list = append(list, int32(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// buildRoom lines the nodes up, domain by domain, and adds up what runs there.
func (s *search) buildRoom() {
	c := s.c
	s.local, s.rank = resize(s.local, c.nodes.Len()), resize(s.rank, c.nodes.Len())
	rank := s.rank
	for i := range rank {
		s.local[i], rank[i] = -1, int32(len(s.r.Prefer)+i)
	}
	for i, name := range s.r.Prefer {
		rank[c.nodeNumber(name)] = int32(i)
	}
	s.nodes, s.ranges = s.nodes[:0], s.ranges[:0]
	add := func(name string, numbers []int32) {
		if len(s.r.Prefer) > 0 || name != "" {
			slices.SortFunc(numbers, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
		}
		from := len(s.nodes)
		for _, number := range numbers {
			if n := c.nodes.At(int(number)); !n.facts.Unschedulable {
				s.local[number] = int32(len(s.nodes))
				s.nodes = append(s.nodes, n)
			}
		}
		s.ranges = append(s.ranges, span{name, from, len(s.nodes)})
	}
	if len(s.r.Domains) == 0 {
		everything := make([]int32, c.nodes.Len())
		for i := range everything {
			everything[i] = int32(i)
		}
		add("", everything)
	}
	for _, d := range s.r.Domains {
		numbers := make([]int32, len(d.Nodes))
		for i, name := range d.Nodes {
			numbers[i] = int32(c.nodeNumber(name))
		}
		add(d.Name, numbers)
	}
	n, width := len(s.nodes), len(s.slots)
	s.capacity, s.fixed, s.leaving = resize(s.capacity, n*width), resize(s.fixed, n*width), resize(s.leaving, n*width)
	s.free, s.asked, s.count = resize(s.free, n*width), resize(s.asked, n*width), resize(s.count, n)
	clear(s.fixed)
	clear(s.leaving)
	clear(s.asked)
	clear(s.count)
	s.used = s.used[:0]
	s.rowAt, s.rows, s.gone = append(s.rowAt[:0], 0), s.rows[:0], s.gone[:0]
	s.rowLevel, s.rowPods = s.rowLevel[:0], s.rowPods[:0]
	s.anyLeaving, s.anyStuck = false, s.asBuilt && s.r.TerminationTimeout > 0
	for i, node := range s.nodes {
		s.addNode(i, node)
		s.rowAt = append(s.rowAt, int32(len(s.rows)))
	}
	if s.wide && !s.asBuilt && !s.anyLeaving { // who leaves may be in conflict from anywhere
		for p := range c.pods.All {
			if s.anyLeaving = p.facts.Terminating && !s.stuck(p); s.anyLeaving {
				break
			}
		}
	}
}

func (s *search) addNode(i int, n *node) {
	width := len(s.slots)
	capacity, fixed, leaving := s.capacity[i*width:][:width], s.fixed[i*width:][:width], s.leaving[i*width:][:width]
	for slot, column := range s.columns {
		capacity[slot] = 0
		if column >= 0 && int(column) < n.width {
			capacity[slot] = n.capacity[column]
		}
	}
	someLeave := false
	for at, l := range n.levels {
		into := fixed
		switch {
		case l.leaving && !s.asBuilt:
			into, someLeave = leaving, true
		case l.priority < s.priority:
			start := len(s.gone)
			s.rows = append(s.rows, l)
			level, _ := slices.BinarySearch(s.levels, l.priority)
			s.rowLevel, s.rowPods = append(s.rowLevel, int32(level)), append(s.rowPods, l.pods)
			for range width {
				s.gone = append(s.gone, 0)
			}
			into = s.gone[start:]
		}
		for slot, column := range s.columns {
			if column >= 0 && int(column) < n.width {
				into[slot] += n.usage[at*n.width+int(column)]
			}
		}
	}
	if someLeave {
		s.fixStuck(n, fixed, leaving)
	}
	for _, p := range n.nominated {
		if !s.isAhead(p) {
			continue
		}
		for _, a := range p.takes {
			if slot := s.slotOf[a.column]; slot >= 0 {
				fixed[slot] = quota.Add(fixed[slot], a.value)
			}
		}
	}
}

// fixStuck counts pods of a node that have terminated for too long as running.
func (s *search) fixStuck(n *node, fixed, leaving []int64) {
	for _, p := range n.pods {
		switch {
		case !p.facts.Terminating:
		case !s.stuck(p):
			s.anyLeaving = true
		default:
			for _, a := range p.takes {
				if slot := s.slotOf[a.column]; slot >= 0 {
					fixed[slot] += a.value
					leaving[slot] -= a.value
				}
			}
		}
	}
}

// stuck reports whether a pod has terminated for too long to be waited for.
func (s *search) stuck(p *pod) bool {
	since, timeout := p.facts.TerminatingSince, s.r.TerminationTimeout
	return timeout > 0 && p.facts.Terminating && !since.IsZero() && s.r.Now.Sub(since) >= timeout
}

// isAhead reports whether the promise to a pod that waits holds against the preemptor.
func (s *search) isAhead(p *pod) bool { return p.priority >= s.priority && !s.isMember(p.facts.ID) }

func (s *search) isMember(id string) bool {
	return s.promised && slices.ContainsFunc(s.members, func(m member) bool { return m.facts.ID == id })
}

func resize[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}
