package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
)

// verb is a verb of the program.
type verb struct {
	name, short, long string
	examples          []string // without the name of the program
	yes, no, unknown  string   // what the exit statuses 0, 1 and 3 mean; empty: it never ends so
	flags             func(*cobra.Command, *options)
	// check returns what is wrong with the options before anything is read. Nil: nothing.
	check func(*cobra.Command, *options) error
	run   func(*cluster, *options, stdio) (result, error)
	own   bool // it reads its clusters itself: run gets none
	alias string
	// takes reads arguments; operand is what the usage calls them. Nil: there are none.
	takes   func(*options, *cobra.Command, []string) error
	operand string
}

// oneWorkload is the operand of a verb about one workload.
const oneWorkload = "[NAMESPACE/NAME]"

// result is the answer of a verb.
type result struct {
	status int
	print  func(*cli.Page) // nil: the verb has written its answer itself
	plain  any             // as JSON
	names  []string        // nil: the answer has none
}

// verbs are all verbs, in the order of the help. The first is run without a name, too.
func verbs() []verb {
	return []verb{askVerb, overviewVerb, nextVerb, explainVerb, lintVerb, diffVerb, settleVerb, drainVerb, safeVerb, guaranteesVerb, auditVerb, multikueueVerb, pageVerb, serveVerb, mcpVerb}
}

// newRoot returns the command line. A verb sets the status.
func newRoot(std stdio, status *int) *cobra.Command { return rootOf(verbs(), std, status) }

func rootOf(all []verb, std stdio, status *int) *cobra.Command {
	o := &options{}
	first := all[0]
	first.run = runWithoutVerb
	root := first.command(o, std, status)
	cobra.EnableCommandSorting = false // the verbs stand in the order in which they are asked for
	root.Use = strings.ReplaceAll(std.name, " ", "-")
	root.Example = examplesOf([]string{"overview -live -n NAMESPACE", "why -live NAMESPACE/NAME", "ask -live -request nvidia.com/gpu=8 -queue QUEUE"}, std)
	root.Annotations[cobra.CommandDisplayNameAnnotation] = std.name
	root.Long = about
	root.Version = cli.Version()
	root.SetVersionTemplate("{{.DisplayName}} {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	common(root, o, std)
	for i := range all {
		root.AddCommand(all[i].command(o, std, status))
	}
	root.AddCommand(optionsOf(root, std), completion(root, std))
	return root
}

// runWithoutVerb answers about the workload that the command line, a Record or the sample asks about, else about all.
func runWithoutVerb(c *cluster, o *options, std stdio) (result, error) {
	if o.workload == "" && o.request == "" && c.Recorded == nil && answers.SampleAsks[c.Sample] == "" {
		return overviewVerb.run(c, o, std)
	}
	return askVerb.run(c, o, std)
}

const about = `Answers for a cluster in its present state: what waits and why, what would change that, who has to yield? Without a verb: ask, or overview.

The input is standard input or -f FILE: Kueue's objects as kubectl prints them, KAI's, or cede's own State or Record; JSON or YAML, plain or gzip. -live reads a cluster by its API. Without any of these it is an embedded sample.`

func (v *verb) command(o *options, std stdio, status *int) *cobra.Command {
	c := &cobra.Command{
		Use: v.name, Short: v.short, Long: v.long, SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		Args:              cobra.ArbitraryArgs, // RunE says what is unexpected
		Annotations:       map[string]string{"yes": v.yes, "no": v.no, "unknown": v.unknown},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Annotations["operand"] = v.operand
	if v.alias != "" {
		c.Aliases = []string{v.alias}
	}
	c.Example = examplesOf(v.examples, std)
	c.Flags().SortFlags = false
	v.flags(c, o)
	if !v.own {
		completeNames(c, o, std, v.operand == oneWorkload)
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w%s; %s", plainly(err), meant(c, err), usageLine(c))
	})
	c.SetUsageFunc(func(c *cobra.Command) error { return printUsage(c.OutOrStdout(), c, std.screen.Width) })
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(c.OutOrStdout(), c, std.screen.Width) })
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
		case v.takes == nil, !c.HasParent() && !strings.Contains(args[0], "/"):
			return unexpected(c, args[0])
		default:
			if err := v.takes(o, c, args); err != nil {
				return err
			}
		}
		if err := o.check(c); err != nil {
			return err
		}
		if v.check != nil {
			if err := v.check(c, o); err != nil {
				return err
			}
		}
		var loaded *cluster
		if !v.own && o.pod == "" && !o.allPods {
			var err error
			if loaded, err = load(o, std); err != nil {
				return err
			}
		}
		r, err := v.run(loaded, o, std)
		if err != nil {
			return err
		}
		*status = r.status
		return r.write(std.out, o, std.screen)
	}
	return c
}

// examplesOf are examples with the name of the program, a line each. A plugin of kubectl reads the cluster without being told.
func examplesOf(list []string, std stdio) string {
	var b strings.Builder
	for _, e := range list {
		if std.plugin {
			e = strings.TrimSpace(strings.ReplaceAll(e+" ", "-live ", ""))
		}
		b.WriteString(strings.TrimSpace(std.name+" "+e) + "\n")
	}
	return b.String()
}

func (r *result) write(w io.Writer, o *options, screen cli.Screen) error {
	switch {
	case o.output == "name" && r.plain != nil:
		if r.names == nil {
			return errors.New("-o name: this verb has no names to print: want text, wide, json or yaml")
		}
		for _, n := range r.names {
			if _, err := fmt.Fprintln(w, printable.Line(n)); err != nil {
				return err
			}
		}
		return nil
	case o.output == "json" && r.plain != nil:
		return printJSON(w, r.plain)
	case o.output == "yaml" && r.plain != nil:
		return printYAML(w, r.plain)
	case r.print == nil:
		return nil
	}
	page := &cli.Page{Screen: o.screen(screen)}
	r.print(page)
	page.SayCut()
	return page.Print(w)
}

// screen returns the screen with the width of the command line.
func (o *options) screen(s cli.Screen) cli.Screen {
	if o.width >= 0 {
		s.Width = o.width
	}
	if o.output == "wide" {
		s.Width, s.All = 0, true
	}
	return s
}

// usageLine is the usage in a line, for errors.
func usageLine(c *cobra.Command) string {
	return fmt.Sprintf("usage: %s; %s -h lists them", usage(c), c.CommandPath())
}

// usage is how a verb is called.
func usage(c *cobra.Command) string {
	if operand := c.Annotations["operand"]; operand != "" {
		return c.CommandPath() + " " + operand + " [flags]"
	}
	return c.CommandPath() + " [flags]"
}

// unexpected says what is wrong with an argument.
func unexpected(c *cobra.Command, arg string) error {
	if c.HasParent() {
		return fmt.Errorf("unexpected argument %q; %s", arg, usageLine(c))
	}
	var names []string
	for _, v := range c.Commands() {
		if !v.Hidden {
			names = append(names, v.Name())
		}
	}
	hint := similar(arg, names, "")
	if word := otherWords[arg]; word != "" {
		hint = "; did you mean " + word + "?"
	}
	return fmt.Errorf("unexpected argument %q: want a verb (%s), or a workload as NAMESPACE/NAME%s", arg, strings.Join(names, ", "), hint)
}

// plainly says what value a flag wants.
func plainly(err error) error {
	var none *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &none):
		f := none.GetFlag()
		name, _ := pflag.UnquoteUsage(f)
		return fmt.Errorf("-%s needs a value: %s", f.Name, name)
	case !errors.As(err, &bad):
	case bad.GetFlag().Value.Type() == "int64":
		return fmt.Errorf("-%s %q: want a number", bad.GetFlag().Name, bad.GetValue())
	case bad.GetFlag().Value.Type() == "duration":
		return fmt.Errorf("-%s %q: want a length of time as in 20m or 1h30m", bad.GetFlag().Name, bad.GetValue())
	}
	return err
}

// otherWords are verbs of other programs, and what they are called here.
var otherWords = map[string]string{"version": "--version", "status": "overview", "get": "overview", "list": "overview", "ls": "overview", "describe": "why", "top": "overview"}

// meant suggests a flag for one that is not known.
func meant(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return similar(unknown.GetSpecifiedName(), names, "-")
}

// similar suggests the name that is most similar to the given one, if it is similar at all.
func similar(name string, names []string, dash string) string {
	best := slices.MinFunc(names, func(a, b string) int {
		return cmp.Compare(levenshtein.ComputeDistance(name, a), levenshtein.ComputeDistance(name, b))
	})
	if levenshtein.ComputeDistance(name, best) > min(max(2, len(name)/3), len(name)-1) {
		return ""
	}
	return "; did you mean " + dash + best + "?"
}

// takesValue reports whether a flag of one of the verbs takes a value.
func takesValue(root *cobra.Command) func(name string) bool {
	return func(name string) bool {
		for _, c := range append(root.Commands(), root) {
			f := c.Flags().Lookup(name)
			if f == nil {
				f = root.PersistentFlags().Lookup(name)
			}
			if len(name) == 1 && f == nil {
				f = root.PersistentFlags().ShorthandLookup(name)
			}
			if f != nil {
				return f.NoOptDefVal == ""
			}
		}
		return false
	}
}
