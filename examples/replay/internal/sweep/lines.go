package sweep

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/replay/internal/loop"
)

// Line is the result of a cell, as it is written: one JSON object in a line.
type Line struct {
	Sweep  string `json:"sweep"` // names the sweep
	Number int    `json:"cell"`  // of the cell, from 0
	Of     int    `json:"of"`    // cells of the sweep
	ID     string `json:"id"`    // of the cell
	Cell
	Circle string `json:"circle,omitempty"` // where jobs evict each other for ever
	loop.Result
}

// line is the begin of the line of a cell.
func (s *Sweep) line(i int) Line {
	return Line{Sweep: s.Name, Number: i, Of: len(s.Cells), ID: s.IDs[i], Cell: s.Cells[i]}
}

// Write writes a line in one piece.
func (l *Line) Write(w io.Writer) error { return json.NewEncoder(w).Encode(l) }

// maxLine limits a line of results.
const maxLine = 1 << 20

// results are the lines of a sweep, as they are read.
type results struct {
	all     []Line
	where   map[int]string // by cell
	skipped int            // lines that are no results
	first   error          // what is wrong with the first of them
}

// ReadLines reads the results of all shards of a sweep, in any order. Lines that are no results
// are skipped: what a program wrote beside them into the log of a pod, or the begun line of
// one that was killed. A result may be there twice, from a shard that ran again.
func ReadLines(paths []string) ([]Line, error) {
	r := results{where: map[int]string{}}
	for _, path := range paths {
		if err := r.read(path); err != nil {
			return nil, err
		}
	}
	hint := ""
	if r.first != nil {
		hint = fmt.Sprintf("; lines that are no results: %d, the first at %v", r.skipped, r.first)
	}
	if len(r.all) == 0 {
		return nil, errors.New("there are no results to merge" + hint)
	}
	slices.SortFunc(r.all, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	for i := range r.all[0].Of {
		if r.where[i] == "" {
			return nil, fmt.Errorf("cell %d of %d is missing: a shard is not there, or did not finish%s", i, r.all[0].Of, hint)
		}
	}
	return r.all, nil
}

func (r *results) read(path string) error {
	return eachLine(path, func(text []byte, at string) error {
		l, err := parseLine(text)
		if err != nil {
			if r.skipped++; r.first == nil {
				r.first = fmt.Errorf("%s: %w", at, err)
			}
			return nil
		}
		if err := r.add(l, at); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return nil
	})
}

// eachLine calls do with each line of a file that is not blank, and where it is.
func eachLine(path string, do func(text []byte, at string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, maxLine)
	for n := 1; scanner.Scan(); n++ {
		if text := bytes.TrimSpace(scanner.Bytes()); len(text) > 0 {
			if err := do(text, fmt.Sprintf("%s: line %d", path, n)); err != nil {
				return err
			}
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Known reads the results in a file that are of cells of this sweep, by the number of the cell: those that need not be
// replayed again. They may come from another sweep that has the same cells. Other lines are skipped. No file is no results.
func (s *Sweep) Known(path string) (map[int]Line, error) {
	known := map[int]Line{}
	err := eachLine(path, func(text []byte, _ string) error {
		if l, ok := s.Take(text); ok {
			known[l.Number] = l
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return known, err
}

// Take reads a line, and makes it one of this sweep. It reports false if it is no result, or that of another cell.
func (s *Sweep) Take(text []byte) (Line, bool) {
	l, err := parseLine(text)
	i, known := s.numbers[l.ID]
	if err != nil || !known {
		return Line{}, false
	}
	l.Sweep, l.Number, l.Of = s.Name, i, len(s.Cells)
	return l, true
}

func (r *results) add(l Line, at string) error {
	if len(r.all) > 0 && (l.Sweep != r.all[0].Sweep || l.Of != r.all[0].Of) {
		return fmt.Errorf("sweep: %q of %d cells is another sweep than that of %s: other worlds, seeds or policies, or other contents of their files",
			l.Sweep, l.Of, r.where[r.all[0].Number])
	}
	if r.where[l.Number] == "" {
		r.where[l.Number] = at
		r.all = append(r.all, l)
		return nil
	}
	had := r.all[slices.IndexFunc(r.all, func(o Line) bool { return o.Number == l.Number })]
	had.Times, l.Times = loop.Times{}, loop.Times{} // they differ from run to run
	if !reflect.DeepEqual(had, l) {
		return fmt.Errorf("cell: %d is also at %s, with another result", l.Number, r.where[l.Number])
	}
	return nil
}

func parseLine(text []byte) (l Line, err error) {
	if err := input.DecodeStrict(text, &l); err != nil {
		return l, fmt.Errorf("no result of replay: %w", err)
	}
	if l.Of < 1 || l.Number < 0 || l.Number >= l.Of {
		return l, fmt.Errorf("cell: %d of %d", l.Number, l.Of)
	}
	return l, l.Check()
}
