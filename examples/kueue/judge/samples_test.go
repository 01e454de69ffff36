package judge_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cedesched/cede/examples/kueue/judge"
)

// samples are the inputs of whatif, its samples, and those with one deciding field each.
func samples(t *testing.T) (files []string) {
	for _, of := range []string{"../testdata/good.json", "../testdata/found/*.json", "../../whatif/testdata/input/*", "../../internal/answers/samples/*"} {
		found, err := filepath.Glob(of)
		if err != nil || len(found) == 0 {
			t.Fatal(of, err)
		}
		files = append(files, found...)
	}
	return files
}

// About every workload that waits in a sample whatif says what Kueue says, or that it does not know.
func TestSamplesAreAnsweredAsByKueue(t *testing.T) {
	c := counted{}
	for _, file := range samples(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("kueue.x-k8s.io")) {
			continue
		}
		ids, err := judge.Waiting(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		inputs := [][]byte{text}
		if !bytes.Contains(text, []byte("config.kueue.x-k8s.io/")) {
			for _, more := range []string{"", "fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}\n"} {
				inputs = append(inputs, slices.Concat(text, []byte("\n---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"+more)))
			}
		}
		for _, input := range inputs {
			for _, id := range ids {
				c.of(t, file, filepath.Base(file), input, id)
			}
		}
	}
	c.log(t)
	if c.alike < 50 {
		t.Errorf("only %d answers are alike", c.alike)
	}
}
