package nodes_test

import "testing"

// TestPods: the engine and the witness decide alike about single pods among single pods. By hand:
//
//	go test ./internal/witness/nodes -run TestPods -rapid.seed 7 -rapid.checks 5000
func TestPods(t *testing.T) {
	ask(t, questions(traits{}), "Fits", "Preempt", "Impossible")
}
