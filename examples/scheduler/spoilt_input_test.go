package main

import (
	"bytes"
	"testing"

	"github.com/cedesched/cede/examples/internal/mutate"
)

// Spoilt events are acted on, or refused in one line.
func TestSpoiltInput(t *testing.T) {
	mutate.Check(t, []byte(sample), 1000, func(input []byte) (int, string, string) {
		var stdout, stderr bytes.Buffer
		status := command(nil, bytes.NewReader(input), &stdout, &stderr)
		if status == 2 {
			stdout.Reset() // what was decided before stands
		} else {
			stdout.WriteString("done")
		}
		return status, stdout.String(), stderr.String()
	})
}
