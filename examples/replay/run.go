package main

import (
	"errors"
	"runtime"
	"sync"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// running is how a sweep is replayed.
type running struct {
	*sweep.Sweep
	timed  bool
	screen cli.Screen
	known  map[int]sweep.Line      // results that are there already, by the number of the cell
	each   func(*sweep.Line) error // not nil: gets each line that is new as soon as it is there
}

// run replays the cells, some at the same time, and returns their lines in order.
func (r *running) run() ([]sweep.Line, error) {
	worlds := map[sweep.Cell]*world.World{} // by world and seed
	jobs := 0
	for i, c := range r.Cells {
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
	lines, faults := make([]sweep.Line, len(r.Cells)), make([]error, len(r.Cells))
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, c := range r.Cells {
		all.Add(1)
		go func() {
			defer all.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			if l, known := r.known[i]; known {
				lines[i] = l
				return
			}
			lines[i], faults[i] = r.Replay(i, worlds[sweep.Cell{World: c.World, Seed: c.Seed}], r.timed, func() {
				mu.Lock()
				progress.Add(1)
				mu.Unlock()
			})
			mu.Lock()
			defer mu.Unlock()
			if r.each != nil && faults[i] == nil {
				faults[i] = r.each(&lines[i])
			}
		}()
	}
	all.Wait()
	return lines, errors.Join(faults...)
}
