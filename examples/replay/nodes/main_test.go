package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
)

const header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pods.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func ran(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, &out, &errs, cli.Screen{})
	return status, out.String(), errs.String()
}

// Two nodes of eight GPUs, each with a pod, of which one takes five. A pod of eight comes, of a higher priority. If the other pod takes
// three, it moves to the first node, and nothing is evicted; if it takes five, it has no place.
func TestMovesShortenTheWait(t *testing.T) {
	pods := func(small string) string {
		return header + "a,1000,1,5,1000,,BE,Running,0,100000,0\n" + "b,1000,1," + small + ",1000,,BE,Running,1,100000,1\n" +
			"early,1000,1,3,1000,,LS,Running,0,200,0\nfill,1000,1,5,1000,,LS,Running,0,200,0\n" + "c,1000,1,8,1000,,LS,Running,300,90000,300\n"
	}
	row := func(out, policy string) []string {
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) > 3 && f[2] == policy {
				return f
			}
		}
		t.Fatalf("no row of %s:\n%s", policy, out)
		return nil
	}
	for small, want := range map[string][]string{"5": {"1", "0"}, "3": {"0", "1"}} {
		status, out, errs := ran(t, "-pods", file(t, pods(small)), "-speed", "1", "-load", "100")
		if status != 0 {
			t.Fatal(errs)
		}
		if wait, moves := row(out, "wait"), row(out, "moves"); !slices.Equal(moves[6:8], want) || moves[3] == wait[3] {
			t.Errorf("with %s GPUs:\n%s", small, out)
		}
	}
}

func TestSameInputSameOutput(t *testing.T) {
	var pods strings.Builder
	pods.WriteString(header)
	for i := range 60 {
		fmt.Fprintf(&pods, "p%d,1000,1,%d,1000,,%s,Running,%d,%d,%d\n", i, 1+i*i%8, []string{"LS", "BE"}[i%2], 100*i, 100*i+5000+700*(i%9), 100*i)
	}
	args := []string{"-pods", file(t, pods.String()), "-load", "100", "-speed", "1"}
	_, first, _ := ran(t, args...)
	if _, again, _ := ran(t, args...); again != first || !strings.Contains(first, "60 pods") {
		t.Errorf("%s\n%s", first, again)
	}
}

func TestBadInput(t *testing.T) {
	for want, args := range map[string][]string{
		`-load "fast": want percentages`:  {"-load", "fast"},
		`-speed 0: want 1 to 1000`:        {"-speed", "0"},
		`"more": want no arguments`:       {"more"},
		`no such file`:                    {"-pods", "/nonexistent"},
		`no column "num_gpu"`:             {"-pods", file(t, "name\n")},
		`line 2: num_gpu "x": want a who`: {"-pods", file(t, header+"a,1,1,x,1000,,LS,Running,0,1,0\n")},
		`line 2: qos "?" is unknown`:      {"-pods", file(t, header+"a,1,1,1,1000,,?,Running,0,1,0\n")},
		`no pod wants GPUs`:               {"-pods", file(t, header)},
	} {
		status, out, errs := ran(t, args...)
		if status != 2 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", args, status, errs, want)
		}
	}
}
