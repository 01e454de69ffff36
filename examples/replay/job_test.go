package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// The manifest is an Indexed Job with an index for each shard, and its arguments are read.
func TestManifest(t *testing.T) {
	data, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job batch.Job
	if err := yaml.UnmarshalStrict(data, &job); err != nil {
		t.Fatal(err)
	}
	o, err := parse(job.Spec.Template.Spec.Containers[0].Args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if *job.Spec.CompletionMode != batch.IndexedCompletion || strconv.Itoa(int(*job.Spec.Completions)) != o.shard {
		t.Errorf("%s, %d completions, -shard %s", *job.Spec.CompletionMode, *job.Spec.Completions, o.shard)
	}
	for index := range *job.Spec.Completions {
		env := func(string) string { return strconv.Itoa(int(index)) }
		if at, of, err := parseShard(o.shard, env); err != nil || at != int(index) || of != int(*job.Spec.Completions) {
			t.Errorf("index %d: shard %d of %d, %v", index, at, of, err)
		}
	}
	seeds, err := sweep.ParseSeeds(o.seeds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.New(sweep.Input{Worlds: strings.Split(o.worlds, ","), Policies: strings.Split(o.policies, ","), Seeds: seeds}); err != nil {
		t.Error(err)
	}
}
