// Package model holds two transition systems written from the words of the designs, and a checker that
// visits every state of them:
//
//   - [Gates]: replicas of a workload in several clusters, their gates, and the manager that opens them, with
//     reports that arrive late and cross (docs/designs/gates.md, KEP-8303).
//   - [Loop]: the queues of a cohort, heads, promises and departures over many cycles (KEP-83, package cycle).
//
// Of gates it holds that two are never opened within the timeout, that none is opened while it is seen that victims
// leave, that each replica that goes on signalling has its turn, and, if all is prompt, that one replica preempts at a
// time. Of the loop: no workload is a victim twice, none is reclaimed from a queue within its nominal quota, what is
// promised fits and stays promised, and each run comes to rest with no workload left that could be admitted. The last
// one holds where no workload borrows with the help of preemption; as built there are circles, which the checker finds
// (docs/stability.md), and under StrictFIFO a head may bar others by what it reserves.
//
// A system is finite: times are ages that stop at the largest one that a rule reads. The checker keeps each
// state whole, in 64 bits, so what it says holds for all states and not with some probability only.
// The systems know nothing of the code. Tests hold the two together: each step of the real code, driven by
// random schedules, must be a step of the model ([Gates.Reaches], [Loop.Reaches]).
package model

import "fmt"

// System is a transition system. S is a state, A an action.
type System[S any, A fmt.Stringer] struct {
	Starts []S
	// Next calls step for each step that may be taken in s. The order is always the same.
	Next func(s S, step func(by A, to S))
	// Pack returns the state as a number; Unpack is its inverse.
	Pack   func(S) uint64
	Unpack func(uint64) S
	// Fair returns the number, 0 to 63, of a weakly fair action: if it can be taken at all times from some
	// time on, it is taken again and again. Negative: it need never be taken.
	Fair func(A) int
	// Holds says what is wrong with a state, Moves what is wrong with a step; empty: nothing.
	Holds func(S) string
	Moves func(from S, by A, to S) string
	// Waits are the obligations: no fair run stays for ever in the states for which one of them holds.
	Waits map[string]func(S) bool
	Show  func(S) string
}

// Step is a step of a trace. The first one has no action.
type Step struct{ By, To string }

// Fault is what the checker found, with a shortest way there. If Cycle is above 0, the last Cycle steps are
// repeated for ever; if it is 0 and the fault is one of waiting, nothing that is fair can happen after the last step.
type Fault struct {
	Problem string
	Trace   []Step
	Cycle   int
}

func (f *Fault) Error() string {
	text := f.Problem + "\n"
	for i, s := range f.Trace {
		if f.Cycle > 0 && i == len(f.Trace)-f.Cycle {
			text += "  and for ever:\n"
		}
		text += fmt.Sprintf("  %3d. %-24s %s\n", i, s.By, s.To)
	}
	return text
}

// Report says how much the checker visited.
type Report struct{ States, Steps, Depth int }

// Check visits all states, breadth first, then looks for fair runs that wait for ever. It stops at the first
// fault, or with an error when there are more than most states.
func (m System[S, A]) Check(most int) (r Report, err error) {
	g := &graph[S, A]{system: m, table: make([]uint32, 1<<12)}
	for _, s := range m.Starts {
		g.add(m.Pack(s), 0)
	}
	level := len(g.states)
	for at := 0; at < len(g.states); at++ {
		if at == level {
			r.Depth, level = r.Depth+1, len(g.states)
		}
		if len(g.states) > most {
			return r, fmt.Errorf("more than %d states", most)
		}
		from := m.Unpack(g.states[at])
		if problem := m.Holds(from); problem != "" {
			return r, &Fault{Problem: problem, Trace: g.trace(uint32(at))}
		}
		var found *Fault
		m.Next(from, func(by A, to S) {
			r.Steps++
			g.add(m.Pack(to), uint32(at))
			if problem := m.Moves(from, by, to); problem != "" && found == nil {
				found = &Fault{Problem: problem, Trace: append(g.trace(uint32(at)), Step{by.String(), m.Show(to)})}
			}
		})
		if found != nil {
			return r, found
		}
	}
	r.States = len(g.states)
	for _, what := range sortedKeys(m.Waits) {
		if f := g.waits(m.Waits[what]); f != nil {
			f.Problem = what
			return r, f
		}
	}
	return r, nil
}

// graph is what was visited: the states in the order in which they were found, with the number of the one
// before, and a hash table of their numbers.
type graph[S any, A fmt.Stringer] struct {
	system  System[S, A]
	states  []uint64
	parents []uint32
	table   []uint32 // number + 1; 0 is empty
}

func (g *graph[S, A]) slot(key uint64) uint64 {
	mask := uint64(len(g.table) - 1)
	at := (key ^ key>>29) * 0xbf58476d1ce4e5b9
	at = (at ^ at>>32) & mask
	for g.table[at] != 0 && g.states[g.table[at]-1] != key {
		at = (at + 1) & mask
	}
	return at
}

func (g *graph[S, A]) add(key uint64, parent uint32) {
	at := g.slot(key)
	if g.table[at] != 0 {
		return
	}
	g.states, g.parents = append(g.states, key), append(g.parents, parent)
	g.table[at] = uint32(len(g.states))
	if 10*len(g.states) > 7*len(g.table) {
		g.table = make([]uint32, 2*len(g.table))
		for i, key := range g.states {
			g.table[g.slot(key)] = uint32(i + 1)
		}
	}
}

// find returns the number of a state that was visited.
func (g *graph[S, A]) find(s S) uint32 { return g.table[g.slot(g.system.Pack(s))] - 1 }

// trace returns the way to a state: the parent of a start is the first start.
func (g *graph[S, A]) trace(at uint32) []Step {
	if int(at) < len(g.system.Starts) {
		return []Step{{"", g.system.Show(g.system.Unpack(g.states[at]))}}
	}
	return append(g.trace(g.parents[at]), g.step(g.parents[at], at))
}

// step returns the step between two states.
func (g *graph[S, A]) step(from, to uint32) (s Step) {
	g.system.Next(g.system.Unpack(g.states[from]), func(by A, next S) {
		if s.By == "" && g.find(next) == to {
			s = Step{by.String(), g.system.Show(next)}
		}
	})
	return s
}
