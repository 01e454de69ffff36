package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
)

// title says what was replayed.
func (g *worldGroup) title() string {
	first := g.policies[0]
	text := fmt.Sprintf("%s: %s, %s, %s", g.world, count(int64(first.Jobs), "job"), count(first.GPU/1000, first.Unit), span(first.Horizon))
	if g.seeds > 1 {
		text = fmt.Sprintf("%s: %d seeds, %s jobs, %s GPUs, %s each", g.world, g.seeds, humanize.Comma(int64(first.Jobs)), humanize.Comma(first.GPU/1000/int64(g.seeds)), span(first.Horizon))
	}
	if n := first.Jobs - first.Finished; n > 0 {
		text += fmt.Sprintf("; %s never ran", humanize.Comma(int64(n)))
	}
	return text
}

// notes are what to know about the jobs and the cluster before the numbers.
func (g *worldGroup) notes() []string { return g.policies[0].Notes }

// grid is a table before it has a form.
type grid struct {
	Columns []cli.Column
	Rows    [][]any
}

// Right reports whether the cells of a column are aligned to the right.
func (t grid) Right(column int) bool { return t.Columns[column].Right }

func column(name string) cli.Column { return cli.Column{Name: name, Right: true} }

// inUse is the name of the column that a narrow screen does without.
const inUse = "in use"

// losses is the first table of a world.
func (g *worldGroup) losses() grid {
	t := grid{Columns: []cli.Column{{Name: "policy", Least: 10, Cut: true}, column("lost"), column("change"), column("grace"), column("evicted"), column("one job"),
		column(inUse), column("done in"), column("change")}}
	first := g.policies[0]
	for _, s := range g.policies {
		row := []any{s.short, hours(s.Lost()), map[bool]string{true: "–"}[s != first], hours(s.Grace), s.marked(s.Evictions), humanize.Comma(s.OfOne), percent(s.InUse, s.Offered),
			span(mean(s.All.Done.Sum, s.All.Jobs)), ""}
		if s.broken {
			row[6], row[7] = "–", "–" // it ended before
		}
		if s != first && !s.broken && !first.broken {
			row[2], row[8] = change(s.Lost(), first.Lost()), change(s.All.Done.Sum, first.All.Done.Sum)
		}
		t.Rows = append(t.Rows, row)
	}
	if g.seeds > 1 {
		t.insert(3, column("worst"), func(i int) any {
			if s := g.policies[i]; s != first && !s.broken && !first.broken {
				return s.worstSeed(first)
			}
			return ""
		})
	}
	return t
}

// marked returns a number of evictions with a star if jobs of the policy circle.
func (s *summary) marked(n int64) string {
	if s.mark() != "" {
		return humanize.Comma(n) + "*"
	}
	return humanize.Comma(n)
}

// insert inserts a column.
func (t *grid) insert(at int, c cli.Column, cell func(row int) any) {
	t.Columns = slices.Insert(t.Columns, at, c)
	for i := range t.Rows {
		t.Rows[i] = slices.Insert(t.Rows[i], at, cell(i))
	}
}

// waits is the second table of a world.
func (g *worldGroup) waits() grid {
	t := grid{Columns: []cli.Column{{Name: "priority", Right: true}, column("jobs"), {Name: "policy", Least: 10, Cut: true}, column("wait"), column("change"),
		column("95%"), column("99%"), column("evicted")}}
	first := g.policies[0]
	for i, of := range first.Priorities {
		for _, s := range g.policies {
			if i >= len(s.Priorities) {
				continue
			}
			w := s.Priorities[i]
			row := []any{"", "", s.short, span(mean(w.Wait.Sum, w.Jobs)), "", span(w.Wait.Quantile(95)), span(w.Wait.Quantile(99)), humanize.Comma(w.Evictions)}
			if s == first {
				row[0], row[1] = of.Name, humanize.Comma(of.Jobs)
			} else if !s.broken && !first.broken {
				row[4] = change(w.Wait.Sum, of.Wait.Sum)
			} else {
				row[4] = "–"
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// times is the table of what was measured; nil if nothing was.
func times(groups []*worldGroup) *grid {
	t := grid{Columns: []cli.Column{{Name: "world", Least: 12, Cut: true}, {Name: "policy", Least: 10, Cut: true}, column("decisions"), column("mean"), column("99 of 100"), column("longest cycle")}}
	for _, g := range groups {
		for i, s := range g.policies {
			if s.Times.IsZero() {
				continue
			}
			name := g.world
			if i > 0 {
				name = ""
			}
			t.Rows = append(t.Rows, []any{name, s.short, humanize.Comma(s.Times.Heads), took(s.Times.Total / s.Times.Heads), "< " + took(s.Times.Quantile(99)), took(s.Times.Longest)})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return &t
}

const legend = "Lost, in GPU-hours, is work since the last checkpoint, each start-up after the first, and grace: what evicted jobs held after they had stopped. " +
	"One job is the most evictions of one job; a star: jobs circle. In use is the time of all GPUs until the last job comes. " +
	"Wait is the mean, then what 95 and 99 of 100 jobs do not exceed. " +
	"A policy pays if less is lost than by the first, jobs end at most 1 % later on average, and no priority waits longer by more than 1 % and 10 s on average."

const timed = "How long decisions took on this machine: these numbers differ from run to run. A head is decided about up to twice in a cycle."

func printAll(p *cli.Page, groups []*worldGroup, withTimes bool) {
	for _, g := range groups {
		p.Say("%s\n", g.title())
		for _, n := range g.notes() {
			p.Say("%s\n", n)
		}
		p.Say("\n")
		losses, waits := g.losses(), g.waits()
		table := losses.table()
		if !p.Fits(table) {
			table.Drop(slices.IndexFunc(losses.Columns, func(c cli.Column) bool { return c.Name == inUse }))
		}
		p.Table(table)
		for _, v := range g.verdicts() {
			colour := printable.Plain
			if v.pays {
				colour = printable.Green
			}
			p.SayIn(colour, "%s\n", v.text)
		}
		p.Say("\n")
		p.Table(waits.table())
	}
	p.Say("%s\n", legend)
	if t := times(groups); withTimes && t != nil {
		p.Say("\n%s\n\n", timed)
		p.Table(t.table())
	}
}

func (t *grid) table() *cli.Table {
	made := &cli.Table{Columns: t.Columns}
	for _, row := range t.Rows {
		made.Row(row...)
	}
	return made
}

// markdown returns all tables in Markdown.
func markdown(groups []*worldGroup, withTimes bool) string {
	var b strings.Builder
	for _, g := range groups {
		printable.Fprintf(&b, "**%s**\n\n", g.title())
		for _, n := range g.notes() {
			printable.Fprintf(&b, "- %s\n", n)
		}
		b.WriteString("\n")
		losses, waits := g.losses(), g.waits()
		losses.markdown(&b)
		for _, v := range g.verdicts() {
			printable.Fprintf(&b, "- %s\n", v.text)
		}
		b.WriteString("\n")
		waits.markdown(&b)
	}
	b.WriteString(legend + "\n")
	if t := times(groups); withTimes && t != nil {
		b.WriteString("\n" + timed + "\n\n")
		t.markdown(&b)
	}
	return b.String()
}

func (t *grid) markdown(b *strings.Builder) {
	b.WriteString("|")
	for _, c := range t.Columns {
		b.WriteString(" " + c.Name + " |")
	}
	b.WriteString("\n|")
	for _, c := range t.Columns {
		if c.Right {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	for _, row := range t.Rows {
		b.WriteString("\n|")
		for _, cell := range row {
			b.WriteString(" " + printable.Text(strings.TrimSpace(fmt.Sprint(cell))) + " |")
		}
	}
	b.WriteString("\n\n")
}
