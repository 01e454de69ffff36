package limits

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// many returns events of a day between any two of so many queues, of IDs that the caller holds anyway.
func many(n, queues int) []Event {
	ids, names := make([]string, n), make([]string, queues)
	for i := range ids {
		ids[i] = fmt.Sprintf("namespace/workload-%07d", i)
	}
	for i := range names {
		names[i] = fmt.Sprint("q", i)
	}
	events, random := make([]Event, n), rand.New(rand.NewPCG(1, 2))
	for i := range events {
		events[i] = Event{ids[(i*7)%n], ids[i], noon.Add(time.Duration(i) * (24 * time.Hour / time.Duration(n))),
			Class{PreemptingQueue: names[random.IntN(queues)], PreemptedQueue: names[random.IntN(queues)]}}
	}
	return events
}

func used() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// An event takes at most 100 bytes, besides the texts of its IDs, of which the caller has one.
func TestAnEventIsSmall(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 200_000
	}
	for _, queues := range []int{10, 1000} {
		events := many(n, queues)
		before := used()
		h, err := NewHistory(events)
		if err != nil {
			t.Fatal(err)
		}
		each := float64(used()-before) / float64(n)
		t.Logf("%d queues: %.1f bytes", queues, each)
		if each > 100 {
			t.Errorf("%d queues: %.1f bytes for an event, want at most 100", queues, each)
		}
		runtime.KeepAlive(events)
		runtime.KeepAlive(h)
	}
}

// Of events that are trimmed nothing stays: no groups, no memory, whether they go at once or one by one.
func TestTrimFrees(t *testing.T) {
	events := many(20_000, 200)
	before := used()
	var h *History
	for i := range events { // an hour of them is kept
		h, _ = h.With(events[i])
		h = h.Trim(events[i].At.Add(-time.Hour))
	}
	if hour := len(events) / 24; h.Len() < hour-1 || h.Len() > hour+1 {
		t.Errorf("%d events, want about %d", h.Len(), hour)
	}
	if kept := int(used() - before); kept > 300*h.Len() {
		t.Errorf("%d bytes for %d events", kept, h.Len())
	}
	for _, g := range []groups{h.from, h.to} {
		if n := g.byClass.Len(); n > 200 || n != g.byNumber.Len() || int(g.byNumber.At(n-1).number) >= 200 {
			t.Errorf("%d groups", n)
		}
	}
	h = h.Trim(noon.Add(24 * time.Hour))
	if n := h.from.byClass.Len() + h.to.byClass.Len(); n != 0 || h.Len() != 0 {
		t.Errorf("%d groups of %d events", n, h.Len())
	}
	one := append(many(100, 100), Event{"p", "v", noon.Add(48 * time.Hour), Class{PreemptingQueue: "a", PreemptedQueue: "b"}})
	for _, at := range [][]time.Time{{noon.Add(24 * time.Hour)}, {noon.Add(time.Hour), noon.Add(5 * time.Hour), noon.Add(24 * time.Hour)}} {
		h, _ = NewHistory(one)
		for _, until := range at {
			h = h.Trim(until)
		}
		if n := h.from.byClass.Len() + h.to.byClass.Len(); n != 2 || h.Len() != 1 {
			t.Errorf("%d groups of %d events, want 2 of one", n, h.Len())
		}
	}
	runtime.KeepAlive(events)
}

// A look-up looks at a number of events that grows with their logarithm, however many queues there are; a
// limit that asks about queues costs that for each.
func TestALookUpIsLogarithmic(t *testing.T) {
	labels := func(queue string) map[string]string { return map[string]string{"name": queue} }
	team := &workload.LabelSelector{MatchExpressions: []workload.LabelRequirement{{Key: "name", Operator: workload.Exists}}}
	hour := quota.Some(12 * time.Hour)
	now := noon.Add(20 * time.Hour)
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, queues := range []int{10, 1000} {
			events := many(n, queues)
			h, err := NewHistory(events)
			if err != nil {
				t.Fatal(err)
			}
			of := events[n*3/4]
			for _, c := range []struct {
				limit Limit
				cost  int // in look-ups
			}{
				{Limit{Scope: Global}, 1},
				{Limit{Scope: PreemptingClusterQueue}, 1},
				{Limit{Scope: PreemptedClusterQueue}, 1},
				{Limit{Scope: PreemptedWorkload}, 1},
				{Limit{Scope: Global, PreemptedQueues: team}, queues},
				{Limit{Scope: Global, PreemptingQueues: team}, queues},
				{Limit{Scope: PreemptingClusterQueue, PreemptedQueues: team}, queues},
				{Limit{Scope: PreemptedClusterQueue, PreemptingQueues: team}, queues},
			} {
				c.limit.Window = hour
				g := &Together{Limit: &c.limit, PreemptingQueue: of.PreemptingQueue, PreemptedQueue: of.PreemptedQueue, Victim: of.Victim, Labels: labels}
				count, looks := h.Counted(g, now)
				if most := c.cost * 4 * bits.Len(uint(n)); count == 0 || looks > most {
					t.Errorf("%+v: %d events in %d queues: %d counted, %d looked at, want at most %d", c.limit, n, queues, count, looks, most)
				}
				_, ok, looks := h.FallsTo(g, count-1, now)
				if most := c.cost * 10 * bits.Len(uint(n)); !ok || c.cost == 1 && looks > most {
					t.Errorf("%+v: %d events in %d queues: %d looked at, want at most %d", c.limit, n, queues, looks, most)
				}
			}
		}
	}
}

// An edit copies what grows with the logarithm of the events, also if it adds or removes a pair of queues.
func TestAnEditIsLogarithmic(t *testing.T) {
	for _, n := range []int{1_000, 100_000} {
		events := many(n, 1000)
		h, err := NewHistory(events)
		if err != nil {
			t.Fatal(err)
		}
		added := Event{"new", "new", noon.Add(48 * time.Hour), Class{PreemptingQueue: "new", PreemptedQueue: "new"}}
		most := float64(16 * bits.Len(uint(n)))
		if allocs := testing.AllocsPerRun(10, func() { h.With(added) }); allocs > most {
			t.Errorf("%d events: one more: %v allocations, want at most %v", n, allocs, most)
		}
		if allocs := testing.AllocsPerRun(10, func() { h.Trim(events[0].At) }); allocs > most {
			t.Errorf("%d events: one less: %v allocations, want at most %v", n, allocs, most)
		}
	}
}
