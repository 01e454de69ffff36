package placement_test

import (
	"testing"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// Verify judges no decision about a request that Decide refuses.
func TestVerifyRefusesBadInput(t *testing.T) {
	st := world(t, "n1 2: a/1 b/2")
	good := pending(1)
	d := decided(t, st, good)
	if err := placement.Verify(st, good, placement.Config{}, d); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*placement.Request){
		"request.pods: is empty":                                                          func(r *placement.Request) { r.Pods = nil },
		"request.pods[0].requests.slots: -1 is negative":                                  func(r *placement.Request) { r.Pods[0].Requests = workload.Resources{"slots": -1} },
		"request.now: 9999-01-01 00:00:00 +0000 UTC is not within the years 1678 to 2262": func(r *placement.Request) { r.Now = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		r := pending(1)
		change(&r)
		wantFaults(t, placement.Verify(st, r, placement.Config{}, d), want)
	}
}
