package safe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/cedesched/cede/internal/proof/seed"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/safe"
)

// Until an answer's instant no request of a brute force names the workload. At it the answer's request does, and in classical
// sharing no lesser one. More worlds: -rapid.checks=100000, a quarter of an hour.
func TestNobodyBefore(t *testing.T) {
	counts := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		st, c := preemptiontest.States().Draw(t, "state"), preemption.Config{}
		if rapid.IntRange(0, 3).Draw(t, "configured") == 0 {
			c = preemptiontest.Configs().Draw(t, "config")
		}
		if len(st.Admitted) > 0 {
			counts[holds(t, st, c)]++
		}
	})
	t.Log(counts)
	for _, kind := range []string{"Now", "Later", "Never", "Never, not needed", "Leaving", "Unknown[Rooms]"} {
		if counts[kind] == 0 && len(counts) > 3 && !testing.Short() { // not where one case runs again
			t.Errorf("no answer is %s", kind)
		}
	}
}

// holds checks the answer about one workload of a state, and returns its kind.
func holds(t *rapid.T, st preemption.State, c preemption.Config) (kind string) {
	b := newBrute(t, st, c)
	if rapid.IntRange(0, 2).Draw(t, "new requests only") == 0 {
		b.since = preemptiontest.Now
	}
	o := safe.Options{Now: preemptiontest.Now, Since: b.since}
	if b.room = rapid.IntRange(0, 3).Draw(t, "on nodes") == 0; b.room {
		o.OnNodes = flavorsOf(st)
	}
	asker, err := safe.New(b.p, b.s, o)
	if err != nil {
		t.Fatal(err)
	}
	id := rapid.SampledFrom(st.Admitted).Draw(t, "workload").ID
	answer, err := asker.Until(id)
	if err != nil {
		t.Fatal(err)
	}
	switch answer.Outcome {
	case safe.Leaving:
		return "Leaving"
	case safe.Unknown:
		kind = "Unknown" + fmt.Sprint(answer.Doubts)
	case safe.Never:
		if kind = "Never"; len(answer.Keeps) == 0 {
			kind = "Never, not needed"
		}
	default:
		kind = answer.Outcome.String()
	}
	rnd := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "several")))
	for _, now := range before(t, answer) {
		for _, q := range st.Queues {
			if by := b.anyOf(rnd, id, q, now); by != "" {
				t.Fatalf("%s: %+v, but at %v %s", id, answer, now, by)
			}
		}
	}
	if b.room = false; answer.Request != nil {
		r := answer.Request
		if !b.names(id, r.Queue, r.Priority, r.Queued, answer.At, r.Asks...) {
			t.Fatalf("%s: %+v does not name it", id, r)
		}
		if less := b.lesser(st, id, answer); less != "" && c.Sharing == preemption.Classical {
			t.Fatalf("%s: %+v, but %s", id, r, less)
		}
	}
	return kind
}

// flavorsOf lists the flavors of a state.
func flavorsOf(st preemption.State) (list []string) {
	for i := range st.Queues {
		for _, q := range st.Queues[i].Quotas {
			list = append(list, q.Flavor)
		}
	}
	return list
}

// before returns instants before that of an answer: the first, the last, and two others.
func before(t *rapid.T, a safe.Answer) []time.Time {
	instants := slices.DeleteFunc(grid(), func(at time.Time) bool { return !a.At.IsZero() && !at.Before(a.At) })
	if a.At.After(preemptiontest.Now) {
		instants = append(instants, a.At.Add(-1))
	}
	if n := len(instants); n > 4 {
		i, j := rapid.IntRange(0, n-1).Draw(t, "instant"), rapid.IntRange(0, n-1).Draw(t, "instant")
		return []time.Time{instants[0], instants[i], instants[j], instants[n-1]}
	}
	return instants
}

// All answers as Until does, although it trusts turns where Until asks again.
func TestAllAnswersAsUntil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBrute(t, preemptiontest.States().Draw(t, "state"), preemption.Config{})
		o := safe.Options{Now: preemptiontest.Now}
		asker, err := safe.New(b.p, b.s, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range asker.All() {
			one, err := safe.New(b.p, b.s, o)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := one.Until(of.Workload)
			if got, want := fmt.Sprintf("%+v %+v", of, of.Request), fmt.Sprintf("%+v %+v", alone, alone.Request); err != nil || stripped(got) != stripped(want) {
				t.Fatalf("among all %s, alone %s, %v", got, want, err)
			}
		}
	})
}

// A thousand times as much of everything: the same answers, and a thousand times the amounts.
func TestAnswersScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := preemptiontest.States().Draw(t, "state")
		small, large := newBrute(t, st, preemption.Config{}), newBrute(t, scaled(st, 1000), preemption.Config{})
		for _, w := range st.Admitted {
			var answers [2]safe.Answer
			for i, b := range []*brute{small, large} {
				asker, err := safe.New(b.p, b.s, safe.Options{Now: preemptiontest.Now})
				if err != nil {
					t.Fatal(err)
				}
				if answers[i], err = asker.Until(w.ID); err != nil {
					t.Fatal(err)
				}
			}
			a, b := answers[0], answers[1]
			if a.Outcome != b.Outcome || !a.At.Equal(b.At) {
				t.Fatalf("%s: %+v, a thousand times as large %+v", w.ID, a, b)
			}
			if r, large := a.Request, b.Request; r != nil {
				if r.Queue != large.Queue || r.Priority != large.Priority || (r.Asks[0].Amount-1)*1000+1 != large.Asks[0].Amount && len(r.Asks) == 1 {
					t.Fatalf("%s: %+v, a thousand times as large %+v", w.ID, r, large)
				}
			}
		}
	})
}
