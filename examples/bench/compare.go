package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// slack is how many allocations more a row may have from run to run: maps and trees have another shape in each.
func slack(name string) int64 {
	switch {
	case strings.HasPrefix(name, "Decide/"):
		return 2
	case strings.HasPrefix(name, "NewSnapshot/"):
		return 100
	}
	return 16 // an edit
}

// blockSlack is how many blocks of code more a row may run: one split of a tree by hashes, of which each process has its own, is some
// 240.
func blockSlack(name string) int64 {
	if strings.HasPrefix(name, "Decide/") {
		return 100
	}
	return 1000 // an edit
}

// openEarlier reads the report of -compare.
func openEarlier(name string) (report, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return report{}, err
	}
	r, err := parseReport(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// compare tells what got worse since an earlier report: more steps, allocations or blocks of code than the limit permits are wrong, more time is a
// warning. A row that the earlier report has and this one has not is wrong, if all rows were measured. The error says that they have
// no row in common.
func compare(w io.Writer, o options, earlier report, rows []row) (worse int, err error) {
	now := map[string]*row{}
	for i := range rows {
		now[rows[i].Name] = &rows[i]
	}
	common, inBlocks := 0, 0
	all := len(o.worlds)+len(o.scenarios) == 0
	for i := range earlier.Rows {
		old := &earlier.Rows[i]
		r := now[old.Name]
		if r == nil {
			if all {
				worse++
				fmt.Fprintf(w, "bench: worse: %s: not measured any more\n", old.Name)
			}
			continue
		}
		common++
		if over(int64(r.Steps), int64(old.Steps), o.more, 0) {
			worse++
			fmt.Fprintf(w, "bench: worse: %s: %d steps, were %d\n", old.Name, r.Steps, old.Steps)
		}
		if over(r.Allocs, old.Allocs, o.more, slack(old.Name)) {
			worse++
			fmt.Fprintf(w, "bench: worse: %s: %d allocations, were %d\n", old.Name, r.Allocs, old.Allocs)
		}
		if r.Blocks > 0 && old.Blocks > 0 {
			inBlocks++
			if over(r.Blocks, old.Blocks, o.more, blockSlack(old.Name)) {
				worse++
				fmt.Fprintf(w, "bench: worse: %s: %d blocks of code, were %d\n", old.Name, r.Blocks, old.Blocks)
			}
		}
		if old.Ns > 0 && r.Ns > old.Ns*(1+o.slower/100) {
			fmt.Fprintf(w, "bench: slower: %s: %s, was %s\n", old.Name, short(r.Ns), short(old.Ns))
		}
	}
	if common == 0 {
		return worse, errors.New("-compare: no row of it was measured")
	}
	fmt.Fprintf(w, "bench: %d rows compared, %d in blocks of code, %d worse\n", common, inBlocks, worse)
	return worse, nil
}

// over reports whether a number is over an earlier one by more than a part in a hundred and some.
func over(now, before int64, percent float64, slack int64) bool {
	return float64(now) > float64(before)*(1+percent/100)+float64(slack)
}
