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
	"slices"
	"strings"

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

func writeLines(w io.Writer, lines []line) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	for i := range lines {
		if err := encoder.Encode(&lines[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// maxLine limits a line of results.
const maxLine = 1 << 20

// readLines reads the results of all shards of a sweep, in any order.
func readLines(paths []string) ([]line, error) {
	var all []line
	where := map[int]string{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
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
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s: %w", at, err)
			case len(all) > 0 && (l.Sweep != all[0].Sweep || l.Of != all[0].Of):
				return nil, fmt.Errorf("%s: sweep: %q of %d cells is another sweep than that of %s", at, l.Sweep, l.Of, where[all[0].Cell])
			case where[l.Cell] != "":
				return nil, fmt.Errorf("%s: cell: %d is also at %s", at, l.Cell, where[l.Cell])
			}
			where[l.Cell] = at
			all = append(all, l)
		}
		if err := scanner.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there are no results to merge")
	}
	slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.Cell, b.Cell) })
	if len(all) < all[0].Of {
		for i := range all[0].Of {
			if where[i] == "" {
				return nil, fmt.Errorf("cell %d of %d is missing: a shard is not there, or did not finish", i, all[0].Of)
			}
		}
	}
	return all, nil
}

func parseLine(text []byte) (l line, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var kind *json.UnmarshalTypeError
	switch err = decoder.Decode(&l); {
	case errors.As(err, &kind) && kind.Field != "":
		return l, fmt.Errorf("%s: want %v, found %s", strings.TrimPrefix(kind.Field, "Result."), kind.Type, kind.Value)
	case err != nil:
		return l, fmt.Errorf("no result of replay: %w", err)
	case l.Of < 1 || l.Cell < 0 || l.Cell >= l.Of:
		return l, fmt.Errorf("cell: %d of %d", l.Cell, l.Of)
	}
	return l, l.Check()
}
