//go:build race

package placement_test

// The race detector makes sync.Pool drop things at random.
const raceEnabled = true
