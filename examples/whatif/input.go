package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge/kueue"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
)

//go:embed sample.json
var sample []byte

// The embedded sample has a request for this workload at this time.
const sampleWorkload = "vision/detector-train"

var sampleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// input is a cluster and what the input says about requests.
type input struct {
	state    preemption.State
	found    read.Cluster        // the zero value for cede's own JSON
	recorded *preemption.Request // of a Record
	isSample bool
}

// readInput reads the cluster from kubectl or the files, else from standard input, else from
// the sample.
func readInput(o *options, std stdio) (input, error) {
	files, piped := o.files, std.in
	if o.live || std.plugin && !o.liveSaid && len(files) == 0 && piped == nil {
		return readLive(o, std)
	}
	if len(files) == 0 && piped != nil {
		files = []string{"-"}
	}
	if len(files) == 0 {
		return readSample()
	}
	sources, err := objects.Files(files, piped)
	if err != nil {
		return input{}, err
	}
	return readCluster(sources, o.scheduler)
}

func readSample() (input, error) {
	in, err := readCluster([]objects.Source{{Name: "the sample", Reader: bytes.NewReader(sample)}}, "")
	in.isSample = true
	return in, err
}

// The fields that identify cede's own State and Record.
var (
	stateFields  = []string{"admitted", "cohorts", "flavors", "queues"}
	recordFields = []string{"request", "state"}
)

// readCluster reads all sources. Their objects decide what kind of state it is.
func readCluster(sources []objects.Source, scheduler string) (in input, err error) {
	var ofKueue read.Kueue
	var ofKAI read.KAI
	own := 0
	notes, err := objects.Read(sources, objects.Options{Keys: slices.Concat(recordFields, stateFields), Nameless: read.Nameless}, func(o *objects.Object) error {
		if o.Kind == "" {
			if own++; own > 1 {
				return errors.New("the input holds a second State or Record: give only one")
			}
			return in.own(o.Fields)
		}
		err, also := ofKueue.Add(o), error(objects.ErrNotRead)
		if errors.Is(err, objects.ErrNotRead) || o.Group() != kueue.Group {
			also = ofKAI.Add(o)
		}
		if errors.Is(err, objects.ErrNotRead) {
			err = also
		}
		return err
	})
	if err != nil {
		return in, err
	}
	count := map[string]int{"kueue": ofKueue.Count(), "kai": ofKAI.Count()}
	switch {
	case own > 0 && count["kueue"]+count["kai"] > 0:
		return in, errors.New("the input holds a State of cede and objects of Kubernetes: give only one")
	case own > 0:
		in.found.Warnings = notes
		return in, nil
	case count["kueue"]+count["kai"] == 0:
		return in, fmt.Errorf("there are no objects of Kueue or KAI in the input; of Kueue, ask kubectl for clusterqueues,cohorts,localqueues,resourceflavors,workloads.%s", kueue.Group)
	case scheduler == "" && count["kueue"] > 0 && count["kai"] > 0:
		return in, fmt.Errorf("the input holds %d objects of Kueue and %d of KAI: say with -scheduler kueue or -scheduler kai which is asked", count["kueue"], count["kai"])
	case scheduler != "" && count[scheduler] == 0:
		return in, fmt.Errorf("-scheduler %s: there are no objects of it in the input", scheduler)
	case scheduler == "kai", scheduler == "" && count["kai"] > 0:
		in.found = read.With(ofKAI.Cluster(), notes)
	default:
		in.found = read.With(ofKueue.Cluster(), notes)
	}
	in.state = in.found.State
	return in, err
}

// own reads cede's own State or Record. There is no other input, so its faults are errors.
func (in *input) own(fields map[string]json.RawMessage) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	isRecord := slices.ContainsFunc(recordFields, func(name string) bool { return fields[name] != nil })
	if !isRecord {
		in.state, err = preemption.ParseState(data)
		return err
	}
	record, err := preemption.ParseRecord(data)
	in.state, in.recorded = record.State, record.Request
	return err
}
