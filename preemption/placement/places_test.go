package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// refusing is a filter that refuses some pods on some nodes.
type refusing map[string]bool

func (f refusing) Feasible(p workload.Pod, n workload.Node) bool { return !f[p.ID+" on "+n.Name] }
func (f refusing) Conflict(workload.Pod, workload.Pod) bool      { return false }
func (f refusing) Reach() placement.Reach                        { return placement.ReachNode }

// Each pod has the node with the least left beside it, of those where it may run and has room; of equal ones the first. A unit has
// places for all of its pods, in one of its domains, or none.
func TestPlacesAreTheTightest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st placement.State
		number := func(what string, from, to int) int { return rapid.IntRange(from, to).Draw(t, what) }
		left, names := map[string]int64{}, []string{}
		for i := range number("nodes", 1, 6) {
			n := workload.Node{Name: fmt.Sprint("n", i), Capacity: workload.Resources{"gpu": 8}}
			if used := int64(number("used", 0, 8)); used > 0 {
				st.Pods = append(st.Pods, workload.Pod{ID: "on " + n.Name, Node: n.Name, Requests: workload.Resources{"gpu": used}})
				left[n.Name] = -used
			}
			left[n.Name] += 8
			st.Nodes, names = append(st.Nodes, n), append(names, n.Name)
		}
		config, refused := placement.Config{}, refusing{}
		var units []placement.Unit
		var within [][]string
		gpu := int64(number("gpu", 1, 3))
		for i := range number("units", 1, 24) {
			if number("another size", 0, 9) == 0 {
				gpu = int64(number("gpu", 1, 3))
			}
			var u placement.Unit
			for k := range number("pods", 1, 1+number("more", 0, 2)) {
				p := workload.Pod{ID: fmt.Sprintf("u%d-%d", i, k), Requests: workload.Resources{"gpu": gpu}}
				if number("refused", 0, 7) == 0 {
					refused[p.ID+" on "+rapid.SampledFrom(names).Draw(t, "on")] = true
				}
				u.Pods = append(u.Pods, p)
			}
			units = append(units, u)
			domain := names
			if number("domain", 0, 5) == 0 {
				domain = names[:number("of", 1, len(names))]
			}
			within = append(within, domain)
		}
		if len(refused) > 0 {
			config.Filters = []placement.Filter{refused}
		}
		s := must(placement.NewSnapshot(st))(t)
		p := must(placement.New(config))(t)
		got, err := p.Places(s, units, placement.Beside{Domains: func(i int) []placement.Domain {
			if len(within[i]) == len(names) {
				return nil
			}
			return []placement.Domain{{Name: "d", Nodes: within[i]}}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range units {
			var want []placement.Nomination
			for _, p := range u.Pods {
				best, need := "", p.Requests["gpu"]
				for _, n := range within[i] {
					if left[n] >= need && !refused[p.ID+" on "+n] && (best == "" || left[n] < left[best]) {
						best = n
					}
				}
				if best == "" {
					break
				}
				left[best] -= need
				want = append(want, placement.Nomination{Pod: p.ID, Node: best})
			}
			if len(want) < len(u.Pods) {
				for k, n := range want {
					left[n.Node] += u.Pods[k].Requests["gpu"]
				}
				want = nil
			}
			if !slices.Equal(got[i], want) {
				t.Fatalf("unit %d of %d: %v, want %v", i, len(units), got[i], want)
			}
		}
	})
}
