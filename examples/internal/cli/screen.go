package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// usualWidth is the width of a terminal that does not say.
const usualWidth = 80

// leastWidth is the narrowest width that tables are made for.
const leastWidth = 40

// Screen is where output goes. The zero value has no limit of width, no colour and shows no
// progress.
type Screen struct {
	Width    int       // in columns; zero: as wide as needed
	All      bool      // details are wanted that are left out otherwise
	Terminal bool      // the output is a terminal
	Colour   bool      // the output may be coloured
	Progress io.Writer // where progress is shown; nil: nowhere
}

// ScreenOf returns the screen of a process. A pipe or a file gets lines as wide as needed: what reads them wants
// whole names. Colour is for terminals alone, and never if
// NO_COLOR is set (https://no-color.org) or the terminal is dumb. Progress is shown if
// standard error is a terminal.
func ScreenOf(stdout, stderr *os.File, env func(string) string) Screen {
	var s Screen
	if term.IsTerminal(int(stdout.Fd())) {
		s.Width = usualWidth
		if width, _, err := term.GetSize(int(stdout.Fd())); err == nil && width > 0 {
			s.Width = max(width, leastWidth)
		}
		s.Terminal, s.Colour = true, mayColour(env)
	}
	if term.IsTerminal(int(stderr.Fd())) {
		s.Progress = stderr
	}
	return s
}

// mayColour reports whether a terminal with this environment gets colours.
func mayColour(env func(string) string) bool { return env("NO_COLOR") == "" && env("TERM") != "dumb" }
