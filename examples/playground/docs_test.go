package main

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/examples/playground/site"
)

// Each command of the documentation serves or writes the page, here without its programs and on any free port.
func TestCommandsOfTheDocumentation(t *testing.T) {
	build := func() (site.Programs, error) { return site.Programs{Wasm: []byte("w"), Worker: []byte("s")}, nil }
	serve := func(l net.Listener, _ http.Handler) error { return l.Close() }
	for _, c := range golden.Commands(t, "../..", "playground", nil, "DIR", filepath.Join(t.TempDir(), "page")) {
		var out, bad strings.Builder
		if status := command(append(c.Args, "-addr", "127.0.0.1:0"), &out, &bad, build, serve); status != 0 || out.Len() == 0 {
			t.Errorf("%s: playground %q: status %d, %s", c.Page, c.Args, status, &bad)
		}
	}
}
