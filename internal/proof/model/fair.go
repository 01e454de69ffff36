package model

import (
	"maps"
	"slices"
)

// waits looks for a fair run that stays for ever in the states for which in holds, and returns a way to it.
//
// Such a run ends up in one strongly connected part of these states. It is fair if each fair action is taken
// inside the part, or cannot be taken in some state of the part: then the run that visits all of the part, over
// and over, is fair. A part of one state stands for the run in which nothing happens any more. Steps that change
// nothing count neither as taken nor as steps that could be taken (weak fairness).
func (g *graph[S, A]) waits(in func(S) bool) *Fault {
	p := g.part(in)
	component, members := p.components()
	for c := range members {
		can, taken := ^uint64(0), uint64(0)
		for _, v := range members[c] {
			can &= p.can[v]
			for e := p.first[v]; e < p.first[v+1]; e++ {
				if component[p.to[e]] == component[v] && p.fair[e] > 0 {
					taken |= 1 << (p.fair[e] - 1)
				}
			}
		}
		if can&^taken != 0 {
			continue
		}
		at := members[c][0]
		f := &Fault{Trace: g.trace(p.states[at])}
		for _, v := range p.round(at, component) {
			f.Trace, f.Cycle, at = append(f.Trace, g.step(p.states[at], p.states[v])), f.Cycle+1, v
		}
		return f
	}
	return nil
}

// part is some states with the steps between them.
type part struct {
	states []uint32 // their numbers in the graph
	can    []uint64 // the fair actions that can be taken
	first  []uint32 // where the steps of a state begin in to and fair; one more at the end
	to     []uint32
	fair   []uint8 // 1 + the number of the fair action; 0: not fair
}

func (g *graph[S, A]) part(in func(S) bool) *part {
	p, index := &part{}, make([]uint32, len(g.states)) // index is 1 + the place in the part
	for i, key := range g.states {
		if in(g.system.Unpack(key)) {
			p.states = append(p.states, uint32(i))
			index[i] = uint32(len(p.states))
		}
	}
	for _, number := range p.states {
		can := uint64(0)
		p.first = append(p.first, uint32(len(p.to)))
		g.system.Next(g.system.Unpack(g.states[number]), func(by A, next S) {
			to := g.find(next)
			if to == number {
				return
			}
			fair := 1 + max(-1, g.system.Fair(by))
			if fair > 0 {
				can |= 1 << (fair - 1)
			}
			if index[to] > 0 {
				p.to, p.fair = append(p.to, index[to]-1), append(p.fair, uint8(fair))
			}
		})
		p.can = append(p.can, can)
	}
	p.first = append(p.first, uint32(len(p.to)))
	return p
}

// components returns the strongly connected parts, by Tarjan's algorithm without recursion.
func (p *part) components() (component []uint32, members [][]uint32) {
	n := len(p.states)
	component = make([]uint32, n) // 1 + the number of the component; 0: none yet
	order, low, next := make([]uint32, n), make([]uint32, n), slices.Clone(p.first)
	var way, open []uint32
	seen := uint32(0)
	for start := range uint32(n) {
		if order[start] == 0 {
			way = append(way, start)
		}
		for len(way) > 0 {
			v := way[len(way)-1]
			if order[v] == 0 {
				seen++
				order[v], low[v] = seen, seen
				open = append(open, v)
			}
			deeper := false
			for ; next[v] < p.first[v+1]; next[v]++ {
				switch w := p.to[next[v]]; {
				case order[w] == 0:
					way, deeper = append(way, w), true
				case component[w] == 0:
					low[v] = min(low[v], low[w])
				}
				if deeper {
					break
				}
			}
			if deeper {
				continue
			}
			if way = way[:len(way)-1]; low[v] != order[v] {
				continue
			}
			at := slices.Index(open, v)
			members = append(members, slices.Clone(open[at:]))
			for _, w := range open[at:] {
				component[w] = uint32(len(members))
			}
			open = open[:at]
		}
	}
	return component, members
}

// round returns a shortest way from a state back to it inside its component; nil if there is none.
func (p *part) round(start uint32, component []uint32) (way []uint32) {
	from := map[uint32]uint32{}
	for list := []uint32{start}; len(list) > 0; list = list[1:] {
		v := list[0]
		for _, w := range p.to[p.first[v]:p.first[v+1]] {
			if _, known := from[w]; known || component[w] != component[v] {
				continue
			}
			if from[w] = v; w != start {
				list = append(list, w)
				continue
			}
			for way = []uint32{start}; from[way[0]] != start; {
				way = slices.Insert(way, 0, from[way[0]])
			}
			return way
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
