package main

import (
	"io"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
)

// Each command of the documentation is one that the program understands; what they compute takes long.
func TestCommandsOfTheDocumentation(t *testing.T) {
	understands := func(args []string) error {
		_, err := parse(args, io.Discard)
		return err
	}
	golden.AreUnderstood(t, "bench", 3, understands, "$i", "0", "$W", "philly-vc")
}
