// Package printable keeps names that come from a cluster from doing anything to a terminal
// but being shown: escape sequences, line breaks, marks that turn the direction of writing
// are escaped as in Go, as in \x1b, \n, \u202e. Names may hold any of them.
package printable

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a text of one line in which every character is printable.
func Text(s string) string {
	if strings.IndexFunc(s, odd) < 0 { // in invalid UTF-8 each byte counts as U+FFFD
		return s
	}
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case !odd(r), r == utf8.RuneError && size > 1:
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// maxLine bounds [Line]: an error may name a value of any length.
const maxLine = 4000

// Line is [Text], cut if it is long.
func Line(s string) string {
	if s = Text(s); len(s) <= maxLine {
		return s
	}
	end := maxLine
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s... (%d bytes more)", s[:end], len(s)-end)
}

func odd(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }

// Sprintf is as [fmt.Sprintf], with every text among the arguments as [Text] has it.
func Sprintf(format string, args ...any) string { return fmt.Sprintf(format, texts(args)...) }

// Fprintf is as [fmt.Fprintf], with every text among the arguments as [Text] has it.
func Fprintf(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, texts(args)...)
}

func texts(args []any) []any {
	safe := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case string:
			safe[i] = text(v)
		case error:
			safe[i] = text(v.Error())
		case fmt.Stringer:
			safe[i] = text(v.String())
		default:
			safe[i] = a
		}
	}
	return safe
}

// text is formatted as its printable form; %q escapes by itself.
type text string

func (t text) Format(s fmt.State, verb rune) {
	shown := string(t)
	if verb != 'q' {
		shown = Text(shown)
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), shown)
}

// Lines returns a writer to which nothing but printable characters and line breaks pass:
// the last guard of what a program writes to a terminal.
func Lines(w io.Writer) io.Writer {
	return &writer{w, func(r rune, size int, raw []byte) string {
		if r == '\n' {
			return "\n"
		}
		return Text(string(raw[:size]))
	}, nil}
}

// JSON returns a writer for JSON, in which characters that are not printable stand in
// texts alone: they pass as \u escapes, which mean the same.
func JSON(w io.Writer) io.Writer {
	return &writer{w, func(r rune, size int, raw []byte) string {
		switch high, low := utf16.EncodeRune(r); {
		case r == '\n':
			return "\n"
		case high != utf8.RuneError:
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		default:
			return fmt.Sprintf(`\u%04x`, r)
		}
	}, nil}
}

type writer struct {
	w      io.Writer
	escape func(r rune, size int, raw []byte) string
	rest   []byte // of a character that was cut
}

func (w *writer) Write(p []byte) (int, error) {
	data := append(w.rest, p...)
	w.rest = nil
	var b bytes.Buffer
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 && !utf8.FullRune(data) {
			w.rest = append([]byte(nil), data...)
			break
		}
		if odd(r) {
			b.WriteString(w.escape(r, size, data))
		} else {
			b.Write(data[:size])
		}
		data = data[size:]
	}
	if _, err := w.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
