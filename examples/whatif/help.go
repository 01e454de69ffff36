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
const helpWidth = 80

func printHelp(w io.Writer, c *cobra.Command, width int) {
	if width == 0 {
		width = helpWidth
	}
	fmt.Fprintf(w, "%s\n\n", trimEnds(text.WrapSoft(c.Long, width)))
	_ = printUsage(w, c, width)
}

// printUsage prints usage, verbs, examples, flags and exit statuses, on a screen: the flags of every verb are named, and the verb options
// describes them.
func printUsage(w io.Writer, c *cobra.Command, width int) error {
	if width == 0 {
		width = helpWidth
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", usage(c))
	if !c.HasParent() {
		fmt.Fprintf(&b, "  %s VERB [flags]\n\nVerbs:\n", c.CommandPath())
		for _, v := range c.Commands() {
			if name := v.Name(); !v.Hidden && name != "help" {
				if len(v.Aliases) > 0 {
					name += ", " + v.Aliases[0]
				}
				fmt.Fprintf(&b, "  %-12s %s\n", name, v.Short)
			}
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n")
		for line := range strings.Lines(c.Example) {
			fmt.Fprintf(&b, "  %s", line)
		}
	}
	common := c.Root().PersistentFlags()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags = false
	if c.HasParent() {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				own.AddFlag(f)
			}
		})
	}
	if own.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", own.FlagUsagesWrapped(width))
	}
	if c.Annotations["yes"] != "" {
		var names []string
		common.VisitAll(func(f *pflag.Flag) {
			if name := "--" + f.Name; own.Lookup(f.Name) == nil && !f.Hidden {
				if f.Shorthand != "" {
					name = "-" + f.Shorthand
				}
				names = append(names, name)
			}
		})
		all := fmt.Sprintf("Flags of every verb, which %s options describes: %s, and kubectl's of clusters and users.", c.Root().CommandPath(), strings.Join(names, ", "))
		fmt.Fprintf(&b, "\n%s\n", text.WrapSoft(all, width))
		if !c.HasParent() {
			fmt.Fprintf(&b, "\nExit status: 0 yes, 1 no or held, 2 bad usage or input, 3 unknown.\n")
			_, err := io.WriteString(w, trimEnds(b.String()))
			return err
		}
		fmt.Fprintf(&b, "\nExit status:\n")
		for i, meaning := range []string{c.Annotations["yes"], c.Annotations["no"], "", c.Annotations["unknown"]} {
			if meaning != "" {
				fmt.Fprintf(&b, "  %d  %s\n", i, strings.ReplaceAll(text.WrapSoft(meaning, width-5), "\n", "\n     "))
			}
		}
	}
	_, err := io.WriteString(w, trimEnds(b.String()))
	return err
}

// optionsOf returns the verb that describes the flags of every verb.
func optionsOf(root *cobra.Command, std stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "options", Short: "the flags of every verb", Long: "Describes the flags of every verb.", Args: cobra.NoArgs,
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		RunE: func(*cobra.Command, []string) error {
			shown := pflag.NewFlagSet("", pflag.ContinueOnError)
			shown.SortFlags = false
			root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
				one := *f
				one.Hidden = false
				shown.AddFlag(&one)
			})
			width := std.screen.Width
			if width == 0 {
				width = helpWidth
			}
			_, err := io.WriteString(std.out, trimEnds(shown.FlagUsagesWrapped(width)))
			return err
		},
	}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { _ = c.RunE(c, nil) })
	return c
}

// trimEnds takes away the blanks at the ends of lines.
func trimEnds(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
