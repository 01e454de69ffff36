//go:build race

package preemption_test

// The race detector makes sync.Pool drop things at random.
const raceEnabled = true
