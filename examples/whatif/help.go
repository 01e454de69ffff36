package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of the help where the screen has no limit.
const helpWidth = 100

func printHelp(w io.Writer, c *cobra.Command, width int) {
	if width == 0 {
		width = helpWidth
	}
	fmt.Fprintf(w, "%s\n\n", trimEnds(text.WrapSoft(c.Long, width)))
	_ = printUsage(w, c, width)
}

// printUsage prints usage, examples, verbs, flags and exit statuses.
func printUsage(w io.Writer, c *cobra.Command, width int) error {
	if width == 0 {
		width = helpWidth
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", usage(c))
	if !c.HasParent() {
		fmt.Fprintf(&b, "  %s VERB [flags]\n\nVerbs:\n", c.CommandPath())
		for _, v := range c.Commands() {
			if !v.Hidden {
				fmt.Fprintf(&b, "  %-11s %s\n", v.Name(), v.Short)
			}
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n")
		for line := range strings.Lines(c.Example) {
			fmt.Fprintf(&b, "  %s", line)
		}
	}
	flags := func(title string, set *pflag.FlagSet) {
		if set.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", title, set.FlagUsagesWrapped(width))
		}
	}
	title := "Flags"
	if !c.HasParent() {
		title = "Flags of ask"
	}
	flags(title, c.LocalNonPersistentFlags())
	if common := c.Root().PersistentFlags(); c.Name() != "completion" {
		local, others := c.LocalNonPersistentFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
		others.SortFlags = false
		common.VisitAll(func(f *pflag.Flag) {
			if local.Lookup(f.Name) == nil {
				others.AddFlag(f)
			}
		})
		flags("Flags of every verb", others)
	}
	if yes := c.Annotations["yes"]; yes != "" {
		fmt.Fprintf(&b, "\nExit status:\n")
		for i, meaning := range []string{yes, c.Annotations["no"], "bad usage or input, with one line that says what", c.Annotations["unknown"]} {
			if meaning == "" {
				continue
			}
			fmt.Fprintf(&b, "  %d  %s\n", i, strings.ReplaceAll(text.WrapSoft(meaning, width-5), "\n", "\n     "))
		}
	}
	_, err := io.WriteString(w, trimEnds(b.String()))
	return err
}

// trimEnds takes away the blanks at the ends of lines.
func trimEnds(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
