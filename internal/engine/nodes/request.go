package nodes

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/internal/persist/ordered"
	"github.com/cedesched/cede/workload"
)

// Config holds for all requests.
type Config struct {
	Mode        Mode
	Order       Order
	HardBudgets bool
	// FirstViolated charges a pod to its budgets up to the first violated one.
	FirstViolated bool
	MinRuntime    [2]int64 // by kind, of pods without one whose group has none
	Exact         bool     // look for the best victims
	MaxNodes      int      // of the exact search
}

// Mode is the version of the algorithm.
type Mode uint8

const (
	Design Mode = iota
	InPlace
	Replace
)

// Order is the order in which nodes are tried.
type Order uint8

const (
	FirstFit Order = iota
	BestFit
	RoundRobin
)

// Filter is a rule about where pods may run. A Wide filter may have conflicts beyond one
// node.
type Filter struct {
	Rule interface {
		Feasible(pod workload.Pod, node workload.Node) bool
		Conflict(pod, other workload.Pod) bool
	}
	Wide bool
}

// Request is a request with names.
type Request struct {
	Group              string
	Priority           int32
	Queue              string // empty: none
	Never              bool   // it preempts no unit
	MinCount           int
	Pods               []workload.Pod
	Domains            []Domain
	Prefer             []string
	SkipFit            bool
	MaxDomains         int // zero: no limit
	FirstNode          int
	Filters            []Filter
	SetFilters         []SetFilter
	Placer             func() PlacerTrial // nil: Config.Order
	Now                time.Time
	TerminationTimeout time.Duration
	// Importance, if set, compares units; the built-in order breaks ties.
	Importance func(a, b *Unit) int
	// Guard, if set, returns the last instant at which a unit must stay: instant.Unset for no
	// protection, math.MaxInt64 for ever.
	Guard func(*Unit) int64
	// MaxBlockers limits the blockers. MaxRetrySteps limits the search for RetryAt, which
	// SkipRetryAt skips.
	MaxBlockers, MaxRetrySteps int
	SkipRetryAt                bool
	Extent                     Extent
	// Trace records the steps; nil: no recording.
	Trace *trace.Recorder
}

// Extent says how much is computed if there is no place now.
type Extent uint8

const (
	OutcomeOnly Extent = iota
	WithReasons        // also shortages and blockers
	WithTime           // and whether and when time helps
)

// Domain is a set of nodes within which a group is placed.
type Domain struct {
	Name  string
	Nodes []string
}

// member is a pod of the request in a search.
type member struct {
	Facts   *workload.Pod
	needs   []int64 // by slot
	allowed nodeSet // the nodes on which it may run; nil: all
	same    bool    // equal to the member before it, for the built-in rules
	promise int32   // number of the node that it is nominated to; -1: none
}

// names reports whether the member's list of nodes permits a node.
func (m *member) names(n *node) bool {
	return m.allowed == nil || m.allowed.has(n.number)
}

// nodeSet is a set of nodes, a bit for each number.
type nodeSet []uint64

func (s nodeSet) add(number int)        { s[number/64] |= 1 << (number % 64) }
func (s nodeSet) has(number int32) bool { return s[number/64]&(1<<(number%64)) != 0 }

// groupOf returns the group of a pod of the request.
func (r *Request) groupOf(p *workload.Pod) string {
	if r.Group == "" {
		return p.Group
	}
	return r.Group
}

// member returns a pod of the request as filters, trials and placers are shown it: with the group,
// the priority and the queue of the request.
func (r *Request) member(i int) *workload.Pod {
	p := &r.Pods[i]
	if group := r.groupOf(p); r.filtered() && (p.Group != group || p.Priority != r.Priority || p.Queue != r.Queue) {
		shown := *p
		shown.Group, shown.Priority, shown.Queue = group, r.Priority, r.Queue
		return &shown
	}
	return p
}

// enter puts a request into dense form.
func (s *Searcher) enter(config *Config, c *Cluster, r *Request) {
	s.config, s.c, s.r = config, c, r
	s.wide = r.Placer != nil || slices.ContainsFunc(r.Filters, func(f Filter) bool { return f.Wide }) ||
		slices.ContainsFunc(r.SetFilters, func(f SetFilter) bool { return f.Wide })
	s.priority, s.asBuilt, s.time = r.Priority, config.Mode != Design, instant.Of(r.Now)
	s.atLeast = max(1, r.MinCount)
	s.slotsOf(r)
	s.members, s.promised = s.members[:0], false
	for i := range r.Pods {
		m := member{Facts: r.member(i), promise: -1, allowed: s.allowed(&r.Pods[i])}
		m.needs = s.needsOf(r.Pods[i].Requests)
		if i > 0 && !r.filtered() {
			last := &s.members[i-1]
			m.same = slices.Equal(m.needs, last.needs) && (m.allowed == nil) == (last.allowed == nil) && slices.Equal(m.allowed, last.allowed)
		}
		if own := c.pod(c.nominated, m.Facts.ID); own != nil {
			m.promise, s.promised = own.node, true
		}
		s.members = append(s.members, m)
	}
	s.where = resize(s.where, len(s.members))
	s.smallest = resize(s.smallest, len(s.slots))
	for slot := range s.smallest {
		s.smallest[slot] = s.members[0].needs[slot]
		for m := range s.members {
			s.smallest[slot] = min(s.smallest[slot], s.members[m].needs[slot])
		}
	}
	s.levels = s.levels[:0]
	var cursor ordered.Cursor[priorityCount, none]
	cursor.First(c.levels)
	for l, ok := cursor.Item(); ok && l.priority < s.priority; l, ok = cursor.Item() {
		s.levels = append(s.levels, l.priority)
		cursor.Next()
	}
	s.buildRoom()
	if config.Exact {
		s.beginExact()
	}
}

// slotsOf numbers the resources of the request; slot 0 is PodsResource.
func (s *Searcher) slotsOf(r *Request) {
	names := map[string]bool{}
	for i := range r.Pods {
		for name, value := range r.Pods[i].Requests {
			if value > 0 {
				names[name] = true
			}
		}
	}
	s.slots = slices.Insert(slices.Sorted(maps.Keys(names)), 0, workload.PodsResource)
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

func (s *Searcher) needsOf(r workload.Resources) []int64 {
	needs := make([]int64, len(s.slots))
	needs[0] = 1
	for slot, name := range s.slots[1:] {
		needs[slot+1] = r[name]
	}
	return needs
}

// allowed returns the nodes on which a pod may run; nil: all. A list in the order of names is
// walked beside the nodes; the names of another are looked up.
func (s *Searcher) allowed(p *workload.Pod) nodeSet {
	if len(p.Nodes) == 0 && !p.Nowhere {
		return nil
	}
	c := s.c
	set := make(nodeSet, (c.nodes.Len()+63)/64)
	if p.Nowhere {
		return set
	}
	var next, order int // the node that comes next by name, and how it compares
	for _, name := range p.Nodes {
		for ; next < len(c.order); next++ {
			if order = strings.Compare(c.NodeName(c.order[next]), name); order >= 0 {
				break
			}
		}
		if next < len(c.order) && order == 0 {
			set.add(int(c.order[next]))
		} else if n := c.nodeNumber(name); n >= 0 {
			set.add(n)
		}
	}
	return set
}
