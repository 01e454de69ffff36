package main

import (
	"io"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
)

// Each command of the documentation is one that the program understands; what they compute takes long.
func TestCommandsOfTheDocumentation(t *testing.T) {
	list := golden.Commands(t, "../..", "replay", "$i", "0", "$W", "philly-vc")
	for _, args := range list {
		if _, err := parse(args, io.Discard); err != nil && !(len(args) > 0 && args[len(args)-1] == "-h") {
			t.Errorf("replay %q: %v", args, err)
		}
	}
	if len(list) < 8 {
		t.Errorf("only %d commands are found: %q", len(list), list)
	}
}
