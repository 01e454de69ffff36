package kai

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/workload"
)

// addWaiting adds the next pods of a group: as many as must fit together, or one more.
func (g *groups) addWaiting(of *group, runs bool) (err error) {
	p := bridge.Pending{Workload: of.workload}
	if runs {
		p.Workload.ID += More
	}
	about := p.Workload.ID
	switch q := of.Spec.Queue; {
	case g.tree.dropped[q] != "":
		p.Workload.Queue, p.Unresolved = "", fmt.Sprintf("its queue %s is dropped, as the parent queue %s is not in the input", q, g.tree.dropped[q])
	case g.tree.inner[q]:
		p.Workload.Queue, p.Refused = "", fmt.Sprintf("queue %s has queues below it, and KAI runs nothing in such a queue", q)
	case !g.tree.isLeaf(q):
		p.Workload.Queue, p.Unresolved = "", fmt.Sprintf("its queue %q is not in the input", q)
	}
	if of.unknown != "" {
		g.doubt(of.PodGroup, about, "spec.priorityClassName", "%s", of.unknown)
	}
	if p.PreemptsFrom, err = of.preemptsFrom(); err != nil {
		g.doubt(of.PodGroup, about, "spec.preemptionDelay", "%v", err)
	}
	switch missing := max(1, of.minimum()-len(of.held)); {
	case len(of.held)+len(of.waiting)+of.gated+of.ending == 0:
		g.addByStatus(of, &p)
	case len(of.waiting) < missing:
		n := note("PodGroup "+of.id, "spec.minMember", "KAI tries it once %d of its pods can be placed together; %d run, %d wait, and %d have a scheduling gate",
			of.minimum(), len(of.held), len(of.waiting), of.gated)
		n.Stops = true
		p.Notes = append(p.Notes, n)
		missing = len(of.waiting)
		if missing == 0 {
			break
		}
		fallthrough
	default:
		g.addPods(of, &p, of.waiting[:missing])
	}
	g.c.Pending = append(g.c.Pending, p)
	return nil
}

// addByStatus takes what a group asks for from its status: its pods are not in the input.
func (g *groups) addByStatus(of *group, p *bridge.Pending) {
	asks := of.Status.ResourcesStatus.Requested
	g.doubt(of.PodGroup, p.Workload.ID, "spec.minMember", "none of its pods is in the input: KAI sums up what they ask for")
	sum, others := ofQueues(amounts(asks))
	p.Workload.PodSets = []workload.PodSet{{Name: podSet, Count: 1, Requests: sum}}
	noteOthers(of, p, others)
}

// addPods says what the pods of a group that are tried next ask for, and where they may run.
func (g *groups) addPods(of *group, p *bridge.Pending, pods []*Pod) {
	each, same := g.each(pods)
	p.Workload.PodSets = []workload.PodSet{{Name: podSet, Count: 1, Requests: each}}
	if same {
		p.Workload.PodSets[0].Count = int64(len(pods))
	}
	_, others := ofQueues(requestsOf(pods[0]))
	noteOthers(of, p, others)
	if len(g.nodes.state.Nodes) == 0 && len(g.nodes.inPool) == 0 {
		return // a doubt says that there are none
	}
	for _, one := range pods {
		pod, err := g.nodes.pod(one, p.Workload.ID)
		if err != nil {
			g.doubt(of.PodGroup, p.Workload.ID, "spec.affinity", "Pod %s: %v", one.Metadata.ID(), err)
		}
		p.Pods = append(p.Pods, pod)
	}
}

// noteOthers says what the group asks for that no queue has quota of.
func noteOthers(of *group, p *bridge.Pending, others []string) {
	if len(others) > 0 {
		p.Notes = append(p.Notes, note("PodGroup "+of.id, "status.resourcesStatus.requested", "queues of KAI have quota for cpu, memory and %s alone: its requests of %s count on nodes only",
			GPU, strings.Join(others, ", ")))
	}
}

// preemptsFrom returns when a waiting group may evict others: its delay after it was created
// or last evicted. Zero: at once.
func (g *PodGroup) preemptsFrom() (time.Time, error) {
	if g.Spec.PreemptionDelay == nil {
		return time.Time{}, nil
	}
	delay, err := time.ParseDuration(*g.Spec.PreemptionDelay)
	if err != nil {
		return time.Time{}, fmt.Errorf("spec.preemptionDelay: %q is not a duration", *g.Spec.PreemptionDelay)
	}
	evicted, err := parseTime("annotation "+evictedAnnotation, g.Metadata.Annotations[evictedAnnotation])
	if from := g.Metadata.CreationTimestamp; evicted.Before(from) {
		evicted = from
	}
	return evicted.Add(delay), err
}

// maxDescribed is the most pods of a group that is described.
const maxDescribed = 100_000

// Describe makes a pending group of a workload that is described: its resources are named as in pods, and what queues have no quota of
// counts on nodes alone. It has no priority class: its priority decides whether it is preemptible. It fails on more than
// 100,000 replicas.
func Describe(w workload.Workload) (bridge.Pending, error) {
	p := bridge.Pending{Workload: w.Clone()}
	p.Workload.NeverYields = w.NeverYields || Fixed(w.Priority)
	for i := range p.Workload.PodSets {
		s := &p.Workload.PodSets[i]
		list := bridge.ResourceList{}
		for _, a := range s.Requests {
			name := resourceOf(a.Resource)
			list[name] = list[name].Add(bridge.QuantityOf(a.Resource, a.Amount))
		}
		of := Pod{part: describedPart(list[GPU])}
		takes := amounts(list)
		if asks := list[GPU].Amount(GPU); of.part != nil {
			takes = withGPU(takes, of.part.counts)
		} else if asks%wholeGPU != 0 {
			return p, fmt.Errorf("%s GPUs: want a part of one, or whole ones", list[GPU])
		}
		if s.Requests, _ = ofQueues(takes); s.Count > maxDescribed-int64(len(p.Pods)) {
			return p, fmt.Errorf("%d replicas: want at most %d", s.Count, maxDescribed)
		}
		for n := range s.Count {
			pod := podOf(&of, w.ID, takes)
			pod.ID = fmt.Sprintf("%s %d", w.ID, n)
			p.Pods = append(p.Pods, pod)
		}
	}
	return p, nil
}
