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

	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

func TestClear(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		status int
	}{
		"clear":       {[]string{"clear", "-count", "2"}, 0},
		"clear-all":   {[]string{"clear", "-count", "4"}, 0},
		"clear-only":  {[]string{"clear", "-count", "3", "-only", "-exact"}, 1},
		"clear-rules": {[]string{"clear", "-f", "sample.yaml", "-count", "1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := call(nil, c.args...)
			if status != c.status || stderr != "" {
				t.Errorf("status %d, want %d; stderr %q", status, c.status, stderr)
			}
			for line := range strings.Lines(stdout) {
				if n := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			golden.Check(t, name, stdout)
		})
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
		"-count 0: want at least 1":    {"clear", "-count", "0"},
		"-topology: want a label":      {"clear", "-topology", ""},
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

// Each measure by hand: two racks of two nodes of 8; rack b is empty but for a pod of its node.
func TestMeasures(t *testing.T) {
	st := placement.State{}
	for _, name := range []string{"a0", "a1", "b0", "b1", "closed"} {
		st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: workload.Resources{"gpu": 8, "cpu": 4}, Unschedulable: name == "closed"})
	}
	run := func(id, node string, gpu, cpu int64) {
		st.Pods = append(st.Pods, workload.Pod{ID: id, Node: node, Requests: workload.Resources{"gpu": gpu, "cpu": cpu}})
	}
	run("p", "a0", 5, 1)
	run("q", "a1", 1, 4) // no cpu is left
	run("driver", "b0", 0, 1)
	s, err := placement.NewSnapshot(st)
	if err != nil {
		t.Fatal(err)
	}
	domains := []placement.Domain{{Name: "a", Nodes: []string{"a0", "a1"}}, {Name: "b", Nodes: []string{"b0", "b1"}}}
	waiting := []workload.Pod{
		// On a0 one fits, and 1 of 3 is lost; on a1 7 are, without cpu; on b0 3 fit, and 2 are lost.
		{ID: "w", Requests: workload.Resources{"gpu": 2, "cpu": 1}},
		{ID: "x", Requests: workload.Resources{"gpu": 8}, Nodes: []string{"b0", "other"}},   // all but b0 is lost
		{ID: "y", Requests: workload.Resources{"cpu": 1}},                                   // wants none
		{ID: "z", Requests: workload.Resources{"gpu": 1}, Nowhere: true, Nodes: []string{}}, // all is lost
	}
	got := measure(s, "gpu", domains, func(p workload.Pod) bool { return p.ID == "driver" }, waiting)
	want := measures{Nodes: 2, Racks: 1, Largest: 8, Gang: 2, Free: 26, Waiting: 3, Unusable: (1 + 7 + 2 + 0) + (3 + 7 + 0 + 8) + 26}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The page for operators quotes what its commands print.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/clearing.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, block := range strings.Split(string(page), "```")[1:] {
		command, quoted, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		args, ok := strings.CutPrefix(command, "$ go run ./examples/nodes ")
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
	if commands != 2 {
		t.Errorf("%d commands, want 2", commands)
	}
}
