// Package cli is what the command lines of the examples have in common.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// The exit statuses of a program that answers a question about a cluster.
const (
	StatusYes     = 0
	StatusNo      = 1 // no, not yet, or held
	StatusBad     = 2 // bad usage or input
	StatusUnknown = 3 // the answer depends on something that cannot be read or is not supported
)

// Unknown is the verdict of an answer with StatusUnknown.
const Unknown = "unknown"

// Parse parses arguments. For -h it prints the usage and all flags, for -version the version, and returns
// [flag.ErrHelp]; any other error has the usage in its line.
func Parse(flags *flag.FlagSet, args []string, usage string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	version := flags.Bool("version", false, "print the version")
	err := flags.Parse(args)
	switch {
	case err == nil && *version:
		fmt.Fprintln(stdout, flags.Name(), Version())
		return versionSaid{}
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

// versionSaid is [flag.ErrHelp] to those who end without a fault, and not to those who have more to say as help.
type versionSaid struct{}

func (versionSaid) Error() string        { return "the version was asked for" }
func (versionSaid) Is(target error) bool { return target == flag.ErrHelp }

// Piped returns standard input; nil where that is a terminal.
func Piped() io.Reader {
	if info, err := os.Stdin.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	return os.Stdin
}
