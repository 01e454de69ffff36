package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/mutate"
)

// What is wrong with the command line or the files ends with status 2 and one line that says so.
func TestUsageOfMultiKueue(t *testing.T) {
	dir := filepath.Join(situations, "03-victims-leaving")
	manager, a, b := filepath.Join(dir, "manager.json.gz"), filepath.Join(dir, "a.json.gz"), filepath.Join(dir, "b.json.gz")
	for want, args := range map[string][]string{
		"-manager FILE is missing":          {"-worker", "a=" + a},
		"-worker NAME=FILE is missing":      {"-manager", manager},
		`-worker "a": want NAME=FILE`:       {"-manager", manager, "-worker", "a"},
		`-worker "=x": want NAME=FILE`:      {"-manager", manager, "-worker", "=x"},
		"-f and -sample are of one cluster": {"-manager", manager, "-f", a},
		"-live reads the manager":           {"-live", "-manager", manager, "-worker", "a=x"},
		"-live needs -manager-context":      {"-live", "-worker", "a=x"},
		"it needs -live":                    {"-manager-context", "x", "-worker", "a=x"},
		"MultiKueue is of Kueue":            {"-scheduler", "kai", "-manager", manager, "-worker", "a=" + a},
		"-order Fastest: want FirstSignal":  {"-order", "Fastest", "-manager", manager, "-worker", "a=" + a},
		"-grace -1s: want 0 or more":        {"-grace", "-1s", "-manager", manager, "-worker", "a=" + a},
		"-cost: want the names":             {"-cost", "", "-manager", manager, "-worker", "a=" + a},
		"-timeout 0s: want more than 0":     {"-timeout", "0", "-manager", manager, "-worker", "a=" + a},
		"b: none.json: no such file":        {"-manager", manager, "-worker", "a=" + a, "-worker", "b=none.json"},
		"worker z: the manager has no MultiKueueCluster of that name; it has a, b":                       {"-manager", manager, "-worker", "z=" + a},
		`"team-speech/none" is not among those that the manager sent out; the nearest: team-speech/job-`: {"-manager", manager, "-worker", "a=" + a, "-worker", "b=" + b, "-workload", "team-speech/none"},
		"it may be another cluster":                       {"-manager", a, "-worker", "a=" + b, "-workload", "team-speech/job-asr-large-resume-28ad2"},
		"waits in the manager, which has not sent it out": {"-manager", manager, "-worker", "a=" + a, "-workload", "team-legacy/job-old-baseline-652-c0020"},
	} {
		status, out, stderr := call(nil, append([]string{"multikueue"}, args...)...)
		if status != 2 || out != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: status %d, %q, %q, want %q", args, status, out, stderr, want)
		}
	}
}

// A cluster may be given in several files, and the manager through a pipe.
func TestFilesOfMultiKueue(t *testing.T) {
	w := worldOf(t, "03-victims-leaving")
	whole := arguments(t, w.write(t))
	_, want, _ := call(nil, whole...)
	w["a1"], w["a"] = deleteKind(w["a"], "Workload"), func() (list []map[string]any) {
		for _, o := range w["a"] {
			if o["kind"] == "Workload" {
				list = append(list, o)
			}
		}
		return list
	}()
	dir := w.write(t)
	if _, got, stderr := call(nil, append(arguments(t, dir), "-worker", "a="+filepath.Join(dir, "a1.json"))...); got != want {
		t.Errorf("in two files:\n%s%s\nin one:\n%s", got, stderr, want)
	}
	if _, names, _ := call(nil, append(whole, "-o", "name")...); names != "team-speech/job-asr-large-resume-28ad2\n" {
		t.Errorf("names: %q", names)
	}
	w["manager"] = deleteKind(w["manager"], "Workload")
	if status, got, _ := call(nil, append(arguments(t, w.write(t)), "-worker", "a="+filepath.Join(dir, "a1.json"))...); status != 0 || !strings.HasPrefix(got, "The manager has sent out no workload") {
		t.Errorf("status %d, %s", status, got)
	}
}

// With -live every cluster is read by its context, and one that has two names is noticed.
func TestLiveMultiKueue(t *testing.T) {
	calls := fakeCluster(t, string(theSample())+`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"MultiKueueConfig","metadata":{"name":"x"}}`)
	status, text, stderr := call(nil, "multikueue", "-live", "-manager-context", "hub", "-worker", "a=east", "-worker", "b=west")
	if status != 0 || stderr != "" || !strings.HasPrefix(text, "The manager has sent out no workload") {
		t.Errorf("status %d, %s, %s", status, text, stderr)
	}
	all := strings.Join(calls(), "\n")
	for _, want := range []string{"hub: multikueueconfigs.kueue.x-k8s.io", "east: workloads.kueue.x-k8s.io", "west: workloads.kueue.x-k8s.io"} {
		if !strings.Contains(all, want) {
			t.Errorf("no call has %q:\n%s", want, all)
		}
	}
	if strings.Count(all, "multikueueconfigs") != 1 {
		t.Errorf("workers are asked for more than they have:\n%s", all)
	}
	if status, _, stderr := call(nil, "multikueue", "-live", "-manager-context", "hub", "-worker", "a=east", "-worker", "a=west"); status != 2 || !strings.Contains(stderr, "-worker a is given twice") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// Spoilt objects of a manager or a worker are answered about, or refused in one line.
func TestSpoiltFilesOfMultiKueue(t *testing.T) {
	w := worldOf(t, "03-victims-leaving")
	for cluster, items := range w { // what the workload has to do with: most of the text is of others
		w[cluster] = slices.DeleteFunc(items, func(o map[string]any) bool {
			name := fmt.Sprint(o["metadata"].(map[string]any)["name"])
			return o["kind"] == "WorkloadPriorityClass" || o["kind"] == "Workload" && !strings.Contains(name, "asr-large") && !strings.Contains(name, "vad-small")
		})
	}
	dir := w.write(t)
	args := append(arguments(t, dir), "-until", "20m", "-o", "json")
	for _, spoilt := range []string{"manager", "a"} {
		file := filepath.Join(dir, spoilt+".json")
		text := must(os.ReadFile(file))(t)
		mutate.Check(t, text, 300, func(input []byte) (int, string, string) {
			if err := os.WriteFile(file, input, 0o600); err != nil {
				t.Fatal(err)
			}
			return call(nil, args...)
		})
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
