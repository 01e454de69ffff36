package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/replay/internal/loop"
	"github.com/cedesched/cede/examples/replay/internal/world"
)

// cell is one replay of a sweep: a world, a seed, a policy.
type cell struct {
	World  string `json:"world"`
	Seed   uint64 `json:"seed"` // zero for a trace, of which nothing is drawn
	Policy string `json:"policy"`
}

// sweep is all cells in the order of the table.
type sweep struct {
	cells    []cell
	policies map[string]loop.Policy
	quotas   string
	id       string // names the cells and what they are made from: results of different sweeps are not merged
}

// newSweep checks all names.
func newSweep(worlds, policies []string, seeds []uint64, quotas string) (*sweep, error) {
	s := &sweep{policies: map[string]loop.Policy{}, quotas: quotas}
	traces := 0
	for _, name := range policies {
		p, err := loop.ParsePolicy(name)
		if err != nil {
			return nil, err
		}
		s.policies[name] = p
	}
	for _, name := range worlds {
		source, _, err := world.ParseName(name)
		if err != nil {
			return nil, err
		}
		of := seeds
		if isTrace(source) {
			of = []uint64{0}
			traces++
		} else if !slices.Contains(world.Sources(), source) {
			return nil, fmt.Errorf("world %q: unknown source %q: want one of %s, or a file .csv or .csv.gz", name, source, strings.Join(world.Sources(), ", "))
		}
		for _, seed := range of {
			for _, p := range policies {
				s.cells = append(s.cells, cell{name, seed, p})
			}
		}
	}
	seen := map[cell]bool{}
	for _, c := range s.cells {
		if seen[c] {
			return nil, fmt.Errorf("world %q, seed %d, policy %q: named twice", c.World, c.Seed, c.Policy)
		}
		seen[c] = true
	}
	if quotas != "" && traces == 0 {
		return nil, errors.New("-quotas is for worlds that are read from a file")
	}
	return s, s.identify()
}

// isTrace reports whether a source is a file.
func isTrace(source string) bool {
	return strings.HasSuffix(source, ".csv") || strings.HasSuffix(source, ".csv.gz")
}

// identify sets the id: a hash of all cells and of the contents of their inputs.
func (s *sweep) identify() error {
	h := fnv.New64a()
	read := map[string]bool{}
	for _, c := range s.cells {
		fmt.Fprintf(h, "%q %d %q\n", c.World, c.Seed, c.Policy)
		source, _, err := world.ParseName(c.World)
		if err == nil && !read[source] {
			read[source] = true
			err = world.Contents(h, source, s.quotas, isTrace(source))
		}
		if p := s.policies[c.Policy]; err == nil && !read["policy "+c.Policy] {
			read["policy "+c.Policy] = true
			var text string
			text, err = p.Contents()
			io.WriteString(h, text)
		}
		if err != nil {
			return err
		}
	}
	s.id = strconv.FormatUint(h.Sum64(), 16)
	return nil
}

// make makes the world of a cell.
func (s *sweep) make(c cell) (*world.World, error) {
	source, settings, err := world.ParseName(c.World)
	if err != nil {
		return nil, err
	}
	var t world.Trace
	if isTrace(source) {
		t, err = world.Read(source, s.quotas)
	} else {
		t, err = world.Draw(source, settings.Days, c.Seed)
	}
	if err != nil {
		return nil, err
	}
	return world.New(t, settings), nil
}

// run replays the cells of a shard, some at the same time, and returns their lines in order.
// each, if it is not nil, gets each line as soon as it and those before it are known.
func (s *sweep) run(index, shards int, timed bool, screen cli.Screen, each func(*line) error) ([]line, error) {
	var mine []int
	worlds := map[cell]*world.World{} // by world and seed
	jobs := 0
	for i, c := range s.cells {
		if i%shards != index {
			continue
		}
		key := cell{World: c.World, Seed: c.Seed}
		if worlds[key] == nil {
			made, err := s.make(c)
			if err != nil {
				return nil, err
			}
			worlds[key] = made
		}
		mine = append(mine, i)
		jobs += len(worlds[key].Jobs)
	}
	var mu sync.Mutex // guards progress, ready and told
	progress := screen.Start("jobs finished", int64(jobs))
	defer progress.Done()
	lines, faults := make([]line, len(mine)), make([]error, len(mine))
	ready, told := make([]bool, len(mine)), 0
	tell := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		for ready[n] = true; told < len(mine) && ready[told]; told++ {
			if each != nil && faults[told] == nil {
				faults[told] = each(&lines[told])
			}
		}
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for n, i := range mine {
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			c := s.cells[i]
			lines[n], faults[n] = s.replay(i, worlds[cell{World: c.World, Seed: c.Seed}], timed, func() {
				mu.Lock()
				progress.Add(1)
				mu.Unlock()
			})
			tell(n)
		}()
	}
	all.Wait()
	return lines, errors.Join(faults...)
}

// replay replays one cell.
func (s *sweep) replay(i int, w *world.World, timed bool, progress func()) (line, error) {
	c := s.cells[i]
	made := line{Sweep: s.id, Cell: i, Of: len(s.cells), cell: c}
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

// parseSeeds reads 1, 1-5 or 1,3,7-9.
func parseSeeds(text string) ([]uint64, error) {
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

// parseShard reads I/N, or N: the shard that Kubernetes says. all is 1 without a shard.
func parseShard(text string, env func(string) string) (index, all int, err error) {
	if text == "" {
		return 0, 1, nil
	}
	first, second, both := strings.Cut(text, "/")
	if !both {
		const variable = "JOB_COMPLETION_INDEX"
		if first, second = env(variable), first; first == "" {
			return 0, 0, fmt.Errorf("-shard %q: %s is not set: want I/N", text, variable)
		}
	}
	index, err1 := strconv.Atoi(first)
	all, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || all < 1 || index < 0 || index >= all {
		return 0, 0, fmt.Errorf("-shard %q (index %q of %q): want I/N with I from 0 to N-1", text, first, second)
	}
	return index, all, nil
}
