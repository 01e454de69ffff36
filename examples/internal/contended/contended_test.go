package contended_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/contended"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/lint"
	"github.com/cedesched/cede/preemption"
)

// read reads a world as whatif does.
func read(t testing.TB, w contended.World) *answers.Cluster {
	var text bytes.Buffer
	if err := w.Write(&text); err != nil {
		t.Fatal(err)
	}
	in, err := answers.Read([]input.Source{{Name: "contended", Reader: &text}}, "")
	if err != nil {
		t.Fatal(err)
	}
	c := &answers.Cluster{Input: in, Now: contended.Now}
	c.ShareAsFound()
	c.Config.MaxBlockers = answers.MaxBlockers
	if c.Snapshot, err = preemption.NewSnapshot(in.State); err != nil {
		t.Fatal(err)
	}
	if c.Preemptor, err = preemption.New(c.Config); err != nil {
		t.Fatal(err)
	}
	return c
}

func lintOf(c *answers.Cluster) *lint.Cluster {
	in := &lint.Cluster{State: c.State, Snapshot: c.Snapshot, Config: c.Config, LocalQueues: c.Found.LocalQueues, Notes: c.Found.Notes, Now: c.Now}
	for _, w := range c.Waiting(nil) {
		in.Pending = append(in.Pending, w.Workload)
	}
	return in
}

var (
	small = contended.World{Queues: 40, Running: 400, Waiting: 1000, Seed: 1}
	large = contended.World{Queues: 200, Running: 20_000, Waiting: 10_000, Seed: 1}
)

// The world is what it says: the same each time, read without a note, and without room for almost all that waits. Workloads of
// one shape are decided about once.
func TestWorld(t *testing.T) {
	var one, two bytes.Buffer
	if small.Write(&one) != nil || small.Write(&two) != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("another text the second time")
	}
	c := read(t, small)
	if len(c.State.Admitted) != small.Running || len(c.Found.Pending) != small.Waiting || len(c.Found.Warnings) > 0 || c.Sharing == "" {
		t.Fatalf("%d run, %d wait, %q, %q", len(c.State.Admitted), len(c.Found.Pending), c.Found.Warnings, c.Sharing)
	}
	decided, fits := map[*answers.Short]bool{}, 0
	_, err := c.ShortenAll(context.Background(), c.Waiting(nil), 0, func(_ int, s *answers.Short) {
		if decided[s] = true; s.Outcome == "Fits" {
			fits++
		}
	})
	if err != nil || fits > small.Waiting/20 || len(decided) > small.Waiting*9/10 || len(decided) < small.Waiting/2 {
		t.Errorf("%d fit, %d decisions, %v", fits, len(decided), err)
	}
}

// Worlds of all shapes are read without a warning.
func TestShapes(t *testing.T) {
	for _, name := range contended.Shapes {
		w := contended.World{Queues: 10, Running: 100, Waiting: 60, Seed: 1}
		var err error
		if w.Shape, err = contended.ShapeOf(name); err != nil {
			t.Fatal(err)
		}
		c := read(t, w)
		if len(c.State.Admitted) != w.Running || len(c.Found.Pending) != w.Waiting || len(c.Found.Warnings) > 0 || w.Classical == (c.Sharing != "") {
			t.Errorf("%s: %d run, %d wait, %q, %q", name, len(c.State.Admitted), len(c.Found.Pending), c.Found.Warnings, c.Sharing)
		}
		list, behind := c.Waiting(nil), 0
		c.Line(list)
		for i := range list {
			if list[i].Behind != "" {
				behind++
			}
		}
		if w.Strict != (behind > w.Waiting/2) {
			t.Errorf("%s: %d stand behind a head", name, behind)
		}
	}
	if _, err := contended.ShapeOf("round"); err == nil {
		t.Error("a shape that is not there")
	}
}

// The answers about a whole cluster are within their limits: each queue has some.
func TestLimits(t *testing.T) {
	c := read(t, small)
	queues, looked := map[string]bool{}, 0
	list := c.Waiting(nil)
	_, err := c.ShortenAll(context.Background(), list, 200_000, func(i int, s *answers.Short) {
		if s != nil {
			queues[list[i].Workload.Queue], looked = true, looked+1
		}
	})
	if err != nil || len(queues) != small.Queues || looked > small.Waiting*3/4 {
		t.Errorf("%d answers in %d queues, %v", looked, len(queues), err)
	}
}

// A whole cluster of 30,000, of which 10,000 wait, within the usual limits.
func BenchmarkOverview(b *testing.B) {
	c := read(b, large)
	for b.Loop() {
		looked := 0
		_, err := c.ShortenAll(context.Background(), c.Waiting(nil), answers.MaxSteps, func(_ int, s *answers.Short) {
			if s != nil {
				looked++
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(looked), "answers")
	}
}

func BenchmarkLint(b *testing.B) {
	c := read(b, large)
	for b.Loop() {
		if _, err := lint.Run(lintOf(c)); err != nil {
			b.Fatal(err)
		}
	}
}
