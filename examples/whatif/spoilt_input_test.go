package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/mutate"
)

// Spoilt input is answered, or refused in one line.
func TestSpoiltInput(t *testing.T) {
	ask := func(args ...string) func([]byte) (int, string, string) {
		return func(input []byte) (int, string, string) { return call(bytes.NewReader(input), args...) }
	}
	mutate.Check(t, theSample(), 1000, ask("-workload", answers.SampleWorkload))
	mutate.Check(t, []byte(smallCluster), 300, ask("-workload", "a/next", "-o", "json"))
	mutate.Check(t, []byte(smallCluster), 300, ask("-request", "cpu=1", "-queue", "vision"))
	mutate.Check(t, []byte(kaiCluster), 300, ask())
	withRules := must(os.ReadFile(rulesFile))(t)
	mutate.Check(t, withRules, 1000, ask("-workload", "prod/hero", "-o", "json"))
	mutate.Check(t, []byte(`{"queues":[{"name":"vision","quotas":[{"flavor":"f","resource":"cpu","nominal":1}]}]}`), 300, ask("-request", "cpu=1", "-queue", "vision"))
}
