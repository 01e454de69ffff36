package main

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/examples/playground/site"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"extra"}, `unexpected argument "extra"; usage: playground`},
		{[]string{"-addr", "0.0.0.0:80"}, "this machine alone"},
		{[]string{"-addr", "example.org:80"}, "this machine alone"},
		{[]string{"-addr", "localhost"}, "this machine alone"},
		{[]string{"-odd"}, "unknown flag: --odd; usage: playground"},
		{[]string{"-addr", "\x1b[31m\n"}, `-addr "\x1b[31m\n"`},
		{[]string{"-build"}, "flag needs an argument"},
	} {
		var out, bad bytes.Buffer
		if status := command(c.args, &out, &bad, nil, nil); status != 2 || out.Len() > 0 || !strings.Contains(bad.String(), c.want) || strings.Count(bad.String(), "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q, want %s", c.args, status, out.String(), bad.String(), c.want)
		}
	}
	for _, arg := range []string{"-h", "-help", "--help"} {
		var out, bad bytes.Buffer
		if status := command([]string{arg}, &out, &bad, nil, nil); status != 0 || bad.Len() > 0 || !strings.HasPrefix(out.String(), "usage: playground") || !strings.Contains(out.String(), "-build DIR") {
			t.Errorf("%s: status %d, %q, %q", arg, status, out.String(), bad.String())
		}
		golden.Help(t, out.String())
	}
}

// The page is written or served with the programs that are built; the tests in browser build the real ones.
func TestRun(t *testing.T) {
	build := func() (site.Programs, error) {
		return site.Programs{Wasm: []byte("wasm"), Worker: []byte("script")}, nil
	}
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run([]string{"-build", dir + "/site"}, &out, build, nil); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir + "/site")
	if err != nil || len(files) < 10 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if wasm, err := os.ReadFile(dir + "/site/cede.wasm.gz"); err != nil || string(wasm) != "wasm" {
		t.Errorf("the program is %q, %v", wasm, err)
	}
	served := false
	err = run([]string{"-addr", "127.0.0.1:0"}, &out, build, func(l net.Listener, h http.Handler) error {
		served = h != nil
		return l.Close()
	})
	if err != nil || !served || !strings.Contains(out.String(), "http://127.0.0.1:") {
		t.Errorf("%v: %s", err, out.String())
	}
	fails := func() (site.Programs, error) { return site.Programs{}, errors.New("no tool") }
	if err := run(nil, &out, fails, nil); err == nil || err.Error() != "no tool" {
		t.Errorf("without the tool: %v", err)
	}
}
