package main

import (
	"strings"
	"testing"
)

// askHeld asks about the input in which workloads wait for reasons beside quota.
func askHeld(args string) (status int, out, said string) {
	return call(nil, append(strings.Fields(args), "-f", "testdata/input/held.yaml", "-at", "2026-11-20T12:00:00Z")...)
}

// wantHeld asks, and wants a status and words.
func wantHeld(t *testing.T, args string, want int, words ...string) {
	t.Helper()
	status, out, said := askHeld(args)
	for _, w := range words {
		if !strings.Contains(out+said, w) {
			t.Errorf("%s: want %q:\n%s%s", args, w, out, said)
		}
	}
	if status != want {
		t.Errorf("%s: status %d, want %d:\n%s%s", args, status, want, out, said)
	}
}

// What would be once a queue admits again is decided as if it did; the flag that says so makes it the question.
func TestOfAStoppedQueue(t *testing.T) {
	const resume = "-policy vision:stopPolicy=None"
	wantHeld(t, "ask vision/small", 1, "vision/small is held: ", "Once it is considered, it fits now.", "Note: to ask as if the queue admitted again: "+resume)
	wantHeld(t, "ask vision/big", 1, "Once it is considered, it does not fit", "reclaimWithinCohort is Never")
	wantHeld(t, "ask vision/small "+resume, 0, "vision/small fits now.\n")
	wantHeld(t, "ask vision/big "+resume, 1, "vision/big does not fit")
	wantHeld(t, "diff "+resume, 1, "vision/small  vision  better  held: ", "-> fits now\n")
	wantHeld(t, "ask vision/small "+resume+" -policy vision:stopPolicy=Hold", 1, "vision/small is held: ClusterQueue vision is stopped (stopPolicy Hold)")
	wantHeld(t, "ask vision/small -policy vision:stopPolicy=HoldAndDrain", 2, `"HoldAndDrain" is unknown: want None or Hold`)
	wantHeld(t, "ask speech/head -policy speech:stopPolicy=Hold", 1, "speech/head is held: ClusterQueue speech is stopped")
}

// No change is advised after which a workload still stands behind another one.
func TestAdviceInAQueueWithAnOrder(t *testing.T) {
	const quota = "speech/behind -quota speech:h100:nvidia.com/gpu=+1"
	wantHeld(t, "ask "+quota, 1, "speech/behind is held: it stands behind speech/head", "Once it is considered, it fits now.")
	status, out, said := askHeld("why speech/behind")
	if status != 1 || strings.Contains(out, "more nominal quota") || !strings.Contains(out, "Raise the priority to 101: it preempts 1 workload\n") {
		t.Errorf("status %d:\n%s%s", status, out, said)
	}
}
