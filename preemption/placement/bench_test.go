package placement_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// fleet is a cluster as a function of its sizes: every node is full with pods of 1000
// milli-CPU and one GPU each.
type fleet struct {
	nodes, perNode int
	levels         int // of priority
	covered        int // of ten pods so many are covered by a budget that allows nothing
	groupOf        int // pods in a group of mode PodGroup, 0 for no groups
}

func (f fleet) String() string {
	return fmt.Sprintf("nodes=%d/pods=%d/levels=%d/covered=%d/groups=%d", f.nodes, f.nodes*f.perNode, f.levels, f.covered*10, f.groupOf)
}

// mix scatters integers.
func mix(i int) int { return int(uint32(i) * 2654435761 >> 8) }

func (f fleet) state() placement.State {
	var st placement.State
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	capacity := workload.Resources{"cpu": int64(f.perNode) * 1000, "gpu": int64(f.perNode), workload.PodsResource: 110}
	for n := range f.nodes {
		st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprintf("node-%06d", n), Capacity: capacity})
	}
	for i := range f.nodes * f.perNode {
		p := workload.Pod{
			ID: fmt.Sprintf("ns/pod-%06d", i), UID: fmt.Sprintf("%08x", mix(i)), Namespace: "ns", Node: st.Nodes[i/f.perNode].Name,
			Priority: int32(mix(i) % f.levels), Requests: workload.Resources{"cpu": 1000, "gpu": 1},
			Started: start.Add(time.Duration(mix(i)%10_000) * time.Second),
		}
		if f.groupOf > 0 && i%f.perNode == 0 { // over several nodes
			p.Group = fmt.Sprintf("group-%d", i/f.perNode/f.groupOf)
		}
		if mix(i+7)%10 < f.covered {
			p.Labels = map[string]string{"app": fmt.Sprint(mix(i) % 20)}
		}
		st.Pods = append(st.Pods, p)
	}
	for g := 0; f.groupOf > 0 && g*f.groupOf < f.nodes; g++ {
		st.Groups = append(st.Groups, workload.PodGroup{ID: fmt.Sprintf("group-%d", g), Priority: int32(mix(g) % f.levels), DisruptionMode: workload.DisruptionModePodGroup})
	}
	for a := 0; f.covered > 0 && a < 20; a++ {
		st.Budgets = append(st.Budgets, workload.DisruptionBudget{Namespace: "ns", Name: fmt.Sprint(a), Selector: &workload.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(a)}}})
	}
	return st
}

// gang is a pending group of equal pods, more important than all.
func gang(n int, cpu, gpu int64) placement.Request {
	r := placement.Request{Group: "gang", Priority: 1 << 20, MinCount: n}
	for i := range n {
		r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprintf("ns/gang-%d", i), Requests: workload.Resources{"cpu": cpu, "gpu": gpu}})
	}
	return r
}

// alone is a pending pod, more important than all.
func alone(cpu, gpu int64) placement.Request {
	r := gang(1, cpu, gpu)
	r.Group, r.MinCount = "", 1
	return r
}

// quality reports what a decision costs those who run.
func quality(b *testing.B, d placement.Decision) {
	highest, pods := int32(-1), 0
	for _, v := range d.Victims {
		highest = max(highest, v.Priority)
		pods += len(v.Pods)
	}
	b.ReportMetric(float64(d.Violations), "violations")
	b.ReportMetric(float64(highest), "highest")
	b.ReportMetric(float64(pods), "evicted")
}

func benchmark(b *testing.B, f fleet, c placement.Config, r placement.Request, want preemption.Outcome) {
	benchmarkOn(b, snapshotOf(b, f.state()), c, r, want)
}

func benchmarkOn(b *testing.B, s *placement.Snapshot, c placement.Config, r placement.Request, want preemption.Outcome) {
	p := must(placement.New(c))(b)
	var d placement.Decision
	b.ReportAllocs()
	for b.Loop() {
		if d, err := p.Decide(s, r); err != nil || d.Outcome != want {
			b.Fatalf("%v, %v for %v", err, d.Outcome, d.Reason)
		}
	}
	quality(b, d)
}

var fleets = []fleet{
	{nodes: 5000, perNode: 4, levels: 10},
	{nodes: 5000, perNode: 4, levels: 10, covered: 5},
	{nodes: 5000, perNode: 4, levels: 10, covered: 5, groupOf: 8},
	{nodes: 5000, perNode: 4, levels: 10_000, covered: 5, groupOf: 8},
	{nodes: 20_000, perNode: 10, levels: 10, groupOf: 8},
	{nodes: 20_000, perNode: 10, levels: 10, covered: 5, groupOf: 8},
}

// BenchmarkGang: half a node for each of 100 pods, so that some of each node is put back.
func BenchmarkGang(b *testing.B) {
	for _, f := range fleets {
		for _, mode := range []placement.Mode{placement.ModeDesign, placement.ModeInPlace} {
			half := int64(f.perNode / 2)
			b.Run(fmt.Sprintf("%v/%v", f, mode), func(b *testing.B) {
				benchmark(b, f, placement.Config{Mode: mode}, gang(100, half*1000, half), preemption.Preempt)
			})
		}
	}
}

// BenchmarkOrder compares how the gang is placed.
func BenchmarkOrder(b *testing.B) {
	for _, order := range []placement.Order{placement.FirstFit, placement.BestFit, placement.RoundRobin} {
		b.Run(order.String(), func(b *testing.B) {
			benchmark(b, fleets[2], placement.Config{Order: order}, gang(100, 2000, 2), preemption.Preempt)
		})
	}
}

func BenchmarkHardBudgets(b *testing.B) {
	benchmark(b, fleets[2], placement.Config{Budgets: placement.Hard}, gang(100, 1000, 1), preemption.Preempt)
}

// BenchmarkInVain: the gang never fits, which only shows when all are gone.
func BenchmarkInVain(b *testing.B) {
	benchmark(b, fleets[2], placement.Config{}, gang(100, 100_000, 1), preemption.Impossible)
}

// BenchmarkPod: each node is a domain.
func BenchmarkPod(b *testing.B) {
	for _, f := range fleets {
		for _, sample := range []int{0, 100} {
			r := alone(2000, 2)
			b.Run(fmt.Sprintf("%v/sampled=%d", f, sample), func(b *testing.B) {
				r.MaxDomains = sample
				benchmark(b, f, placement.Config{}, r, preemption.Preempt)
			})
		}
	}
}

// BenchmarkHalfNode is BenchmarkPod for a pod that takes half of a node.
func BenchmarkHalfNode(b *testing.B) {
	for _, f := range []fleet{
		{nodes: 20_000, perNode: 10, levels: 10, covered: 5},
		{nodes: 20_000, perNode: 10, levels: 10, covered: 10},
		fleets[4],
		fleets[5],
	} {
		half := int64(f.perNode / 2)
		b.Run(f.String(), func(b *testing.B) { benchmark(b, f, placement.Config{}, alone(half*1000, half), preemption.Preempt) })
	}
}

func BenchmarkNewSnapshot(b *testing.B) {
	for _, f := range []fleet{fleets[2], fleets[5]} {
		st := f.state()
		b.Run(f.String(), func(b *testing.B) {
			for b.Loop() {
				snapshotOf(b, st)
			}
		})
	}
}

// BenchmarkSync brings a snapshot up to date: nothing changed, and 500 pods.
func BenchmarkSync(b *testing.B) {
	st := fleets[5].state()
	s := snapshotOf(b, st)
	other := st
	other.Pods = slices.Clone(st.Pods)
	for i := range 500 {
		other.Pods[i*397].Priority++
	}
	for _, st := range []placement.State{st, other} {
		_, edits, _ := s.Sync(st)
		b.Run(fmt.Sprintf("%v/edits=%d", fleets[5], len(edits)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Sync(st); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEdit runs a pod and removes it again.
func BenchmarkEdit(b *testing.B) {
	for _, f := range []fleet{fleets[2], fleets[5]} {
		s := snapshotOf(b, f.state())
		p := workload.Pod{ID: "ns/one-more", Node: "node-000001", Requests: workload.Resources{"cpu": 1000}}
		b.Run(f.String(), func(b *testing.B) {
			for b.Loop() {
				edit(b, s, placement.Run(p), placement.Remove(p.ID))
			}
		})
	}
}

// BenchmarkConfigEdit adds a node, and gives a budget another selector, under many pods.
func BenchmarkConfigEdit(b *testing.B) {
	f := fleet{nodes: 5000, perNode: 17, levels: 10, covered: 5}
	s := snapshotOf(b, f.state())
	selector := &workload.LabelSelector{MatchLabels: map[string]string{"app": "none"}}
	for name, e := range map[string]placement.Edit{
		"node":   placement.SetNode(workload.Node{Name: "node-000001a"}),
		"budget": placement.SetBudget(workload.DisruptionBudget{Namespace: "ns", Name: "new", Selector: selector}),
	} {
		b.Run(fmt.Sprintf("%v/%s", f, name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				edit(b, s, e)
			}
		})
	}
}
