package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/playground/site"
)

// Each command of the documentation runs as it is written: it is neither bad usage nor bad input. The cluster is the sample,
// and so are the files that the reader has.
func TestCommandsOfTheDocumentation(t *testing.T) {
	build := buildPage
	t.Cleanup(func() { buildPage = build })
	buildPage = func() (site.Programs, error) { return site.Programs{Wasm: []byte("w"), Worker: []byte("s")}, nil }
	fakeKubectl(t, string(theSample()), "", "")
	_, connect := fakeServer(t, string(theSample()), "", "")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	tasks, _ := filepath.Glob(filepath.Join(root, "docs", "tasks", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, own := range []string{"cluster.json", "yesterday.json", "today.json", "contended.json"} {
		if err := os.WriteFile(filepath.Join(dir, own), theSample(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "examples/whatif"), os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	command := regexp.MustCompile(`(?m)^ {4,}(?:\S.* \| )?(whatif|kubectl cede|go run \./examples/whatif)( [^|>#\n]*)?(?:#.*)?$`)
	ran := 0
	for _, page := range append(slices.Concat(pages, tasks), filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range command.FindAllStringSubmatch(string(text), -1) {
			args := strings.Fields(strings.ReplaceAll(found[2], "NAMESPACE/NAME", "vision/detector-train"))
			std := stdio{screen: cli.Screen{}, name: "whatif", clock: noon, until: atOnce, connect: connect}
			if std.plugin = found[1] == "kubectl cede"; std.plugin {
				std.name = found[1]
			}
			if strings.Contains(found[0], " | ") {
				std.in = strings.NewReader(string(theSample()))
			}
			var out, bad output
			std.out, std.err = &out, &bad
			if status := run(args, std); status == 2 || out.String() == "" && !strings.Contains(found[0], "page") {
				t.Errorf("%s: %s: status %d, %q, %s", filepath.Base(page), found[0], status, out.String(), &bad)
			}
			ran++
		}
	}
	if ran < 15 {
		t.Errorf("only %d commands are found", ran)
	}
}

// atOnce is the context of a user who interrupts at once.
func atOnce() (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx, stop
}
