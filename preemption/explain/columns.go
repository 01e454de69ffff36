package explain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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
	{0xf900, 0xfaff}, {0xfe10, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff}, {0x1d300, 0x1d376}, {0x1f000, 0x1faff}, {0x20000, 0x3ffff},
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

func columnsOf(s string) (n int) {
	for _, r := range s {
		n += columns(r)
	}
	return n
}
