package loop

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cedesched/cede/examples/internal/world"
)

const header = "job,vc,submit_time,scale_factor,duration,priority\n"

// traceOf is a world of jobs and quotas as they stand in files.
func traceOf(t *testing.T, settings, jobs, quotas string) *world.World {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"jobs.csv": header + jobs, "vc_nodes.csv": "vc,node num\n" + quotas} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source, s, err := world.ParseName(filepath.Join(dir, "jobs.csv") + settings)
	if err != nil {
		t.Fatal(err)
	}
	trace := must(world.Read(source, "", "", ""))(t)
	return world.New(trace, s)
}

// A job that waits for a victim on its way to a checkpoint gets the room: the victim does not
// start in it again, to be told to stop in the same second.
func TestClaimIsKept(t *testing.T) {
	for name, w := range map[string]*world.World{
		"two queues": traceOf(t, "+capacity=60", `s0,qa,0,2,22787,0
s3,qa,331,4,29918,0
gang0,qe,2914,12,3600,500
gang1,qe,7485,8,3600,500
top,qe,97485,1,60,1000
`, "qa,2\nqc,1\nqe,1\nqz,0\n"),
		"seven jobs": traceOf(t, "", `s0,qa,600,4,27197,0
s1,qa,1200,4,32940,50
s2,qc,1260,4,30736,0
s3,qa,1290,1,30073,0
s4,qc,1890,2,31334,50
gang0,qe,6684,8,600,500
gang1,qe,10922,12,600,500
top,qe,100922,1,60,1000
`, "qa,1\nqc,1\nqe,2\nqz,2\n"),
	} {
		greedy := replay(t, w, "greedy")
		for _, wait := range []string{"30s", "2m", "10m", "1h"} {
			if r := replay(t, w, "greedy+wait="+wait); r.Evictions > greedy.Evictions || len(r.Circles) > 0 {
				t.Errorf("%s, wait=%s: %d evictions, circles %v; without waits %d", name, wait, r.Evictions, r.Circles, greedy.Evictions)
			}
		}
	}
}

// A circle is reported with its jobs, also if time goes on in it; one that stands still is
// broken off.
func TestCircles(t *testing.T) {
	circle := func(name string) (Result, error) {
		source, s, err := world.ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		trace := must(world.Draw(source, s.Days, 1))(t)
		p := must(ParsePolicy("fair"))(t)
		l := must(New(world.New(trace, s), p))(t)
		return l.Run()
	}
	for name, broken := range map[string]bool{"philly-vc+days=2+capacity=50": false, "philly-vc+days=1+capacity=40+grace=0s": true} {
		r, err := circle(name)
		if broken != errors.Is(err, ErrCircle) || !broken && err != nil || len(r.Circles) == 0 || broken == (r.Finished == r.Jobs) {
			t.Fatalf("%s: %v, %d of %d jobs finished, circles %v", name, err, r.Finished, r.Jobs, r.Circles)
		}
		c := r.Circles[0]
		if len(c.Jobs) < 2 || !slices.IsSorted(c.Jobs) || c.Evictions < circleTurns || c.Evictions > r.Evictions || c.From > c.To || c.To > r.End || r.OfOne < circleTurns {
			t.Errorf("%s: %+v, %d evictions, %d of one", name, c, r.Evictions, r.OfOne)
		}
	}
}

// Pairs that have a job in common are one circle, others are not.
func TestCirclesOfPairs(t *testing.T) {
	l := Loop{world: new(world.World), pairs: map[pair]turns{
		{0, 1}: {n: circleTurns, first: 7, last: 90}, {1, 0}: {n: circleTurns + 1, first: 5, last: 95}, {2, 1}: {n: circleTurns, first: 6, last: 99},
		{3, 4}: {n: circleTurns, first: 1, last: 2}, {5, 0}: {n: circleTurns - 1, first: 1, last: 2},
	}}
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		l.world.Jobs = append(l.world.Jobs, world.Job{ID: id})
	}
	got := l.circles()
	if len(got) != 2 || !slices.Equal(got[0].Jobs, []string{"d", "e"}) || !slices.Equal(got[1].Jobs, []string{"a", "b", "c"}) ||
		got[1].Evictions != 3*circleTurns+1 || got[1].From != 5 || got[1].To != 99 {
		t.Errorf("%+v", got)
	}
}

// What comes after the last part of a series is not in it.
func TestSeriesEndsAtTheHorizon(t *testing.T) {
	var s Series
	s.begin(parts * 10)
	s.add(0, 1)
	s.add(parts*10-1, 2)
	s.add(parts*10, 4)
	s.add(parts*1000, 8)
	if s.Parts[0] != 1 || s.Parts[parts-1] != 2 || s.After != 12 || s.Each != 10 {
		t.Errorf("%+v", s)
	}
}
