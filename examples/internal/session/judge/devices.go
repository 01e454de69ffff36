package judge

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/workload"
)

// Devices returns what is wrong with the GPUs of those who move and start in a step, where pods share some: each has one with room, and those of
// whole GPUs have empty ones. It tries all ways to give pods their GPUs.
func Devices(step *session.Step) error {
	of := step.Moving
	at := map[string]string{}
	for _, m := range step.Moves() {
		at[m.Pod] = m.To
	}
	for _, n := range of.Decision.Decision.Nominations {
		at[n.Pod] = n.Node
	}
	st := of.Before.State()
	for _, n := range st.Nodes {
		full := gpus{free: make([]float64, n.Capacity["GPU"]/1000), of: map[string]int{}}
		for i := range full.free {
			full.free[i] = 1
		}
		var whole int64
		for _, list := range [][]workload.Pod{st.Pods, of.Request.Pods} {
			for _, p := range list {
				to, goes := at[p.ID]
				switch {
				case goes && to != n.Name, !goes && p.Node != n.Name:
				case p.Labels["gpu-fraction"] == "":
					whole += p.Requests["GPU"] / 1000
				default:
					full.parts = append(full.parts, sharing{part: number(p.Labels["gpu-fraction"]), device: p.Labels["runai-gpu-group"], stays: !goes})
				}
			}
		}
		slices.SortStableFunc(full.parts, func(a, b sharing) int { // those that have their GPU first
			switch {
			case a.stays == b.stays:
				return 0
			case a.stays:
				return -1
			}
			return 1
		})
		if !full.place(0, whole) {
			return fmt.Errorf("no GPUs of %s have room for those who are there then", n.Name)
		}
	}
	return nil
}

// sharing is a pod that takes a part of a GPU. One that stays has that of its name.
type sharing struct {
	part   float64
	device string
	stays  bool
}

// gpus are those of a node.
type gpus struct {
	free  []float64
	of    map[string]int // by name
	parts []sharing
}

// place reports whether the parts from one on have places, and so many GPUs are empty then.
func (g *gpus) place(from int, whole int64) bool {
	if from == len(g.parts) {
		empty := int64(0)
		for _, free := range g.free {
			if free == 1 {
				empty++
			}
		}
		return empty >= whole
	}
	s := g.parts[from]
	known, named := g.of[s.device]
	for i := range g.free {
		if s.stays && s.device != "" && (named && i != known || !named && g.free[i] != 1) || g.free[i] < s.part-1e-9 {
			continue
		}
		before := g.free[i]
		g.free[i] -= s.part
		if s.stays && s.device != "" && !named {
			g.of[s.device] = i
		}
		if g.place(from+1, whole) {
			return true
		}
		if g.free[i] = before; s.stays && s.device != "" && !named {
			delete(g.of, s.device)
		}
	}
	return false
}

func number(text string) (x float64) {
	_, _ = fmt.Sscan(text, &x)
	return x
}
