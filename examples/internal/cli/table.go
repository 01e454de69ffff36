package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/printable"
)

// Column is a column of a [Table].
type Column struct {
	Name  string
	Right bool // aligned to the right
	// Least is the width down to which the column is narrowed first. Zero: it is narrowed
	// only when that is not enough.
	Least int
	// Cut leaves out what does not fit, so that each row is one line: the middle of a name
	// (one word), the end of a text. Else cells are wrapped, and only a name that is wider than the column is cut.
	Cut bool
	// Colour returns the colour of a cell. Nil: none.
	Colour func(cell string) printable.Colour
}

// Table is a plain table that is made no wider than its screen.
type Table struct {
	Columns []Column
	rows    [][]string
	open    []int // the widths once rows are printed one by one
	ends    []int // and the tails of names that are cut
}

// Row adds a row. What is not printable in a cell is escaped.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(t.Columns))
	for i, c := range cells {
		row[i] = printable.Text(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

// Empty reports whether the table has no rows.
func (t *Table) Empty() bool { return len(t.rows) == 0 }

// runes measures texts alike on every machine, whatever its language. So do the tables.
var runes = &runewidth.Condition{StrictEmojiNeutral: true}

func init() { text.OverrideRuneWidthEastAsianWidth(false) }

// Drop takes a column away.
func (t *Table) Drop(column int) {
	t.Columns = slices.Delete(slices.Clone(t.Columns), column, column+1)
	for i := range t.rows {
		t.rows[i] = slices.Delete(t.rows[i], column, column+1)
	}
}

// cuts reports whether a name is not whole in a width.
func (t *Table) cuts(width int) bool {
	whole := t.widths(0)
	for i, w := range t.widths(width) {
		if t.Columns[i].Cut && w < whole[i] {
			return true
		}
	}
	return false
}

// mostNames is how many names are compared to find out how to cut them.
const mostNames = 500

// tails returns, for each column, how much of the end of a name that is cut is kept: as much as of its beginning, unless names that differ
// would look alike.
func (t *Table) tails(widths []int) []int {
	tails := make([]int, len(widths))
	for i, width := range widths {
		tails[i] = halves
		names := map[string]bool{}
		for _, row := range t.rows {
			names[row[i]] = true
		}
		if !t.Columns[i].Cut || width == 0 || len(names) > mostNames {
			continue
		}
		alike := func(tail int) int {
			seen := map[string]bool{}
			for name := range names {
				seen[cutTo(name, width, tail)] = true
			}
			return len(names) - len(seen)
		}
		least := alike(halves)
		for tail := 1; tail < width-1 && least > 0; tail++ {
			if n := alike(tail); n < least {
				tails[i], least = tail, n
			}
		}
	}
	return tails
}

// gap is the number of blanks between columns.
const gap = 2

// render returns the table. Columns without any text are left out.
func (t *Table) render(s Screen) string {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	widths := t.widths(s.Width)
	tails := t.tails(widths)
	var header table.Row
	var configs []table.ColumnConfig
	for i, c := range t.Columns {
		if widths[i] == 0 {
			continue
		}
		header = append(header, cut(strings.ToUpper(c.Name), widths[i]))
		if c.Right {
			configs = append(configs, table.ColumnConfig{Number: len(header), Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.AppendHeader(header)
	w.SetColumnConfigs(configs)
	for _, row := range t.rows {
		var cells table.Row
		for i, cell := range row {
			if widths[i] > 0 {
				cells = append(cells, t.Columns[i].fit(cell, widths[i], tails[i], s.Colour))
			}
		}
		w.AppendRow(cells)
	}
	var b strings.Builder
	for line := range strings.Lines(w.Render() + "\n") {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// Begin adds the head of a table of which the rows follow one by one, by [Table.Next], before the texts of its last
// column are known. The rows of the table so far say how wide the others are. The last one is at least as wide as its Least,
// and takes what is left of a line, or several lines if it is not cut.
func (t *Table) Begin(p *Page) {
	last := len(t.Columns) - 1
	least := make([]string, len(t.Columns))
	least[last] = strings.Repeat("x", t.Columns[last].Least)
	t.rows = append(t.rows, least)
	t.open, p.cut = t.widths(p.Screen.Width), p.cut || t.cuts(p.Screen.Width)
	t.ends = t.tails(t.open)
	t.open[last] = 0
	if p.Screen.Width > 0 {
		left := p.Screen.Width
		for _, width := range t.open[:last] {
			if width > 0 {
				left -= width + gap
			}
		}
		t.open[last] = max(left, leastColumn)
	}
	var names []any
	for _, c := range t.Columns {
		names = append(names, strings.ToUpper(c.Name))
	}
	t.line(p, names, printable.Plain)
}

// Next adds a row to a table that [Table.Begin] began.
func (t *Table) Next(p *Page, cells ...any) {
	colour := printable.Plain
	if last := t.Columns[len(t.Columns)-1]; last.Colour != nil && p.Screen.Colour {
		colour = last.Colour(printable.Text(fmt.Sprint(cells[len(cells)-1])))
	}
	t.line(p, cells, colour)
}

// line adds a line, with the last cell in a colour.
func (t *Table) line(p *Page, cells []any, colour printable.Colour) {
	last := len(t.Columns) - 1
	for i, c := range t.Columns[:last] {
		width := t.open[i]
		if width == 0 {
			continue
		}
		cell := cutTo(printable.Text(fmt.Sprint(cells[i])), width, t.ends[i])
		pad := strings.Repeat(" ", width-runes.StringWidth(cell))
		if c.Right {
			p.WriteString(pad + cell)
		} else {
			p.WriteString(cell + pad)
		}
		p.WriteString(strings.Repeat(" ", gap))
	}
	cell := printable.Text(fmt.Sprint(cells[last]))
	switch width := t.open[last]; {
	case width > 0 && t.Columns[last].Cut:
		cell = cut(cell, width)
	case width > 0 && runes.StringWidth(cell) > width:
		cell = wrap(cell, width)
	}
	for i, line := range strings.Split(cell, "\n") {
		if i > 0 {
			p.WriteString(strings.Repeat(" ", p.Screen.Width-t.open[last]))
		}
		p.WriteString(colour.Text(line) + "\n")
	}
}

// fit makes a cell as narrow as its column.
func (c *Column) fit(cell string, width, tail int, colours bool) string {
	colour := printable.Plain
	if c.Colour != nil && colours {
		colour = c.Colour(cell)
	}
	if runes.StringWidth(cell) > width {
		if c.Cut {
			cell = cutTo(cell, width, tail)
		} else {
			cell = wrap(cell, width)
		}
	}
	return colour.Text(cell)
}

// widths returns the width of each column, zero for one without text. The widest column that
// may be narrowed gives first.
func (t *Table) widths(limit int) []int {
	widths := make([]int, len(t.Columns))
	shown, total := 0, 0
	for i, c := range t.Columns {
		for _, row := range t.rows {
			widths[i] = max(widths[i], runes.StringWidth(row[i]))
		}
		if widths[i] == 0 && len(t.rows) > 0 {
			continue
		}
		widths[i] = max(widths[i], runes.StringWidth(c.Name))
		shown, total = shown+1, total+widths[i]
	}
	over := total + gap*max(0, shown-1) - limit
	if limit == 0 || over <= 0 {
		return widths
	}
	leasts, whole := make([]int, len(widths)), make([]int, len(widths)) // whole: no word is broken
	for i, c := range t.Columns {
		if leasts[i] = c.Least; c.Least == 0 {
			leasts[i] = widths[i]
		}
		if whole[i] = leasts[i]; !c.Cut {
			for _, row := range t.rows {
				for _, word := range strings.Fields(row[i]) {
					whole[i] = max(whole[i], min(runes.StringWidth(word), widths[i]))
				}
			}
		}
	}
	over = narrow(widths, leasts, narrow(widths, whole, over))
	for i := range leasts {
		leasts[i] = min(leasts[i], leastColumn)
	}
	narrow(widths, leasts, over)
	return widths
}

// leastColumn is the width that every column keeps.
const leastColumn = 4

// narrow takes over columns from the widths, always from the one that has most over its
// least, and returns how many it could not take.
func narrow(widths, leasts []int, over int) int {
	for ; over > 0; over-- {
		spare := make([]int, len(widths))
		for i := range widths {
			spare[i] = widths[i] - leasts[i]
		}
		most := slices.Max(spare)
		if most <= 0 {
			return over
		}
		widths[slices.Index(spare, most)]--
	}
	return 0
}
