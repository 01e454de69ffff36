package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/queue/limits"
)

// version is that of [Document]. A page reads all versions up to its own.
const version = 1

// Document is what the page shows, as it goes into a link, a file or a report. The zero value
// is an empty cluster.
type Document struct {
	Version int       `json:"cedePage"` // the first field: by it a document is told from other input
	Name    string    `json:"name,omitempty"`
	Now     time.Time `json:"now"` // where the time slider begins
	// State is that of package preemption, before the edits.
	State   preemption.State `json:"state"`
	Waiting []Waiting        `json:"waiting,omitempty"`
	// Nodes are where those that wait need room, of a scheduler that admits by nodes.
	Nodes placement.State `json:"nodes,omitzero"`
	// Fair: shares decide, by these strategies; none are those of Kueue.
	Fair       bool                      `json:"fair,omitzero"`
	Strategies []preemption.FairStrategy `json:"strategies,omitempty"`
	Limits     []limits.Limit            `json:"limits,omitempty"`
	Notes      []string                  `json:"notes,omitempty"` // what was left out, and the like
	Edits      []Edit                    `json:"edits,omitempty"`
	// Selected is the workload that is shown, At the time. Empty and zero: none, and Now.
	Selected string    `json:"selected,omitempty"`
	At       time.Time `json:"at,omitzero"`
}

// Waiting is a workload that waits.
type Waiting = answers.Standing

// maxDocument is the most bytes of a document that is read: a cluster of 50,000 workloads has
// 30 MB.
const maxDocument = 256 << 20

// Read reads a document, or what the other programs read: objects of Kueue or KAI, a State or a
// Record. The time is that of a Record, else now.
func Read(r io.Reader, name string, now time.Time) (Document, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	if start, _ := buffered.Peek(64); bytes.HasPrefix(bytes.TrimSpace(start), []byte(`{"cedePage":`)) {
		return readDocument(io.LimitReader(buffered, maxDocument))
	}
	in, err := answers.Read([]input.Source{{Name: name, Reader: buffered}}, "")
	if err != nil {
		return Document{}, err
	}
	return FromInput(in, name, now), nil
}

func readDocument(r io.Reader) (Document, error) {
	var raw struct {
		Document
		State json.RawMessage `json:"state"` // read once, by ParseState
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return Document{}, err
	}
	err = json.Unmarshal(data, &raw)
	switch {
	case raw.Version > version, raw.Version < 1 && err == nil:
		return Document{}, fmt.Errorf("the document is of version %d of the page; this page reads version %d", raw.Version, version)
	case err != nil:
		return Document{}, fmt.Errorf("the document of a page: %w", err)
	}
	raw.Document.State, err = preemption.ParseState(raw.State)
	return raw.Document, err
}

// Sample is the embedded sample.
func Sample() (Document, error) {
	in, err := answers.ReadSample(answers.Samples[0])
	if err != nil {
		return Document{}, err
	}
	d := FromInput(in, "the sample", answers.SampleTime)
	d.Selected = answers.SampleWorkload
	return d, nil
}

// FromInput makes a document of a cluster that was read.
func FromInput(in answers.Input, name string, now time.Time) Document {
	d := Document{Version: version, Name: name, Now: now.UTC().Round(0), State: in.State, Nodes: in.Found.Nodes, Limits: in.Found.Limits, Notes: in.Found.Warnings}
	if known := in.Found.Sharing; known.Known && known.On {
		d.Fair, d.Strategies = true, known.Strategies
		d.Notes = append([]string{"decided by fair sharing because of " + known.Source}, d.Notes...)
	}
	if in.Recorded != nil {
		if !in.Recorded.Now.IsZero() {
			d.Now = in.Recorded.Now
		}
		d.Waiting = append(d.Waiting, Waiting{Request: *in.Recorded})
	}
	for i := range in.Found.Pending {
		p := &in.Found.Pending[i]
		d.Waiting = append(d.Waiting, in.Standing(p, p.LocalNotes, answers.Namespace(p.Workload.ID)))
	}
	for i := range in.Found.Checked {
		d.Waiting = append(d.Waiting, answers.StandingChecked(&in.Found.Checked[i]))
	}
	return d
}

// running is how many workloads hold quota and wait for nothing.
func (d *Document) running() int {
	n := len(d.State.Admitted)
	for i := range d.Waiting {
		if d.Waiting[i].HoldsQuota {
			n--
		}
	}
	return n
}

// waitingAt returns the waiting workloads as they are asked about at a time.
func waitingAt(list []Waiting, queues map[string]bool, at time.Time) []answers.Waiting {
	out := make([]answers.Waiting, 0, len(list))
	for i := range list {
		out = append(out, list[i].At(at, func(name string) bool { return queues[name] }))
	}
	return out
}

// title shortens the name of a file to its last part.
func title(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }
