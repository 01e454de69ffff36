package offline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/history/historytest"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
)

var (
	lives   = flag.Int("lives", 12, "how many clusters kube-scheduler lets live")
	first   = flag.Uint64("first", 1, "the first of their seeds")
	program = flag.String("whatif", "", "the `PROGRAM` to hold to kube-scheduler; whatif of this tree if it is not given")
)

// kubeScheduler decides as kube-scheduler itself.
func kubeScheduler(t *testing.T) historytest.Scheduler {
	return func(objects []byte, pod string, _ time.Time) (d historytest.Decision, err error) {
		var o offline.Objects
		if _, err := input.Read([]input.Source{{Name: "objects", Reader: bytes.NewReader(objects)}}, input.Options{Lost: o.Lose}, o.Add); err != nil {
			return d, err
		}
		if len(o.Odd) > 0 {
			return d, fmt.Errorf("%+v", o.Odd)
		}
		if err := o.SetFeatures(false); err != nil {
			return d, err
		}
		a, err := offline.Run(t.Context(), &o, offline.Question{Pod: pod}, nil)
		switch {
		case err != nil:
			return d, err
		case a.Outcome == offline.Fits:
			d.Node = a.Nodes[pod]
		case a.Outcome == offline.Preempts && len(a.Victims) > 0:
			d.Node, d.Victims = a.Nodes[pod], a.Victims
		case a.Outcome == offline.Failed, a.Outcome == offline.NotTried:
			return d, errors.New(a.Message)
		}
		return d, nil
	}
}

// In clusters that kube-scheduler lets live whatif audit accuses nobody of what it preempts, and finds a victim more.
func TestKubeSchedulerIsNotAccused(t *testing.T) {
	clusters := *lives
	if testing.Short() {
		clusters = min(clusters, 2)
	}
	if *program == "" {
		*program = filepath.Join(t.TempDir(), "whatif")
		build := exec.Command("go", "build", "-o", *program, "./whatif")
		build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	verdicts, spoilt, unknown := map[string]int{}, map[string]int{}, map[string]int{}
	for seed := *first; seed < *first+uint64(clusters); seed++ {
		l := historytest.New(seed, kubeScheduler(t))
		for range 30 {
			if err := l.Step(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		left := maps.Clone(l.Preempted)
		for _, p := range audited(t, l.Lines) {
			key := p.At.UTC().Format(time.RFC3339) + " " + p.Preemptor
			counts := verdicts
			if l.Spoilt[key] {
				counts = spoilt
			}
			counts[p.Verdict]++
			delete(left, key)
			switch {
			case p.Verdict == "Unknown":
				words := strings.Fields(p.Unknown)
				unknown[strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "/-0123456789") }), " ")]++
			case l.Spoilt[key] == (p.Verdict == "Right"):
				t.Errorf("seed %d, %s, of %v: %s, spoilt: %v", seed, key, l.Preempted[key], p.Verdict, l.Spoilt[key])
			}
		}
		for key, victims := range left {
			t.Errorf("seed %d, %s, of %v: not found", seed, key, victims)
		}
	}
	t.Log("of kube-scheduler:", verdicts, "with a victim more:", spoilt)
	for _, why := range slices.Sorted(maps.Keys(unknown)) {
		t.Logf("%4d %s", unknown[why], why)
	}
	if verdicts["Right"] < clusters || spoilt["TooMany"] == 0 {
		t.Error("too little is decided")
	}
}

// judgedByAudit is a preemption as whatif audit tells it.
type judgedByAudit struct {
	At                          time.Time
	Preemptor, Verdict, Unknown string
}

// audited is what whatif audit says of each preemption.
func audited(t *testing.T, lines []string) []judgedByAudit {
	t.Helper()
	ask := exec.Command(*program, "audit", "-f", "-", "-o", "json")
	var out, said bytes.Buffer
	ask.Stdin, ask.Stdout, ask.Stderr = strings.NewReader(strings.Join(lines, "\n")), &out, &said
	var exit *exec.ExitError
	if err := ask.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 2) {
		t.Fatalf("%v: %s", err, said.String())
	}
	var a struct{ Preemptions []judgedByAudit }
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a.Preemptions
}
