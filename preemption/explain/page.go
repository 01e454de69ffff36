package explain

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxMessage is the most bytes of a message. A condition of Kubernetes may have 32 KiB, an
// event 1 KiB; a list of conditions stays readable with less.
const maxMessage = 512

// cut shortens a message at a character.
func cut(text string) string {
	const dots = "..."
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage-len(dots)], "") + dots
}

// Text returns steps as a page for a terminal of 80 columns.
func Text(steps []Step) string { return Printer{}.Text(steps) }

// Text is [Text] with another width. Steps without a section stand at the top.
func (pr Printer) Text(steps []Step) string {
	p := pr.page()
	for _, s := range steps {
		for i, line := range s.Lines {
			if s.Section == "" {
				p.line(min(2*i, 2), "%s", line)
			}
		}
	}
	section := ""
	for _, s := range steps {
		if s.Section == "" {
			continue
		}
		if s.Section != section {
			p.head(s.Section)
		}
		if section = s.Section; s.Title != "" {
			p.line(2, "%s", s.Title)
		}
		for _, line := range s.Lines {
			p.line(cmp.Or(s.Indent, 2), "%s", line)
		}
	}
	return p.String()
}

// page is a text that is being written.
type page struct {
	strings.Builder
	width int
}

func (pr Printer) page() *page {
	if pr.Width < 0 {
		return &page{width: math.MaxInt}
	}
	return &page{width: cmp.Or(pr.Width, 80)}
}

func (p *page) head(text string) { p.WriteString("\n" + text + "\n") }

// line writes a line; what does not fit continues below, indented by two more.
func (p *page) line(indent int, format string, args ...any) {
	column := 0
	below := func() {
		p.WriteString("\n" + strings.Repeat(" ", indent+2))
		column = indent + 2
	}
	for _, word := range strings.Fields(escape(fmt.Sprintf(format, args...))) {
		n := 0
		for _, r := range word {
			n += columns(r)
		}
		switch {
		case column == 0:
			p.WriteString(strings.Repeat(" ", indent))
			column = indent
		case column+1+n > p.width:
			below()
		default:
			p.WriteString(" ")
			column++
		}
		if column+n <= p.width {
			p.WriteString(word)
			column += n
			continue
		}
		for _, r := range word { // longer than a line
			n := columns(r)
			if column > indent+2 && column+n > p.width {
				below()
			}
			p.WriteRune(r)
			column += n
		}
	}
	p.WriteString("\n")
}

// escape returns a text of one line in which every character is printable: others are as in Go.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// wide are the blocks in which characters take two columns; in some of them not all do.
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x23ff}, {0x25fd, 0x27bf}, {0x2b1b, 0x2b55}, {0x2e80, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe10, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff}, {0x1d300, 0x1d376}, {0x1f000, 0x1faff},
	{0x20000, 0x3ffff},
}

// columns is how many columns a character takes, at most.
func columns(r rune) int {
	for _, block := range wide {
		if block[0] <= r && r <= block[1] {
			return 2
		}
	}
	return 1
}
