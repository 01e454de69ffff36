package main

import (
	"os"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
)

// Each command of the documentation runs as it is written, on the events of the example.
func TestCommandsOfTheDocumentation(t *testing.T) {
	for _, c := range golden.Commands(t, "../..", "scheduler", nil) {
		events, err := os.Open("events.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var out, bad strings.Builder
		if status := command(c.Args, events, &out, &bad); status != 0 || out.Len() == 0 || !c.Piped {
			t.Errorf("%s: scheduler %q: status %d, %s", c.Page, c.Args, status, &bad)
		}
		events.Close()
	}
}
