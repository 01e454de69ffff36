package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printer returns a function that prints the rows of a world.
func printer(o options, w io.Writer) func([]row) error {
	if o.output != asTable {
		return func([]row) error { return nil } // at the end
	}
	return func(rows []row) error {
		_, err := fmt.Fprintln(w, tableOf(rows))
		return err
	}
}

// path returns the name of a benchmark.
func (r *row) path() string {
	if r.Outcome != "" {
		return fmt.Sprintf("Hostile/%s/state=%s/workloads=%d", r.Scenario, r.World, r.Workloads)
	}
	kind := "Decide/" + r.Scenario + "/" + string(r.Mode)
	if r.CheckedBy == "" {
		kind = ""
		for part := range strings.SplitSeq(r.Scenario, "-") {
			kind += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return fmt.Sprintf("%s/world=%s/queues=%d/workloads=%d", kind, r.World, r.Queues, r.Workloads)
}

// tableOf returns the table of one world. All tables have the same column widths.
func tableOf(rows []row) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	largest := slices.MaxFunc(rows, func(a, b row) int { return cmp.Compare(a.Workloads, b.Workloads) })
	t.SetTitle("%s: %s workloads, %s queues", largest.World, humanize.Comma(int64(largest.Workloads)), humanize.Comma(int64(largest.Queues)))
	if largest.Numbers != "" {
		t.SetTitle("%s of %s: %s", largest.World, humanize.Comma(int64(largest.Workloads)), largest.Numbers)
	}
	header := table.Row{"scenario", "victims", "steps", "time/op", "cold", "B/op", "allocs", "Kueue", "ratio", "by"}
	widths := []int{21, 7, 9, 9, 9, 13, 9, 9, 9, 10}
	var columns []table.ColumnConfig
	for i, width := range widths {
		c := table.ColumnConfig{Number: i + 1, WidthMin: width}
		if i > 0 && i < len(widths)-1 {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		columns = append(columns, c)
	}
	t.SetColumnConfigs(columns)
	t.AppendHeader(header)
	for _, r := range rows {
		victims, steps, cold, kueue, ratio, by := "", "", "", "", "", string(r.CheckedBy)
		if r.CheckedBy != "" {
			victims, steps = humanize.Comma(int64(r.Victims)), humanize.Comma(int64(r.Steps))
		}
		if r.ColdNs > 0 {
			cold = short(r.ColdNs)
		}
		if r.KueueNs > 0 {
			kueue, ratio = short(r.KueueNs), humanize.Comma(int64(math.Round(r.KueueNs/r.Ns)))
		}
		if r.Outcome != "" {
			victims, steps, by = humanize.Comma(int64(r.Victims)), humanize.Comma(int64(r.Steps)), r.Outcome
			if r.Workloads < largest.Workloads {
				by = fmt.Sprintf("%s of %s", by, humanize.Comma(int64(r.Workloads)))
			}
		}
		if !r.OK {
			by = "WRONG"
		}
		t.AppendRow(table.Row{r.Scenario, victims, steps, short(r.Ns), cold, humanize.Comma(r.Bytes), humanize.Comma(r.Allocs), kueue, ratio, by})
	}
	var b strings.Builder
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// short formats a time with three digits.
func short(ns float64) string {
	d := time.Duration(ns)
	if ns < 1000 {
		return fmt.Sprintf("%.0fns", ns)
	}
	unit := time.Duration(math.Pow(10, math.Floor(math.Log10(ns))-2))
	return d.Round(unit).String()
}

// printSummary prints how many answers were right, and the ratios.
func printSummary(w io.Writer, rows []row) {
	wrong, ratios, logs := 0, 0, 0.0
	least, at := math.Inf(1), ""
	for _, r := range rows {
		if !r.OK {
			wrong++
		}
		if r.KueueNs > 0 && r.Ns > 0 {
			ratios++
			logs += math.Log(r.KueueNs / r.Ns)
			if ratio := r.KueueNs / r.Ns; ratio < least {
				least, at = ratio, r.World+" "+r.Scenario
			}
		}
	}
	fmt.Fprintf(w, "%d rows, %d wrong\n", len(rows), wrong)
	if ratios > 0 {
		fmt.Fprintf(w, "Kueue's time to ours: %s in the geometric mean of %d, at least %s (%s)\n",
			humanize.Comma(int64(math.Exp(logs/float64(ratios)))), ratios, humanize.CommafWithDigits(least, 1), at)
	}
}
