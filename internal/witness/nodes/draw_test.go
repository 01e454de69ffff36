package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// traits say what is drawn besides single pods with priorities.
type traits struct {
	budgets, groups, terminating, runtimes, nominations           bool
	gang, domains, nested, basic, skipFit, sampled, inPlace, hard bool
	claims, guards, resize, filters, sets, placer, importance     bool
}

// drawer draws one question.
type drawer struct {
	*rapid.T
	traits
	q question
}

func (d *drawer) chance(n int) bool       { return rapid.IntRange(0, n-1).Draw(d.T, "chance") == n-1 }
func (d *drawer) upTo(n int) int          { return rapid.IntRange(0, n).Draw(d.T, "number") }
func (d *drawer) of(list []string) string { return rapid.SampledFrom(list).Draw(d.T, "one") }

// questions draws a state, a configuration and a request with some traits.
func questions(tr traits) *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		d := &drawer{T: t, traits: tr}
		d.config()
		d.nodes()
		d.groupsAndPods()
		if d.budgets {
			d.drawBudgets()
		}
		d.ask()
		if d.nominations {
			d.nominate()
		}
		return d.q
	})
}

func (d *drawer) config() {
	c := &d.q.Config
	c.MaxBlockers = d.upTo(4) - 1
	c.Order = placement.Order(d.upTo(2))
	if d.inPlace {
		c.Mode = placement.ModeInPlace
	}
	if d.budgets {
		c.Charge = placement.Charge(d.upTo(2))
	}
	if d.hard && (!d.inPlace || d.chance(2)) {
		c.Budgets = placement.Hard
	}
	if d.guards {
		c.Guards = []placement.Guard{
			preemptiontest.Pinned{Label: "app", Value: "x"},
			preemptiontest.Pinned{Label: "app", Value: "y", Until: now.Add(time.Duration(d.upTo(2)-1) * time.Minute)},
		}
	}
	if d.filters {
		c.Filters = []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "x", Anywhere: d.chance(3)}}
	}
	if d.sets && d.chance(2) {
		c.SetFilters = []placement.SetFilter{d.spread()}
	}
	if d.importance {
		c.Importance = rapid.SampledFrom(orders).Draw(d.T, "importance")
	}
	if d.runtimes {
		c.MinRuntime, c.ReclaimMinRuntime = d.runtime(), d.runtime()
	}
}

// orders are orders of importance: the other way round, by number of pods, and none.
var orders = []func(a, b placement.Unit) int{
	func(a, b placement.Unit) int { return strings.Compare(b.Pods[0].ID, a.Pods[0].ID) },
	func(a, b placement.Unit) int { return len(a.Pods) - len(b.Pods) },
	func(a, b placement.Unit) int { return 0 },
}

func (d *drawer) spread() placement.SetFilter {
	return preemptiontest.Spread{TopologyKey: d.of([]string{"zone", ""}), Label: "app", MaxSkew: 1 + d.upTo(1)}
}

// label draws what filters, guards and budgets look at.
func (d *drawer) label() map[string]string {
	if d.filters || d.sets || d.budgets || d.guards {
		return map[string]string{"app": d.of([]string{"x", "y", "z", "db"})}
	}
	return nil
}

// nodes draws one to six nodes, mostly small; some without a resource, without capacity, or unschedulable.
func (d *drawer) nodes() {
	for i := range 1 + min(d.upTo(5), d.upTo(5)) {
		n := workload.Node{Name: fmt.Sprintf("n%d", i), Capacity: workload.Resources{}}
		if !d.chance(15) {
			n.Capacity["cpu"] = int64(1 + d.upTo(4))
		}
		if d.chance(2) {
			n.Capacity["gpu"] = int64(d.upTo(3))
		}
		if d.chance(5) {
			n.Capacity[workload.PodsResource] = int64(d.upTo(4))
		}
		if d.chance(40) {
			n.Capacity["cpu"] = quota.MaxUsage
		}
		n.Unschedulable = d.chance(15)
		if d.filters || d.sets {
			n.Labels = map[string]string{"zone": d.of([]string{"x", "x", "y"})}
		}
		d.q.State.Nodes = append(d.q.State.Nodes, n)
	}
}

func (d *drawer) requests() workload.Resources {
	r := workload.Resources{}
	if !d.chance(10) {
		r["cpu"] = int64(max(d.upTo(2), d.upTo(2)))
	}
	if d.chance(4) {
		r["gpu"] = int64(d.upTo(2))
	}
	return r
}

func (d *drawer) priority() int32 {
	return rapid.SampledFrom([]int32{0, 0, 1, 1, 2, 3, 5, -1, -2147483648, 2147483647}).Draw(d.T, "priority")
}

func (d *drawer) node() string { return d.of(d.names()) }

func (d *drawer) names() (list []string) {
	for _, n := range d.q.State.Nodes {
		list = append(list, n.Name)
	}
	return list
}

func (d *drawer) runtime() (o quota.OptionalDuration) {
	if d.chance(2) {
		return quota.Some(time.Duration(d.upTo(4)) * 10 * time.Minute)
	}
	return o
}

func (d *drawer) queue() string {
	if d.runtimes {
		return d.of([]string{"", "a", "b"})
	}
	return ""
}

// groupsAndPods draws groups, one perhaps in another, and up to twelve pods that run.
func (d *drawer) groupsAndPods() {
	st := &d.q.State
	if d.groups {
		for i := range d.upTo(4) {
			g := workload.PodGroup{
				ID: fmt.Sprintf("g%d", i), Priority: d.priority(), DisruptionMode: workload.DisruptionMode(d.upTo(1)),
				Queue: d.queue(), MinCount: d.upTo(2), Basic: d.chance(3),
			}
			if d.runtimes {
				g.MinRuntime, g.ReclaimMinRuntime = d.runtime(), d.runtime()
			}
			if i > 0 && d.chance(3) {
				g.Parent = fmt.Sprintf("g%d", d.upTo(i-1))
			}
			st.Groups = append(st.Groups, g)
		}
	}
	if d.claims {
		for i := range d.upTo(3) {
			st.Claims = append(st.Claims, workload.Claim{ID: fmt.Sprintf("c%d", i), Requests: d.requests()})
		}
	}
	for i := range max(d.upTo(12), d.upTo(12)) {
		p := d.pod(fmt.Sprintf("p%02d", i))
		p.Node = d.node()
		if d.terminating && d.chance(4) {
			p.Terminating, p.Preempted = true, d.chance(2)
			if d.chance(2) {
				p.TerminatingSince = now.Add(time.Duration(-d.upTo(4)) * 10 * time.Minute)
			}
		}
		st.Pods = append(st.Pods, p)
	}
}

// claim draws the claims that a pod holds.
func (d *drawer) claim() (list []string) {
	for _, c := range d.q.State.Claims {
		if d.chance(4) {
			list = append(list, c.ID)
		}
	}
	return list
}

// pod draws what pods that run and pods that wait have.
func (d *drawer) pod(id string) workload.Pod {
	p := workload.Pod{ID: id, Requests: d.requests(), Priority: d.priority(), Queue: d.queue()}
	p.Claims = d.claim()
	if d.chance(2) {
		p.UID = d.of([]string{"a", "b", "c"})
	}
	if d.chance(3) {
		p.Started = now.Add(time.Duration(1-d.upTo(6)) * 10 * time.Minute)
	}
	p.Labels = d.label()
	if d.groups && d.chance(2) {
		p.Group = fmt.Sprintf("g%d", d.upTo(4)) // perhaps missing
	}
	if d.runtimes {
		p.MinRuntime, p.ReclaimMinRuntime = d.runtime(), d.runtime()
	}
	return p
}

func (d *drawer) drawBudgets() {
	for i := range d.upTo(3) {
		b := workload.DisruptionBudget{Name: fmt.Sprintf("b%d", i), Allowed: int64(d.upTo(2)), Selector: &workload.LabelSelector{}}
		if !d.chance(4) {
			b.Selector.MatchLabels = map[string]string{"app": d.of([]string{"x", "y", "z"})}
		}
		if len(d.q.State.Pods) > 0 && d.chance(3) {
			b.Disrupted = []string{rapid.SampledFrom(d.q.State.Pods).Draw(d.T, "disrupted").ID}
		}
		d.q.State.Budgets = append(d.q.State.Budgets, b)
	}
}

// ask draws the request: mostly of a priority above some that run.
func (d *drawer) ask() {
	r := &d.q.Request
	r.Now = now
	r.Priority = rapid.SampledFrom([]int32{0, 1, 2, 3, 5, 5, 9, 9, 9, 9, 9, 2147483647}).Draw(d.T, "its priority")
	if d.chance(12) {
		r.Policy = placement.PreemptNever
	}
	if d.chance(3) {
		r.Prefer = rapid.Permutation(d.names()).Draw(d.T, "preferred")[:1+d.upTo(len(d.q.State.Nodes)-1)]
	}
	r.Queue = d.queue()
	r.SkipFit = d.skipFit && d.chance(2)
	if d.sampled {
		r.MaxDomains, r.FirstNode = d.upTo(3), d.upTo(7)
	}
	if d.gang {
		d.askForGang(r)
	} else {
		p := d.waiting("w0")
		if d.groups && d.chance(4) {
			p.Group = d.groupOf(r)
		}
		r.Pods = []workload.Pod{p}
	}
	if d.resize && len(d.q.State.Pods) > 0 {
		d.resizeOne(r)
	}
	if d.filters && d.chance(2) {
		r.Filters = []placement.Filter{preemptiontest.Apart{Label: "app", Zone: "y"}}
	}
	if d.sets {
		r.SetFilters = []placement.SetFilter{d.spread()}
	}
	if d.placer {
		r.Placer = rapid.SampledFrom([]placement.Placer{preemptiontest.LastFit{}, scattered{}}).Draw(d.T, "placer")
	}
	if d.terminating && d.chance(2) {
		r.TerminationTimeout = time.Duration(1+d.upTo(3)) * 10 * time.Minute
	}
}

// resizeOne asks for a pod that runs instead.
func (d *drawer) resizeOne(r *placement.Request) {
	st := &d.q.State
	i := d.upTo(len(st.Pods) - 1)
	st.Pods[i].Terminating, st.Pods[i].Preempted, st.Pods[i].TerminatingSince = false, false, time.Time{}
	r.Resize, r.Pods[0] = true, workload.Pod{ID: st.Pods[i].ID, Requests: r.Pods[0].Requests, Group: st.Pods[i].Group}
	if r.Priority, r.Queue = st.Pods[i].Priority, st.Pods[i].Queue; st.Pods[i].Group != "" {
		r.Pods[0].Group = ""
		d.rootOf(st.Pods[i].Group, r)
	}
}

// askForGang draws a group of one to four pods, in the state or not, and the domains where it may be.
func (d *drawer) askForGang(r *placement.Request) {
	r.Group = "gang"
	basic := d.basic && (!d.inPlace || d.chance(3))
	if basic || d.chance(2) {
		g := workload.PodGroup{ID: "gang", Priority: r.Priority, Queue: r.Queue, Basic: basic, DisruptionMode: workload.DisruptionMode(d.upTo(1))}
		d.q.State.Groups = append(d.q.State.Groups, g)
	}
	for i := range 1 + d.upTo(3) {
		p := d.waiting(fmt.Sprintf("w%d", i))
		if d.chance(2) && i > 0 {
			p.Requests = r.Pods[0].Requests
		}
		r.Pods = append(r.Pods, p)
	}
	r.MinCount = min(d.upTo(len(r.Pods)), len(r.Pods))
	if basic {
		r.MinCount = min(1, r.MinCount)
	}
	if d.nested {
		d.nest(r)
	}
	if !d.domains || basic && !d.inPlace { // for each pod of a Basic group every node is a domain
		return
	}
	r.Domains, r.DomainsPreferred = d.split(), d.chance(2)
}

// split draws domains without a node in two of them.
func (d *drawer) split() []placement.Domain {
	list := make([]placement.Domain, d.upTo(3))
	for i := range list {
		list[i].Name = fmt.Sprintf("d%d", i)
	}
	for _, n := range rapid.Permutation(d.names()).Draw(d.T, "nodes") {
		if i := d.upTo(3); i < len(list) {
			list[i].Nodes = append(list[i].Nodes, n)
		}
	}
	return list
}

// nest draws groups below that of the request, and what they need.
func (d *drawer) nest(r *placement.Request) {
	st := &d.q.State
	parents := []string{"gang"}
	if !slices.ContainsFunc(st.Groups, func(g workload.PodGroup) bool { return g.ID == "gang" }) {
		st.Groups = append(st.Groups, workload.PodGroup{ID: "gang", Priority: r.Priority, Queue: r.Queue})
	}
	for i := range 1 + d.upTo(2) {
		id := fmt.Sprintf("t%d", i)
		st.Groups = append(st.Groups, workload.PodGroup{ID: id, Parent: d.of(parents)})
		parents = append(parents, id)
	}
	for i := len(r.Pods); i < 3+d.upTo(3); i++ {
		r.Pods = append(r.Pods, d.waiting(fmt.Sprintf("w%d", i)))
	}
	for i := range r.Pods {
		r.Pods[i].Group = d.of(parents)
	}
	below := func(id string) (groups int) {
		for _, g := range st.Groups {
			if g.Parent == id && inGroup(r.Pods, st.Groups, g.ID) > 0 {
				groups++
			}
		}
		return groups
	}
	r.MinGroups = d.upTo(below("gang"))
	for _, id := range parents[1:] {
		if d.chance(3) {
			continue
		}
		n := placement.NestedGroup{Group: id, MinCount: min(d.upTo(2), inGroup(r.Pods, st.Groups, id)), MinGroups: d.upTo(below(id)), DomainsPreferred: d.chance(2)}
		if d.chance(2) {
			n.Domains = d.split()
		}
		r.Nested = append(r.Nested, n)
	}
}

// inGroup counts the pods of a group and of the groups below it.
func inGroup(pods []workload.Pod, groups []workload.PodGroup, id string) (n int) {
	for _, p := range pods {
		for at := p.Group; at != ""; {
			if at == id {
				n++
			}
			at = groups[slices.IndexFunc(groups, func(g workload.PodGroup) bool { return g.ID == at })].Parent
		}
	}
	return n
}

// groupOf draws a group for a single pod: the priority and the queue of its root are those of the request.
func (d *drawer) groupOf(r *placement.Request) string {
	list := d.q.State.Groups
	if len(list) == 0 {
		return ""
	}
	g := rapid.SampledFrom(list).Draw(d.T, "its group")
	d.rootOf(g.ID, r)
	return g.ID
}

// rootOf gives the request the priority and the queue of the root of a group.
func (d *drawer) rootOf(id string, r *placement.Request) {
	for _, g := range d.q.State.Groups {
		if g.ID == id {
			r.Priority, r.Queue = g.Priority, g.Queue
			d.rootOf(g.Parent, r)
		}
	}
}

// nominate promises room to the pods of the request and to others.
func (d *drawer) nominate() {
	st := &d.q.State
	for i := range d.upTo(4) {
		p := d.pod(fmt.Sprintf("o%d", i))
		p.Node = d.node()
		st.Nominated = append(st.Nominated, p)
	}
	for _, p := range d.q.Request.Pods {
		if d.chance(2) && !d.q.Request.Resize && p.Requests["cpu"] < quota.MaxUsage { // a node has no more
			p.Node = d.node()
			if d.chance(4) {
				p.Claims = d.claim() // others than it asks for now
			}
			if p.Group == "" && !d.chance(5) {
				p.Group = d.q.Request.Group
			}
			st.Nominated = append(st.Nominated, p)
		}
	}
}

func (d *drawer) waiting(id string) workload.Pod {
	p := workload.Pod{ID: id, Requests: d.requests()}
	if d.chance(2) {
		p.Requests["cpu"] = int64(2 + d.upTo(2))
	}
	if d.chance(5) {
		p.Nodes = append([]string{"unknown"}, rapid.Permutation(d.names()).Draw(d.T, "its nodes")[:d.upTo(len(d.q.State.Nodes))]...)
	}
	if d.chance(60) {
		p.Requests["cpu"] = quota.MaxUsage
	}
	p.Nowhere = d.chance(100)
	if d.filters || d.sets {
		p.Labels = d.label()
	}
	p.Claims = d.claim()
	return p
}

// scattered is a placer that puts pods on one node after the other, whatever runs there, and some on none.
type scattered struct{}

func (scattered) Begin(*placement.Snapshot, placement.Request) placement.PlacerTrial {
	return scattered{}
}
func (scattered) Add(workload.Pod)                        {}
func (scattered) Remove(workload.Pod)                     {}
func (scattered) Allows(workload.Pod, workload.Node) bool { return true }
func (scattered) Place(pods []workload.Pod, nodes []string) (where []string) {
	for i := range pods {
		where = append(where, append(nodes, "unknown")[(2*i+1)%(len(nodes)+1)])
	}
	return where
}
