package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/printable"
)

// Page collects output that is made no wider than its screen.
type Page struct {
	strings.Builder
	Screen  Screen
	flushed bool // a part of it was printed
	cut     bool // a name in a table is not whole
}

// Say adds a text, wrapped. Every text among the arguments is made printable.
func (p *Page) Say(format string, args ...any) { p.SayIn(printable.Plain, format, args...) }

// SayIn is Say in a colour.
func (p *Page) SayIn(c printable.Colour, format string, args ...any) {
	if !p.Screen.Colour {
		c = printable.Plain
	}
	for line := range strings.Lines(printable.Sprintf(format, args...)) {
		line, ends := strings.CutSuffix(line, "\n")
		if p.Screen.Width > 0 && runes.StringWidth(line) > p.Screen.Width {
			line = wrap(line, p.Screen.Width)
		}
		for part := range strings.Lines(line) {
			part, more := strings.CutSuffix(part, "\n")
			p.WriteString(c.Text(strings.TrimRight(part, " ")))
			if more {
				p.WriteByte('\n')
			}
		}
		if ends {
			p.WriteByte('\n')
		}
	}
}

// SayAt is Say with every line indented.
func (p *Page) SayAt(indent int, format string, args ...any) {
	inner := Page{Screen: Screen{}}
	if p.Screen.Width > 0 {
		inner.Screen.Width = max(p.Screen.Width-indent, leastWidth)
	}
	inner.Say(format, args...)
	for line := range strings.Lines(inner.String()) {
		p.WriteString(strings.Repeat(" ", indent) + line)
	}
}

// Fits reports whether a table needs not be narrowed.
func (p *Page) Fits(t *Table) bool {
	return p.Screen.Width == 0 || slices.Equal(t.widths(0), t.widths(p.Screen.Width))
}

// Table adds a table and an empty line.
func (p *Page) Table(t *Table) {
	p.cut = p.cut || t.cuts(p.Screen.Width)
	p.WriteString(t.render(p.Screen) + "\n")
}

// SayCut says how names are printed whole, if one in a table is not.
func (p *Page) SayCut() {
	if p.cut {
		p.Gap()
		p.Say("-o wide prints whole what … stands for.\n")
	}
}

// Gap begins a new paragraph: it adds an empty line, unless there is one or nothing is above.
func (p *Page) Gap() {
	above := p.String()
	if p.flushed {
		above = "\n" + above
	}
	if above != "" && !strings.HasSuffix(above, "\n\n") {
		p.WriteByte('\n')
	}
}

// Print writes the page without empty lines at its end. Nothing but printable characters,
// line breaks and colours reaches the writer.
func (p *Page) Print(w io.Writer) error {
	text := strings.TrimRight(p.String(), "\n")
	if text == "" && p.flushed {
		return nil
	}
	guard := printable.Lines(w)
	if p.Screen.Colour {
		guard = printable.Coloured(w)
	}
	_, err := io.WriteString(guard, text+"\n")
	return err
}

// Flush prints what the page has so far, and keeps the empty lines at its end: what is added goes on below.
func (p *Page) Flush(w io.Writer) error {
	text := p.String()
	if strings.Trim(text, "\n") == "" {
		return nil
	}
	err := p.Print(w)
	p.Reset()
	p.flushed = true
	if lines := text[len(strings.TrimRight(text, "\n")):]; lines != "" {
		p.WriteString(lines[1:])
	}
	return err
}

// Lines adds a text as it stands; of a line that is too long, what does not fit continues below, indented by two more.
func (p *Page) Lines(text string) {
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " ")
		indent := strings.Repeat(" ", len(line)-len(body))
		first, rest := 0, 0
		if p.Screen.Width > 0 {
			first = max(p.Screen.Width-len(indent), leastWidth)
			rest = first - 2
		}
		p.WriteString(indent + strings.ReplaceAll(wrapTo(body, first, rest), "\n", "\n"+indent+"  "))
		p.WriteByte('\n')
	}
}

// Short is a name that is to be no wider than a part of a line, so that what is said of it stands in the same line.
func (p *Page) Short(name string) string {
	if p.Screen.Width == 0 {
		return name
	}
	return shorten(name, p.Screen.Width*2/3)
}

// Shorter is Short for a name in a cell of a table, among other words.
func (p *Page) Shorter(name string) string {
	if p.Screen.Width == 0 {
		return name
	}
	short := shorten(name, 24)
	p.cut = p.cut || short != name
	return short
}

// wrap breaks a text between its words. A word that is longer than a line is shortened as a name is.
func wrap(s string, width int) string { return wrapTo(s, width, width) }

// wrapTo is wrap with another width of the first line. Zero: no width.
func wrapTo(s string, first, rest int) string {
	var b strings.Builder
	column, width := 0, first
	for _, word := range strings.Fields(s) {
		n := runes.StringWidth(word)
		switch {
		case column > 0 && width > 0 && column+1+n > width:
			b.WriteByte('\n')
			column, width = 0, rest
		case column > 0:
			b.WriteByte(' ')
			column++
		}
		if width > 0 && n > width {
			word = shortenWord(word, width)
			n = runes.StringWidth(word)
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
