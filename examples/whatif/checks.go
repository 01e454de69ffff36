package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption/explain"
)

// Below each change that would make a yes of a no stands the command that asks about it. It has the flags of the command line that name
// the input and the question, and those of the change.

// given is a flag of the command line with its values, each as a word of a shell; a switch has none.
type given struct {
	name   string
	values []string
}

// notAsked are the flags that say how an answer is printed, or which one is asked for.
var notAsked = []string{"output", "width", "help", "workload", "all", "tree"}

// flagsGiven lists the flags of the command line that a command about the same input has, too.
func flagsGiven(c *cobra.Command) (list []given) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(notAsked, f.Name) {
			return
		}
		g := given{name: f.Name, values: []string{f.Value.String()}}
		if several, is := f.Value.(pflag.SliceValue); is {
			g.values = several.GetSlice()
		}
		switch {
		case f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal:
			g.values = nil
		case f.NoOptDefVal != "":
			g = given{name: f.Name + "=" + f.Value.String()}
		case f.Name == "file":
			g.name = "f"
		case f.Name == "namespace":
			g.name = "n"
		}
		list = append(list, g)
	})
	return list
}

// asksOf returns the flags with which ask answers after a change, and those of the command line whose place they take. None: no flag makes it.
func (o *options) asksOf(w *explain.Way) (flags []given, instead []string) {
	one := func(name, value string, instead ...string) ([]given, []string) {
		return []given{{name, []string{value}}}, instead
	}
	switch w.Kind {
	case explain.WayTime:
		return one("at", w.At.UTC().Format(time.RFC3339Nano), "at", "in")
	case explain.WayPriority:
		return one("priority", fmt.Sprint(w.Priority), "priority")
	case explain.WayReplicas:
		if o.request != "" {
			return one("count", fmt.Sprint(w.Replicas), "count")
		}
		return one("replicas", fmt.Sprint(w.PodSet, "=", w.Replicas))
	case explain.WayGates:
		return []given{{name: "open-gates"}}, nil
	case explain.WayFlavor:
		return one("flavor", w.Flavor, "flavor")
	case explain.WayPolicy:
		for policy := range strings.SplitSeq(w.Policy, ",") {
			flags = append(flags, given{"policy", []string{fmt.Sprintf("%s:%s=%v", w.Queue, policy, w.Value)}})
		}
	case explain.WayBorrowing:
		for _, m := range w.Borrowing {
			flags = append(flags, given{"quota", []string{fmt.Sprintf("%s:%s:%s:borrowingLimit=+%s", w.Queue, m.Flavor, m.Resource, units.Exact(m.Resource, m.Amount))}})
		}
	case explain.WayNominal:
		for _, m := range w.Nominal {
			flags = append(flags, given{"quota", []string{fmt.Sprintf("%s:%s:%s=+%s", w.Queue, m.Flavor, m.Resource, units.Exact(m.Resource, m.Amount))}})
		}
	}
	return flags, nil
}

// commands writes commands about the input and the workload of the command line.
type commands struct {
	options  *options
	program  string
	piped    bool                        // the input is standard input
	workload string                      // that is asked about
	behind   func(w *explain.Way) string // what of a quota has no hardware behind it; empty: all has, or it is not known
	named    bool                        // by the command, too; else the input or -request says it
}

func (o *options) commands(a *answer, std stdio) *commands {
	c := a.commands(o, std)
	c.workload = strings.TrimSuffix(a.request.Workload.ID, kai.More)
	c.behind = a.behind
	c.named = o.request == "" && (o.workload != "" || a.Recorded == nil)
	return c
}

// commands writes commands about the cluster that the command line names.
func (c *cluster) commands(o *options, std stdio) *commands {
	piped := slices.Contains(o.files, "-") || c.Sample == "" && len(o.files) == 0 && !o.reads(std)
	return &commands{options: o, program: cmp.Or(c.command, "go run ./examples/whatif"), piped: piped}
}

// ask is the command that asks about the workload with more flags, in place of some of the command line.
func (c *commands) ask(more []given, instead ...string) []string {
	operand := ""
	if c.named {
		operand = c.workload
	}
	return c.write("ask", operand, more, instead...)
}

// ofAsk are the flags of ask that diff has not, or has for something else.
var ofAsk = []string{"request", "open-gates", "queue", "priority", "count", "name", "replicas", "flavor"}

// diff are the flags with which diff says who gains by a change, and who loses, with a name of the change; empty: no flag of diff makes it.
func (c *commands) diff(w *explain.Way) (change string, flags []given) {
	flags, _ = c.options.asksOf(w)
	switch w.Kind {
	case explain.WayNominal:
		change = "the quota"
	case explain.WayBorrowing:
		change = "the borrowing limit"
	case explain.WayPolicy:
		change = "the policy"
	case explain.WayPriority:
		if c.options.request == "" {
			change, flags = "the priority", []given{{"priority", []string{fmt.Sprint(c.workload, "=", w.Priority)}}}
		}
	}
	return change, flags
}

// mostFlags is how many flags a change has, at most, for which a second command is printed.
const mostFlags = 3

// printWays prints changes, and below each the command that asks about it; then, of the first one that concerns others, the command
// that says how.
func (c *commands) printWays(b *cli.Page, s *explain.Step, ways []explain.Way) {
	b.Gap()
	b.Lines(s.Section + "\n")
	var others *explain.Way // the first change that concerns them, better one of quota
	for i, line := range s.Lines {
		if before, after, is := strings.Cut(line, " more nominal quota"); is && !b.Screen.All && len(ways[i].Nominal) > 2 {
			before, _, _ = strings.Cut(before, "\" ") // the command says how much of what
			line = before + "\" so much more nominal quota" + after
		}
		b.Lines("  " + line + "\n")
		if i >= len(ways) {
			continue
		}
		if flags, instead := c.options.asksOf(&ways[i]); len(flags) > 0 {
			printCommand(b, 4, c.ask(flags, instead...))
		}
		if text := c.behind(&ways[i]); text != "" {
			b.SayAt(4, "%s\n", text)
		}
		if others == nil || ways[i].Kind == explain.WayNominal {
			if by, _ := c.diff(&ways[i]); by != "" {
				others = &ways[i]
			}
		}
	}
	if others != nil {
		by, flags := c.diff(others)
		c.printOthers(b, by, flags)
	}
}

// printOthers prints the command that says who gains by a change, unless it is a long one that stands above for ask.
func (c *commands) printOthers(b *cli.Page, change string, flags []given) {
	if len(flags) > mostFlags {
		b.Say("diff with the same flags says who gains by %s, and who loses.\n", change)
		return
	}
	b.Say("Who gains by %s, and who loses:\n", change)
	printCommand(b, 2, c.write("diff", "", flags, ofAsk...))
}

// write returns a command as words of a shell. It takes the flags of the command line but those with the names in without.
func (c *commands) write(verb, operand string, more []given, without ...string) (words []string) {
	if c.piped {
		words = append(words, "...", "|") // what was piped in
	}
	words = append(append(words, strings.Fields(c.program)...), verb)
	if operand != "" {
		words = append(words, quoted(operand))
	}
	kept := slices.DeleteFunc(slices.Clone(c.options.given), func(g given) bool {
		name, _, _ := strings.Cut(g.name, "=")
		return slices.Contains(without, name)
	})
	for _, g := range append(kept, more...) {
		if len(g.values) == 0 {
			words = append(words, "-"+g.name)
		}
		for _, v := range g.values {
			words = append(words, "-"+g.name+" "+quoted(v)) // in one line
		}
	}
	return words
}

// quoted is a word of a shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=+,@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// printCommand prints a command that can be copied: a line that goes on below ends as a shell wants it, and no word is shortened.
func printCommand(b *cli.Page, indent int, words []string) {
	space, column := strings.Repeat(" ", indent), 0
	for i, word := range words {
		word = printable.Line(word)
		switch need := len(word) + 3; { // and what may follow: a space and a backslash
		case i == 0:
			b.WriteString(space + word)
			column = indent + len(word)
		case b.Screen.Width > 0 && column+need > b.Screen.Width:
			b.WriteString(" \\\n" + space + "  " + word)
			column = indent + 2 + len(word)
		default:
			b.WriteString(" " + word)
			column += 1 + len(word)
		}
	}
	b.WriteByte('\n')
}
