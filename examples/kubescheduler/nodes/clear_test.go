package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
)

func TestClear(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"clear":       {[]string{"clear", "-count", "2"}, 0},
		"clear-all":   {[]string{"clear", "-count", "4"}, 0},
		"clear-rules": {[]string{"clear", "-f", "sample.yaml", "-topology", "rack", "-now", "2026-11-20T08:00:00Z"}, 1},
		"clear-nodes": {[]string{"clear", "-f", "racks.yaml", "-now", "2026-11-20T08:00:00Z", "-count", "3"}, 0},
		"clear-drain": {[]string{"clear", "-node", "gpu-3", "-node", "gpu-7"}, 0},
		"clear-json":  {[]string{"clear", "-o", "json"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			width := 80
			if name == "clear-nodes" {
				width = 48
			}
			status := run(c.args, nil, &out, &err, cli.Screen{Width: width})
			stdout := out.String()
			if status != c.status || err.Len() > 0 {
				t.Errorf("status %d, want %d; stderr %q", status, c.status, err.String())
			}
			for line := range strings.Lines(stdout) {
				if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > width && name != "clear-json" {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			golden.Check(t, name, stdout)
		})
	}
}

// racksWith is the sample with other objects, and one text in place of another.
func racksWith(from, to, more string) io.Reader {
	return strings.NewReader(strings.Replace(string(racksSample), from, to, 1) + "---\n" + more)
}

// In a pipe lines are as wide as needed. The notes name the nodes that are in no rack, or that count for nothing.
func TestClearLeavesOut(t *testing.T) {
	in := racksWith("{name: gpu-7, labels: {rack: r3}}\n", "{name: gpu-7, labels: {rack: r3}}\nspec: {unschedulable: true}\n",
		"{apiVersion: v1, kind: Node, metadata: {name: extra}, status: {allocatable: {cpu: 8, nvidia.com/gpu: 2}}}\n")
	status, stdout, stderr := call(in, "clear", "-topology", "rack", "-count", "4")
	for _, want := range []string{
		"Note: in no rack, without the label rack: extra.\n",
		"Note: unschedulable, so no pod moves there: gpu-7.\n",
		"  1. stop batch/sweep-0, batch/sweep-1, batch/sweep-2, batch/sweep-3, dev/notebook, serve/chat-0, train/llm-0, train/llm-1; start batch/sweep-0 on extra\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// What cannot be read makes the answer unknown, if it is about the nodes that are emptied or filled, or about all of them.
func TestClearInDoubt(t *testing.T) {
	on := func(node string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: torn, ownerReferences: [{kind: DaemonSet, controller: true}]}, ` +
			`spec: {nodeName: ` + node + `, containers: [{resources: {requests: {cpu: many}}}]}}`
	}
	for name, c := range map[string]struct {
		more   string
		status int
	}{
		"a pod on an emptied node":  {on("gpu-2"), 3},
		"a pod on a filled node":    {on("gpu-5"), 3},
		"a pod elsewhere":           {on("gpu-6"), 0},
		"a pod that waits":          {on(`""`), 0},
		"a budget":                  {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: a, name: torn}, status: {disruptionsAllowed: many}}", 3},
		"one more that can be read": {"{apiVersion: v1, kind: Namespace, metadata: {name: a}}", 0},
	} {
		status, stdout, stderr := call(racksWith("", "", c.more), "clear", "-topology", "rack")
		if status != c.status || stderr != "" || strings.HasPrefix(stdout, "Whether as many can be emptied is unknown: ") != (status == 3) {
			t.Errorf("%s: status %d, want %d, %q\n%s", name, status, c.status, stderr, stdout)
		}
	}
}

// The picture is well-formed, whatever the names are, and shows each node twice.
func TestClearDraws(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.svg")
	cluster := strings.ReplaceAll(string(racksSample), "gpu-7", `"<g&7>"`)
	if status, _, stderr := call(strings.NewReader(cluster), "clear", "-svg", file); status != 0 || stderr != "" {
		t.Fatalf("status %d, %q", status, stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("&lt;g&amp;7&gt;")); n != 2 {
		t.Errorf("the node is there %d times, want 2", n)
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBadClear(t *testing.T) {
	for want, args := range map[string][]string{
		"usage: nodes clear":           {"clear", "-x"},
		`unexpected argument "x"`:      {"clear", "x"},
		`-o "yaml": want text or json`: {"clear", "-o", "yaml"},
		`-now "noon": want a time`:     {"clear", "-now", "noon"},
		"-count 0: want at least 1":    {"clear", "-count", "0"},
		"-node x: it is not in":        {"clear", "-node", "x"},
		"give one or the other":        {"clear", "-node", "gpu-1", "-count", "2"},
		"no node has the label zone":   {"clear", "-topology", "zone"},
		"no such file":                 {"clear", "-f", "testdata/none"},
		"no such file or directory":    {"clear", "-svg", "testdata/none/x.svg"},
		"standard input is a terminal": {"clear", "-f", "-"},
	} {
		status, stdout, stderr := call(nil, args...)
		if status != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, stdout %q, stderr %q, want %q", args, status, stdout, stderr, want)
		}
	}
}

// The page for operators quotes what its commands print.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/clearing.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, block := range strings.Split(string(page), "```")[1:] {
		command, quoted, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		args, ok := strings.CutPrefix(command, "$ cede-nodes ")
		if !ok {
			continue
		}
		commands++
		status, stdout, stderr := call(nil, strings.Fields(args)...)
		for _, part := range strings.Split(quoted, "\n\n") {
			if part = strings.TrimSuffix(part, "\n"); status > 1 || part == "" || !strings.Contains(stdout, part) {
				t.Errorf("%s: status %d, %s%s, want\n%s", command, status, stdout, stderr, part)
			}
		}
	}
	if commands != 1 {
		t.Errorf("%d commands, want 1", commands)
	}
}
