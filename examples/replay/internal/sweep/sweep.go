// Package sweep has the cells of a sweep, each of which is one replay, and their results as lines. Each cell is known by
// what it is made from, so that results can come from many machines, and from a sweep that was broken off.
package sweep

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/internal/world"
)

// Cell is one replay of a sweep: a world, a seed, a policy.
type Cell struct {
	World  string `json:"world"`
	Seed   uint64 `json:"seed"` // zero for a trace, of which nothing is drawn
	Policy string `json:"policy"`
}

// Input is what a sweep is made from.
type Input struct {
	Worlds, Policies []string
	Seeds            []uint64
	Quotas           string // a file; empty: that beside the trace
	Cluster          string // a file with objects of Kueue; empty: those among the records, if there are any
	QOS              string // a file with the QOS of Slurm; empty: there is none
}

// Sweep is all cells in the order of the table.
type Sweep struct {
	Cells    []Cell
	Name     string         // names the cells and what they are made from: results of different sweeps are not merged
	IDs      []string       // of the cells
	numbers  map[string]int // of the cells, by ID
	policies map[string]loop.Policy
	quotas   string
	cluster  string
	qos      string
}

// New checks all names, and reads what is needed to know the cells.
func New(in Input) (*Sweep, error) {
	s := &Sweep{policies: map[string]loop.Policy{}, quotas: in.Quotas, cluster: in.Cluster, qos: in.QOS}
	traces := 0
	for _, name := range in.Policies {
		p, err := loop.ParsePolicy(name)
		if err != nil {
			return nil, err
		}
		s.policies[name] = p
	}
	for _, name := range in.Worlds {
		source, _, err := world.ParseName(name)
		if err != nil {
			return nil, err
		}
		of := in.Seeds
		if isTrace(source) {
			of = []uint64{0}
			traces++
			if _, err := os.Stat(source); err != nil {
				names := strings.Join(world.Sources(), ", ")
				return nil, fmt.Errorf("world %q: unknown source %q: want one of %s, or a file: %w", name, source, names, err)
			}
		}
		for _, seed := range of {
			for _, p := range in.Policies {
				s.Cells = append(s.Cells, Cell{name, seed, p})
			}
		}
	}
	seen := map[Cell]bool{}
	for _, c := range s.Cells {
		if seen[c] {
			return nil, fmt.Errorf("world %q, seed %d, policy %q: named twice", c.World, c.Seed, c.Policy)
		}
		seen[c] = true
	}
	switch {
	case in.Quotas != "" && traces == 0:
		return nil, errors.New("-quotas is for worlds that are read from a file")
	case in.Cluster != "" && traces == 0:
		return nil, errors.New("-cluster is for worlds that are read from a file")
	case in.QOS != "" && traces == 0:
		return nil, errors.New("-qos is for worlds that are read from a file")
	case in.QOS != "" && in.Cluster != "":
		return nil, errors.New("-qos has no meaning with -cluster, which says who may preempt whom")
	case in.Cluster != "" && in.Quotas != "":
		return nil, errors.New("-quotas has no meaning with -cluster, which has quotas")
	}
	return s, s.identify()
}

// isTrace reports whether a source is a file.
func isTrace(source string) bool { return !slices.Contains(world.Sources(), source) }

// World makes the world of a cell.
func (s *Sweep) World(c Cell) (*world.World, error) {
	source, settings, err := world.ParseName(c.World)
	if err != nil {
		return nil, err
	}
	var t world.Trace
	if isTrace(source) {
		t, err = world.Read(source, s.quotas, s.cluster, s.qos)
	} else {
		t, err = world.Draw(source, settings.Days, c.Seed)
	}
	if err == nil {
		err = t.Check(&settings)
	}
	if err != nil {
		return nil, err
	}
	return world.New(t, settings), nil
}

// Replay replays a cell, given by its number, in its world. With timed, the result says how long decisions took. Progress, if it is
// not nil, is called for each job that finishes.
func (s *Sweep) Replay(i int, w *world.World, timed bool, progress func()) (Line, error) {
	c := s.Cells[i]
	made := s.line(i)
	l, err := loop.New(w, s.policies[c.Policy])
	if err != nil {
		return made, fmt.Errorf("world %q, policy %q: %w", c.World, c.Policy, err)
	}
	l.Progress = progress
	if timed {
		began := time.Now()
		l.Clock = func() time.Duration { return time.Since(began) }
	}
	made.Result, err = l.Run()
	if errors.Is(err, loop.ErrCircle) {
		made.Circle, err = err.Error(), nil
	}
	return made, err
}

// ParseSeeds reads 1, 1-5 or 1,3,7-9.
func ParseSeeds(text string) ([]uint64, error) {
	var list []uint64
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.ParseUint(from, 10, 32)
		b := a
		if ranged && err == nil {
			b, err = strconv.ParseUint(to, 10, 32)
		}
		if err != nil || a < 1 || b < a || b-a >= maxSeeds || len(list)+int(b-a) >= maxSeeds {
			return nil, fmt.Errorf("-seeds %q: want numbers from 1, at most %d, as in 1-5 or 1,3", text, maxSeeds)
		}
		for n := a; n <= b; n++ {
			list = append(list, n)
		}
	}
	return list, nil
}

// maxSeeds limits the seeds of a sweep.
const maxSeeds = 10_000
