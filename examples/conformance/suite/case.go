// Package suite is a conformance suite as data: questions of this project's own with their answers, for a program in any language.
//
// A line of the archive is a [Case] as JSON. The JSON forms are those of the library; testdata/v0.1/forms.schema.json has a schema
// of each. An absent field is zero. [Features] say what of the forms a question uses, [Parts] what of an answer is asked for: a
// program claims some of both ([Claims]) and is asked nothing else. [Run] asks a program, [Answer] is cede's answer.
package suite

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/workload"
)

// Version is the version of the archive: that of the JSON forms.
const Version = "v0.1"

// Case is a question with its answer.
type Case struct {
	ID string `json:"id"`
	// Form is the kind of question: one of [Forms].
	Form string `json:"form"`
	// Seed is that of the generator.
	Seed int `json:"seed"`
	// Features are those that the question uses, sorted.
	Features []string `json:"features"`
	// Reaches lists what the answer comes about by, for a reader: rules, reasons and outcomes, sorted.
	Reaches  []string        `json:"reaches,omitempty"`
	Question json.RawMessage `json:"question"`
	Answer   json.RawMessage `json:"answer"`
}

// Asked is what a program reads: a question in one line.
type Asked struct {
	ID       string          `json:"id"`
	Form     string          `json:"form"`
	Question json.RawMessage `json:"question"`
}

// Answered is what a program writes for it in one line.
type Answered struct {
	ID     string          `json:"id"`
	Answer json.RawMessage `json:"answer,omitempty"`
	// Error says why there is no answer. Empty: there is one.
	Error string `json:"error,omitempty"`
}

// The forms of questions.
const (
	Decide      = "decide"      // a [DecideQuestion]; the answer is a [preemption.Decision]
	Place       = "place"       // a [PlaceQuestion]; the answer is a [placement.Decision]
	Orchestrate = "orchestrate" // an [OrchestrateQuestion]; the answer is a [gate.Action]
	Cycles      = "cycles"      // a [CyclesQuestion]; the answer is a [CyclesAnswer]
	Settle      = "settle"      // a [SettleQuestion]; the answer is a [settle.Answer]
	Move        = "move"        // a [MoveQuestion]; the answer is a [moves.Decision]
	Clear       = "clear"       // a [ClearQuestion]; the answer is a [moves.ClearAnswer]
)

// Forms lists the forms of questions.
func Forms() []string {
	return []string{Decide, Place, Orchestrate, Cycles, Settle, Move, Clear}
}

// DecideQuestion asks whether a workload fits, and which workloads have to yield for it.
type DecideQuestion struct {
	// Config configures the decision. Nil: the zero value.
	Config  *preemption.Config `json:"config,omitempty"`
	State   preemption.State   `json:"state"`
	Request preemption.Request `json:"request"`
	// History are the preemptions that the limits count.
	History []limits.Event `json:"history,omitempty"`
}

// PlaceQuestion is the question on nodes.
type PlaceQuestion struct {
	Config  *placement.Config `json:"config,omitempty"`
	State   placement.State   `json:"state"`
	Request placement.Request `json:"request"`
}

// OrchestrateQuestion asks whose gate to open.
type OrchestrateQuestion struct {
	Config   *gate.Config   `json:"config,omitempty"`
	Now      time.Time      `json:"now"`
	Replicas []gate.Replica `json:"replicas"`
}

// CyclesQuestion asks for one cycle at each time. Workloads that a cycle tells to stop have left before the next one; workloads
// that it does not admit wait again, and all are looked at in the next one. Victims do not come back.
type CyclesQuestion struct {
	Config    *preemption.Config  `json:"config,omitempty"`
	Borrowing cycle.Borrowing     `json:"borrowing,omitzero"`
	State     preemption.State    `json:"state"`
	Waiting   []workload.Workload `json:"waiting"`
	At        []time.Time         `json:"at"`
}

// CyclesAnswer answers a [CyclesQuestion]: one result for each time.
type CyclesAnswer struct {
	Cycles []cycle.Result `json:"cycles"`
}

// SettleQuestion asks who has to yield because usage is over what is allowed.
type SettleQuestion struct {
	Config  *preemption.Config `json:"config,omitempty"`
	State   preemption.State   `json:"state"`
	Request settle.Request     `json:"request"`
}

// Moving says which victims move. The zero value: those that have a place.
type Moving struct {
	// Prefer is [moves.Config.Prefer].
	Prefer bool `json:"prefer,omitempty"`
	// Start is [moves.Config.Start].
	Start moves.Start `json:"start,omitzero"`
}

// MoveQuestion asks which victims of a decision on nodes have room elsewhere.
type MoveQuestion struct {
	Config  *placement.Config `json:"config,omitempty"`
	Moving  Moving            `json:"moving,omitzero"`
	State   placement.State   `json:"state"`
	Request placement.Request `json:"request"`
}

// ClearQuestion asks which units have to leave so that nodes are empty, or within their capacity.
type ClearQuestion struct {
	Config  *placement.Config  `json:"config,omitempty"`
	Moving  Moving             `json:"moving,omitzero"`
	State   placement.State    `json:"state"`
	Request moves.ClearRequest `json:"request"`
}

//go:embed testdata/v0.1/cases.jsonl.gz
var archive []byte

// Cases returns the cases of the archive, in its order.
func Cases() ([]Case, error) {
	list, err := read()
	return slices.Clone(list), err
}

var read = sync.OnceValues(readArchive)

func readArchive() (list []Case, err error) {
	err = recorded.Lines("cases.jsonl.gz", bytes.NewReader(archive), func(_ int, line []byte) error {
		var c Case
		if err := strict(line, &c); err != nil {
			return err
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

// strict reads JSON that has no unknown fields.
func strict(data []byte, into any) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if in.More() {
		return fmt.Errorf("something follows the JSON value")
	}
	return nil
}
