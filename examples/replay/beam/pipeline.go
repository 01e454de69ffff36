package main

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

func init() {
	register.DoFn3x1[context.Context, int, func(string, []byte), error](&replay{})
	register.Emitter2[string, []byte]()
	register.Combiner1[[]byte](&collect{})
	register.DoFn3x1[context.Context, string, []byte, error](&write{})
}

// build makes the pipeline: cells, the result of each, all results together.
func build(s beam.Scope, in sweep.Input, cells int, directory string) {
	numbers := make([]int, cells)
	for i := range numbers {
		numbers[i] = i
	}
	shuffled := beam.Reshuffle(s, beam.CreateList(s, numbers))
	results := beam.ParDo(s, &replay{Input: in, Directory: directory}, shuffled)
	all := beam.CombinePerKey(s, &collect{}, results)
	beam.ParDo0(s, &write{Path: at(directory, "results")}, all)
}

// at is the path of a file of results.
func at(directory, name string) string {
	return strings.TrimSuffix(directory, "/") + "/" + name + ".jsonl"
}

var (
	replayed = beam.NewCounter("replay", "replayed")
	known    = beam.NewCounter("replay", "known")
)

// replay replays cells, each given by its number. A cell of which the result is there is not replayed again: after a worker was
// killed, the runner asks another one for the cells that it had begun.
type replay struct {
	Input     sweep.Input
	Directory string

	sweep *sweep.Sweep
	of    sweep.Cell // the world that was replayed last, and its seed
	world *world.World
}

// Setup implements what Beam calls once in each worker.
func (r *replay) Setup() (err error) {
	r.sweep, err = sweep.New(r.Input)
	return err
}

// ProcessElement replays one cell.
func (r *replay) ProcessElement(ctx context.Context, cell int, emit func(string, []byte)) error {
	path := at(r.Directory, r.sweep.IDs[cell])
	if text, err := readFile(ctx, path); err == nil {
		if l, ok := r.sweep.Take(bytes.TrimSpace(text)); ok && l.Number == cell {
			known.Inc(ctx, 1)
			return r.emit(&l, emit)
		}
	}
	c := r.sweep.Cells[cell]
	if of := (sweep.Cell{World: c.World, Seed: c.Seed}); r.world == nil || r.of != of {
		made, err := r.sweep.World(c)
		if err != nil {
			return err
		}
		r.of, r.world = of, made
	}
	l, err := r.sweep.Replay(cell, r.world, false, nil)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := l.Write(&text); err != nil {
		return err
	}
	if err := writeFile(ctx, path, text.Bytes()); err != nil {
		return err
	}
	replayed.Inc(ctx, 1)
	return r.emit(&l, emit)
}

// emit hands a result on. All have one key: they are one table.
func (r *replay) emit(l *sweep.Line, emit func(string, []byte)) error {
	var text bytes.Buffer
	err := l.Write(&text)
	emit(r.sweep.Name, text.Bytes())
	return err
}

// collect puts lines together, in one order, each once.
type collect struct{}

// MergeAccumulators implements a combiner of Beam.
func (*collect) MergeAccumulators(a, b []byte) []byte { return slices.Concat(a, b) }

// ExtractOutput implements a combiner of Beam.
func (*collect) ExtractOutput(all []byte) []byte {
	list := slices.Compact(slices.Sorted(strings.Lines(string(all))))
	return []byte(strings.Join(list, ""))
}

// write writes all results.
type write struct{ Path string }

// ProcessElement writes the results of the sweep.
func (w *write) ProcessElement(ctx context.Context, _ string, all []byte) error {
	return writeFile(ctx, w.Path, all)
}
