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
	"slices"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/loop"
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

// ReadLines reads the results of a sweep, in any order. A line that is no result is skipped: that which a process was writing
// when it was killed.
func ReadLines(path string) (all []Line, err error) {
	where, hint := map[int]string{}, ""
	err = eachLine(path, func(text []byte, at string) error {
		l, err := parseLine(text)
		switch {
		case err != nil:
			if hint == "" {
				hint = fmt.Sprintf("; the first line that is no result: %s: %v", at, err)
			}
			return nil
		case len(all) > 0 && (l.Sweep != all[0].Sweep || l.Of != all[0].Of):
			return fmt.Errorf("%s: sweep: %q of %d cells is another sweep than that of %s", at, l.Sweep, l.Of, where[all[0].Number])
		case where[l.Number] != "":
			return fmt.Errorf("%s: cell: %d is also at %s", at, l.Number, where[l.Number])
		}
		where[l.Number], all = at, append(all, l)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, errors.New(path + ": there are no results" + hint)
	}
	slices.SortFunc(all, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	for i := range all[0].Of {
		if where[i] == "" {
			return nil, fmt.Errorf("%s: cell %d of %d is missing: replay goes on with -resume%s", path, i, all[0].Of, hint)
		}
	}
	return all, nil
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

func parseLine(text []byte) (l Line, err error) {
	if err := input.DecodeStrict(text, &l); err != nil {
		return l, fmt.Errorf("no result of replay: %w", err)
	}
	if l.Of < 1 || l.Number < 0 || l.Number >= l.Of {
		return l, fmt.Errorf("cell: %d of %d", l.Number, l.Of)
	}
	return l, l.Check()
}
