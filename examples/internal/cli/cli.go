// Package cli is what the command lines of the examples have in common.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cedesched/cede/examples/internal/printable"
)

// Parse parses arguments. For -h it prints the usage and all flags and returns
// [flag.ErrHelp]; any other error has the usage in its line.
func Parse(flags *flag.FlagSet, args []string, usage string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stdout, usage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w; %s", err, usage)
	}
	return nil
}

// Piped returns standard input; nil where that is a terminal.
func Piped() io.Reader {
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	return os.Stdin
}

// NewTable returns a plain table; the columns of the given numbers are right-aligned. What
// is not printable in a cell is escaped.
func NewTable(header table.Row, right ...int) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatUpper
	t.SetStyle(style)
	t.AppendHeader(header)
	var configs []table.ColumnConfig
	for n := 1; n <= len(header); n++ {
		c := table.ColumnConfig{Number: n, Transformer: func(cell any) string { return printable.Text(fmt.Sprint(cell)) }}
		if slices.Contains(right, n) {
			c.Align, c.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, c)
	}
	t.SetColumnConfigs(configs)
	return t
}

// Render writes a table without blanks at the ends of lines, and an empty line.
func Render(b *strings.Builder, t table.Writer) {
	for line := range strings.Lines(t.Render() + "\n") {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	b.WriteString("\n")
}
