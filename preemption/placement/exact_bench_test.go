package placement_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// mixed is one domain: nodes full of pods of random sizes and three priorities. With groups half
// of the units are groups of that many pods, on nodes next to each other, that yield as one.
type mixed struct {
	units, nodes, resources, group int
	waiting                        int // pods of the request
}

func (c mixed) String() string {
	return fmt.Sprintf("units=%d/nodes=%d/resources=%d/group=%d/waiting=%d", c.units, c.nodes, c.resources, c.group, c.waiting)
}

// draw returns a state and a request of which each pod needs as much as a quarter of what runs
// on a node, or as sixteen units take.
func (c mixed) draw(seed uint64) (placement.State, placement.Request) {
	draw := rand.New(rand.NewPCG(seed, 3))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var st placement.State
	used := make([]workload.Resources, c.nodes)
	for n := range c.nodes {
		used[n] = workload.Resources{}
		st.Nodes = append(st.Nodes, workload.Node{Name: fmt.Sprintf("n%03d", n), Capacity: used[n]})
	}
	for i := range c.units {
		g := workload.PodGroup{ID: fmt.Sprintf("g%04d", i), Priority: int32(draw.IntN(3)), DisruptionMode: workload.DisruptionModePodGroup}
		pods := 1
		if c.group > 0 && i%2 == 1 {
			pods = c.group
			st.Groups = append(st.Groups, g)
		}
		for k := range pods {
			p := workload.Pod{
				ID: fmt.Sprintf("p%04d-%d", i, k), UID: fmt.Sprintf("%08x", draw.Uint32()), Node: st.Nodes[(i+k)%c.nodes].Name, Priority: g.Priority,
				Requests: workload.Resources{}, Started: start.Add(time.Duration(draw.IntN(100_000)) * time.Second),
			}
			if pods > 1 {
				p.Group = g.ID
			}
			for r := range c.resources {
				amount := 1 + draw.Int64N(100)
				p.Requests[fmt.Sprint("r", r)] = amount
				used[(i+k)%c.nodes][fmt.Sprint("r", r)] += amount
			}
			st.Pods = append(st.Pods, p)
		}
	}
	r := placement.Request{Group: "new", Priority: 1000, MinCount: c.waiting}
	for m := range c.waiting {
		p := workload.Pod{ID: fmt.Sprintf("new-%d", m), Requests: workload.Resources{}}
		for n := range c.resources {
			p.Requests[fmt.Sprint("r", n)] = int64(50 * min(16, max(1, c.units/c.nodes/4)))
		}
		r.Pods = append(r.Pods, p)
	}
	return st, r
}

// BenchmarkExact says how often the answer is proven, what the gap is if not, and how many pods
// are evicted, by the steps and by the exact search. The gap is that of the first field of the
// scores that differs.
func BenchmarkExact(b *testing.B) {
	const seeds = 16
	for _, c := range []mixed{
		{100, 1, 1, 0, 1}, {100, 1, 2, 0, 1}, {100, 1, 4, 0, 1}, {1000, 1, 1, 0, 1}, {1000, 1, 2, 0, 1}, {1000, 1, 4, 0, 1},
		{100, 10, 2, 0, 4}, {100, 10, 4, 0, 4}, {1000, 100, 2, 0, 25}, {1000, 100, 4, 0, 25}, {1000, 10, 2, 0, 4},
		{100, 10, 2, 8, 4}, {1000, 100, 2, 8, 8}, {1000, 100, 2, 8, 25},
	} {
		b.Run(c.String(), func(b *testing.B) {
			type instance struct {
				s *placement.Snapshot
				r placement.Request
			}
			var list []instance
			steps, better, not := 0, 0, 0
			p, err := placement.New(placement.Config{Search: placement.Exact})
			if err != nil {
				b.Fatal(err)
			}
			for seed := range uint64(seeds) {
				st, r := c.draw(seed)
				s := snapshotOf(b, st)
				list = append(list, instance{s, r})
				d := decide(b, placement.Config{}, s, r)
				steps += pods(d)
				if d.Outcome != preemption.Preempt {
					not++
				} else if x, _ := p.Decide(s, r); x.Proof.Value.Compare(scoreOf(st, d)) < 0 {
					better++
				}
			}
			proven, nodes, evicted, turns, gap := 0, 0, 0, 0, 0.0
			for b.Loop() {
				of := &list[turns%seeds]
				d, err := p.Decide(of.s, of.r)
				if err != nil || d.Outcome != preemption.Preempt {
					b.Fatal(err, d.Outcome)
				}
				if turns++; d.Proof.Optimal {
					proven++
				}
				nodes += d.Proof.Nodes
				evicted += pods(d)
				if v, l := d.Proof.Value, d.Proof.LowerBound; v.Highest == l.Highest {
					gap += float64(v.Sum-l.Sum) / float64(v.Sum)
				} else {
					gap++
				}
			}
			n := float64(turns)
			b.ReportMetric(float64(proven)/n, "proven/op")
			b.ReportMetric(100*gap/n, "gap%")
			b.ReportMetric(float64(nodes)/n, "nodes/op")
			b.ReportMetric(float64(evicted)/n, "evicted/op")
			b.ReportMetric(float64(steps)/(seeds-float64(not)), "steps-evict/op")
			b.ReportMetric(float64(not), "steps-refuse")
			b.ReportMetric(float64(better)/seeds, "better/op")
		})
	}
}

func pods(d placement.Decision) (n int) {
	for _, v := range d.Victims {
		n += len(v.Pods)
	}
	return n
}
