package nodes_test

import "testing"

// TestPods: the engine and the witness decide alike about single pods among single pods. By hand:
//
//	go test ./internal/witness/nodes -run TestPods -rapid.seed 7 -rapid.checks 25000
func TestPods(t *testing.T) {
	ask(t, questions(traits{}), "Fits", "Preempt", "Impossible")
}

// TestBudgets: the same among budgets and groups that yield whole.
func TestBudgets(t *testing.T) {
	ask(t, questions(traits{budgets: true, groups: true}), "Fits", "Preempt", "Impossible", "violations", "a group of several yields")
}

// TestHard: the same with budgets that are never violated.
func TestHard(t *testing.T) {
	ask(t, questions(traits{budgets: true, groups: true, hard: true}), "Preempt", "reason Budgets")
}

// TestTime: the same among minimum runtimes, and pods that terminate.
func TestTime(t *testing.T) {
	ask(t, questions(traits{groups: true, terminating: true, runtimes: true}), "Wait", "RetryAt")
}

// TestNominations: the same among promises.
func TestNominations(t *testing.T) {
	ask(t, questions(traits{groups: true, terminating: true, nominations: true}), "withdrawn")
}

// TestInPlace: the same as built in v1.37.
func TestInPlace(t *testing.T) {
	ask(t, questions(traits{groups: true, budgets: true, terminating: true, runtimes: true, nominations: true, inPlace: true, hard: true}), "Wait", "withdrawn")
}

// TestSampling: the same where the scheduler has failed to place the pod, and looks at some nodes only.
func TestSampling(t *testing.T) {
	ask(t, questions(traits{groups: true, budgets: true, terminating: true, skipFit: true, sampled: true}), "Preempt", "violations")
}

// TestClaims: the same among devices that pods hold, alone or together.
func TestClaims(t *testing.T) {
	ask(t, questions(traits{groups: true, claims: true, terminating: true, nominations: true, skipFit: true}), "Preempt")
}

// TestGangsWithClaims: the same of groups.
func TestGangsWithClaims(t *testing.T) {
	ask(t, questions(traits{gang: true, groups: true, claims: true, terminating: true}), "Preempt")
}

// TestGuards: the same among units that the caller protects.
func TestGuards(t *testing.T) {
	ask(t, questions(traits{groups: true, guards: true, terminating: true, runtimes: true}), "Preempt", "RetryAt")
}

// TestResize: a pod that runs asks for more.
func TestResize(t *testing.T) {
	ask(t, questions(traits{groups: true, resize: true, terminating: true, runtimes: true, nominations: true}), "Preempt", "Wait")
}

// TestFilters: the same where rules of the caller say which pods go beside each other.
func TestFilters(t *testing.T) {
	ask(t, questions(traits{groups: true, filters: true, terminating: true, nominations: true, sampled: true}), "Preempt", "Wait")
}

// TestSets: the same where these rules look at all pods that are there, and need not be monotone.
func TestSets(t *testing.T) {
	ask(t, questions(traits{groups: true, sets: true, terminating: true, nominations: true, resize: true}), "Preempt", "Wait")
}

// TestImportance: the same in an order of importance of the caller.
func TestImportance(t *testing.T) {
	ask(t, questions(traits{groups: true, importance: true, budgets: true, sets: true}), "Preempt", "several victims")
}
