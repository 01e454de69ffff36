package moving_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/engine/best/moving"
)

// "Claims about speed are tests": how many nodes the search looks at for problems that are always the same. A number changes only on
// purpose; less is better.
func TestNodesAreThose(t *testing.T) {
	small := 0
	for seed := range 400 {
		small += moving.Solve(rapid.Custom(problem).Example(seed)).Nodes
	}
	if want := 848; small != want {
		t.Errorf("%d nodes for 400 small problems, want %d", small, want)
	}
	for name, c := range map[string]struct {
		nodes, units int
		change       func(p *moving.Problem)
		want         int
	}{
		"a pod":                {5, 16, func(*moving.Problem) {}, 21},
		"two wait":             {4, 12, func(p *moving.Problem) { p.Units[0].Pods = append(p.Units[0].Pods, p.Units[0].Pods[0]) }, 615},
		"a node is closed":     {4, 11, func(p *moving.Problem) { p.Closed[2], p.Units = true, p.Units[1:] }, 1233},
		"two nodes are closed": {6, 12, func(p *moving.Problem) { p.Closed[0], p.Closed[3], p.Units = true, true, p.Units[1:] }, 67},
		"all move": {4, 11, func(p *moving.Problem) {
			for u := range p.Units {
				p.Units[u].Yield = moving.Never
			}
		}, 144},
		"all cost the same": {4, 9, func(p *moving.Problem) {
			for u := range p.Units[1:] {
				p.Units[u+1].Yield, p.Units[u+1].Move = 1, 0
			}
		}, 118},
		"budgets": {4, 9, func(p *moving.Problem) {
			for u := range p.Units[1:] {
				p.Units[u+1].Charges = []int32{0}
			}
		}, 102},
	} {
		p := packed(c.nodes, c.units)
		c.change(p)
		if got := moving.Solve(p); got.Nodes != c.want {
			t.Errorf("%s: %d nodes, want %d (%+v)", name, got.Nodes, c.want, got.Answer)
		}
	}
}

// packed is nodes that are mostly full, and a pod that waits for more than is free on any.
func packed(nodes, units int) *moving.Problem {
	draw := rand.New(rand.NewPCG(uint64(nodes), uint64(units)))
	p := &moving.Problem{MaxNodes: 100_000, Limit: moving.None, Left: []int64{2}, Closed: make([]bool, nodes)}
	for range nodes {
		p.Free = append(p.Free, []int64{1 + draw.Int64N(2), draw.Int64N(3)})
	}
	p.Units = append(p.Units, moving.Unit{Yield: moving.Never, Pods: []moving.Pod{{At: -1, Needs: []int64{1, 4}}}})
	for u := range units {
		unit := moving.Unit{Yield: 2 + draw.Int64N(4), Move: draw.Int64N(2)}
		for range 1 + draw.IntN(5)/4 {
			pod := moving.Pod{At: u % nodes, Needs: []int64{1, draw.Int64N(4)}}
			if draw.IntN(6) == 0 {
				pod.May = make([]bool, nodes)
				for n := range nodes {
					pod.May[n] = (n+u)%2 == 0
				}
			}
			unit.Pods = append(unit.Pods, pod)
		}
		p.Units = append(p.Units, unit)
	}
	return p
}

// Nodes with as much free are alike only if the same units name them: the pod that is placed first leaves the named one to the other.
func TestNamedNodesAreNotAlike(t *testing.T) {
	for name, only := range map[string]func(u *moving.Unit, node int){
		"by a pod":  func(u *moving.Unit, node int) { u.Pods[0].May = []bool{node == 0, false, node == 2} },
		"by a unit": func(u *moving.Unit, node int) { u.Within = [][]int{{node}} },
	} {
		for _, node := range []int{0, 2} { // whichever of the two is named
			moves := moving.Unit{Yield: moving.Never, Pods: []moving.Pod{{At: 1, Needs: []int64{2}}}}
			only(&moves, node)
			p := &moving.Problem{
				Free: [][]int64{{2}, {0}, {2}}, Closed: []bool{false, true, false}, MaxNodes: 1000, Limit: moving.None,
				Units: []moving.Unit{{Yield: moving.Never, Pods: []moving.Pod{{At: -1, Needs: []int64{2}}}}, moves},
			}
			got := moving.Solve(p)
			if got.Answer == nil || fmt.Sprint(got.Answer.Places) != fmt.Sprintf("[[%d] [%d]]", 2-node, node) {
				t.Errorf("%s: %+v, want what moves on node %d", name, got.Answer, node)
			}
		}
	}
}
