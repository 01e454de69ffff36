package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/examples/playground/site"
)

// Each command of the documentation runs as it is written: it is neither bad usage nor bad input. The cluster is the sample,
// and so are the files that the reader has.
func TestCommandsOfTheDocumentation(t *testing.T) {
	build := buildPage
	t.Cleanup(func() { buildPage = build })
	buildPage = func() (site.Programs, error) { return site.Programs{Wasm: []byte("w"), Worker: []byte("s")}, nil }
	_, connect := fakeServer(t, string(theSample()), "", "")
	list := golden.Commands(t, "../..", "whatif", []string{"whatif", "kubectl cede"}, "NAMESPACE/NAME", "vision/detector-train")
	dir := t.TempDir()
	for _, own := range []string{"cluster.json", "yesterday.json", "today.json", "contended.json"} {
		if err := os.WriteFile(filepath.Join(dir, own), theSample(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := worldOf(t, "03-victims-leaving")
	w["manager"] = deleteKind(w["manager"], "Workload") // it has sent nothing out
	clusters := w.write(t)
	for _, own := range []string{"manager.json", "a.json", "b.json"} {
		if err := os.Rename(filepath.Join(clusters, own), filepath.Join(dir, own)); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"examples/whatif": ".", "": "testdata/audit/slurm"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range list {
		std := stdio{screen: cli.Screen{}, name: "whatif", clock: noon, until: atOnce, connect: connect}
		if std.plugin = c.Program == "kubectl cede"; std.plugin {
			std.name = c.Program
		}
		if slices.Contains(c.Args, "mcp") { // an agent that goes at once
			std.in = strings.NewReader("")
		}
		if c.Piped {
			std.in = strings.NewReader(string(theSample()))
		}
		if at := slices.Index(c.Args, "NAMESPACE"); at >= 0 { // one that is there
			c.Args[at] = "vision"
		}
		var out, bad output
		std.out, std.err = &out, &bad
		if status := run(c.Args, std); status == 2 || out.String() == "" && !slices.Contains(c.Args, "page") && !slices.Contains(c.Args, "mcp") {
			t.Errorf("%s: %s %q: status %d, %q, %s", c.Page, c.Program, c.Args, status, out.String(), &bad)
		}
	}
	if len(list) < 15 {
		t.Errorf("only %d commands are found", len(list))
	}
}

// atOnce is the context of a user who interrupts at once.
func atOnce() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx, stop
}
