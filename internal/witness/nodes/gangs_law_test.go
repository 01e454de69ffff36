package nodes_test

import "testing"

// TestGangs: the engine and the witness decide alike about groups that are placed together. By hand:
//
//	go test ./internal/witness/nodes -run TestGangs -rapid.seed 7 -rapid.checks 25000
func TestGangs(t *testing.T) {
	ask(t, questions(traits{gang: true, groups: true, budgets: true}), "Fits", "Preempt", "Impossible", "several pods")
}

// TestDomains: the same within domains.
func TestDomains(t *testing.T) {
	ask(t, questions(traits{gang: true, domains: true, groups: true, budgets: true, hard: true}), "Preempt", "reason Budgets")
}

// TestGangsInTime: the same among pods that terminate, minimum runtimes and promises.
func TestGangsInTime(t *testing.T) {
	ask(t, questions(traits{gang: true, domains: true, groups: true, terminating: true, runtimes: true, nominations: true, skipFit: true, sampled: true}), "Wait", "RetryAt")
}

// TestGangsInPlace: the same as built in v1.37.
func TestGangsInPlace(t *testing.T) {
	ask(t, questions(traits{gang: true, domains: true, groups: true, terminating: true, budgets: true, nominations: true, runtimes: true, basic: true, inPlace: true, skipFit: true}), "Wait", "Preempt")
}

// TestBasic: pods of a Basic group, decided about one after the other.
func TestBasic(t *testing.T) {
	ask(t, questions(traits{gang: true, basic: true, groups: true, terminating: true, budgets: true, nominations: true, runtimes: true, skipFit: true}), "Preempt", "Wait")
}

// TestNested: groups of groups, each with needs and domains of its own.
func TestNested(t *testing.T) {
	ask(t, questions(traits{gang: true, nested: true, domains: true, groups: true, terminating: true, runtimes: true, budgets: true, skipFit: true}), "Fits", "Preempt")
}

// TestNestedInPlace: the same as built in v1.37, among promises.
func TestNestedInPlace(t *testing.T) {
	ask(t, questions(traits{gang: true, nested: true, domains: true, groups: true, nominations: true, terminating: true, inPlace: true}), "Fits", "Wait")
}

// TestGangsWithFilters: groups under rules of the caller about pairs of pods.
func TestGangsWithFilters(t *testing.T) {
	ask(t, questions(traits{gang: true, nested: true, domains: true, groups: true, filters: true, budgets: true, importance: true}), "Preempt")
}

// TestGangsInSets: the same under rules about sets of pods.
func TestGangsInSets(t *testing.T) {
	ask(t, questions(traits{gang: true, basic: true, groups: true, sets: true, terminating: true, nominations: true, runtimes: true}), "Preempt", "Wait")
}

// TestPlacer: groups that the caller places.
func TestPlacer(t *testing.T) {
	ask(t, questions(traits{gang: true, basic: true, domains: true, groups: true, placer: true, filters: true, terminating: true, nominations: true}), "Fits", "Preempt")
}

// TestPlacerInPlace: the same as built in v1.37, under rules about sets of pods.
func TestPlacerInPlace(t *testing.T) {
	ask(t, questions(traits{gang: true, domains: true, groups: true, placer: true, sets: true, budgets: true, nominations: true, inPlace: true}), "Fits", "Preempt")
}
