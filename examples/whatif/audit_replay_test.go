package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/loop"
	worlds "github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// replayable is a history whose jobs and policies are known: what a replay of them did, as versions of objects.
type replayable struct {
	*lived
	world  *worlds.World
	result loop.Result
}

// replayableOf draws jobs and replays them. Each job runs to its end.
func replayableOf(t *testing.T, seed uint64, grace int64) *replayable {
	p := &replayable{lived: newLived(seed, false)}
	r := rand.New(rand.NewPCG(seed, 59))
	st := p.snapshot.State()
	p.world = &worlds.World{Unit: worlds.GPU, Cohorts: st.Cohorts, Queues: st.Queues}
	p.world.Grace = grace
	start := p.now
	for n := range 60 + r.IntN(60) {
		p.now = p.now.Add(time.Duration(r.IntN(500)) * time.Second)
		p.submit()
		j := p.jobs[n]
		p.world.Whole = append(p.world.Whole, j.Workload)
		p.world.Jobs = append(p.world.Jobs, worlds.Job{ID: j.ID, Queue: j.Queue, Priority: j.Priority, GPU: j.gpus,
			Work: 600 + r.Int64N(5400), Submit: int64(p.now.Sub(p.jobs[0].Created) / time.Second)})
	}
	start = p.jobs[0].Created
	byID := func(id string) *job {
		return p.jobs[slices.IndexFunc(p.jobs, func(j *job) bool { return j.ID == id })]
	}
	p.result = p.run(t, p.world, func(h loop.Happening) {
		j := byID(h.Job)
		p.now = start.Add(time.Duration(h.Second) * time.Second)
		switch h.What {
		case loop.Starts:
			j.runs, j.since, j.told, j.by = true, p.now, time.Time{}, nil
		case loop.Told:
			j.told, j.by, j.reason = p.now, byID(h.For), h.Victim.Reason
			j.evictions++
		case loop.Stops:
			j.runs, j.stops = false, p.now
		case loop.Finishes:
			j.runs, j.finished = false, true
		}
		j.write(p.lived)
	})
	return p
}

func (p *replayable) run(t *testing.T, w *worlds.World, follow func(loop.Happening)) loop.Result {
	t.Helper()
	l, err := loop.New(w, loop.Policy{Name: "test", Config: preemption.Config{MaxBlockers: -1}})
	if err != nil {
		t.Fatal(err)
	}
	l.Follow = follow
	r, err := l.Run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// changed replays the same jobs with another policy of one queue.
func (p *replayable) changed(t *testing.T, name string, policy queue.VictimPolicy) loop.Result {
	other := *p.world
	other.Queues = slices.Clone(other.Queues)
	for i := range other.Queues {
		if q := &other.Queues[i]; q.Name == name {
			q.Preemption.ReclaimWithinCohort = policy
		}
	}
	return p.run(t, &other, nil)
}

// A replay of a history is what happened, and what would have happened with other policies: of histories of which both are known.
func TestReplayIsWhatHappened(t *testing.T) {
	evictions, fewer := int64(0), int64(0)
	for seed := range uint64(10) {
		p := replayableOf(t, seed, int64(seed%3)*20)
		want := p.changed(t, "vision-research-2026", queue.Never)
		_, out, said := call(strings.NewReader(strings.Join(p.versions, "\n")), "audit", "-o", "json", "-policy", "vision-research-2026:reclaimWithinCohort=Never")
		var a struct{ Replayed *replayed }
		if err := json.Unmarshal([]byte(out), &a); err != nil || a.Replayed == nil {
			t.Fatalf("seed %d: %v, %s", seed, err, said)
		}
		r := a.Replayed
		got := fmt.Sprint(r.Jobs, r.LeftOut, r.History, r.AsWas, r.Changed)
		told := fmt.Sprint(len(p.jobs), 0, p.result.Evictions, replayOf(&p.result), replayOf(&want))
		if got != told {
			t.Errorf("seed %d: %s, want %s", seed, got, told)
		}
		if low, high, n := r.Low, r.High, r.AsWas.Evictions-r.Changed.Evictions; low != nil && (*low > n || *high < n) {
			t.Errorf("seed %d: %d evictions fewer are not within %d and %d", seed, n, *low, *high)
		}
		evictions, fewer = evictions+r.AsWas.Evictions, fewer+r.AsWas.Evictions-r.Changed.Evictions
	}
	if evictions < 300 || fewer < 100 {
		t.Errorf("only %d evictions, %d fewer", evictions, fewer)
	}
}
