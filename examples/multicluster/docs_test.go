package main

import (
	"io"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
)

// Each command of the documentation is one that the program understands; another test runs the default.
func TestCommandsOfTheDocumentation(t *testing.T) {
	for _, c := range golden.Commands(t, "../..", "multicluster", nil) {
		if _, err := parse(c.Args, io.Discard); err != nil {
			t.Errorf("%s: multicluster %q: %v", c.Page, c.Args, err)
		}
	}
}
