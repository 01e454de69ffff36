package main

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
	"github.com/cedesched/cede/examples/replay/internal/world"
)

// running is how a sweep, or a shard of it, is replayed.
type running struct {
	*sweep.Sweep
	index, shards int
	timed         bool
	screen        cli.Screen
	known         map[int]sweep.Line      // results that are there already, by the number of the cell
	each          func(*sweep.Line) error // not nil: gets each line that is new as soon as it is there
}

// run replays the cells of the shard, some at the same time, and returns their lines in order.
func (r *running) run() ([]sweep.Line, error) {
	var mine []int
	worlds := map[sweep.Cell]*world.World{} // by world and seed
	jobs := 0
	for i, c := range r.Cells {
		if i%r.shards != r.index {
			continue
		}
		mine = append(mine, i)
		if _, known := r.known[i]; known {
			continue
		}
		key := sweep.Cell{World: c.World, Seed: c.Seed}
		if worlds[key] == nil {
			made, err := r.World(c)
			if err != nil {
				return nil, err
			}
			worlds[key] = made
		}
		jobs += len(worlds[key].Jobs)
	}
	var mu sync.Mutex // guards progress, and calls of each
	progress := r.screen.Start("jobs finished", int64(jobs))
	defer progress.Done()
	lines, faults := make([]sweep.Line, len(mine)), make([]error, len(mine))
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for n, i := range mine {
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			if l, known := r.known[i]; known {
				lines[n] = l
				return
			}
			c := r.Cells[i]
			lines[n], faults[n] = r.Replay(i, worlds[sweep.Cell{World: c.World, Seed: c.Seed}], r.timed, func() {
				mu.Lock()
				progress.Add(1)
				mu.Unlock()
			})
			mu.Lock()
			defer mu.Unlock()
			if r.each != nil && faults[n] == nil {
				faults[n] = r.each(&lines[n])
			}
		}()
	}
	all.Wait()
	return lines, errors.Join(faults...)
}

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
