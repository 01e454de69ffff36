// Playground is a page that shows a cluster, who must yield for a workload that waits, and what
// changes with the time, a quota, a policy or a priority. It runs in the browser, as
// WebAssembly: nothing is sent anywhere.
//
//	go run ./examples/playground               # on http://127.0.0.1:8017, with a sample
//	go run ./examples/playground -build DIR    # writes the page as static files
//
// It builds the WebAssembly with the go tool when it starts. The exit status is 2 if something
// is wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/playground/site"
)

const usage = "usage: playground [-addr ADDRESS | -build DIR]"

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr, site.Build, serve)) }

// builder makes the programs of the page.
type builder func() (site.Programs, error)

// command is main without the process. A server serves the page that is built.
func command(args []string, stdout, stderr io.Writer, build builder, serve func(net.Listener, http.Handler) error) int {
	switch err := run(args, stdout, build, serve); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "playground: %s\n", printable.Line(strings.ReplaceAll(err.Error(), "\n", "; ")))
		return 2
	}
	return 0
}

func run(args []string, out io.Writer, build builder, serve func(net.Listener, http.Handler) error) error {
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	dir := flags.String("build", "", "write the page as static files into `DIR` instead of serving it")
	address := flags.String("addr", "127.0.0.1:8017", "serve on `ADDRESS`; port 0 is any free one")
	if err := cli.Parse(flags, args, usage, out, "", "-addr 127.0.0.1:9000", "-build public"); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), usage)
	}
	if _, _, err := net.SplitHostPort(*address); err != nil || !cli.IsHere(*address) {
		return fmt.Errorf("-addr %q: want an address of this machine alone, as in 127.0.0.1:8017", *address)
	}
	programs, err := build()
	if err != nil {
		return err
	}
	files := site.Files(programs)
	if *dir != "" {
		return write(files, *dir, out)
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The page is on http://%s (end with Ctrl-C)\n", listener.Addr())
	return serve(listener, site.Handler(files))
}

func serve(l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	return s.Serve(l)
}

func write(files map[string][]byte, dir string, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d files are in %s: any static web server can serve them\n", len(files), dir)
	return nil
}
