package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"extra"}, "unexpected argument"},
		{[]string{"-addr", "0.0.0.0:80"}, "this machine alone"},
		{[]string{"-addr", "example.org:80"}, "this machine alone"},
		{[]string{"-addr", "localhost"}, "this machine alone"},
		{[]string{"-odd"}, "not defined"},
	} {
		var out, bad bytes.Buffer
		if err := run(c.args, &out, &bad, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the WebAssembly")
	}
	dir := t.TempDir()
	var out, bad bytes.Buffer
	if err := run([]string{"-build", dir + "/site"}, &out, &bad, nil); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir + "/site")
	if err != nil || len(files) < 10 {
		t.Errorf("%d files, %v", len(files), err)
	}
	served := false
	err = run([]string{"-addr", "127.0.0.1:0"}, &out, &bad, func(l net.Listener, h http.Handler) error {
		served = h != nil
		return l.Close()
	})
	if err != nil || !served || !strings.Contains(out.String(), "http://127.0.0.1:") {
		t.Errorf("%v: %s", err, out.String())
	}
}
