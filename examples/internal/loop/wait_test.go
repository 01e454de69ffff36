package loop

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/queue"
)

// drawWorld draws a small world: a few queues in one or several cohorts, with jobs of
// several priorities, more than fit at one time.
func drawWorld(t *rapid.T) *world.World {
	s := world.Defaults()
	s.Capacity = rapid.Int64Range(30, 110).Draw(t, "capacity")
	s.Checkpoint = rapid.SampledFrom([]int64{0, 600, 3600, 3600}).Draw(t, "checkpoint")
	s.Restart = rapid.SampledFrom([]int64{0, 60, 60, 600}).Draw(t, "restart")
	s.Grace = rapid.SampledFrom([]int64{0, 30, 30, 300}).Draw(t, "grace")
	s.Cohorts = rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "cohorts")
	s.Limit = rapid.SampledFrom([]int64{-1, -1, 0, 50}).Draw(t, "limit")
	s.Within = rapid.SampledFrom([]queue.VictimPolicy{queue.LowerPriority, queue.LowerPriority, queue.Never}).Draw(t, "within")
	s.Reclaim = rapid.SampledFrom([]queue.VictimPolicy{queue.Any, queue.LowerPriority, queue.Never}).Draw(t, "reclaim")
	if s.Borrow = queue.Never; s.Reclaim != queue.Never {
		s.Borrow = rapid.SampledFrom([]queue.VictimPolicy{queue.LowerPriority, queue.Never}).Draw(t, "borrow")
	}
	s.Strategy = rapid.SampledFrom([]queue.Strategy{queue.BestEffortFIFO, queue.BestEffortFIFO, queue.StrictFIFO}).Draw(t, "strategy")
	trace := world.Trace{Name: "small"}
	queues := rapid.IntRange(1, 4).Draw(t, "queues")
	for i := range queues {
		trace.Shares = append(trace.Shares, world.Share{Queue: fmt.Sprintf("q%d", i), Weight: rapid.Int64Range(0, 3).Draw(t, "weight")})
	}
	submit := int64(0)
	for i := range rapid.IntRange(3, 12).Draw(t, "jobs") {
		submit += rapid.SampledFrom([]int64{0, 1, 30, 300, 1800, 3600}).Draw(t, "after")
		trace.Jobs = append(trace.Jobs, world.Job{
			ID: fmt.Sprintf("j%02d", i), Queue: fmt.Sprintf("q%d", rapid.IntRange(0, queues-1).Draw(t, "queue")),
			Priority: rapid.SampledFrom([]int64{0, 0, 50, 100, 500, 1000}).Draw(t, "priority"),
			GPU:      gpu * rapid.SampledFrom([]int64{1, 2, 4, 4, 8, 12}).Draw(t, "gpus"),
			Submit:   submit, Work: rapid.Int64Range(60, 10*hour).Draw(t, "work"),
		})
	}
	return world.New(trace, s)
}

// course is how a replay went.
type course struct {
	evictions int64
	finished  int  // jobs
	circles   bool // jobs evict each other for ever
	// again is how often a job was stopped in the second of its start by the same job as before,
	// with no job of the highest priority started in between.
	again int
}

func replayed(t *rapid.T, w *world.World, policy string) (c course) {
	p, err := ParsePolicy(policy)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(w, p)
	if err != nil {
		t.Fatal(err)
	}
	before := map[[2]string]int64{}
	l.told = func(victim, preemptor *job) {
		pair := [2]string{victim.ID, preemptor.ID}
		if victim.since != l.now {
			return
		}
		if at, told := before[pair]; told && l.moved < at {
			c.again++
		}
		before[pair] = l.now
	}
	r, err := l.Run()
	if err != nil && !errors.Is(err, ErrCircle) {
		t.Fatal(err)
	}
	c.evictions, c.finished, c.circles = r.Evictions, r.Finished, err != nil
	return c
}

// Victims that go on to their checkpoints cost no loops. A policy that lets them evicts at most
// three times as often as greedy, and ten times more. Where the queues permit circles (they
// reclaim from Any, or share fairly without stable) the search alone may make one; there the
// policy is compared with itself without the wait. As many jobs finish, where no queue is
// blocked by its head. Nor is a job stopped in the second of its start by the same job twice,
// unless the highest priority took the room in between, or that happens without the wait, too;
// in fair sharing it may. The long run is
// go test ./examples/internal/loop -run TestWaitingIsNoLoop -rapid.checks 10000.
func TestWaitingIsNoLoop(t *testing.T) { rapid.Check(t, waitingIsNoLoop) }

func waitingIsNoLoop(t *rapid.T) {
	w := drawWorld(t)
	greedy := replayed(t, w, "greedy")
	for _, policy := range []string{"greedy", "best+checkpoint+steps=200", "best+checkpoint+fewest+steps=200", "exchange+checkpoint+candidates=100+fewest", "progress",
		"stable+best+checkpoint+steps=200", "fair"} {
		permits := w.Reclaim == queue.Any && !strings.HasPrefix(policy, "stable") || policy == "fair"
		plain := replayed(t, w, policy)
		most, again := 3*greedy.evictions+10, 0
		if permits {
			most, again = max(most, 3*plain.evictions+10), greedy.again+plain.again
		}
		for _, wait := range []string{"", rapid.SampledFrom([]string{"+wait=2m", "+wait=10m", "+wait=1h"}).Draw(t, "wait")} {
			if permits && plain.circles {
				continue
			}
			blocks := w.Strategy == queue.StrictFIFO
			switch c := replayed(t, w, policy+wait); {
			case c.circles, c.evictions > most, !blocks && c.finished != plain.finished, policy != "fair" && again == 0 && c.again > 0:
				t.Fatalf("%s: %+v, without waits %+v, greedy %+v", policy+wait, c, plain, greedy)
			}
		}
	}
}
