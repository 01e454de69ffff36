package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

// Every verb about a crowded cluster, on screens of 80, 120 and 200 columns and in a pipe: no line is wider, no name is broken where a line
// ends, and whoever yields is told in twelve lines. In a pipe every name is whole and every row is one line.
func TestCrowdedScreens(t *testing.T) {
	const file = "crowded.json" // where it stands shows in no command
	dir, here := t.TempDir(), must(os.Getwd())(t)
	if err := os.WriteFile(filepath.Join(dir, file), []byte(crowded()), 0o600); err != nil {
		t.Fatal(err)
	}
	wants := func(i int) string {
		w := crowdedWaiting()[i]["metadata"].(fields)
		return fmt.Sprint(w["namespace"], "/", w["name"])
	}
	var ids []string
	for _, w := range append(crowdedRunning(), crowdedWaiting()...) {
		head := w["metadata"].(fields)
		ids = append(ids, fmt.Sprint(head["namespace"], "/", head["name"]))
	}
	for name, args := range map[string][]string{
		"ask":         {"ask", wants(0)},
		"ask-placed":  {"ask", wants(1)},
		"ask-no":      {"ask", wants(6)},
		"ask-unknown": {"ask", wants(3)},
		"why":         {"why", wants(0)},
		"why-no":      {"why", wants(6)},
		"overview":    {"overview"},
		"next":        {"next"},
		"lint":        {"lint"},
		"settle":      {"settle", "-quota", "foundation-models-pretraining:" + spot + ":nvidia.com/gpu=16"},
		"diff":        {"diff", "-quota", "foundation-models-pretraining:" + spot + ":nvidia.com/gpu=16", "-priority", wants(2) + "=1"},
	} {
		for _, width := range []int{80, 120, 200, 0} {
			t.Run(fmt.Sprint(name, "-", width), func(t *testing.T) {
				t.Chdir(dir)
				status, stdout, stderr := callOn(cli.Screen{Width: width}, nil, append(args, "-f", file, "-at", now)...)
				t.Chdir(here)
				if status == 2 || stderr != "" {
					t.Fatalf("status %d, %s", status, stderr)
				}
				stdout = strings.ReplaceAll(stdout, filepath.Join(dir, file), file)
				golden.Check(t, fmt.Sprintf("crowded/%s-%d", name, width), stdout)
				if width == 0 {
					if strings.Contains(stdout, "…") {
						t.Error("a name is cut in a pipe")
					}
					return
				}
				checkScreen(t, stdout, width, ids)
			})
		}
	}
}

// isWordOfCommand reports whether a line is one word of a command that can be copied, or a flag with its value: these are never shortened.
func isWordOfCommand(line string) bool {
	words := strings.Fields(strings.TrimSuffix(line, " \\"))
	return strings.HasPrefix(line, "    ") && (len(words) == 1 && strings.Contains(words[0], "/") || len(words) == 2 && strings.HasPrefix(words[0], "-"))
}

// checkScreen fails where a line is too wide, a name is broken, or victims take too many lines.
func checkScreen(t *testing.T, text string, width int, ids []string) {
	t.Helper()
	whole := map[string]bool{}
	for _, id := range ids {
		whole[id] = true
	}
	last, victims := "", -1
	for _, line := range strings.Split(text, "\n") {
		if n := runewidth.StringWidth(line); n > width && !isWordOfCommand(line) {
			t.Errorf("%d columns: %s", n, line)
		}
		before, after := strings.Fields(last), strings.Fields(line)
		if len(before) > 0 && len(after) > 0 && whole[before[len(before)-1]+strings.TrimRight(after[0], ",.:*")] {
			t.Errorf("a name is broken:\n%s\n%s", last, line)
		}
		last = line
		switch {
		case strings.HasPrefix(line, "VICTIM"):
			victims = 1
		case line == "":
			victims = -1
		case victims >= 0:
			if victims++; victims > 12 {
				t.Errorf("more than 12 lines of victims:\n%s", text)
			}
		}
	}
}
