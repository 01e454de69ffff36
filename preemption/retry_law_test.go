package preemption_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/preemptiontest"
)

// RetryAt is the first instant at which the reference succeeds, of all at which anything
// could change; before it the answer is to wait for it, and at it the request succeeds.
func retryAtIsExact(t *rapid.T) {
	checkRetryAt(t, preemptiontest.Records().Draw(t, "record"))
}

// The same where flavors are assigned: at each instant anew.
func retryAtOfAssignedIsExact(t *rapid.T) {
	checkRetryAt(t, preemptiontest.RecordsWithoutFlavors().Draw(t, "record"))
}

func checkRetryAt(t *rapid.T, record preemption.Record) {
	st, r := record.State, *record.Request
	config := preemptiontest.Configs().Draw(t, "config")
	protect(t, &config, &st)
	reevaluate(t, &config)
	p, s := preemptorOf(config), snapshotOf(t, st)
	r.Room = drawRoom(t, st)
	at := func(now time.Time) preemption.Decision {
		r.Now = now
		return must(p.Decide(s, r))(t)
	}
	first := r.Now
	quick := config
	quick.MaxRetrySteps = -1
	if q, full := decideWith(t, quick, s, r), at(r.Now); q.Outcome != full.Outcome && (q.Outcome != preemption.Wait || full.Outcome != preemption.Impossible) || !q.RetryAt.IsZero() {
		t.Fatalf("%+v without RetryAt, %+v with it", q, full)
	}
	d := at(first)
	if d.Possible() {
		if !d.RetryAt.IsZero() {
			t.Fatalf("%v with a time", d.Outcome)
		}
		return
	}
	list := reference.Instants(config, st, r)
	want, _ := reference.RetryAt(config, st, r)
	if !d.RetryAt.Equal(want) || (d.Outcome == preemption.Wait) == want.IsZero() {
		t.Fatalf("%v until %v, by brute force until %v", d.Outcome, d.RetryAt, want)
	}
	if want.IsZero() {
		return
	}
	if !want.After(first) {
		t.Fatalf("asked at %v, to be asked again at %v", first, want)
	}
	between := first.Add(time.Duration(rapid.Int64Range(0, int64(want.Sub(first))-1).Draw(t, "between")))
	for _, now := range append([]time.Time{between, want.Add(-1)}, list...) {
		if now.Before(want) {
			if d := at(now); d.Outcome != preemption.Wait || !d.RetryAt.Equal(want) {
				t.Fatalf("at %v: %v until %v, want to wait until %v", now, d.Outcome, d.RetryAt, want)
			}
		}
	}
	if d := at(want); !d.Possible() {
		t.Fatalf("at %v itself: %v", want, d.Outcome)
	}
}
