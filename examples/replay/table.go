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
		text = fmt.Sprintf("%s: %d seeds, %s, %s, %s each", g.world, g.seeds, count(int64(first.Jobs), "job"),
			count(first.GPU/1000/int64(g.seeds), first.Unit), span(first.Horizon))
	}
	if n := first.Jobs - first.Finished; n > 0 && !first.broken {
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
		t.insert(3, column("95% change"), func(i int) any {
			if s := g.policies[i]; s != first && !s.broken && !first.broken {
				if of, ok := s.interval(first); ok {
					return of
				}
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

// legend says what the columns are.
func legend(groups []*worldGroup) string {
	text := "Lost, in GPU-hours, is work since the last checkpoint, each start-up after the first, and grace: what evicted jobs held after they had " +
		"stopped. One job is the most evictions of one job; a star: jobs circle. In use is the time of all GPUs until the last job comes. " +
		"Wait and done in are means, then what 95 and 99 of 100 jobs do not exceed; change is that of the mean. " +
		"A policy pays if less is lost than by the first, jobs end at most 1 % later on average, and no priority waits longer by more than 1 % " +
		"and 10 s on average."
	if slices.ContainsFunc(groups, func(g *worldGroup) bool { return g.seeds > 1 }) {
		text += " 95% change is where the change of what is lost is with 95 % confidence, by the differences of the seeds."
	}
	if !slices.ContainsFunc(groups, func(g *worldGroup) bool { return g.policies[0].Unit != "CPU" }) {
		text = strings.ReplaceAll(text, "GPU", "CPU")
	}
	return text
}

const timed = "How long decisions took on this machine: these numbers differ from run to run. A head is decided about up to twice in a cycle."

// printAll prints all worlds, the answer first; kinds are the ways in which the jobs are divided.
func printAll(p *cli.Page, groups []*worldGroup, kinds []int, withTimes bool) {
	if text := overall(groups); text != "" {
		p.Say("%s\n\n", text)
	}
	for _, g := range groups {
		p.Say("%s\n", g.title())
		a := g.answer()
		p.SayIn(colourOf(a.pays), "%s\n", a.text)
		for _, n := range append([]string{a.rests}, g.notes()...) {
			if n != "" {
				p.Say("%s\n", n)
			}
		}
		p.Say("\n")
		losses := g.losses()
		table := losses.table()
		for _, name := range []string{inUse, "grace"} {
			if i := slices.IndexFunc(table.Columns, func(c cli.Column) bool { return c.Name == name }); !p.Fits(table) {
				table.Drop(i)
			}
		}
		p.Table(table)
		for _, v := range g.verdicts() {
			p.SayIn(colourOf(v.pays), "%s\n", v.text)
		}
		p.Say("\n")
		for _, kind := range kinds {
			for _, t := range g.tables(kind, p.Fits) {
				p.Table(t.table())
			}
		}
	}
	p.Say("%s\n", legend(groups))
	if t := times(groups); withTimes && t != nil {
		p.Say("\n%s\n\n", timed)
		p.Table(t.table())
	}
}

func colourOf(pays bool) printable.Colour {
	if pays {
		return printable.Green
	}
	return printable.Plain
}

func (t *grid) table() *cli.Table {
	made := &cli.Table{Columns: t.Columns}
	for _, row := range t.Rows {
		made.Row(row...)
	}
	return made
}

// markdown returns all tables in Markdown.
func markdown(groups []*worldGroup, kinds []int, withTimes bool) string {
	var b strings.Builder
	if text := overall(groups); text != "" {
		printable.Fprintf(&b, "%s\n\n", text)
	}
	for _, g := range groups {
		printable.Fprintf(&b, "**%s**\n\n", g.title())
		a := g.answer()
		printable.Fprintf(&b, "%s\n\n", strings.TrimSpace(a.text+" "+a.rests))
		for _, n := range g.notes() {
			printable.Fprintf(&b, "- %s\n", n)
		}
		b.WriteString("\n")
		losses := g.losses()
		losses.markdown(&b)
		for _, v := range g.verdicts() {
			printable.Fprintf(&b, "- %s\n", v.text)
		}
		b.WriteString("\n")
		for _, kind := range kinds {
			whole := g.divided(kind, aboutWaits|aboutDone)
			whole.markdown(&b)
		}
	}
	b.WriteString(legend(groups) + "\n")
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
