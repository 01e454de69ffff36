package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cedesched/cede/preemption/preemptiontest/scenario"
)

// printMarkdown prints the measurements as tables of scenarios by worlds, as in
// docs/performance.md.
func printMarkdown(w io.Writer, rows []row) {
	for _, group := range []struct {
		title  string
		worlds []scenario.World
	}{
		{"Kueue's worlds", scenario.Worlds},
		{"Larger and harder worlds", slices.Concat(scenario.Large, scenario.Hard)},
	} {
		for _, cell := range []struct {
			title string
			of    func(r *row) string
		}{
			{"time of an operation", func(r *row) string { return short(r.Ns) }},
			{"steps", func(r *row) string {
				if r.CheckedBy == "" {
					return ""
				}
				return humanize.Comma(int64(r.Steps))
			}},
			{"Kueue's time to ours", func(r *row) string {
				if r.KueueNs == 0 {
					return ""
				}
				return humanize.Comma(int64(math.Round(r.KueueNs / r.Ns)))
			}},
		} {
			if table := matrix(rows, group.worlds, cell.of); table != "" {
				fmt.Fprintf(w, "%s: %s\n\n%s\n", group.title, cell.title, table)
			}
		}
	}
}

// matrix has a line for each scenario and a column for each world with any cell. It is empty
// if no world has one.
func matrix(rows []row, worlds []scenario.World, cell func(*row) string) string {
	cells := map[[2]string]string{}
	var columns, lines []string
	for i := range rows {
		r := &rows[i]
		text := cell(r)
		if text == "" || !slices.ContainsFunc(worlds, func(w scenario.World) bool { return w.ID == r.World }) {
			continue
		}
		cells[[2]string{r.Scenario, r.World}] = text
		if !slices.Contains(columns, r.World) {
			columns = append(columns, r.World)
		}
		if !slices.Contains(lines, r.Scenario) {
			lines = append(lines, r.Scenario)
		}
	}
	if len(cells) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| |")
	for _, world := range columns {
		name, _, _ := strings.Cut(world, "-")
		fmt.Fprintf(&b, " %s |", name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	for _, line := range lines {
		fmt.Fprintf(&b, "| %s |", line)
		for _, world := range columns {
			fmt.Fprintf(&b, " %s |", cells[[2]string{line, world}])
		}
		b.WriteString("\n")
	}
	return b.String()
}
