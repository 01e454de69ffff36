package safe_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// made returns the state in which requests of a queue are made.
func made(st preemption.State, q string, asks []quota.Amount) preemption.State {
	st.FairShares = st.FairShares.Clone()
	for i := range st.FairShares.Queues {
		for k := range st.FairShares.Queues[i].Claims {
			for _, ask := range asks {
				if c := &st.FairShares.Queues[i].Claims[k]; st.FairShares.Queues[i].Name == q && c.Resource == ask.Resource {
					c.Request += ask.Amount
				}
			}
		}
	}
	return st
}

// By fair shares an answer is Now only for a request that takes the workload once it is made, or among those that wait; and Never only for what never
// yields: then no request of a brute force takes it. More worlds: -rapid.checks=100000.
func TestSafeByFairShares(t *testing.T) {
	counts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		st := preemptiontest.FairShareRecords().Draw(t, "record").State
		if len(st.Admitted) == 0 {
			return
		}
		c := preemption.Config{Sharing: preemption.KAI}
		b := newBrute(t, st, c)
		if rapid.Bool().Draw(t, "new requests only") {
			b.since = preemptiontest.Now
		}
		asker, err := safe.New(b.p, b.s, safe.Options{Now: preemptiontest.Now, Since: b.since})
		if err != nil {
			t.Fatal(err)
		}
		id := rapid.SampledFrom(st.Admitted).Draw(t, "workload").ID
		answer, err := asker.Until(id)
		if err != nil {
			t.Fatal(err)
		}
		kind := answer.Outcome.String()
		if r := answer.Request; r != nil {
			now := newBrute(t, made(st, r.Queue, r.Asks), c)
			isMade := now.names(id, r.Queue, r.Priority, r.Queued, answer.At, r.Asks...)
			if !isMade && (!b.since.IsZero() || !b.names(id, r.Queue, r.Priority, r.Queued, answer.At, r.Asks...)) {
				t.Fatalf("%s: %+v does not name it", id, r)
			}
			if kind += ", made"; !isMade {
				kind = "Now, among those that wait"
			}
		}
		if answer.Outcome == safe.Never {
			rnd := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "several")))
			at := slices.IndexFunc(st.Admitted, func(w workload.Workload) bool { return w.ID == id })
			for _, q := range st.Queues {
				for range 3 {
					asks := []quota.Amount{{Flavor: "default", Resource: "gpu", Amount: 1 + rnd.Int64N(6)}}
					if newBrute(t, made(st, q.Name, asks), c).names(id, q.Name, 3, answer.At, preemptiontest.Now, asks...) {
						t.Fatalf("%s: %+v, but %v of %s take it", id, answer, asks, q.Name)
					}
				}
			}
			if !st.Admitted[at].NeverYields {
				t.Fatalf("%s: %+v", id, answer)
			}
		}
		counts[kind]++
	})
	t.Log(counts)
	if counts["Now, made"] == 0 {
		t.Error("no request that is made takes a workload")
	}
}
