package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cedesched/cede/examples/internal/printable"
)

// Page collects output that is made no wider than its screen.
type Page struct {
	strings.Builder
	Screen Screen
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
			line = text.WrapSoft(line, p.Screen.Width)
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
func (p *Page) Table(t *Table) { p.WriteString(t.render(p.Screen) + "\n") }

// Print writes the page without empty lines at its end. Nothing but printable characters,
// line breaks and colours reaches the writer.
func (p *Page) Print(w io.Writer) error {
	guard := printable.Lines(w)
	if p.Screen.Colour {
		guard = printable.Coloured(w)
	}
	_, err := io.WriteString(guard, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}
