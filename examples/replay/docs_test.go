package main

import (
	"io"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
)

// Each command of the documentation is one that the program understands; what they compute takes long.
func TestCommandsOfTheDocumentation(t *testing.T) {
	list := golden.Commands(t, "../..", "replay", nil, "$i", "0", "$W", "philly-vc")
	for _, c := range list {
		if _, err := parse(c.Args, io.Discard); err != nil && !(len(c.Args) > 0 && c.Args[len(c.Args)-1] == "-h") {
			t.Errorf("%s: replay %q: %v", c.Page, c.Args, err)
		}
	}
	if len(list) < 8 {
		t.Errorf("only %d commands are found", len(list))
	}
}
