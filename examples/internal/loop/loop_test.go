package loop

import (
	"reflect"
	"testing"

	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/preemption"
)

// hour is an hour of work, gpu one GPU.
const (
	hour = 3600
	gpu  = 1000
)

// small is a world of one queue with one GPU.
func small(s world.Settings, jobs ...world.Job) *world.World {
	for i := range jobs {
		jobs[i].ID, jobs[i].Queue, jobs[i].GPU = string(rune('a'+i)), "q", gpu
	}
	w := world.New(world.Trace{Name: "small", Jobs: jobs, Shares: []world.Share{{Queue: "q", Weight: 1}}}, s)
	w.GPU = gpu
	w.Queues[0].Quotas[0].Nominal = gpu
	return w
}

func replay(t *testing.T, w *world.World, policy string) Result {
	t.Helper()
	p := must(ParsePolicy(policy))(t)
	l := must(New(w, p))(t)
	return must(l.Run())(t)
}

// What is lost is the work since the last checkpoint, and the start-up of the next run.
func TestLost(t *testing.T) {
	of := func(change func(*world.Settings)) world.Settings {
		s := world.Defaults()
		s.Restart, s.Grace = 60, 30
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, c := range map[string]struct {
		settings                                   world.Settings
		policy                                     string
		last                                       int64 // the priority of a last job of an hour; 0: there is none
		at                                         int64 // when it comes
		redone, restarts, grace, evictions, finish int64
	}{
		// a works from 60; at 5400 it has worked 5340, of which 3600 are saved. b runs from 5430 to
		// 9090. Then a needs 60 to start and 7200.
		"hourly":   {of(nil), "greedy", 0, 0, 1740, 60, 30, 1, 9090 + 7260},
		"no saves": {of(func(s *world.Settings) { s.Checkpoint = 0 }), "greedy", 0, 0, 5340, 60, 30, 1, 9090 + 60 + 3*hour},
		// Victims of the highest priority stop at once.
		"highest": {of(nil), "greedy+wait=40m", 0, 0, 1740, 60, 30, 1, 9090 + 7260},
		// The job that comes last outranks b: a goes on to 7260 and loses nothing. b runs from 7290
		// to 10950.
		"waits": {of(nil), "greedy+wait=40m", 20, 10950, 0, 60, 30, 1, 10950 + 3660 + 3660},
		// It is too far away: b comes at once, and at 9000 the last job takes its room before it has saved anything.
		"too far": {of(nil), "greedy+wait=10m", 20, 9000, 1740 + 3510, 120, 60, 2, 9030 + 3660 + 3660 + 7260},
		// The last job does not wait until a has saved its work: a, which goes on for b, stops at 6000.
		"hurries": {of(nil), "greedy+wait=40m", 20, 6000, 2340, 60, 30, 1, 6030 + 3660 + 3660 + 7260},
		"guarded": {of(func(s *world.Settings) { s.MinRuntime = 2 * hour }), "greedy", 0, 0, 7141 - 3600, 60, 30, 1, 7231 + 3660 + 7260},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := []world.Job{{Work: 3 * hour}, {Work: hour, Submit: 5400, Priority: 10}}
			end := int64(0)
			if c.last > 0 {
				jobs = append(jobs, world.Job{Work: hour, Submit: c.at, Priority: c.last})
			}
			r := replay(t, small(c.settings, jobs...), c.policy)
			if end = r.End; r.Redone != c.redone*gpu || r.Restarts != c.restarts*gpu || r.Grace != c.grace*gpu || r.Evictions != c.evictions {
				t.Errorf("redone %d, restarts %d, grace %d, evictions %d", r.Redone/gpu, r.Restarts/gpu, r.Grace/gpu, r.Evictions)
			}
			if name == "waits" {
				c.finish = 10950 + 3660 + 60 + 2*hour - hour // a has saved two hours
			}
			if end != c.finish {
				t.Errorf("ends at %d, want %d", end, c.finish)
			}
		})
	}
}

// In every step no job is lost, and no more is held than there is; in the end all room that
// was held is accounted for.
func TestConservation(t *testing.T) {
	for _, name := range []string{"philly-vc+days=2+capacity=50", "openb+days=1+minruntime=10m+grace=0s+restart=0s", "philly-chronus+days=1+capacity=30+strategy=StrictFIFO",
		"helios+days=1+cohorts=3+limit=50+checkpoint=0s+within=LowerOrNewerEqualPriority"} {
		for _, policy := range []string{"greedy", "fair", "progress", "best+age+steps=50", "stable+exchange+checkpoint+candidates=30", "best+checkpoint+fewest+wait=10m+steps=50"} {
			t.Run(name+"/"+policy, func(t *testing.T) { conserves(t, name, policy) })
		}
	}
}

// most is how many jobs of a world are replayed.
const most = 60

func conserves(t *testing.T, name, policy string) {
	source, settings, err := world.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	drawn := must(world.Draw(source, settings.Days, 1))(t)
	drawn.Jobs = drawn.Jobs[:min(most, len(drawn.Jobs))]
	w := world.New(drawn, settings)
	p := must(ParsePolicy(policy))(t)
	l := must(New(w, p))(t)
	latest := make([]job, len(l.jobs)) // each as it was before it finished
	var work, waited, runs int64
	for l.goesOn() {
		if err := l.Step(); err != nil {
			t.Fatal(err)
		}
		l.invariants(t)
		for i, j := range l.jobs {
			if j != nil {
				latest[i] = *j
			}
		}
	}
	l.result.end(l)
	r := l.result
	if r.Held != r.StartUp+r.Done+r.Redone+r.Restarts+r.Grace {
		t.Errorf("held %d, accounted for %d", r.Held, r.StartUp+r.Done+r.Redone+r.Restarts+r.Grace)
	}
	finished := 0
	for i, j := range latest {
		if l.jobs[i] == nil {
			finished++
			work += j.Work * j.GPU
			runs += j.runs
		}
		waited += j.waited
	}
	for _, groups := range [][]Group{r.Priorities, r.Sizes, r.Queues, {r.All}} {
		var jobs, waits, evictions, lost int64
		for _, g := range groups {
			jobs, waits, evictions, lost = jobs+g.Jobs, waits+g.Wait.Sum, evictions+g.Evictions, lost+g.Lost
		}
		if jobs != int64(finished) || waits != r.All.Wait.Sum || finished == r.Jobs && (evictions != r.Evictions || lost != r.Lost()) {
			t.Errorf("groups of %d jobs, %d s of waits, %d evictions, %d lost: %+v", jobs, waits, evictions, lost, groups)
		}
	}
	waited -= r.All.Wait.Sum
	if finished != r.Finished || finished == r.Jobs && (r.Done != work || waited != 0 || runs != int64(r.Jobs)+r.Evictions-l.finishedLeaving) {
		t.Errorf("%d of %d finished, %d said; done %d of %d; %d s of waits are missing; %d runs, %d evictions", finished, r.Jobs, r.Finished, r.Done, work, waited, runs, r.Evictions)
	}
	if r.Evictions == 0 {
		t.Error("no job was evicted")
	}
	if again := replay(t, w, policy); !reflect.DeepEqual(again.Priorities, r.Priorities) || again.Held != r.Held || again.Decisions != r.Decisions {
		t.Error("it comes to something else the second time")
	}
}

// invariants hold after each step.
func (l *Loop) invariants(t *testing.T) {
	t.Helper()
	held := map[string]int64{}
	waits, holds := 0, 0
	for i, j := range l.jobs {
		if arrived := l.world.Jobs[i].Submit <= l.now; j == nil {
			if arrived && i >= l.next {
				t.Fatalf("second %d: %s is lost", l.now, l.world.Jobs[i].ID)
			}
			continue
		}
		switch j.state {
		case waiting:
			waits++
		case running, leaving:
			holds++
			held["gpu"] += j.GPU
			held["cpu"] += j.CPU
		}
	}
	snapshot := 0
	for running := range l.snapshot.Workloads() {
		j := l.jobs[l.index[running.ID]]
		if snapshot++; running.Evicted != (j.state == leaving) {
			t.Fatalf("second %d: %s: evicted %t, state %d", l.now, j.ID, running.Evicted, j.state)
		}
	}
	if waits != l.pending.Len()+len(l.claims) || holds != snapshot || held["gpu"] != l.used || held["gpu"] > l.world.GPU || held["cpu"] > l.world.CPU {
		t.Fatalf("second %d: %d wait, %d pending; %d hold, %d in the snapshot; %v of %d GPUs and %d CPUs", l.now, waits, l.pending.Len(), holds, snapshot, held, l.world.GPU, l.world.CPU)
	}
}

func TestParsePolicy(t *testing.T) {
	for _, bad := range []string{"", "greedyy", "best+wait=", "best+wait=-1m", "best+wait=1ms", "best+steps=0", "steps=9", "greedy+fewest", "exchange+steps=3", "best+candidates=9", "best+candidates=x",
		"progress+best", "exchange+progress", "progress+age", "checkpoint+progress", "progress+steps=3"} {
		if _, err := ParsePolicy(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if p, err := ParsePolicy("fair+best+checkpoint+wait=90s+steps=7"); err != nil || p.wait != 90 || p.Config.Best.Steps != 7 || p.cost != "checkpoint" {
		t.Errorf("%+v, %v", p, err)
	}
	p, err := ParsePolicy("stable+progress+wait=10m")
	want := preemption.Config{
		MaxBlockers: -1, Sharing: preemption.Stable, Search: preemption.Best,
		Best: preemption.BestSearch{Steps: -1, Candidates: 100}, Cost: preemption.CostSinceCheckpoint{},
	}
	if err != nil || !reflect.DeepEqual(p.Config, want) {
		t.Errorf("%+v, want %+v, %v", p.Config, want, err)
	}
	if p, err := ParsePolicy("candidates=9+progress"); err != nil || p.Config.Best.Candidates != 9 {
		t.Errorf("%+v, %v", p.Config, err)
	}
}

// must returns what came without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
