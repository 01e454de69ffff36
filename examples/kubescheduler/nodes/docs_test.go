package main

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

// Each command of the documentation runs on the sample as it is written.
func TestCommandsOfTheDocumentation(t *testing.T) {
	list := golden.Commands(t, "../../..", "nodes", []string{`./cede-nodes`}, "NAMESPACE/NAME", "web/nightly", "LABEL", "rack")
	for _, c := range list {
		var out, bad strings.Builder
		if status := run(c.Args, nil, &out, &bad, cli.Screen{}); status == 2 || out.Len() == 0 {
			t.Errorf("%s: nodes %q: status %d, %s", c.Page, c.Args, status, bad.String())
		}
	}
	if len(list) < 3 {
		t.Errorf("only %d commands are found", len(list))
	}
}
