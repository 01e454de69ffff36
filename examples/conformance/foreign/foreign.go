// Package foreign reads cases in the forms in which Kueue's preemptor, Kueue's preemption gates, kube-scheduler
// (nodes.go; groups.go: pod groups as of v1.37) what settles usage over a quota (settle.go),
// KAI's consolidation (moves.go) and KAI's fair shares (shares.go) were recorded, and makes each a [recorded.Case]. Its tests read two more, of KAI's minimum runtimes and of Kueue's preemption rules.
package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/recorded"
)

// form is a form of a line.
type form interface {
	// convert sets the questions of the case, or says why there is none.
	convert(c *recorded.Case) error
}

// marks are the fields of a line that tell its form.
type marks struct {
	ID       string          `json:"id"`
	Source   json.RawMessage `json:"source"`
	Defaults json.RawMessage `json:"defaults"`
	Input    json.RawMessage `json:"input"`
	Suite    string          `json:"suite"`
	Kind     string          `json:"kind"`
	Table    string          `json:"table"`
	Mode     string          `json:"mode"`
}

// Case reads a line. ok is false if it has none of the forms.
func Case(line []byte) (c *recorded.Case, ok bool, err error) {
	var of marks
	if err := json.Unmarshal(line, &of); err != nil {
		return nil, false, err
	}
	var f form
	switch {
	case of.Suite != "" && of.Input != nil:
		f = new(groupCase)
	case of.Suite != "":
		f = new(nodeCase)
	case of.Table != "" || of.Defaults != nil:
		return nil, false, nil
	case strings.HasSuffix(of.Kind, "-ungate"):
		f = new(ungateCase)
	case slices.Contains(settleKinds, of.Kind):
		f = &settleCase{kind: of.Kind}
	case of.Input != nil && slices.Contains(sharesKinds, of.Kind):
		f = new(sharesCase)
	case of.Kind == "consolidation":
		f = new(movesCase)
	case of.Kind != "":
		f = &storyCase{of.Kind}
	case of.Mode != "":
		f = new(kueueCase)
	default:
		return nil, false, nil
	}
	c, err = of.read(line, f)
	return c, true, err
}

// read reads a line of a form.
func (of *marks) read(line []byte, f form) (*recorded.Case, error) {
	c := &recorded.Case{ID: of.ID, Source: strings.Trim(string(of.Source), `"`)}
	err := json.Unmarshal(line, f)
	if err == nil && of.ID == "" {
		return nil, fmt.Errorf("no case: it has no id")
	}
	if err == nil {
		err = f.convert(c)
	}
	if err != nil {
		return nil, fmt.Errorf("case %q: %w", of.ID, err)
	}
	return c, nil
}

// known fails on a value that is none of the given ones.
func known(what, value string, list ...string) error {
	if !slices.Contains(list, value) {
		return fmt.Errorf("unknown %s %q", what, value)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }
