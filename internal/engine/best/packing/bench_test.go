package packing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cedesched/cede/internal/engine/best/packing"
)

// crowd is nodes with units of random sizes, and pods that need as much as a few units take on
// each of some nodes.
func crowd(seed uint64, nodes, units, slots, levels, groupOf, pods int) *packing.Problem {
	draw := rand.New(rand.NewPCG(seed, 2))
	p := &packing.Problem{MaxNodes: 200_000, Least: pods}
	for range nodes {
		p.Free = append(p.Free, make([]int64, slots))
	}
	for n := range units {
		u := packing.Unit{Priority: int32(draw.IntN(levels)), Started: draw.Int64N(100_000)}
		for k := range max(1, groupOf*(n%2)) {
			takes := make([]int64, slots)
			for s := range takes {
				takes[s] = 1 + draw.Int64N(100)
			}
			takes[0] = 1
			if node := n%nodes + k; node < nodes {
				u.Parts = append(u.Parts, packing.Part{Node: node, Pods: 1, Takes: takes})
				u.Pods++
			}
		}
		p.Units = append(p.Units, u)
	}
	need := make([]int64, slots)
	for s := range need {
		need[s] = int64(50 * min(16, max(1, units/nodes/4)))
	}
	need[0] = 1
	p.Kinds = []packing.Kind{{Count: pods, Needs: need}}
	return p
}

func BenchmarkSolve(b *testing.B) {
	for _, units := range []int{100, 1000} {
		for _, nodes := range []int{1, 10, 100} {
			for _, slots := range []int{2, 3, 5} {
				for _, levels := range []int{1, 3, 1000} {
					for _, groupOf := range []int{0, 4} {
						if nodes == 1 && groupOf > 0 || nodes*4 > units && nodes > 1 {
							continue
						}
						pods := max(1, nodes/4)
						b.Run(fmt.Sprintf("units=%d/nodes=%d/slots=%d/levels=%d/groups=%d/pods=%d", units, nodes, slots-1, levels, groupOf, pods), func(b *testing.B) {
							var list []*packing.Problem
							for seed := range uint64(8) {
								list = append(list, crowd(seed, nodes, units, slots, levels, groupOf, pods))
							}
							var x packing.Solver
							proven, count, turns, gap := 0, 0, 0, 0.0
							for b.Loop() {
								p := list[turns%len(list)]
								r := x.Solve(p)
								turns++
								if r.Answer == nil {
									b.Fatalf("%+v", r)
								}
								s := p.Score(r.Answer.Units)
								if s == r.Bound {
									proven++
								}
								gap += float64(s.Sum-r.Bound.Sum) / float64(s.Sum)
								count += r.Nodes
							}
							b.ReportMetric(float64(proven)/float64(turns), "proven/op")
							b.ReportMetric(float64(count)/float64(turns), "nodes/op")
							b.ReportMetric(100*gap/float64(turns), "gap%")
						})
					}
				}
			}
		}
	}
}
