package main

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// machines is a state of nodes with a request for room, and domains to clear.
type machines struct {
	state    placement.State
	request  placement.Request
	clear    moves.ClearRequest
	snapshot *placement.Snapshot // nil: not made yet
}

// nodeWays are the ways to decide about nodes, with what each sets. To wait is as for quota.
var nodeWays = []struct {
	name     string
	set      func(c *placement.Config)
	ask      func(p *placement.Preemptor, m *machines) (answer, error)
	explains string
}{
	{"design", func(c *placement.Config) {}, place, ""},
	{"in-place", func(c *placement.Config) { c.Mode = placement.ModeInPlace }, place, ""},
	{"best-fit", func(c *placement.Config) { c.Order = placement.BestFit }, place, ""},
	{"hard", func(c *placement.Config) { c.Budgets = placement.Hard }, place, ""},
	{"moves", func(c *placement.Config) {}, move(moves.Config{}), ""},
	{"prefer", func(c *placement.Config) {}, move(moves.Config{Prefer: true}), ""},
	{"clear", func(c *placement.Config) {}, emptied(moves.Config{}), ""},
	{"clear-moves", func(c *placement.Config) {}, emptied(moves.Config{Start: moves.BeforeStop, Price: onlyMoves}), ""},
	{"wait", protectPods, place, ""},
	{"wait-clear", protectPods, emptied(moves.Config{}), ""},
	{"explain", func(c *placement.Config) {}, func(p *placement.Preemptor, m *machines) (answer, error) {
		e, err := explain.ExplainPlacement(p, m.snapshot, m.request)
		return answer{e.Decision.Outcome.String(), len(e.Decision.Victims), 0}, err
	}, "design"},
}

func protectPods(c *placement.Config) {
	c.MinRuntime, c.ReclaimMinRuntime, c.MaxBlockers = quota.Some(longest), quota.Some(longest), 1<<20
}

func onlyMoves(placement.Unit) (yield, move int64) { return -1, 1 }

func place(p *placement.Preemptor, m *machines) (answer, error) {
	d, err := p.Decide(m.snapshot, m.request)
	return answer{d.Outcome.String(), len(d.Victims), 0}, err
}

func move(c moves.Config) func(*placement.Preemptor, *machines) (answer, error) {
	return func(p *placement.Preemptor, m *machines) (answer, error) {
		d, err := moves.Decide(p, m.snapshot, m.request, c)
		return answer{d.Decision.Outcome.String(), len(d.Decision.Victims), d.Tried}, err
	}
}

func emptied(c moves.Config) func(*placement.Preemptor, *machines) (answer, error) {
	return func(p *placement.Preemptor, m *machines) (answer, error) {
		a, err := moves.Clear(p, m.snapshot, m.clear, c)
		return answer{a.Outcome.String(), len(a.Moves) + len(a.Victims), a.Tried}, err
	}
}

func (m *machines) ways() (list []way) {
	for _, w := range nodeWays {
		list = append(list, way{w.name, w.explains})
	}
	return list
}

// decider implements asked.
func (m *machines) decider(way string) (func() (answer, error), error) {
	var err error
	if m.snapshot == nil {
		if m.snapshot, err = placement.NewSnapshot(m.state); err != nil {
			return nil, err
		}
	}
	for _, w := range nodeWays {
		if w.name == way {
			var c placement.Config
			w.set(&c)
			p, err := placement.New(c)
			return func() (answer, error) { return w.ask(p, m) }, err
		}
	}
	return nil, fmt.Errorf("no way %q", way)
}

// numbers implements asked.
func (m *machines) numbers() string {
	return fmt.Sprintf("%d nodes, %d pods, %d groups, %d budgets; asks for %d pods of %v, at least %d, in %d domains; clears %d of %d domains",
		len(m.state.Nodes), len(m.state.Pods), len(m.state.Groups), len(m.state.Budgets),
		len(m.request.Pods), m.request.Pods[0].Requests, m.request.MinCount, len(m.request.Domains), m.clear.Count, len(m.clear.Domains))
}

// shapesOfNodes are states of nodes.
func shapesOfNodes() []shape {
	return []shape{
		{"nodes-equal", func(n int) asked { return fleet(n/10, 10).gang(100, 5) }},
		{"nodes-one-pod", func(n int) asked { return fleet(n/10, 10).gang(1, 5) }},
		{"nodes-all", func(n int) asked { return fleet(n/10, 10).gang(n/10, 5).pods(ownSizes) }},
		{"nodes-short-of-one", func(n int) asked {
			return fleet(n/10, 10).gang(n/10, 10).pods(func(i int, p *workload.Pod) {
				if i == n/2 {
					p.Priority = 1 << 30
				}
			})
		}},
		{"nodes-everybody", func(n int) asked { return fleet(n/10, 10).gang(n/4, 1).pods(ownSizes) }},
		{"nodes-crowded", func(n int) asked { return fleet(2, n/10).gang(1, n/20).pods(ownSizes) }},
		{"nodes-drain-250", func(n int) asked {
			m := fleet(max(2, n/125), 250).pods(ownSizes).half().gang(100, 200)
			m.clear.Count = max(1, len(m.state.Nodes)/8)
			return m
		}},
		{"nodes-drain-half", func(n int) asked {
			m := fleet(n/10, 10).pods(ownSizes).half().gang(100, 8)
			m.clear.Count = max(1, n/100)
			return m
		}},
		{"nodes-budgets", func(n int) asked { return fleet(n/10, 10).pods(ownSizes).gang(100, 5).budgets(200) }},
		{"nodes-racks", func(n int) asked { return fleet(n/10, 10).pods(ownSizes).gang(100, 5).racks(20) }},
		{"nodes-groups", func(n int) asked { return fleet(n/10, 10).gang(100, 5).groups(max(1, n/100)) }},
		{"nodes-leaving", func(n int) asked {
			return fleet(n/10, 10).gang(100, 5).pods(func(i int, p *workload.Pod) { p.Terminating, p.Preempted = true, true })
		}},
		{"nodes-own-priorities", func(n int) asked {
			return fleet(n/10, 10).gang(n/10, 5).pods(func(i int, p *workload.Pod) { p.Priority = int32(i * 7919 % n) })
		}},
	}
}

// fleet returns nodes with room for so many pods of a GPU each, and pods of ten priorities that fill them. One node is to be cleared.
func fleet(nodes, each int) *machines {
	m := &machines{clear: moves.ClearRequest{Now: scenario.Now, Count: 1}}
	for i := range nodes {
		m.state.Nodes = append(m.state.Nodes, workload.Node{Name: numbered("n", i), Capacity: workload.Resources{"cpu": int64(each) * 1000, "gpu": int64(each)}})
	}
	for i := range nodes * each {
		m.state.Pods = append(m.state.Pods, workload.Pod{
			ID: numbered("p", i), Namespace: "ns", Node: numbered("n", i/each), Priority: int32(i * 7919 % 10),
			Requests: workload.Resources{"cpu": 1000, "gpu": 1}, Started: scenario.Now.Add(-time.Duration(int64(i)*7919%1_000_003) * time.Second),
		})
	}
	return m
}

// gang asks for so many pods of some GPUs each.
func (m *machines) gang(pods, gpus int) *machines {
	m.request = placement.Request{Group: "asks", Priority: 1 << 20, MinCount: pods, Now: scenario.Now}
	for i := range pods {
		m.request.Pods = append(m.request.Pods, workload.Pod{
			ID: numbered("asks", i), Group: "asks", Requests: workload.Resources{"cpu": int64(1000 * gpus), "gpu": int64(gpus)},
		})
	}
	if pods == 1 {
		m.request.Group, m.request.MinCount, m.request.Pods[0].Group = "", 0, ""
	}
	return m
}

func (m *machines) pods(change func(i int, p *workload.Pod)) *machines {
	for i := range m.state.Pods {
		change(i, &m.state.Pods[i])
	}
	return m
}

// ownSizes gives each pod an amount of its own.
func ownSizes(i int, p *workload.Pod) {
	p.Requests = workload.Resources{"cpu": int64(500 + i*7919%499), "gpu": 1}
}

// half leaves every other pod away.
func (m *machines) half() *machines {
	all := m.state.Pods
	m.state.Pods = nil
	for i := range all {
		if i%2 == 0 {
			m.state.Pods = append(m.state.Pods, all[i])
		}
	}
	return m
}

// budgets adds so many budgets that allow one disruption. Each pod is under a tenth of them.
func (m *machines) budgets(n int) *machines {
	m.pods(func(i int, p *workload.Pod) { p.Labels = map[string]string{"app": fmt.Sprint(i % n)} })
	for b := range n {
		apps := make([]string, 0, n/10)
		for i := range n / 10 {
			apps = append(apps, fmt.Sprint((b+i)%n))
		}
		m.state.Budgets = append(m.state.Budgets, workload.DisruptionBudget{Namespace: "ns", Name: numbered("b", b), Allowed: 1,
			Selector: &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "app", Operator: workload.In, Values: apps}}}})
	}
	return m
}

// racks makes domains of so many nodes each.
func (m *machines) racks(each int) *machines {
	for i, n := range m.state.Nodes {
		if i%each == 0 {
			m.request.Domains = append(m.request.Domains, placement.Domain{Name: numbered("rack", i/each)})
		}
		d := &m.request.Domains[i/each]
		d.Nodes = append(d.Nodes, n.Name)
	}
	m.request.MinCount = 1
	m.clear.Domains, m.clear.Count = m.request.Domains, 2
	return m
}

// groups puts the pods in so many groups that yield whole, each on nodes all over.
func (m *machines) groups(n int) *machines {
	for g := range n {
		m.state.Groups = append(m.state.Groups, workload.PodGroup{ID: numbered("g", g), Priority: int32(g % 10), DisruptionMode: workload.DisruptionModePodGroup})
	}
	return m.pods(func(i int, p *workload.Pod) { p.Group = numbered("g", i%n) })
}
