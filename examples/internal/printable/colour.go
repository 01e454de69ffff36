package printable

import (
	"io"
	"strings"
)

// Colour is the colour of a text on a terminal. The zero value is none.
type Colour uint8

const (
	Plain Colour = iota
	Green
	Yellow
	Red
	Faint
	Blue
	Magenta
)

// codes begin a colour, by [Colour].
var codes = [...]string{Plain: "", Green: "\x1b[32m", Yellow: "\x1b[33m", Red: "\x1b[31m", Faint: "\x1b[2m", Blue: "\x1b[34m", Magenta: "\x1b[35m"}

// reset ends every colour.
const reset = "\x1b[0m"

// Text returns a text in the colour: each line begins and ends it, so that a cell of a table
// colours nothing else. The text must be printable ([Text]).
func (c Colour) Text(s string) string {
	if c == Plain || s == "" {
		return s
	}
	return codes[c] + strings.ReplaceAll(s, "\n", reset+"\n"+codes[c]) + reset
}

// Coloured returns a writer as [Lines] does, which colours pass as well: the sequences of
// [Colour] and no others.
func Coloured(w io.Writer) io.Writer { return coloured{w, Lines(w)} }

type coloured struct {
	w     io.Writer
	lines io.Writer
}

// Write takes whole texts: a sequence must not be cut.
func (c coloured) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		at, code := len(rest), ""
		for _, s := range append(codes[1:], reset) {
			if i := strings.Index(rest, s); i >= 0 && i < at {
				at, code = i, s
			}
		}
		if _, err := c.lines.Write([]byte(rest[:at])); err != nil {
			return 0, err
		}
		if _, err := io.WriteString(c.w, code); err != nil {
			return 0, err
		}
		rest = rest[at+len(code):]
	}
	return len(p), nil
}
