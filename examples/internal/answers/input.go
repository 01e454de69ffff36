// Package answers is what the programs about queues share: a cluster that was read, who waits
// in it, and what is answered in a few words.
package answers

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// samples are clusters, as kubectl prints them: of Kueue one in which workloads preempt, one with settings that hurt, one with
// preemption rules; and one of KAI.
//
//go:embed samples
var samples embed.FS

// Samples are the names of the embedded samples, the usual one first.
var Samples = []string{"cluster", "trouble", "rules", "kai"}

// SampleText is the text of an embedded sample.
func SampleText(name string) ([]byte, error) {
	for _, file := range []string{name + ".json", name + ".yaml"} {
		if text, err := samples.ReadFile("samples/" + file); err == nil && slices.Contains(Samples, name) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("there is no sample %q: want one of %s", name, strings.Join(Samples, ", "))
}

// SampleWorkload is what the embedded sample is asked about: it has a request for this workload at this time.
const SampleWorkload = "vision/detector-train"

// SampleAsks is what samples are asked about, by name.
var SampleAsks = map[string]string{Samples[0]: SampleWorkload, "kai": "vision/pg-detector-684ae8c7"}

// SampleTime is the time of the embedded sample.
var SampleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Input is a cluster and what the input says about requests.
type Input struct {
	State    preemption.State
	Found    read.Cluster        // the zero value for cede's own JSON
	Recorded *preemption.Request // of a Record
	Sample   string              // the name of the embedded sample that it is; empty: none
	// Large says of which flavors the nodes are too small for a workload. Nil: nodes are not known.
	Large func(*workload.Workload) []TooLarge

	objects *read.Kueue // nil for another input
	doubts  *bridge.DoubtIndex
	more    []bridge.Doubt // beside those of objects
}

// DoubtAll says that something is not known that every answer depends on.
func (in *Input) DoubtAll(path, text string) {
	n := bridge.Note{Path: path, Text: text}
	in.more = append(slices.Clip(in.more), bridge.Doubt{Note: n})
	in.Found.Doubts = append(slices.Clip(in.Found.Doubts), bridge.Doubt{Note: n})
	in.Found.Warnings = append(slices.Clip(in.Found.Warnings), text)
	in.doubts = in.Found.DoubtIndex()
}

// MultiKueue returns what the objects of Kueue say of dispatch to several clusters; the zero value for another input.
func (in *Input) MultiKueue() kueue.MultiKueue {
	if in.objects == nil {
		return kueue.MultiKueue{}
	}
	return in.objects.MultiKueue()
}

// OfKueue reports whether the input is objects of Kueue, of a cluster of the user's.
func (in *Input) OfKueue() bool { return in.objects != nil && in.Sample == "" }

// Missing lists the objects that others name and that are not in the input, as KIND/NAME.
func (in *Input) Missing() (list []string) {
	for i := range in.Found.Doubts {
		d := &in.Found.Doubts[i]
		if name := d.Assumption(); d.NotInInput && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// With returns the input with the objects of Kueue in further sources, each in place of the one with its
// kind and name. It fails on an input that does not hold objects of Kueue, and if one of them
// would be left out.
func (in *Input) With(sources []objects.Source) (Input, error) { return in.WithBeside(sources, nil) }

// WithBeside is With that hands nodes and pods to a reader of these, as [ReadBeside] does.
func (in *Input) WithBeside(sources []objects.Source, beside func(*objects.Object)) (Input, error) {
	with, err := in.Follow(sources, beside)
	if err != nil {
		return *in, err
	}
	for _, n := range with.Found.Warnings {
		if why, left := strings.CutSuffix(n, ": left out"); left && !slices.Contains(in.Found.Warnings, n) {
			return *in, errors.New(why)
		}
	}
	return with, nil
}

// Following is the input of a cluster of Kueue that is followed: nothing, to which Follow adds.
func Following() Input { return Input{objects: new(read.Kueue)} }

// Follow returns the input after events: the objects of the sources, each in place of the one with its kind and name, or
// gone. One that cannot be read is left out, with a note. It fails on an input that does not hold objects of Kueue.
func (in *Input) Follow(sources []objects.Source, beside func(*objects.Object)) (Input, error) {
	if in.objects == nil {
		return *in, errors.New("the cluster is not made of objects of Kueue, to which others could be added")
	}
	both := read.Kueue{Objects: in.objects.Clone()}
	notes, err := objects.Read(sources, objects.Options{Nameless: read.Nameless, Lost: both.Lose}, func(o *objects.Object) error {
		if beside != nil && isBeside(o) {
			beside(o)
			return nil
		}
		if err := both.Add(o); !errors.Is(err, objects.ErrAgain) {
			return err
		}
		return nil
	})
	if err != nil {
		return *in, err
	}
	with := Input{Found: read.With(both.Cluster(), notes), objects: &both}
	with.State, with.doubts = with.Found.State, with.Found.DoubtIndex()
	return with, nil
}

// ReadSample reads an embedded sample.
func ReadSample(name string) (Input, error) {
	text, err := SampleText(name)
	if err != nil {
		return Input{}, err
	}
	in, err := Read([]objects.Source{{Name: "the sample", Reader: bytes.NewReader(text)}}, "")
	in.Sample = name
	return in, err
}

// The fields that identify cede's own State and Record.
var (
	stateFields  = []string{"admitted", "cohorts", "flavors", "queues", "rules"}
	recordFields = []string{"request", "state"}
)

// Read reads all sources. Their objects decide what kind of state it is.
func Read(sources []objects.Source, scheduler string) (in Input, err error) {
	return ReadBeside(sources, scheduler, nil)
}

// ReadBeside is Read that hands what no quota depends on, nodes and pods, to a reader of these. Nil: there is
// none.
func ReadBeside(sources []objects.Source, scheduler string, beside func(*objects.Object)) (Input, error) {
	return ReadSeen(sources, scheduler, beside, nil)
}

// ReadSeen is ReadBeside that shows each object of Kubernetes to somebody before it is read. Nil: nobody.
func ReadSeen(sources []objects.Source, scheduler string, beside, see func(*objects.Object)) (in Input, err error) {
	var ofKueue read.Kueue
	var ofKAI read.KAI
	own := 0
	lost := func(o *objects.Object, why error) {
		ofKueue.Lose(o, why)
		ofKAI.Lose(o, why)
	}
	notes, err := objects.Read(sources, objects.Options{Keys: slices.Concat(recordFields, stateFields), Nameless: read.Nameless, Lost: lost}, func(o *objects.Object) error {
		if o.Kind == "" {
			if own++; own > 1 {
				return errors.New("the input holds a second State or Record: give only one")
			}
			if len(o.Twice) > 0 {
				return fmt.Errorf("%s: is there twice", strings.Join(o.Twice, ", "))
			}
			return in.own(o.Fields)
		}
		if see != nil {
			see(o)
		}
		if o.Kind == "PodDisruptionBudget" && o.Group() == "policy" {
			return nil // questions about nodes read it
		}
		if beside != nil && isBeside(o) {
			beside(o)
		}
		err, also := ofKueue.Add(o), error(objects.ErrNotRead)
		ofOther := scheduler != "kai" && ofKueue.Count() > 0 && ofKAI.Count() == 0 && isBeside(o) // pods and nodes of a cluster of Kueue
		if ofOther {
			also = nil
		}
		if !ofOther && (errors.Is(err, objects.ErrNotRead) || o.Group() != kueue.Group) {
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
		in.Found.Warnings = append(notes, ruleNotes(in.State.Rules)...)
		return in, nil
	case count["kueue"]+count["kai"] == 0:
		return in, fmt.Errorf("there are no objects of Kueue or KAI in the input, and no others are read; of Kueue, ask kubectl for clusterqueues,cohorts,localqueues,resourceflavors,topologies,admissionchecks,workloads.%s", kueue.Group)
	case scheduler == "" && count["kueue"] > 0 && count["kai"] > 0:
		return in, fmt.Errorf("the input holds %d objects of Kueue and %d of KAI: say with -scheduler kueue or -scheduler kai which is asked", count["kueue"], count["kai"])
	case scheduler != "" && count[scheduler] == 0:
		return in, fmt.Errorf("-scheduler %s: there are no objects of it in the input", scheduler)
	case scheduler == "kai", scheduler == "" && count["kai"] > 0:
		in.Found = read.With(ofKAI.Cluster(), notes)
	default:
		in.Found, in.objects = read.With(ofKueue.Cluster(), notes), &ofKueue
	}
	in.State, in.doubts = in.Found.State, in.Found.DoubtIndex()
	return in, err
}

// isBeside reports whether an object is a node or a pod.
func isBeside(o *objects.Object) bool {
	return o.Group() == "" && (o.Kind == "Node" || o.Kind == "Pod")
}

// ruleNotes says what is wrong with rules, by which decisions are made all the same.
func ruleNotes(list []rules.Config) (notes []string) {
	for i := range list {
		faults, _ := rules.Validate(list[i : i+1]).(preemption.Faults)
		if len(faults) == 0 {
			continue
		}
		notes = append(notes, fmt.Sprintf("rules %s: not valid: %s%s", list[i].Name, strings.TrimPrefix(faults[0].Error(), "configs[0]."), andMore(len(faults)-1)))
	}
	return notes
}

// own reads cede's own State or Record. There is no other input, so its faults are errors. A value of
// another type is named with its path.
func (in *Input) own(fields map[string]json.RawMessage) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	isRecord := slices.ContainsFunc(recordFields, func(name string) bool { return fields[name] != nil })
	var plain any = new(preemption.State)
	if isRecord {
		var record preemption.Record
		record, err = preemption.ParseRecord(data)
		in.State, in.Recorded, plain = record.State, record.Request, new(preemption.Record)
	} else {
		in.State, err = preemption.ParseState(data)
	}
	if err != nil {
		return cmp.Or(objects.Decode("", data, plain), err)
	}
	return nil
}
