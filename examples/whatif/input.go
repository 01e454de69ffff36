package main

import (
	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
)

// readInput reads the cluster from its API or the files, else from standard input, else from
// the sample.
func readInput(o *options, std stdio, nodes *rooms.Nodes) (answers.Input, error) {
	files, piped := o.files, std.in
	if o.sample != "" {
		return answers.ReadSample(o.sample)
	}
	if o.reads(std) {
		return readLive(o, std, nodes)
	}
	if len(files) == 0 && piped != nil {
		files = []string{"-"}
	}
	if len(files) == 0 {
		return answers.ReadSample(answers.Samples[0])
	}
	sources, err := objects.Files(files, piped)
	if err != nil {
		return answers.Input{}, err
	}
	progress := std.screen.Start("KiB read", -1)
	defer progress.Done()
	for i := range sources {
		sources[i].Through = progress.Reader
	}
	return answers.ReadSeen(sources, o.scheduler, nodes.Add, o.see)
}
