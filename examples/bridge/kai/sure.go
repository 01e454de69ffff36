package kai

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// KAI admits by nodes, by fair shares and by quota. Of these quota alone is modelled here. So little is sure:
//
//   - a group that is not preemptible never gets more than the quota, of its queue and of each queue above it, and nothing
//     ever gets more than a limit: then the answer is no;
//   - what stays within all of these and has room on nodes that are idle runs: then the answer is yes, nobody yields.
//
// Everything else is unknown.

// usage is what the groups that run hold, by queue and resource: all of them, and those that are not preemptible.
type usage struct{ all, fixed map[string]map[string]int64 }

func (u usage) add(chain []*Queue, amounts []quota.Amount, fixed bool) {
	into := []map[string]map[string]int64{u.all}
	if fixed {
		into = append(into, u.fixed)
	}
	for _, sums := range into {
		for _, q := range chain {
			of := sums[q.Metadata.Name]
			if of == nil {
				of = map[string]int64{}
				sums[q.Metadata.Name] = of
			}
			for _, a := range amounts {
				of[a.Resource] = quota.Add(of[a.Resource], a.Amount)
			}
		}
	}
}

// chain is a queue and those above it, from the leaf up; whole says whether each is in the input.
func (t *tree) chain(name string) (list []*Queue, whole bool) {
	for range len(t.queues) + 1 {
		q := t.byName[name]
		if q == nil {
			return list, false
		}
		list = append(list, q)
		if q.Spec.ParentQueue == "" {
			return list, true
		}
		name = q.Spec.ParentQueue
	}
	return list, false
}

// bounds says what the queues allow a group: refused is why they never do; over is why it is not known whether they do now.
func (g *groups) bounds(w *waiting) (refused, over string) {
	chain, _ := g.tree.chain(w.group.Spec.Queue)
	for _, q := range chain {
		for _, r := range q.Spec.resources() {
			asks := amountOf(w.requests, r.resource)
			if asks == 0 {
				continue
			}
			name := q.Metadata.Name
			all, fixed := quota.Add(g.used.all[name][r.resource], asks), quota.Add(g.used.fixed[name][r.resource], asks)
			switch {
			case asks > r.limit:
				return fmt.Sprintf("queue %s may have %s of %s at most (limit), and it asks for %s", name, amount(r.resource, r.limit), r.resource, amount(r.resource, asks)), ""
			case w.fixed && w.fixedKnown && fixed > r.quota:
				return fmt.Sprintf("KAI gives what is not preemptible nothing above the quota: with it queue %s has %s of %s, its quota is %s",
					name, amount(r.resource, fixed), r.resource, amount(r.resource, r.quota)), ""
			case all > r.limit:
				over = cmp.Or(over, fmt.Sprintf("with it queue %s is over its limit of %s", name, r.resource))
			case all > r.quota:
				over = cmp.Or(over, fmt.Sprintf("with it queue %s is over its quota of %s, and what is over goes by KAI's fair shares, which are not modelled", name, r.resource))
			}
		}
	}
	return "", over
}

func amountOf(list []quota.Amount, resource string) int64 {
	for _, a := range list {
		if a.Resource == resource {
			return a.Amount
		}
	}
	return 0
}

// amount writes an amount as KAI's objects do.
func amount(resource string, n int64) string {
	switch resource {
	case "cpu":
		return strconv.FormatInt(n, 10) + "m"
	case "memory":
		return strconv.FormatInt(n/1e6, 10) + "M"
	}
	return strconv.FormatInt(n, 10)
}

// waiting is a group that waits.
type waiting struct {
	group             *PodGroup
	requests          []quota.Amount // of as many pods as must fit together
	pods              []*Pod
	fixed, fixedKnown bool // not preemptible; and whether that is known
}

// minimum is how many pods must fit together.
func (g *PodGroup) minimum() int64 {
	if g.Spec.MinMember == nil {
		return 1
	}
	return max(1, *g.Spec.MinMember)
}

// judge says of a group that waits what is sure, and why the rest is not.
func (g *groups) judge(p *bridge.Pending, w *waiting) {
	object := "PodGroup " + w.group.Metadata.ID()
	doubt := func(path, format string, args ...any) {
		g.c.Doubts = append(g.c.Doubts, bridge.Doubt{Note: note(object, path, format, args...), Workload: p.Workload.ID})
	}
	chain, whole := g.tree.chain(w.group.Spec.Queue)
	if !whole && len(chain) > 0 {
		missing := chain[len(chain)-1].Spec.ParentQueue
		doubt("spec.queue", "queue %s names the parent queue %s, which is not in the input: KAI drops a queue without its parent", chain[len(chain)-1].Metadata.Name, missing)
		return
	}
	refused, over := g.bounds(w)
	stop := func(path, text string) {
		n := note(object, path, "%s", text)
		n.Stops = true
		p.Notes = append(p.Notes, n)
	}
	free, gated := 0, 0
	for _, pod := range w.pods {
		switch {
		case pod.Metadata.DeletionTimestamp != nil || pod.ended():
		case len(pod.Spec.SchedulingGates) > 0:
			gated++
		default:
			free++
		}
	}
	switch {
	case refused != "":
		p.Refused = refused
	case len(w.pods) > 0 && int64(free) < w.group.minimum():
		stop("spec.minMember", fmt.Sprintf("KAI tries it once %d of its pods can be placed together; there are %d, and %d with a scheduling gate", w.group.minimum(), free, gated))
	case len(w.pods) == 0:
		doubt("spec.minMember", "none of its pods is in the input: KAI sums up what they ask for")
	case over != "":
		doubt("spec.queue", "%s", over)
	default:
		if why := g.room(w); why != "" {
			doubt("spec.minMember", "%s: KAI admits by nodes, and who would have to yield there is not modelled", why)
		}
	}
}

// room says why it is not sure that the pods of a group have room on idle nodes; empty: they have, whatever the order in
// which they are placed.
func (g *groups) room(w *waiting) string {
	if !g.hasNodes {
		return "there are no nodes in the input"
	}
	var one []quota.Amount
	for i, pod := range w.pods {
		asks := requestsOf(pod)
		if i > 0 && !slices.Equal(asks, one) {
			return "its pods differ in what they ask for"
		}
		one = asks
	}
	places := int64(0)
	for _, n := range g.nodes {
		places += n.places(one, w.group.minimum())
	}
	if places < w.group.minimum() {
		return fmt.Sprintf("idle nodes have room for %d of %d pods", places, w.group.minimum())
	}
	return ""
}

// requestsOf is what a pod takes: KAI does not read requests of the pod as a whole.
func requestsOf(p *Pod) []quota.Amount {
	spec := p.Spec
	spec.Resources = nil
	return spec.Requests(nil)
}

// idle is what is left on a node that takes new pods.
type idle struct{ left map[string]int64 }

// places is how many pods of a kind have room, up to a number.
func (n *idle) places(one []quota.Amount, most int64) int64 {
	least := min(most, n.left["pods"])
	for _, a := range one {
		if a.Amount > 0 {
			least = min(least, n.left[a.Resource]/a.Amount)
		}
	}
	return max(0, least)
}

// idleNodes are the nodes that surely take new pods, less what pods have there.
func (o *Objects) idleNodes() map[string]*idle {
	nodes := map[string]*idle{}
	for _, n := range o.nodes.All() {
		if n.takes() {
			left := map[string]int64{}
			for name, q := range n.Status.Allocatable {
				left[name] = q.Amount(name)
			}
			nodes[n.Metadata.Name] = &idle{left}
		}
	}
	for _, p := range o.pods.All() {
		n := nodes[p.Spec.NodeName]
		if n == nil || p.ended() {
			continue
		}
		n.left["pods"]--
		for _, a := range requestsOf(p) {
			n.left[a.Resource] = quota.Sub(n.left[a.Resource], a.Amount)
		}
	}
	return nodes
}

const (
	poolLabel  = "kai.scheduler/node-pool"
	countLabel = "nvidia.com/gpu.count"
)

// takes reports whether a node surely takes new pods of any kind.
func (n *Node) takes() bool {
	if n.Spec.Unschedulable || n.Metadata.Labels[poolLabel] != "" ||
		slices.ContainsFunc(n.Spec.Taints, func(t bridge.Taint) bool { return t.Effect != "PreferNoSchedule" }) {
		return false
	}
	if count, has := n.Metadata.Labels[countLabel]; has && count != strconv.FormatInt(n.Status.Allocatable[gpu].Amount(gpu), 10) {
		return false
	}
	ready := false
	for _, c := range n.Status.Conditions {
		switch {
		case c.Type == "Ready":
			ready = c.Status == "True"
		case c.Status != "False" && slices.Contains([]string{"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}, c.Type):
			return false
		}
	}
	return ready
}

// sum adds up what pods ask for, by resource.
func sum(pods []*Pod, most int) bridge.ResourceList {
	total := map[string]int64{}
	for i, p := range pods {
		if i == most {
			break
		}
		for _, a := range requestsOf(p) {
			total[a.Resource] = quota.Add(total[a.Resource], a.Amount)
		}
	}
	list := bridge.ResourceList{}
	for name, n := range total {
		list[name] = bridge.QuantityOf(name, n)
	}
	return list
}

// doubtAll adds a doubt about every answer.
func (g *groups) doubtAll(object, path, format string, args ...any) {
	n := note(object, path, object+": "+format, args...)
	g.c.Notes, g.c.Doubts = append(g.c.Notes, n), append(g.c.Doubts, bridge.Doubt{Note: n})
}

// doubtPods says of the pods what makes the usage of queues and nodes uncertain.
func (g *groups) doubtPods(o *Objects) {
	names := map[string]string{}
	for _, one := range o.groups.All() {
		id := one.Metadata.ID()
		if other := names[one.Metadata.Name]; other != "" {
			g.doubtAll("PodGroup "+id, "metadata.name", "%s has the same name, and KAI keeps groups by their names alone", other)
		}
		names[one.Metadata.Name] = id
	}
	for _, p := range o.pods.All() {
		object := "Pod " + p.Metadata.ID()
		group := p.group()
		switch {
		case p.ended():
		case p.Spec.NodeName != "" && p.Metadata.DeletionTimestamp != nil:
			g.doubtAll(object, "metadata.deletionTimestamp", "it is ending, and its room counts for those that wait, which is not modelled")
		case group != "" && p.Spec.NodeName != "" && !o.HasGroup(group):
			g.doubtAll(object, "metadata.annotations["+GroupAnnotation+"]", "the PodGroup %s is not in the input: whose quota it takes is not known", group)
		}
	}
}

// podsOf are the pods of each group: those that have a node, and those that wait for one; and the groups with pods that
// have ended.
func (o *Objects) podsOf() (bound, free map[string][]*Pod, ended map[string]bool) {
	bound, free, ended = map[string][]*Pod{}, map[string][]*Pod{}, map[string]bool{}
	for _, p := range o.pods.All() {
		group := p.group()
		switch {
		case group == "":
		case p.ended():
			ended[group] = true
		case p.Spec.NodeName != "" || p.Status.Phase == "Running":
			bound[group] = append(bound[group], p)
		default:
			free[group] = append(free[group], p)
		}
	}
	return bound, free, ended
}

// elastic makes of the pods of a group a pod set, whose surplus over the minimum may yield by itself.
func elastic(allocated []quota.Amount, running, minimum int64) workload.PodSet {
	set := workload.PodSet{Name: "main", Count: 1, Requests: allocated}
	if running <= minimum || running > workload.MaxElasticCount ||
		slices.ContainsFunc(allocated, func(a quota.Amount) bool { return a.Amount%running != 0 }) {
		return set
	}
	set.Count, set.MinCount = running, workload.AtLeast(minimum)
	for i := range set.Requests {
		set.Requests[i].Amount /= running
	}
	return set
}

// sortedPods lists the pods of a group in KAI's order: the older first.
func sortedPods(pods []*Pod) []*Pod {
	pods = slices.Clone(pods)
	slices.SortFunc(pods, func(a, b *Pod) int {
		return cmp.Or(a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp), cmp.Compare(a.Metadata.UID, b.Metadata.UID), cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	return pods
}

// nodesOf lists the idle nodes by name.
func nodesOf(nodes map[string]*idle) (list []*idle) {
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		list = append(list, nodes[name])
	}
	return list
}
