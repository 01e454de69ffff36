package main

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

// line is the result of a cell, as it is written: one JSON object in a line.
type line struct {
	Sweep string `json:"sweep"` // names the sweep
	Cell  int    `json:"cell"`  // from 0
	Of    int    `json:"of"`    // cells of the sweep
	cell
	Circle string `json:"circle,omitempty"` // where jobs evict each other for ever
	loop.Result
}

// writeLine writes a line in one piece.
func writeLine(w io.Writer, l *line) error { return json.NewEncoder(w).Encode(l) }

// maxLine limits a line of results.
const maxLine = 1 << 20

// results are the lines of a sweep, as they are read.
type results struct {
	all     []line
	where   map[int]string // by cell
	skipped int            // lines that are no results
	first   error          // what is wrong with the first of them
}

// readLines reads the results of all shards of a sweep, in any order. Lines that are no results
// are skipped: what a program wrote beside them into the log of a pod, or the begun line of
// one that was killed. A result may be there twice, from a shard that ran again.
func readLines(paths []string) ([]line, error) {
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
	slices.SortFunc(r.all, func(a, b line) int { return cmp.Compare(a.Cell, b.Cell) })
	for i := range r.all[0].Of {
		if r.where[i] == "" {
			return nil, fmt.Errorf("cell %d of %d is missing: a shard is not there, or did not finish%s", i, r.all[0].Of, hint)
		}
	}
	return r.all, nil
}

func (r *results) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, maxLine)
	for n := 1; scanner.Scan(); n++ {
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) == 0 {
			continue
		}
		at := fmt.Sprintf("%s: line %d", path, n)
		l, err := parseLine(text)
		if err != nil {
			if r.skipped++; r.first == nil {
				r.first = fmt.Errorf("%s: %w", at, err)
			}
			continue
		}
		if err := r.add(l, at); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r *results) add(l line, at string) error {
	if len(r.all) > 0 && (l.Sweep != r.all[0].Sweep || l.Of != r.all[0].Of) {
		return fmt.Errorf("sweep: %q of %d cells is another sweep than that of %s: other worlds, seeds or policies, or other contents of their files",
			l.Sweep, l.Of, r.where[r.all[0].Cell])
	}
	if r.where[l.Cell] == "" {
		r.where[l.Cell] = at
		r.all = append(r.all, l)
		return nil
	}
	had := r.all[slices.IndexFunc(r.all, func(o line) bool { return o.Cell == l.Cell })]
	had.Times, l.Times = loop.Times{}, loop.Times{} // they differ from run to run
	if !reflect.DeepEqual(had, l) {
		return fmt.Errorf("cell: %d is also at %s, with another result", l.Cell, r.where[l.Cell])
	}
	return nil
}

func parseLine(text []byte) (l line, err error) {
	if err := input.DecodeStrict(text, &l); err != nil {
		return l, fmt.Errorf("no result of replay: %w", err)
	}
	if l.Of < 1 || l.Cell < 0 || l.Cell >= l.Of {
		return l, fmt.Errorf("cell: %d of %d", l.Cell, l.Of)
	}
	return l, l.Check()
}
