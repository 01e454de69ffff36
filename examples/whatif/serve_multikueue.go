package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption"
)

// fleetOf answers about the clusters of a body, as multikueue does about files. What the command line says of the cluster that was
// read does not count.
func fleetOf(body *serve.Fleet, o *options, std stdio) (workers.Answers, error) {
	one := options{now: body.Now, asked: true, config: preemption.Config{Compat: o.config.Compat}}
	f, err := newFleet(1+len(body.Workers), false, &one, std, func(i int, m *workers.Member, _ *options, nodes *rooms.Nodes) (answers.Input, error) {
		text, path := body.Manager, "manager"
		if i > 0 {
			m.Name, text, path = body.Workers[i-1].Name, body.Workers[i-1].Objects, fmt.Sprintf("workers[%d].objects", i-1)
		}
		return readText(text, path, m, nodes)
	})
	if err != nil {
		return workers.Answers{}, err
	}
	out, err := f.Answers(body.Asked())
	var unknown *workers.NotSentError
	if errors.As(err, &unknown) {
		return out, fmt.Errorf("%w: %w%s", serve.ErrNotThere, err, nearest(unknown.Workload, unknown.Sent))
	}
	return out, err
}

// readText reads the objects of one cluster of a body.
func readText(text json.RawMessage, path string, m *workers.Member, nodes *rooms.Nodes) (answers.Input, error) {
	in, err := answers.ReadSeen([]objects.Source{{Name: path, Reader: bytes.NewReader(text)}}, "kueue", nodes.Add, m.See)
	if err != nil {
		return in, preemption.Faults{{Path: path, Problem: err.Error()}}
	}
	return in, nil
}
