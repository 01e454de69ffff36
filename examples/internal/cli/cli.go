// Package cli is what the command lines of the examples have in common.
package cli

import (
	"flag"
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
