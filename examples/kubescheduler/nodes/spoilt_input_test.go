package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/cedesched/cede/examples/internal/mutate"
)

// Spoilt input is answered, or refused in one line.
func TestSpoiltInput(t *testing.T) {
	ask := func(args ...string) func([]byte) (int, string, string) {
		return func(input []byte) (int, string, string) { return call(bytes.NewReader(input), args...) }
	}
	mutate.Check(t, sample, 1000, ask("-group", sampleGroup))
	tree, err := os.ReadFile("testdata/tree.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mutate.Check(t, tree, 1000, ask())
	mutate.Check(t, []byte(small), 300, ask())
	mutate.Check(t, []byte(small), 300, ask("-pod", "a/waits", "-o", "json"))
	// kube-scheduler reads it, too.
	mutate.Check(t, sample, 100, ask("-group", sampleGroup, "-mode", "in-place"))
	mutate.Check(t, tree, 100, ask("-mode", "in-place"))
	mutate.Check(t, []byte(small), 100, ask("-pod", "a/waits", "-mode", "in-place"))
}
