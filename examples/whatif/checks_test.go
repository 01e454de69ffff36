package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
)

// The command below each change gives the answer that the change promises: of each workload that waits in a sample, in the incidents and in
// inputs of the tests.
func TestWaysHold(t *testing.T) {
	large := filepath.Join(t.TempDir(), "crowded.json")
	if err := os.WriteFile(large, []byte(crowded()), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs := [][]string{
		{"-f", large, "-at", "2026-11-20T12:00:00Z"},
		{"-f", "incidents.yaml", "-at", "2026-11-24T09:00:00Z"}, {"-f", "incidents.yaml", "-in", "1m", "-fair"}, {"-f", "hero.yaml"},
		{"-f", "testdata/input/teams.yaml"}, {"-f", "testdata/input/yield.yaml"}, {"-f", "testdata/input/flavors.json"},
		{"-f", "testdata/input/held.yaml", "-at", "2026-11-20T12:00:00Z"},
	}
	for _, s := range answers.Samples {
		inputs = append(inputs, []string{"-sample", s})
	}
	kinds := map[string]int{}
	for _, input := range inputs {
		for _, asked := range append(waitingIn(t, input), []string{"-request", "cpu=4,nvidia.com/gpu=40", "-queue", "vision", "-count", "2"}) {
			checkWays(t, append(asked, input...), kinds)
		}
	}
	for _, flag := range []string{"-at", "-priority", "-replicas", "-count", "-quota", "-policy"} {
		if kinds[flag] == 0 {
			t.Errorf("no command has %s: %v", flag, kinds)
		}
	}
}

// waitingIn lists what waits in an input, each as arguments that ask about it.
func waitingIn(t *testing.T, input []string) (list [][]string) {
	status, out, said := call(nil, append([]string{"overview", "-o", "json"}, input...)...)
	var all struct{ Workloads []struct{ Workload string } }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%q: status %d, %v: %s", input, status, err, said)
	}
	for _, w := range all.Workloads {
		list = append(list, []string{w.Workload})
	}
	return list
}

// checkWays runs the commands of why, and counts the flags of their changes.
func checkWays(t *testing.T, args []string, kinds map[string]int) {
	_, out, _ := call(nil, append([]string{"why"}, args...)...)
	_, ways, _ := strings.Cut(out, changeSection)
	before := ""
	for line := range strings.Lines(strings.TrimPrefix(ways, "\n")) {
		if strings.TrimSpace(line) == "" {
			break
		}
		command, is := strings.CutPrefix(strings.TrimSpace(line), "go run ./examples/whatif ")
		if !is {
			before = line
			continue
		}
		status, got, said := call(nil, append(words(command), "-o", "json")...)
		if strings.HasPrefix(command, "diff ") {
			if status == 2 {
				t.Errorf("%q: %s", command, said)
			}
			continue
		}
		var a struct {
			Verdict answers.Verdict
			Victims []struct{ Workload string }
		}
		if err := json.Unmarshal([]byte(got), &a); err != nil {
			t.Errorf("%s: status %d, %v: %s", command, status, err, said)
			continue
		}
		preempts := plural(len(a.Victims), "1 workload", "%d workloads")
		if len(a.Victims) == 1 {
			preempts = a.Victims[0].Workload
		}
		is = status == 0 && (strings.Contains(before, "it fits with") || strings.HasSuffix(before, ": it fits\n")) && len(a.Victims) == 0 ||
			status == 0 && strings.HasSuffix(before, fmt.Sprintf(": it preempts %s\n", preempts)) ||
			status == 0 && strings.Contains(before, "it fits once ") && len(a.Victims) > 0
		if !is {
			t.Errorf("%s%s: status %d, %v with %d victims", before, command, status, a.Verdict, len(a.Victims))
		}
		for _, w := range strings.Fields(command) {
			kinds[w]++
		}
	}
}

// words are the words of a command without spaces in its quotes.
func words(command string) (list []string) {
	for _, w := range strings.Fields(command) {
		list = append(list, strings.Trim(w, "'"))
	}
	return list
}

// A command is one that a shell reads as it was written.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "a/b:c=+8": "a/b:c=+8", "two words": "'two words'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a*": "'a*'", "…": "'…'",
	} {
		if got := quoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

// The commands have the input, the question and what was changed already, and go on in a line that ends in a backslash.
func TestCommandsOfWays(t *testing.T) {
	text, err := os.ReadFile("incidents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, want string
	}{
		{"-f incidents.yaml -at 2026-11-24T09:00:00Z detector", "ask vision/detector -f incidents.yaml -at 2026-11-24T09:00:00Z -replicas main=1"},
		{"-at 2026-11-24T09:00:00Z detector", "... | go run ./examples/whatif ask vision/detector -at 2026-11-24T09:00:00Z -policy vision:reclaimWithinCohort=LowerPriority"},
		{"-f - -at 2026-11-24T09:00:00Z detector -n vision", "... | go run ./examples/whatif ask vision/detector -f - -at 2026-11-24T09:00:00Z -n vision -replicas main=1"},
		{"-f incidents.yaml -at 2026-11-24T09:00:00Z -quota vision:h100:nvidia.com/gpu=+2 detector",
			"ask vision/detector -f incidents.yaml -at 2026-11-24T09:00:00Z -quota vision:h100:nvidia.com/gpu=+2 -quota vision:h100:nvidia.com/gpu=+6"},
		{"-f incidents.yaml -at 2026-11-24T09:00:00Z -request nvidia.com/gpu=8 -count 2 -queue vision -priority 10 -fair=false",
			"ask -f incidents.yaml -at 2026-11-24T09:00:00Z -request nvidia.com/gpu=8 -queue vision -priority 10 -fair=false -count 1"},
	} {
		_, out, said := call(strings.NewReader(string(text)), append([]string{"why"}, strings.Fields(c.args)...)...)
		if !strings.Contains(out, c.want+"\n") {
			t.Errorf("%s: want %s:\n%s%s", c.args, c.want, out, said)
		}
	}
	status, out, _ := call(nil, "why", "-f", "incidents.yaml", "-at", "2026-11-24T09:00:00Z", "detector", "-width", "80")
	const want = "    go run ./examples/whatif ask vision/detector -f incidents.yaml \\\n      -at 2026-11-24T09:00:00Z -replicas main=1\n"
	if status != 1 || !strings.Contains(out, want) {
		t.Errorf("status %d, want\n%s\n%s", status, want, out)
	}
}

// Flags that contradict each other, or are about no pod set, are bad usage.
func TestReplicas(t *testing.T) {
	for args, want := range map[string]string{
		"-replicas worker=none":                            "want PODSET=N",
		"-replicas worker=0":                               "want PODSET=N",
		"-replicas master=1":                               `no pod set "master"; it has: worker`,
		"-request cpu=1 -queue vision -replicas main=1":    "-count",
		"-sample kai pg-whisper-4a028110 -replicas main=1": "workloads of Kueue",
		"-count 2": "need -request",
	} {
		if status, _, said := call(nil, append([]string{"ask", "recsys/two-tower-xl"}, strings.Fields(args)...)...); status != 2 || !strings.Contains(said, want) {
			if status, _, said = call(nil, append([]string{"ask"}, strings.Fields(args)...)...); status != 2 || !strings.Contains(said, want) {
				t.Errorf("%s: status %d, %s, want %s", args, status, said, want)
			}
		}
	}
	if status, out, said := call(nil, "ask", "recsys/two-tower-xl", "-replicas", "worker=2"); status != 1 {
		t.Errorf("as many as before: status %d, %s%s", status, out, said)
	}
}
