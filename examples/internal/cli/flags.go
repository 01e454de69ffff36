package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// helpWidth is the width of the help of a program.
const helpWidth = 100

// long are the names, in every program, of what has a letter.
var long = map[string]string{"f": "file", "o": "output", "m": "manifest"}

// Parse parses arguments in the grammar of all programs: flags with one dash or two stand where they like, and what follows -- is no flag.
// For -h it prints the usage, examples and all flags, for -version the version, and returns [flag.ErrHelp]; any other error has the usage
// in its line. Examples are without the name of the program.
func Parse(flags *flag.FlagSet, args []string, usage string, stdout io.Writer, examples ...string) error {
	version := flags.Bool("version", false, "print the version")
	set := pflag.NewFlagSet(flags.Name(), pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	flags.VisitAll(func(f *flag.Flag) { set.AddFlag(longFlag(flags, f)) })
	err := set.Parse(LongFlags(args, func(name string) bool {
		f := set.Lookup(name)
		if f == nil && len(name) == 1 {
			f = set.ShorthandLookup(name)
		}
		return f != nil && f.NoOptDefVal == ""
	}))
	switch {
	case err == nil && *version:
		fmt.Fprintln(stdout, flags.Name(), Version())
		return versionSaid{}
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintln(stdout, usage)
		if len(examples) > 0 {
			fmt.Fprintf(stdout, "\nExamples:\n")
		}
		for _, e := range examples {
			fmt.Fprintln(stdout, strings.TrimRight("  "+flags.Name()+" "+e, " "))
		}
		fmt.Fprintf(stdout, "\nFlags:\n%s", set.FlagUsagesWrapped(helpWidth))
		return flag.ErrHelp
	case err != nil:
		return fmt.Errorf("%w; %s", err, usage)
	}
	return flags.Parse(append([]string{"--"}, set.Args()...))
}

// longFlag is a flag as pflag has it. It sets the flag that it is made of.
func longFlag(flags *flag.FlagSet, f *flag.Flag) *pflag.Flag {
	made := &pflag.Flag{Name: f.Name, Usage: f.Usage, Value: setter{flags, f}, DefValue: f.DefValue}
	if len(f.Name) == 1 {
		made.Shorthand = f.Name
		if name := long[f.Name]; name != "" {
			made.Name = name
		}
	}
	if isBool(f) {
		made.NoOptDefVal = "true"
	}
	return made
}

// isBool reports whether a flag needs no value.
func isBool(f *flag.Flag) bool {
	b, is := f.Value.(interface{ IsBoolFlag() bool })
	return is && b.IsBoolFlag()
}

// setter sets a flag.
type setter struct {
	flags *flag.FlagSet
	of    *flag.Flag
}

func (s setter) String() string {
	if s.of == nil {
		return ""
	}
	return s.of.Value.String()
}

func (s setter) Set(text string) error { return s.flags.Set(s.of.Name, text) }

func (s setter) Type() string {
	if isBool(s.of) {
		return "bool"
	}
	name, _ := flag.UnquoteUsage(s.of)
	return name
}

// LongFlags turns flags such as -workload into --workload: with one dash they would be several flags of one letter. What follows a flag that
// takes a value is left as it is.
func LongFlags(args []string, takesValue func(name string) bool) []string {
	long := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(long, args[i:]...)
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && len(name) > 1 {
			arg = "-" + arg
		}
		long = append(long, arg)
		if strings.HasPrefix(arg, "-") && !hasValue && takesValue(name) && i+1 < len(args) {
			i++
			long = append(long, args[i])
		}
	}
	return long
}
